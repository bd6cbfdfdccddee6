// `seaway bench`: runs a benchmark, or lists them.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "benchmarks/benchmarks.hpp"
#include "names.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

using benchmarks::BenchReport;

struct Arguments {
  std::string name;
  bool json = false;
  benchmarks::BenchOptions options;
};

int run(const Arguments& arguments) {
  std::vector<std::string_view> names;
  for (const benchmarks::Benchmark& benchmark : benchmarks::benchmarks()) {
    names.push_back(benchmark.name);
    if (benchmark.name != arguments.name) continue;
    BenchReport report(std::cout,
                       arguments.json ? BenchReport::Form::kJson : BenchReport::Form::kTable);
    const Status status = benchmark.run(arguments.options, report);
    report.finish();
    // Small sizes say nothing about bounds.
    const Status missed = arguments.options.quick ? Status() : report.missed();
    if (status.ok() && missed.ok()) return kDone;
    for (const Status& why : {status, missed}) {
      if (why.ok()) continue;
      std::fprintf(stderr, "seaway: bench %s: %s\n", benchmark.name, why.to_string().c_str());
    }
    return kCheckFailed;
  }
  if (arguments.name == "list") {
    for (const benchmarks::Benchmark& benchmark : benchmarks::benchmarks()) {
      std::printf("%-14s %s\n", benchmark.name, benchmark.summary);
    }
    return kDone;
  }
  std::fprintf(stderr, "seaway: %s\n", unknown_name("bench", arguments.name, names).c_str());
  return kBadUsage;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("bench", "Measure, and print figures");
  const auto arguments = std::make_shared<Arguments>();
  verb->add_option("name", arguments->name, "a benchmark, or `list` to see all")->required();
  verb->add_flag("--json", arguments->json, "one JSON object a line: metric, value, unit, params");
  verb->add_flag("--quick", arguments->options.quick, "small sizes; the figures mean nothing");
  verb->add_option("--load-seconds", arguments->options.load_s,
                   "how long `deaths` keeps all hosts busy: 600 for ten minutes");
  verb->footer("example: seaway bench clock --json");
  verb->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace seaway::tools
