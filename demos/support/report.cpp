// Ending a demo: exit code and trace file.

#include "demos/support/report.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "seaway/inspect.hpp"

namespace seaway::demos {

int finish(std::string_view demo, const Status& outcome) {
  std::fflush(stdout);
  if (outcome.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", std::string(demo).c_str(), outcome.to_string().c_str());
  return 2;
}

Status write_trace(const Cluster& cluster, std::string_view demo, const DemoOptions& options) {
  const auto trace = chrome_trace(cluster);
  if (!trace.ok()) return trace.status();
  std::string path = options.trace_path;
  if (path.empty()) {
    std::error_code error;
    const auto directory = std::filesystem::temp_directory_path(error);
    path = (directory / ("seaway-" + std::string(demo) + ".json")).string();
  }
  std::ofstream file(path, std::ios::binary);
  file << *trace;
  file.close();
  if (!file) {
    return invalid_argument("cannot write the trace to " + path + "; choose another with --trace");
  }
  std::printf("trace   %s (open it in https://ui.perfetto.dev)\n", path.c_str());
  return {};
}

}  // namespace seaway::demos
