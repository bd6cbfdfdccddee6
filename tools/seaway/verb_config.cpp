// `seaway config`: shows which settings are in force, and where each of them came from.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/printable.hpp"
#include "config_flags.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

int check(const ConfigFlags& flags) {
  const auto settings = load_settings(flags);
  if (!settings.ok()) {
    std::fprintf(stderr, "seaway: %s\n", printable(settings.to_string(), Lines::kMany).c_str());
    return kBadUsage;
  }
  std::size_t widest = 0;
  for (const Setting& setting : settings->all) widest = std::max(widest, setting.value.size());
  for (const Setting& setting : settings->all) {
    const std::string key(setting.key);
    std::printf("%-14s %-*s  %s\n", key.c_str(), static_cast<int>(widest),
                setting.value.empty() ? "-" : setting.value.c_str(), setting.origin.c_str());
  }
  return kDone;
}

}  // namespace

void add_config(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("config", "Look at the settings of a cluster");
  verb->require_subcommand(1);
  verb->footer("example: seaway config check cluster.toml");
  CLI::App* const what = verb->add_subcommand(
      "check", "Print the settings in force and where each came from, or what is wrong with them");
  const auto flags = std::make_shared<ConfigFlags>();
  add_config_flags(*what, *flags);
  what->add_option("file", flags->file, "the file with settings; otherwise that of --config");
  what->footer(R"(Flags go before variables, these before the file, and that before defaults.

example: seaway config check cluster.toml --devices 8

exit codes:
  0  the settings are printed
  1  they are wrong; the message says where)");
  what->callback([flags, &exit_code] { exit_code = check(*flags); });
}

}  // namespace seaway::tools
