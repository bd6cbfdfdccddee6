// Verbs of a command line, and what is said about one that is not understood.

#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "names.hpp"
#include "seaway/version.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

constexpr const char* kFooter = R"(examples:
  seaway demo list
  seaway demo digits
  seaway bench clock --json
  seaway up --islands 2 --devices 4
  seaway chaos --seeds 1..1000
  seaway new app word_count
  seaway config check cluster.toml
  seaway token create --tenant physics --role client --out physics.token

exit codes:
  0  all went well
  1  the command line was not understood; nothing was run
  2  it ran, and a result, a check or a bound was wrong
  127..130  chaos: a crash; a hang; a wrong result; two runs of one seed that differ)";

}  // namespace

int run_command_line(int argument_count, char** arguments, std::initializer_list<AddVerb> added) {
  CLI::App app("Seaway: one controller, many islands of accelerators", "seaway");
  int exit_code = kDone;
  app.footer(kFooter);
  app.set_version_flag("--version", "seaway " SEAWAY_VERSION);
  app.require_subcommand(1);
  for (const AddVerb add : added) add(app, exit_code);

  std::vector<std::string_view> verbs;
  std::vector<CLI::App*> subcommands = app.get_subcommands([](CLI::App*) { return true; });
  std::vector<std::string> names;
  for (const CLI::App* verb : subcommands) {
    names.push_back(verb->get_name());
    for (const std::string& alias : verb->get_aliases()) names.push_back(alias);
  }
  verbs.assign(names.begin(), names.end());
  // An unknown verb would only be called an unexpected argument.
  if (argument_count > 1 && arguments[1][0] != '-' &&
      std::find(verbs.begin(), verbs.end(), arguments[1]) == verbs.end()) {
    std::string text = std::string("no verb '") + arguments[1] + "'";
    for (const std::string_view name : close_names(arguments[1], verbs)) {
      text += "; did you mean " + std::string(name) + "?";
    }
    std::fprintf(stderr, "seaway: %s\n\n%s", text.c_str(), app.help().c_str());
    return kBadUsage;
  }
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    // Help and version arrive here too, and are no errors.
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "seaway: %s\n\n", error.what());
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    std::fputs((chosen.empty() ? app : *chosen.front()).help().c_str(), stderr);
    return kBadUsage;
  }
  return exit_code;
}

}  // namespace seaway::tools
