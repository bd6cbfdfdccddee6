// `seaway first-result`: what `seaway bench start` starts, and therefore not in the help.

#include <CLI/CLI.hpp>

#include "benchmarks/start/start.hpp"
#include "verbs.hpp"

namespace seaway::tools {

void add_first_result(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("first-result", "One value from a cold start");
  verb->group("");
  verb->callback([&exit_code] { exit_code = benchmarks::first_result(); });
}

}  // namespace seaway::tools
