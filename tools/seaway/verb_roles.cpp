// One process of a cluster: what `seaway controller`, `seaway scheduler`, `seaway host` and
// programs of users that are hosts have in common.

#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "audit_log.hpp"
#include "base/clock.hpp"
#include "base/printable.hpp"
#include "cluster/credentials.hpp"
#include "cluster/process.hpp"
#include "config_flags.hpp"
#include "private_files.hpp"
#include "role_flags.hpp"
#include "role_log.hpp"
#include "run_directory.hpp"
#include "token_watch.hpp"
#include "transport/link.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

using actor::Role;

struct Arguments {
  ConfigFlags flags;
  std::string options;  // More words of connect().
  std::uint32_t island = 0;
  std::uint32_t host = 0;  // Which one of the island; behind the first they are annexes.
  double join_timeout_s = 10;
  pid_t parent = 0;  // With which it ends; 0: by itself.
};

/// What wakes the main thread: a signal of the terminal's, of a supervisor's, or of its own.
constexpr int kAnew = SIGUSR2;

/// To be called before any thread begins: all of them inherit the mask.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, kAnew}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

int fail(const Status& status) {
  std::fprintf(stderr, "seaway: %s\n", printable(status.message()).c_str());
  return kCheckFailed;
}

/// With which this process was started.
std::vector<std::string> own_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// Crash-only: a role that has lost its controller begins anew as a new process image, so that
/// nothing of its life is left: no file of the library's either, which would stay open.
void begin_anew() {
  std::vector<std::string> words = own_words();
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv("/proc/self/exe", pointers.data());
}

/// New certificates are for new connections; the old ones stay when the new ones will not do.
void reload(const ClusterConfig& config, const transport::Credentials& credentials) {
  if (!credentials.tls) return;
  const auto files = cluster::load_tls_files(credential_files(config));
  const Status status = files.ok() ? credentials.tls->reload(*files) : files.status();
  std::fprintf(stderr, "seaway: certificates %s\n",
               status.ok() ? "are read again" : status.message().c_str());
}

/// One of the hosts of an island that is to leave, with which the island goes: first everything
/// else leaves it. Until its controller has gone, time is over, or somebody asks again.
void leave(const cluster::ProcessOptions& options, IslandId island, std::uint32_t drain_ms,
           const sigset_t& signals) {
  const RealClock clock;
  const std::uint64_t until_ns = clock.now_ns() + std::uint64_t{drain_ms} * 1'000'000;
  const timespec pause = {.tv_sec = 0, .tv_nsec = 20'000'000};
  while (clock.now_ns() < until_ns) {
    const auto left = cluster::ask_to_drain(options.join, island, controller::Drain::kUntilJoined,
                                            clock, until_ns - clock.now_ns(), options.credentials);
    if (!left.ok() || left->is_nothing()) return;
    if (sigtimedwait(&signals, nullptr, &pause) > 0) return;
  }
}

/// Who it is to be.
cluster::RoleName name_of(const Arguments& arguments, Role role) {
  if (role == Role::kController) return {role, 0};
  if (role != Role::kHost || arguments.host == 0) return {role, arguments.island};
  return {Role::kAnnex, actor::annex_of(arguments.island, arguments.host)};
}

/// Of its socket and of the file with its address: "controller", "scheduler1", "host1", "host1.2".
std::string file_of(const Arguments& arguments, Role role) {
  if (role == Role::kController) return "controller";
  const std::string island = std::to_string(arguments.island);
  if (role == Role::kIsland) return "scheduler" + island;
  return "host" + island + (arguments.host == 0 ? "" : "." + std::to_string(arguments.host));
}

