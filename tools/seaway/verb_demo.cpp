// `seaway demo`: runs a demo, or lists them.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "config_flags.hpp"
#include "demos/demos.hpp"
#include "names.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

struct Arguments {
  std::string name;
  demos::DemoOptions options;
  cluster::CredentialFiles credentials;  // For a cluster elsewhere.
};

int run(const Arguments& arguments) {
  std::vector<std::string_view> names;
  for (const demos::Demo& demo : demos::demos()) {
    if (demo.name == arguments.name) {
      if (arguments.options.simulation_seed && !demo.can_be_simulated) {
        std::fprintf(stderr, "seaway: demo %s needs a real cluster; leave out --simulate\n",
                     demo.name);
        return kBadUsage;
      }
      if (!arguments.options.cluster.empty() && !demo.can_be_elsewhere) {
        std::fprintf(stderr, "seaway: demo %s has a cluster of its own; leave out --cluster\n",
                     demo.name);
        return kBadUsage;
      }
      set_environment(arguments.credentials);
      return demo.run(arguments.options);
    }
    names.push_back(demo.name);
  }
  if (arguments.name == "list") {
    for (const demos::Demo& demo : demos::demos()) {
      std::printf("%-16s %s\n", demo.name, demo.summary);
    }
    return kDone;
  }
  std::fprintf(stderr, "seaway: %s\n", unknown_name("demo", arguments.name, names).c_str());
  return kBadUsage;
}

}  // namespace

void add_demo(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("demo", "Run a demo, which checks itself")->alias("run");
  const auto arguments = std::make_shared<Arguments>();
  verb->add_option("name", arguments->name, "a demo, or `list` to see all")->required();
  verb->add_option("--trace", arguments->options.trace_path,
                   "write the trace to this file (open it in ui.perfetto.dev)");
  verb->add_flag("--fixed", arguments->options.fixed,
                 "of a demo with a mistake: explore only what is right");
  verb->add_flag("--quick", arguments->options.quick, "less work, the same checks");
  verb->add_option(
      "--size", arguments->options.size,
      "how much work: digits' rows of a batch, pingpong's rounds, skynet's leaves, kv's operations "
      "of each user");
  verb->add_option("--simulate", arguments->options.simulation_seed,
                   "run in the simulator, from this seed: the demos on actors can");
  CLI::Option* const simulated = verb->get_option("--simulate");
  verb->add_option("--cluster", arguments->options.cluster,
                   "on a cluster that runs, such as `seaway up` starts: unix:PATH, tls://HOST:PORT")
      ->excludes(simulated);
  add_credential_flags(*verb, arguments->credentials);
  verb->footer(
      "example: seaway demo digits --trace digits.json\n"
      "         seaway run digits --cluster unix:/run/user/1000/seaway/ctl.sock");
  verb->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace seaway::tools
