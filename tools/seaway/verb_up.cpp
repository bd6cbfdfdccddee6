// `seaway up`, `seaway down`: a cluster of real processes on this machine.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <thread>

#include "auto_tls.hpp"
#include "base/clock.hpp"
#include "base/printable.hpp"
#include "children.hpp"
#include "cluster/credentials.hpp"
#include "cluster/embedded.hpp"
#include "cluster/process.hpp"
#include "cluster_look.hpp"
#include "config_flags.hpp"
#include "private_files.hpp"
#include "run_directory.hpp"
#include "transport/address_text.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

constexpr std::uint64_t kAskNs = 2'000'000'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

struct Arguments {
  ConfigFlags flags;
  std::string directory = default_directory();
  std::string cluster;
  cluster::CredentialFiles credentials;
  std::string options;
  std::string host_program;  // Empty: this one.
  std::string tls;           // Of up: "auto", or nothing.
  double ready_s = 30;
};

std::string address_of(const Arguments& arguments) {
  if (!arguments.cluster.empty()) return transport::plain_address(arguments.cluster);
  return controller_address(arguments.directory);
}

int fail(const Status& status) {
  std::fprintf(stderr, "seaway: %s\n", printable(status.message()).c_str());
  return kCheckFailed;
}

/// SIGCHLD, SIGINT or SIGTERM; 0: none within `most_ns`.
int next_signal(const sigset_t& signals, std::uint64_t most_ns) {
  const timespec wait{static_cast<time_t>(most_ns / kSecondNs),
                      static_cast<long>(most_ns % kSecondNs)};
  const int signal = sigtimedwait(&signals, nullptr, &wait);
  return signal > 0 ? signal : 0;
}

/// What of a list of addresses is not of this machine's files.
std::string network_of(const std::string& listen) {
  std::vector<std::string> all = transport::split_addresses(listen);
  std::erase_if(all, [](const std::string& one) { return !transport::is_of_network(one); });
  return transport::join_addresses(all);
}

/// One port is the controller's; a host takes what there is.
std::string with_any_port(const std::string& network) {
  std::vector<std::string> all = transport::split_addresses(network);
  for (std::string& one : all) one = one.substr(0, one.rfind(':')) + ":0";
  return transport::join_addresses(all);
}

/// With what `options` say of processes: they go before settings. What the controller would refuse
/// is refused here, and not in its log.
Result<ClusterConfig> with_options(ClusterConfig config, const std::string& options) {
  const auto cluster = cluster::parse_embedded(spec_of(config, options));
  if (!cluster.ok()) return cluster.status();
  if (Status status = cluster::check_for_processes(*cluster); !status.ok()) return status;
  config.islands = cluster->islands;
  config.devices = cluster->devices;
  config.hosts = cluster->hosts;
  return config;
}

/// With what `--tls auto` makes, where it is asked for.
Result<ClusterConfig> prepare(ClusterConfig config, const std::string& tls, std::string& token) {
  // Its processes are known as its own, and each is told where it listens.
  for (const char* const name : {"SEAWAY_TOKEN_FILE", "SEAWAY_LISTEN", "SEAWAY_JOIN"}) {
    ::unsetenv(name);
  }
  if (!config.join.empty()) {
    return invalid_argument("`seaway up` begins a cluster, and joins none: leave out join");
  }
  if (tls.empty()) return config;
  const std::string network = network_of(config.listen);
  if (tls != "auto" || network.empty()) {
    return invalid_argument("--tls auto goes with --listen tls:HOST:PORT");
  }
  const std::string listening = transport::host_of(transport::split_addresses(network).front());
  const auto made =
      make_auto_tls(config.directory, {config.advertise.empty() ? listening : config.advertise});
  if (!made.ok()) return made.status();
  config.ca_file = made->authority;
  config.cert_file = made->certificate;
  config.key_file = made->key;
  token = made->token;
  return config;
}

/// Hosts of one island work in step, so that each needs cores of its own.
std::uint64_t threads_of(const ClusterConfig& config) {
  if (config.threads > 0 || config.hosts == 1) return config.threads;
  return std::max(1u, std::thread::hardware_concurrency() / config.hosts);
}

