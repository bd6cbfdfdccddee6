// The words of `seaway chaos real`.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/parse.hpp"
#include "campaign/real_faults.hpp"
#include "chaos_real.hpp"
#include "real_client.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

struct Words {
  std::string duration = "1m", round = "30s", bound = "10s";
  std::vector<std::string> kills;
  std::string list, net;
  ChaosRealOptions options;
};

/// Nothing: it is none, which was said.
bool add_kills(const std::vector<std::string>& names, campaign::RealPlanOptions& plan) {
  for (const std::string& name : names) {
    bool is_known = false;
    for (int i = 0; i <= static_cast<int>(campaign::kLastRealRole); ++i) {
      const auto role = static_cast<campaign::RealRole>(i);
      if (name != to_string(role) && name != "all") continue;
      plan.kills.insert(role);
      is_known = true;
    }
    if (is_known) continue;
    std::fprintf(
        stderr,
        "seaway: --kill knows controller, scheduler, host, annex, client and all, and not \"%s\"\n",
        name.c_str());
    return false;
  }
  return true;
}

/// "10m" is ten minutes here, as on other command lines. False: it is no duration, which was said.
bool read_duration(const char* flag, const std::string& text, std::uint64_t& duration_ns) {
  const auto read = parse_duration_ns(text + (text.ends_with('m') ? "in" : ""));
  if (read.ok() && *read > 0) {
    duration_ns = *read;
    return true;
  }
  const std::string why = read.ok() ? "it is nothing" : read.status().message();
  std::fprintf(stderr, "seaway: %s: %s\n", flag, why.c_str());
  return false;
}

int run_words(Words& words) {
  campaign::RealPlanOptions& plan = words.options.plan;
  if (words.net == "proxy") plan.net = campaign::RealNet::kProxy;
  if (words.net == "netns") plan.net = campaign::RealNet::kNetns;
  if (!read_duration("--duration", words.duration, plan.duration_ns) ||
      !read_duration("--round", words.round, plan.round_ns) ||
      !read_duration("--bound", words.bound, words.options.bound_ns) ||
      !add_kills(words.kills, plan)) {
    return kBadUsage;
  }
  const bool is_all = std::find(words.kills.begin(), words.kills.end(), "all") != words.kills.end();
  if (plan.hosts == 1 && !is_all && plan.kills.contains(campaign::RealRole::kAnnex)) {
    std::fprintf(stderr, "seaway: --kill annex needs --hosts 2 or more\n");
    return kBadUsage;
  }
  return run_chaos_real(words.options);
}

}  // namespace

void add_chaos_real(CLI::App& chaos, int& exit_code) {
  CLI::App* const verb = chaos.add_subcommand("real", "Kill and stop real processes of a cluster");
  auto words = std::make_shared<Words>();
  campaign::RealPlanOptions& plan = words->options.plan;
  verb->add_option("--duration", words->duration, "how long: 30s, 10m")->capture_default_str();
  verb->add_option("--seed", plan.seed, "which plan")->capture_default_str();
  verb->add_option(
          "--kill", words->kills,
          "whom: some of controller, scheduler, host, annex, client, with commas between; or "
          "all")
      ->delimiter(',');
  verb->add_flag("--stop", plan.stops, "stop processes for a while, and bound what they may have");
  verb->add_flag("--strangers", plan.strangers,
                 "talk nonsense to whoever listens, and make many connections");
  verb->add_flag("--enospc", plan.disk, "fill the disk that all roles write to; root's alone");
  verb->add_option(
          "--net", words->net,
          "proxy: hold, delay, cut, drop, repeat and change what processes say, over TLS; "
          "netns: a network for each, which drops what it says, hears, or says to one; root's "
          "alone")
      ->check(CLI::IsMember({"proxy", "netns"}));
  verb->add_option("--pace", plan.pace, "how many times as many faults as usual")
      ->check(CLI::Range(0.1, 20.0))
      ->capture_default_str();
  verb->add_option("--islands", plan.islands, "how many")
      ->check(CLI::Range(2, 8))
      ->capture_default_str();
  verb->add_option("--clients", plan.clients, "how many")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  verb->add_option("--hosts", plan.hosts, "how many each island has; all but one are annexes")
      ->check(CLI::Range(1, 4))
      ->capture_default_str();
  verb->add_option("--round", words->round, "faults for so long, then rest until all is well")
      ->capture_default_str();
  verb->add_option("--bound", words->bound,
                   "so long may a request be open behind a hang or a partition, and half as long "
                   "behind a kill; 2s more are for a busy machine")
      ->capture_default_str();
  verb->add_option("--add", words->options.add_file,
                   "a file of sums, to which the counts of this run are added");
  verb->add_option("--faults", words->list, "list: which faults are made, and how; nothing is run")
      ->check(CLI::IsMember({"list"}));
  verb->add_flag("--json", words->options.is_json, "the report alone, as one line of JSON");
  verb->add_flag("--quiet", words->options.is_quiet, "no line for each fault");
  verb->footer(R"(
example: seaway chaos real --duration 10m --kill all --stop --strangers --seed 42

exit codes:
  0    clean
  1    the command line will not do, or no cluster could be started
  127  a process has ended, though nobody ended it
  128  some request had no outcome, or too late, or a client got no value any more
  129  a value was wrong, an error had no cause, something was left behind, or memory has grown)");
  verb->callback([words, &exit_code] {
    if (!words->list.empty()) {
      std::printf("%s", campaign::real_fault_table().c_str());
      return;
    }
    exit_code = run_words(*words);
  });

  CLI::App* const client = chaos.add_subcommand("real-client", "A client of such a campaign");
  client->group("");
  auto options = std::make_shared<RealClientOptions>();
  client->add_option("--address", options->address)->required();
  client->add_option("--seed", options->seed)->required();
  client->add_option("--history", options->history)->required();
  client->add_option("--die-with-parent", options->parent);
  client->add_option("--token-file", options->token_file);
  client->add_option("--ca-file", options->ca_file);
  client->callback([options, &exit_code] { exit_code = run_real_client(*options); });
}

}  // namespace seaway::tools
