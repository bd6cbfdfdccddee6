// `seaway status`, `seaway why`: what a cluster of processes does, and what it waits for.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "base/printable.hpp"
#include "cluster/credentials.hpp"
#include "cluster/process.hpp"
#include "cluster_look.hpp"
#include "config_flags.hpp"
#include "run_directory.hpp"
#include "transport/address_text.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

constexpr std::uint64_t kAskNs = 5'000'000'000;

struct Arguments {
  std::string directory = default_directory();
  std::string cluster;
  cluster::CredentialFiles credentials;
  bool json = false;
  double watch_s = 0;
  std::uint64_t looks = 0;  // 0: until it is ended.
  double wait_s = 0;        // Until all roles are there.
  std::string run;

  std::string address() const {
    return cluster.empty() ? controller_address(directory) : transport::plain_address(cluster);
  }
};

int fail(const Status& status) {
  std::fprintf(stderr, "seaway: %s\n", printable(status.message()).c_str());
  return kCheckFailed;
}

void print(const Arguments& arguments, const ClusterLook& look, const ClusterLook* before) {
  if (arguments.json) {
    // ASCII alone: a terminal would act on other characters of names and addresses.
    constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
    std::printf("%s\n", look.json.dump(-1, ' ', true, kReplace).c_str());
  } else {
    const bool clears = arguments.watch_s > 0 && isatty(STDOUT_FILENO) == 1;
    std::printf(
        "%s%s", clears ? "\x1b[H\x1b[2J" : "",
        printable(look.to_string(arguments.address(), before, arguments.watch_s), Lines::kMany)
            .c_str());
  }
  std::fflush(stdout);
}

/// Until each island has its scheduler and its hosts.
Status wait_for_all(const Arguments& arguments, const Clock& clock,
                    const transport::Credentials& shown) {
  const std::uint64_t until_ns =
      clock.now_ns() + static_cast<std::uint64_t>(arguments.wait_s * 1e9);
  for (;;) {
    const auto look = look_at_cluster(arguments.address(), clock, shown);
    if (look.ok() && look->is_complete()) return {};
    if (clock.now_ns() >= until_ns) {
      return deadline_exceeded(arguments.address() + " is not complete in time: " +
                               (look.ok() ? look->whos_there() : look.status().message()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

int status(const Arguments& arguments) {
  const RealClock clock;
  const auto shown = cluster::load_credentials(arguments.credentials);
  if (!shown.ok()) return fail(shown.status());
  if (arguments.wait_s > 0) {
    if (Status complete = wait_for_all(arguments, clock, *shown); !complete.ok())
      return fail(complete);
  }
  std::optional<ClusterLook> before;
  for (std::uint64_t looks = 1;; ++looks) {
    auto look = look_at_cluster(arguments.address(), clock, *shown);
    if (!look.ok()) return fail(look.status());
    print(arguments, *look, before ? &*before : nullptr);
    if (arguments.watch_s <= 0 || looks == arguments.looks) return kDone;
    before = std::move(*look);
    std::this_thread::sleep_for(std::chrono::duration<double>(arguments.watch_s));
  }
}

/// "2:7" is run 7 of client 2.
std::optional<RunId> parse_run(const std::string& text) {
  std::uint32_t client = 0;
  std::uint64_t run = 0;
  const char* const end = text.data() + text.size();
  const auto [colon, error] = std::from_chars(text.data(), end, client);
  if (error != std::errc() || colon == end || *colon != ':') return std::nullopt;
  const auto [stop, wrong] = std::from_chars(colon + 1, end, run);
  const bool is_one = wrong == std::errc() && stop == end && client > 0 && run > 0 &&
                      run == sequence_of(make_id(client, run));
  return is_one ? std::optional(make_id(client, run)) : std::nullopt;
}

int why(const Arguments& arguments) {
  const auto run = arguments.run.empty() ? RunId{0} : parse_run(arguments.run);
  if (!run) {
    return fail(invalid_argument("'" + arguments.run +
                                 "' is no run; say CLIENT:RUN, such as 2:7 for run 7 of client 2"));
  }
  const RealClock clock;
  const auto shown = cluster::load_credentials(arguments.credentials);
  if (!shown.ok()) return fail(shown.status());
  const auto text = cluster::ask_why(arguments.address(), *run, clock, kAskNs, *shown);
  if (!text.ok()) return fail(text.status());
  std::printf("%s", printable(*text, Lines::kMany).c_str());
  return kDone;
}

}  // namespace

void add_status(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  const auto add = [&](const char* name, const char* summary) {
    CLI::App* const verb = app.add_subcommand(name, summary);
    verb->add_option("--directory", arguments->directory, "where it was started")
        ->capture_default_str();
    verb->add_option("--cluster", arguments->cluster, "its address; that of the directory");
    add_credential_flags(*verb, arguments->credentials);
    return verb;
  };
  CLI::App* const show = add("status", "Show a cluster's processes, islands, work and tenants");
  show->add_flag("--json", arguments->json, "as JSON");
  show->add_option("--watch", arguments->watch_s, "look again after so many seconds")
      ->expected(0, 1)
      ->default_str("1")
      ->check(CLI::PositiveNumber);
  show->add_option("--looks", arguments->looks, "with --watch: end after so many looks");
  show->add_option("--wait", arguments->wait_s,
                   "first wait until all schedulers and hosts are there, for so many seconds")
      ->check(CLI::PositiveNumber);
  show->footer("example: seaway status --watch");
  show->callback([arguments, &exit_code] { exit_code = status(*arguments); });
  CLI::App* const ask = add("why", "Say why runs of a cluster have no outcome yet");
  ask->add_option("run", arguments->run, "CLIENT:RUN; without it all that wait, the oldest first");
  ask->footer("example: seaway why 2:7");
  ask->callback([arguments, &exit_code] { exit_code = why(*arguments); });
}

}  // namespace seaway::tools
