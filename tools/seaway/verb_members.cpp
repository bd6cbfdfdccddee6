// `seaway controller`, `seaway scheduler`, `seaway host`: one process of a cluster each. Its hosts
// know the demos, and what `seaway bench` asks them for.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "benchmarks/bulk/bulk.hpp"
#include "demos/demos.hpp"
#include "real_client.hpp"
#include "role_flags.hpp"
#include "verbs.hpp"

namespace seaway::tools {

using actor::Role;

void add_roles(CLI::App& app, int& exit_code) {
  const auto registry = std::make_shared<Registry>();
  demos::register_all(*registry);
  benchmarks::register_bulk(*registry);
  register_campaign(*registry);
  const auto add = [&](const char* name, const char* summary, Role role) {
    CLI::App* const verb = app.add_subcommand(name, summary);
    add_role_flags(*verb, exit_code, role, role == Role::kHost ? registry : nullptr);
    verb->footer(std::string("example: seaway ") + name +
                 (role == Role::kController ? " --islands 2 --devices 4" : " --island 1"));
  };
  add("controller", "Play the controller of a cluster", Role::kController);
  add("scheduler", "Play the scheduler of an island", Role::kIsland);
  add("host", "Play a host of an island, with its devices", Role::kHost);
}

}  // namespace seaway::tools
