// One exploration that has to fail, and one that must not.

#include "demos/support/explored.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "demos/support/report.hpp"

namespace seaway::demos {
namespace {

constexpr std::uint64_t kFixedSeeds = 1'000, kFixedSeedsQuick = 300;

std::string directory_for_files() {
  std::error_code error;
  const auto directory = std::filesystem::temp_directory_path(error);
  return error ? "." : directory.string();
}

Status find(const std::string& name, const ExploreMistake& explore) {
  const sim::ExploreReport report = explore(
      false, {.name = name, .seeds = kMistakeSeeds, .repro_directory = directory_for_files()});
  if (report.ok) {
    return {StatusCode::kDataCorruption,
            "its mistake was not found in " + std::to_string(report.seeds) + " worlds"};
  }
  std::printf("%s: found in the %llu. world\n%s", name.c_str(),
              static_cast<unsigned long long>(report.seeds), report.to_string().c_str());
  return {};
}

Status pass(const std::string& name, std::uint64_t seeds, const ExploreMistake& explore) {
  const sim::ExploreReport report =
      explore(true, {.name = name + ", fixed", .seeds = seeds, .repro_directory = ""});
  if (!report.ok) return {StatusCode::kDataCorruption, "the fix is wrong: " + report.to_string()};
  std::printf("%s, fixed: %s\n", name.c_str(), report.to_string().c_str());
  return {};
}

}  // namespace

int run_mistake(const std::string& name, const DemoOptions& options,
                const ExploreMistake& explore) {
  std::uint64_t seeds = options.quick ? kFixedSeedsQuick : kFixedSeeds;
  if (options.size > 0) seeds = options.size;
  Status status;
  if (!options.fixed) status = find(name, explore);
  std::fflush(stdout);
  if (status.ok()) status = pass(name, seeds, explore);
  return finish(name, status);
}

}  // namespace seaway::demos