Status start_all(Children& children, const ClusterConfig& config, const std::string& options,
                 const std::string& host_program) {
  // Programs on other machines talk with the controller and with hosts.
  const std::string network = network_of(config.listen);
  const auto start = [&](const std::string& name, std::vector<std::string> words,
                         const std::string& program = {}) {
    words.insert(words.end(), {"--directory", config.directory, "--log-level", config.log_level,
                               "--die-with-parent", std::to_string(getpid())});
    for (const auto& [flag, value] : {std::pair("--ca-file", &config.ca_file),
                                      {"--cert-file", &config.cert_file},
                                      {"--key-file", &config.key_file},
                                      {"--advertise", &config.advertise}}) {
      if (!value->empty()) words.insert(words.end(), {flag, *value});
    }
    std::string file = name;
    std::replace(file.begin(), file.end(), ' ', '-');
    // The controller ends for good when a caller has asked the cluster to end; then all others do.
    const bool may_end = name == "controller";
    return children.start(
        {name, std::move(words), config.directory + "/" + file + ".log", program, may_end});
  };
  // Everybody else is told by the controller.
  std::vector<std::string> controller = {"controller"};
  for (const auto& [flag, value] :
       {std::pair<const char*, std::uint64_t>("--islands", config.islands),
        {"--devices", config.devices},
        {"--hosts", config.hosts},
        {"--threads", threads_of(config)},
        {"--heartbeat-ms", config.heartbeat_ms},
        {"--silence-ms", config.silence_ms}}) {
    controller.insert(controller.end(), {flag, std::to_string(value)});
  }
  controller.insert(controller.end(),
                    {"--device-memory", std::to_string(config.device_memory) + "B", "--host-memory",
                     std::to_string(config.host_memory) + "B"});
  controller.insert(controller.end(), {"--backend", config.backend});
  const std::string more = network.empty() ? "" : "," + network;
  controller.insert(controller.end(), {"--listen", controller_address(config.directory) + more});
  if (!options.empty()) controller.insert(controller.end(), {"--options", options});
  if (Status status = start("controller", controller); !status.ok()) return status;
  const std::string join = controller_address(config.directory);
  for (std::uint32_t island = 0; island < config.islands; ++island) {
    const std::string number = std::to_string(island);
    const std::string scheduler = "scheduler" + number;
    Status status = start("scheduler " + number,
                          {"scheduler", "--island", number, "--listen",
                           "unix:" + config.directory + "/" + scheduler + ".sock", "--join", join});
    if (!status.ok()) return status;
    for (std::uint32_t host = 0; host < config.hosts; ++host) {
      const std::string name = number + (host == 0 ? "" : "." + std::to_string(host));
      std::string listen = "unix:" + config.directory + "/host" + name + ".sock";
      if (!network.empty()) listen += "," + with_any_port(network);
      std::vector<std::string> words = {"--island", number, "--listen", listen, "--join", join};
      if (host > 0) words.insert(words.end(), {"--host", std::to_string(host)});
      if (host_program.empty()) words.insert(words.begin(), "host");
      status = start("host " + name, std::move(words), host_program);
      if (!status.ok()) return status;
    }
  }
  return {};
}

/// How programs on other machines reach it.
void tell_network(const std::string& addresses, const ClusterConfig& config,
                  const std::string& token) {
  const std::string network = network_of(addresses);
  if (network.empty()) return;
  const std::string authority = config.ca_file.empty() ? "" : " --ca-file " + config.ca_file;
  std::printf("from elsewhere: %s%s --token-file %s\n", network.c_str(), authority.c_str(),
              token.empty() ? "TOKEN" : token.c_str());
}

int up(const Arguments& arguments) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const RealClock clock;
  ConfigFlags flags = arguments.flags;
  const bool is_auto = arguments.tls == "auto";
  // Its certificates are made behind the settings, which ask for some.
  if (is_auto) {
    for (const char* const key : {"ca_file", "cert_file", "key_file"}) flags.values[key] = "auto";
  }
  const auto settings = load_settings(flags);
  if (!settings.ok()) return fail(settings.status());
  const auto wanted = with_options(settings->config, arguments.options);
  if (!wanted.ok()) return fail(wanted.status());
  if (Status status = claim_directory(wanted->directory); !status.ok()) return fail(status);
  std::string token;
  const auto prepared = prepare(*wanted, arguments.tls, token);
  if (!prepared.ok()) return fail(prepared.status());
  const ClusterConfig& config = *prepared;
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
    for (const ChildEnd& end : children.look_after(has_failed)) {
      std::fprintf(stderr, "seaway: %s\n", printable(end.line).c_str());
    }
    if (has_failed) return kCheckFailed;
    // Whoever asked the controller to end asked all of them.
    if (children.has_ended_well("controller")) break;
    if (is_ready) continue;
    const auto state = look_at_cluster(address, clock);
    if (state.ok() && state->is_complete()) {
      is_ready = true;
      const std::string hosts =
          state->hosts_each == 1 ? "a host" : std::to_string(state->hosts_each) + " hosts";
      std::printf(
          "ready in %.2f s: %u islands of %u devices, each with a scheduler and %s\n"
          "address: %s\nlogs: %s/*.log\nend it with Ctrl-C, or with `seaway down`\n",
          static_cast<double>(clock.now_ns() - begin_ns) / 1e9, config.islands, config.devices,
          hosts.c_str(), address.c_str(), config.directory.c_str());
      tell_network(state->json.value("address", ""), config, token);
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
  const auto shown = cluster::load_credentials(arguments.credentials);
  if (!shown.ok()) return fail(shown.status());
  if (Status status = cluster::ask_to_stop(address, clock, kAskNs, *shown); !status.ok()) {
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
  start->add_option("--tls", arguments->tls,
                    "auto: make certificates and a token for --listen tls:HOST:PORT");
  start->footer(
      "example: seaway up --islands 2 --devices 4\n"
      "         seaway up --islands 2 --hosts 2 --devices 4\n"
      "         seaway up --listen tls:127.0.0.1:0 --tls auto\n"
      "         seaway up --directory ./run --options device_memory=64MiB");
  start->callback([arguments, &exit_code] { exit_code = up(*arguments); });
  const auto add = [&](const char* name, const char* summary) {
    CLI::App* const verb = app.add_subcommand(name, summary);
    verb->add_option("--directory", arguments->directory, "where it was started")
        ->capture_default_str();
    verb->add_option("--cluster", arguments->cluster, "its address; that of the directory");
    add_credential_flags(*verb, arguments->credentials);
    return verb;
  };
  CLI::App* const stop = add("down", "End a cluster");
  stop->footer("example: seaway down --cluster unix:/run/user/1000/seaway/ctl.sock");
  stop->callback([arguments, &exit_code] { exit_code = down(*arguments); });
}

}  // namespace seaway::tools
