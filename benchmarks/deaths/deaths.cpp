// Kills hosts, stops them, and loads them: what the controller, a client and the kernel say when.

#include "benchmarks/deaths/deaths.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/up_cluster.hpp"

namespace seaway::benchmarks {
namespace {

using Samples = std::vector<double>;

/// So many that each is killed seldom enough to be started again.
constexpr std::uint32_t kIslands = 8;
constexpr std::uint64_t kPatienceNs = 20'000'000'000;
/// An island that is lost more than three times in ten seconds has failed, as people's would.
constexpr std::uint64_t kBetweenKillsNs = 4'000'000'000;

std::string host(std::uint32_t island) { return "host " + std::to_string(island); }
double ms_since(std::uint64_t begin_ns) { return static_cast<double>(now_ns() - begin_ns) / 1e6; }

/// Milliseconds until the controller says that `life` of `name` is over; negative: it does not.
double known_after_ms(const UpCluster& cluster, const std::string& name, std::uint32_t life,
                      std::uint64_t begin_ns) {
  while (now_ns() < begin_ns + kPatienceNs) {
    const auto lives = cluster.lives();
    if (lives.empty()) continue;  // It has not answered.
    const auto found = lives.find(name);
    if (found == lives.end() || found->second != life) return ms_since(begin_ns);
  }
  return -1;
}

/// From the death of a process until whoever has its socket reads the end of it.
Result<double> socket_end_ms() {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    return resource_exhausted("no pair of sockets could be made");
  }
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  close(ends[1]);
  const std::uint64_t begin_ns = now_ns();
  kill(child, SIGKILL);
  char byte = 0;
  const bool has_ended = child > 0 && read(ends[0], &byte, 1) == 0;
  const double time_ms = ms_since(begin_ns);
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  if (!has_ended) return resource_exhausted("no process could be made");
  return time_ms;
}

struct Deaths {
  Samples known_ms, outcome_ms, elsewhere_ms, again_ms, raw_ms;
};

/// One host dies with a run of some seconds on it, while another client uses another host.
Status kill_one(const UpCluster& cluster, std::uint32_t island, const Worker& elsewhere,
                Deaths& deaths) {
  const auto pending = Worker::make(cluster.address(), static_cast<std::int32_t>(island), 768, 64);
  if (!pending.ok()) return pending.status();
  const Run run = pending->run();
  const auto lives = cluster.lives();
  const auto life = lives.find(host(island));
  const pid_t process = cluster.process_of(host(island));
  if (life == lives.end() || process == 0) return invalid_argument(host(island) + " is not there");
  const std::uint64_t begin_ns = now_ns();
  kill(process, SIGKILL);
  double known_ms = -1, elsewhere_ms = -1;
  std::thread looker(
      [&] { known_ms = known_after_ms(cluster, host(island), life->second, begin_ns); });
  std::thread other([&] {
    if (elsewhere.call().ok()) elsewhere_ms = ms_since(begin_ns);
  });
  const Status outcome = run.output(0).to_host<float>().get().status();
  const double outcome_ms = ms_since(begin_ns);
  looker.join();
  other.join();
  if (outcome.ok()) return invalid_argument("a run outlived its host");
  if (known_ms < 0) return invalid_argument("nobody noticed that a host was gone");
  if (elsewhere_ms < 0) return invalid_argument("another program was harmed");
  deaths.known_ms.push_back(known_ms);
  deaths.outcome_ms.push_back(outcome_ms);
  deaths.elsewhere_ms.push_back(elsewhere_ms);
  for (;;) {
    const auto again = Worker::make(cluster.address(), static_cast<std::int32_t>(island), 2, 1);
    if (again.ok() && again->call().ok()) break;
    if (now_ns() > begin_ns + kPatienceNs) return invalid_argument("a host did not come back");
  }
  deaths.again_ms.push_back(ms_since(begin_ns));
  auto raw = socket_end_ms();
  if (!raw.ok()) return raw.status();
  deaths.raw_ms.push_back(*raw);
  return {};
}

Status kill_hosts(const UpCluster& cluster, int kills, BenchReport& report) {
  Deaths deaths;
  const auto elsewhere = Worker::make(cluster.address(), 0, 2, 1);
  if (!elsewhere.ok()) return elsewhere.status();
  std::vector<std::uint64_t> killed_ns(cluster.islands(), 0);
  for (int i = 0; i < kills; ++i) {
    const std::uint32_t island = 1 + static_cast<std::uint32_t>(i) % (cluster.islands() - 1);
    while (killed_ns[island] != 0 && now_ns() < killed_ns[island] + kBetweenKillsNs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    killed_ns[island] = now_ns();
    if (Status status = kill_one(cluster, island, *elsewhere, deaths); !status.ok()) return status;
  }
  const auto add = [&](const char* metric, const Samples& samples, const char* bound) {
    for (const double share : {0.5, 0.99}) {
      BenchReport::Params params = {{"kills", std::to_string(kills)},
                                    {"quantile", share == 0.5 ? "0.5" : "0.99"}};
      if (bound) params = with_bound(params, bound);
      report.add(metric, quantile(samples, share), "ms", params);
    }
  };
  add("deaths.kill_known_ms", deaths.known_ms, "50");
  add("deaths.kill_outcome_ms", deaths.outcome_ms, "50");
  add("deaths.elsewhere_ms", deaths.elsewhere_ms, "3000");
  add("deaths.again_ms", deaths.again_ms, "3000");
  add("deaths.raw_socket_end_ms", deaths.raw_ms, nullptr);
  return {};
}

Status stop_hosts(const UpCluster& cluster, int stops, BenchReport& report) {
  Samples known_ms;
  for (int i = 0; i < stops; ++i) {
    const std::uint32_t island = 1 + static_cast<std::uint32_t>(i) % (cluster.islands() - 1);
    const auto lives = cluster.lives();
    const auto life = lives.find(host(island));
    const pid_t process = cluster.process_of(host(island));
    if (life == lives.end() || process == 0) return invalid_argument(host(island) + " is away");
    const std::uint64_t begin_ns = now_ns();
    kill(process, SIGSTOP);
    known_ms.push_back(known_after_ms(cluster, host(island), life->second, begin_ns));
    kill(process, SIGCONT);
    if (known_ms.back() < 0) return invalid_argument("nobody noticed that a host stood still");
    // It begins a new life: nobody is stopped twice in one.
    while (now_ns() < begin_ns + kPatienceNs) {
      const auto now = cluster.lives();
      const auto found = now.find(host(island));
      if (found != now.end() && found->second != life->second) break;
    }
  }
  report.add("deaths.stop_known_ms", quantile(known_ms, 0.99), "ms",
             with_bound({{"stops", std::to_string(stops)}, {"quantile", "0.99"}}, "1500"));
  return {};
}

/// All hosts compute as much as the machine has; nobody may be taken for dead.
Status load_hosts(const UpCluster& cluster, double seconds, BenchReport& report) {
  const auto before = cluster.lives();
  std::atomic<bool> is_over = false;
  std::atomic<int> failures = 0;
  std::vector<std::thread> clients;
  for (std::uint32_t island = 0; island < cluster.islands(); ++island) {
    clients.emplace_back([&, island] {
      const auto worker =
          Worker::make(cluster.address(), static_cast<std::int32_t>(island), 256, 8);
      if (!worker.ok()) {
        ++failures;
        return;
      }
      while (!is_over) failures += !worker->call().ok();
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  is_over = true;
  for (std::thread& client : clients) client.join();
  const auto after = cluster.lives();
  std::uint32_t suspicions = static_cast<std::uint32_t>(failures.load());
  for (const auto& [name, life] : before) {
    const auto found = after.find(name);
    suspicions += found == after.end() ? 1 : found->second - life;
  }
  // A benchmark's figures are positive: what is counted is what held.
  report.add("deaths.seconds_of_load", seconds, "s",
             {{"suspicions", std::to_string(suspicions)}, {"suspicions_bound", "0"}});
  return suspicions == 0 ? Status()
                         : invalid_argument(std::to_string(suspicions) +
                                            " processes that lived were taken for dead");
}

}  // namespace

Status run_deaths(const BenchOptions& options, BenchReport& report) {
  auto cluster =
      UpCluster::start(options.quick ? 3 : kIslands, 1, {}, UpCluster::Silence::kDefault);
  if (!cluster.ok()) return cluster.status();
  const double load_s = options.load_s > 0 ? options.load_s : options.quick ? 1 : 20;
  if (Status status = load_hosts(**cluster, load_s, report); !status.ok()) return status;
  if (Status status = kill_hosts(**cluster, options.quick ? 2 : 100, report); !status.ok()) {
    return status;
  }
  return stop_hosts(**cluster, options.quick ? 1 : 7, report);
}

}  // namespace seaway::benchmarks