int play(const Arguments& arguments, Role role, std::shared_ptr<const Registry> registry) {
  if (arguments.parent != 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != arguments.parent) return kCheckFailed;  // It has died already.
  }
  const sigset_t signals = block_signals();
  const auto settings = load_settings(arguments.flags);
  if (!settings.ok()) return fail(settings.status());
  const ClusterConfig& config = settings->config;
  auto credentials = cluster::load_credentials(credential_files(config));
  if (!credentials.ok()) return fail(credentials.status());
  if (Status status = claim_directory(config.directory); !status.ok()) return fail(status);
  const std::string file = file_of(arguments, role);
  cluster::ProcessOptions options;
  options.credentials = *credentials;
  options.advertise = config.advertise;
  options.name = name_of(arguments, role);
  options.join_timeout_ns = static_cast<std::uint64_t>(arguments.join_timeout_s * 1e9);
  if (role == Role::kController) {
    std::random_device device;
    const auto life = begin_life(config.directory, std::uint64_t{device()} << 32 | device());
    if (!life.ok()) return fail(life.status());
    options.cluster = life->cluster;
    options.life = life->life;
    options.spec = spec_of(config, arguments.options);
    options.heartbeat_ns = std::uint64_t{config.heartbeat_ms} * 1'000'000;
    options.silence_ns = std::uint64_t{config.silence_ms} * 1'000'000;
    options.listen = config.listen.empty() ? controller_address(config.directory) : config.listen;
    options.tokens = [watch = std::make_shared<TokenWatch>(config.directory + "/tokens")] {
      return watch->changed();
    };
    options.audit = [path = config.directory + "/audit.log"](const std::string& line) {
      append_audit(path, line);
    };
    options.utc_s = [] { return now_seconds(); };
  } else {
    options.join = config.join.empty() ? controller_address(config.directory) : config.join;
    options.listen =
        !config.listen.empty() ? config.listen : "unix:" + config.directory + "/" + file + ".sock";
  }
  options.registry = std::move(registry);
  options.log = make_role_log(config.log_level);
  options.on_orphaned = [] { kill(getpid(), kAnew); };
  const auto is_asked_to_stop = std::make_shared<std::atomic<bool>>(false);
  options.on_stop = [is_asked_to_stop] {
    *is_asked_to_stop = true;
    kill(getpid(), SIGTERM);
  };
  auto process = cluster::Process::start(options, std::make_shared<const RealClock>());
  if (!process.ok()) return fail(process.status());
  if (Status status = write_address(config.directory, file, (*process)->address()); !status.ok()) {
    return fail(status);
  }
  std::printf("%s listens at %s, life %u\n", cluster::to_string((*process)->name()).c_str(),
              (*process)->address().c_str(), (*process)->life());
  std::fflush(stdout);
  int signal = 0;
  while (sigwait(&signals, &signal) != 0 || signal == SIGHUP) {
    if (signal == SIGHUP) reload(config, *credentials);
  }
  // Whoever started it ends all of the cluster when it ends one of it.
  if (signal == SIGTERM && role == Role::kHost && arguments.parent == 0) {
    leave(options, arguments.island, config.drain_ms, signals);
  }
  process->reset();
  // A supervisor starts a role again that ended of a signal, and not one that was asked to end.
  constexpr int kSignalled = 128;
  const bool is_supervised = arguments.parent != 0;
  if (signal != kAnew) return is_supervised && !*is_asked_to_stop ? kSignalled + signal : kDone;
  begin_anew();
  return kCheckFailed;
}

}  // namespace

void add_role_flags(CLI::App& role_verb, int& exit_code, Role role,
                    std::shared_ptr<const Registry> registry) {
  CLI::App* const verb = &role_verb;
  const auto arguments = std::make_shared<Arguments>();
  add_config_flags(*verb, arguments->flags);
  if (role == Role::kController) {
    verb->add_option("--options", arguments->options,
                     "more words of connect(): policy=shares,runs_in_flight=64");
  } else {
    verb->add_option("--island", arguments->island, "which one it is of")
        ->check(CLI::Range(0u, transport::ClusterLinks::kIslandsMax - 1))
        ->capture_default_str();
    if (role == Role::kHost) {
      verb->add_option(
              "--host", arguments->host,
              "which of the hosts of its island, where --hosts of the controller says that "
              "there are several")
          ->check(CLI::Range(0u, actor::kHostsMax - 1))
          ->capture_default_str();
    }
    verb->add_option("--join-timeout", arguments->join_timeout_s,
                     "seconds until there is a controller that takes it")
        ->capture_default_str();
  }
  verb->add_option("--die-with-parent", arguments->parent,
                   "end as soon as the process of this number, which has started it, has ended");
  verb->callback([arguments, role, registry = std::move(registry), &exit_code] {
    exit_code = play(*arguments, role, registry);
  });
}

}  // namespace seaway::tools

namespace seaway {

int host_main(int argc, char** argv, const Registry& registry) {
  CLI::App app("A host of a Seaway cluster, with what this program has registered");
  int exit_code = tools::kDone;
  tools::add_role_flags(app, exit_code, actor::Role::kHost,
                        std::make_shared<const Registry>(registry));
  app.footer(std::string("example: ") + argv[0] + " --island 1 --directory ./run");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // Help arrives here, too.
    std::fprintf(stderr, "%s: %s\n\n%s", argv[0], error.what(), app.help().c_str());
    return tools::kBadUsage;
  }
  return exit_code;
}

}  // namespace seaway
