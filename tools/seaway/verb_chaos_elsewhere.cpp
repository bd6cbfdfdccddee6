// `seaway chaos`: becomes the program beside this one that has fault points.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "verbs.hpp"

namespace seaway::tools {
namespace {

constexpr const char* kProgram = "seaway-chaos";

/// Returns only when that fails.
int become_chaos(const std::vector<std::string>& words) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = error ? std::string() : (self.parent_path() / kProgram).string();
  std::string name = "seaway", verb = "chaos";
  std::vector<char*> arguments = {name.data(), verb.data()};
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);
  execv(program.c_str(), arguments.data());
  const char* const why = std::strerror(error ? error.value() : errno);
  std::fprintf(stderr,
               "seaway: cannot run %s: %s; it belongs beside this program: build or install both\n",
               program.empty() ? kProgram : program.c_str(), why);
  return kBadUsage;
}

}  // namespace

void add_chaos_elsewhere(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("chaos", kChaosSummary);
  // All that follows is for the other program, --help as well, unless it is about real processes:
  // these have no fault points.
  add_chaos_real(*verb, exit_code);
  verb->set_help_flag();
  verb->prefix_command();
  verb->callback([verb, &exit_code] {
    if (verb->get_subcommands().empty()) exit_code = become_chaos(verb->remaining());
  });
}

}  // namespace seaway::tools
