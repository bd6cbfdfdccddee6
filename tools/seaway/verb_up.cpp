// `seaway up`, `seaway down`: a cluster of real processes on this machine.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/clock.hpp"
#include "children.hpp"
#include "cluster/process.hpp"
#include "cluster_look.hpp"
#include "config_flags.hpp"
#include "private_files.hpp"
#include "run_directory.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

constexpr std::uint64_t kAskNs = 2'000'000'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

struct Arguments {
  ConfigFlags flags;
  std::string directory = default_directory();
  std::string cluster;
  std::string options;
  std::string host_program;  // Empty: this one.
  double ready_s = 30;
};

std::string address_of(const Arguments& arguments) {
  if (!arguments.cluster.empty()) return arguments.cluster;
  return controller_address(arguments.directory);
}

int fail(const Status& status) {
  std::fprintf(stderr, "seaway: %s\n", status.message().c_str());
  return kCheckFailed;
}

/// SIGCHLD, SIGINT or SIGTERM; 0: none within `most_ns`.
int next_signal(const sigset_t& signals, std::uint64_t most_ns) {
  const timespec wait{static_cast<time_t>(most_ns / kSecondNs),
                      static_cast<long>(most_ns % kSecondNs)};
  const int signal = sigtimedwait(&signals, nullptr, &wait);
  return signal > 0 ? signal : 0;
}

Status start_all(Children& children, const ClusterConfig& config, const std::string& options,
                 const std::string& host_program) {
  const auto start = [&](const std::string& name, std::vector<std::string> words,
                         const std::string& program = {}) {
    words.insert(words.end(), {"--directory", config.directory, "--die-with-parent"});
    std::string file = name;
    std::replace(file.begin(), file.end(), ' ', '-');
    return children.start(
        {name, std::move(words), config.directory + "/" + file + ".log", program});
  };
  // Everybody else is told by the controller.
  std::vector<std::string> controller = {"controller"};
  for (const auto& [flag, value] :
       {std::pair<const char*, std::uint64_t>("--islands", config.islands),
        {"--devices", config.devices},
        {"--threads", config.threads},
        {"--heartbeat-ms", config.heartbeat_ms},
        {"--silence-ms", config.silence_ms}}) {
    controller.insert(controller.end(), {flag, std::to_string(value)});
  }
  controller.insert(controller.end(),
                    {"--device-memory", std::to_string(config.device_memory) + "B", "--host-memory",
                     std::to_string(config.host_memory) + "B"});
  if (!options.empty()) controller.insert(controller.end(), {"--options", options});
  if (Status status = start("controller", controller); !status.ok()) return status;
  for (std::uint32_t island = 0; island < config.islands; ++island) {
    const std::string number = std::to_string(island);
    for (const std::string role : {"scheduler", "host"}) {
      const bool is_other = role == "host" && !host_program.empty();
      Status status = is_other ? start("host " + number, {"--island", number}, host_program)
                               : start(role + " " + number, {role, "--island", number});
      if (!status.ok()) return status;
    }
  }
  return {};
}

int up(const Arguments& arguments) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const RealClock clock;
  const auto settings = load_settings(arguments.flags);
  if (!settings.ok()) return fail(settings.status());
  const ClusterConfig& config = settings->config;
  if (Status status = check_supported(config); !status.ok()) return fail(status);
  if (Status status = claim_directory(config.directory); !status.ok()) return fail(status);
  const std::string address = controller_address(config.directory);
  if (look_at_cluster(address, clock).ok()) {
    return fail(resource_exhausted("a cluster runs at " + address +
                                   " already; `seaway down` ends it, or choose another place with "
                                   "--directory"));
  }
  const std::uint64_t begin_ns = clock.now_ns();
  Children children(clock);
  if (Status status = start_all(children, config, arguments.options, arguments.host_program);
      !status.ok())
    return fail(status);
  bool is_ready = false, has_failed = false;
  for (;;) {
    const int signal = next_signal(signals, is_ready ? kSecondNs : kSecondNs / 100);
    if (signal == SIGINT || signal == SIGTERM) break;
    for (const std::string& line : children.look_after(has_failed)) {
      std::fprintf(stderr, "seaway: %s\n", line.c_str());
    }
    if (has_failed) return kCheckFailed;
    // Whoever asked the controller to end asked all of them.
    if (children.has_ended_well("controller")) break;
    if (is_ready) continue;
    const auto state = look_at_cluster(address, clock);
    if (state.ok() && state->schedulers == config.islands && state->hosts == config.islands) {
      is_ready = true;
      std::printf(
          "ready in %.2f s: %u islands of %u devices, each with a scheduler and a host\n"
          "address: %s\nlogs: %s/*.log\nend it with Ctrl-C, or with `seaway down`\n",
          static_cast<double>(clock.now_ns() - begin_ns) / 1e9, config.islands, config.devices,
          address.c_str(), config.directory.c_str());
      std::fflush(stdout);
    } else if (clock.now_ns() - begin_ns > static_cast<std::uint64_t>(arguments.ready_s * 1e9)) {
      return fail({StatusCode::kDeadlineExceeded, "the cluster is not ready after " +
                                                      std::to_string(arguments.ready_s) +
                                                      " s; see " + config.directory + "/*.log"});
    }
  }
  std::printf("the cluster ends\n");
  return kDone;
}

int down(const Arguments& arguments) {
  const RealClock clock;
  const std::string address = address_of(arguments);
  if (Status status = cluster::ask_to_stop(address, clock, kAskNs); !status.ok()) {
    return fail(status);
  }
  std::printf("the cluster at %s ends\n", address.c_str());
  return kDone;
}

}  // namespace

void add_up(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* const start = app.add_subcommand("up", "Start a cluster of processes on this machine");
  add_config_flags(*start, arguments->flags);
  start->add_option("--options", arguments->options,
                    "more words of connect(): device_memory=64MiB,policy=shares");
  start
      ->add_option("--host-program", arguments->host_program,
                   "a program of your own as the hosts, which calls seaway::host_main()")
      ->check(CLI::ExistingFile);
  start
      ->add_option("--ready", arguments->ready_s, "give up when it is not ready in so many seconds")
      ->capture_default_str();
  start->footer(
      "example: seaway up --islands 2 --devices 4\n"
      "         seaway up --directory ./run --options device_memory=64MiB");
  start->callback([arguments, &exit_code] { exit_code = up(*arguments); });
  const auto add = [&](const char* name, const char* summary) {
    CLI::App* const verb = app.add_subcommand(name, summary);
    verb->add_option("--directory", arguments->directory, "where it was started")
        ->capture_default_str();
    verb->add_option("--cluster", arguments->cluster, "its address; that of the directory");
    return verb;
  };
  CLI::App* const stop = add("down", "End a cluster");
  stop->footer("example: seaway down --cluster unix:/run/user/1000/seaway/ctl.sock");
  stop->callback([arguments, &exit_code] { exit_code = down(*arguments); });
}

}  // namespace seaway::tools
