// `seaway drain`: an island is emptied, so that its machine may go.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/clock.hpp"
#include "base/printable.hpp"
#include "cluster/credentials.hpp"
#include "cluster/process.hpp"
#include "config_flags.hpp"
#include "run_directory.hpp"
#include "transport/address_text.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

constexpr std::uint64_t kAskNs = 5'000'000'000;
constexpr std::chrono::milliseconds kPause(50);

struct Arguments {
  std::string directory = default_directory();
  std::string cluster;
  cluster::CredentialFiles credentials;
  IslandId island = 0;
  bool ends = false;
  double wait_s = 60;
};

int fail(const Status& status) {
  std::fprintf(stderr, "seaway: %s\n", printable(status.message()).c_str());
  return kCheckFailed;
}

int drain(const Arguments& arguments) {
  const RealClock clock;
  const auto shown = cluster::load_credentials(arguments.credentials);
  if (!shown.ok()) return fail(shown.status());
  const std::string address = arguments.cluster.empty()
                                  ? controller_address(arguments.directory)
                                  : transport::plain_address(arguments.cluster);
  const std::string island = "island " + std::to_string(arguments.island);
  const auto ask = [&](std::optional<controller::Drain> how) {
    return cluster::ask_to_drain(address, arguments.island, how, clock, kAskNs, *shown);
  };
  if (arguments.ends) {
    if (const auto left = ask({}); !left.ok()) return fail(left.status());
    std::printf("%s takes what is new again\n", island.c_str());
    return kDone;
  }
  const std::uint64_t until_ns =
      clock.now_ns() + static_cast<std::uint64_t>(arguments.wait_s * 1e9);
  for (;;) {
    const auto left = ask(controller::Drain::kUntilEnded);
    if (!left.ok()) return fail(left.status());
    if (left->is_nothing()) {
      std::printf("%s is empty: its host and its scheduler may end\n", island.c_str());
      return kDone;
    }
    if (clock.now_ns() >= until_ns) {
      return fail(deadline_exceeded(
          island + " still has " + cluster::text_of(*left) +
          ": slices that were asked for on it stay until they are released, and so do arrays that "
          "have no room elsewhere; nothing new comes, `seaway drain " +
          std::to_string(arguments.island) + "` goes on waiting, and --end takes it back"));
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

void add_drain(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* const verb = app.add_subcommand(
      "drain", "Let slices and arrays move off an island, and nothing new come to it");
  verb->add_option("island", arguments->island, "which one")->required();
  verb->add_flag("--end", arguments->ends, "it takes what is new again");
  verb->add_option("--wait", arguments->wait_s, "seconds until it is to be empty")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--directory", arguments->directory, "where the cluster was started")
      ->capture_default_str();
  verb->add_option("--cluster", arguments->cluster, "its address; that of the directory");
  add_credential_flags(*verb, arguments->credentials);
  verb->footer("example: seaway drain 1\n         seaway drain 1 --end");
  verb->callback([arguments, &exit_code] { exit_code = drain(*arguments); });
}

}  // namespace seaway::tools
