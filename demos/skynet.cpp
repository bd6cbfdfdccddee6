// skynet: each actor spawns ten children, down to a million leaves, and adds up what they say. The
// well-known measure of how cheap actors are.

#include "demos/skynet.hpp"

#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "demos/list.hpp"
#include "demos/skynet.capnp.h"
#include "demos/support/report.hpp"
#include "demos/support/simulated.hpp"
#include "demos/support/terminal.hpp"
#include "seaway/host_main.hpp"

namespace seaway::demos {
namespace {

using skynet::Count;
using skynet::Sum;

constexpr const char* kCluster = "embedded:islands=2,devices=1";
constexpr std::uint32_t kChildren = 10;

/// How many there are, on all hosts of this process: in the end none may be left over.
std::atomic<std::int64_t> nodes_alive = 0;

/// Sums are added on the hosts where they are; hosts in other processes know this by its name.
void add(Sum::Reader a, Sum::Reader b, Sum::Builder out) {
  out.setSum(a.getSum() + b.getSum());
  out.setActors(a.getActors() + b.getActors());
}
constexpr Combining kAdd{"skynet.add", add};

/// Stands for the leaves first .. first + size - 1.
class Node {
 public:
  static void describe(ActorType<Node>& type) { type.on(&Node::count); }

  /// All members of a mesh are made from the same arguments; their index tells them apart.
  Node(Self self, std::uint64_t first, std::uint64_t size)
      : self_(std::move(self)), first_(first + self_.index() * size), size_(size) {
    ++nodes_alive;
  }
  ~Node() { --nodes_alive; }

  Task<Reply<Sum>> count(Request<Count>) {
    if (size_ == 1) {
      co_return make<Sum>([this](Sum::Builder m) {
        m.setSum(first_);
        m.setActors(1);
      });
    }
    // Children are a mesh too. They are this actor's own: whatever becomes of it, they end with it.
    const auto children = co_await self_.spawn<Node>(self_.here().each("child", kChildren), first_,
                                                     size_ / kChildren);
    if (!children.ok()) co_return children.status();
    // All are asked, and their answers are added where they are: one sum comes back.
    const auto sum = co_await children.value().reduce(&Node::count, kAdd);
    if (!sum.ok()) co_return sum.status();
    const auto stopped = co_await children.value().stop();
    if (!stopped.ok()) co_return stopped.status();
    co_return make<Sum>([&](Sum::Builder m) {
      m.setSum(sum.value()->getSum());
      m.setActors(sum.value()->getActors() + 1);
    });
  }

 private:
  Self self_;
  std::uint64_t first_;
  std::uint64_t size_;
};

}  // namespace

Result<std::uint64_t> count_leaves(const Client& client, std::uint64_t leaves) {
  Placement top = client.hosts();
  const std::uint64_t wanted = leaves * (leaves - 1) / 2;
  // The first ten go to the hosts in turn; those below live where their parents do.
  top.axes = {{"child", kChildren}};
  const std::size_t hosts = top.hosts.size();
  while (top.hosts.size() < kChildren) top.hosts.push_back(top.hosts[top.hosts.size() % hosts]);
  top.hosts.resize(kChildren);
  const auto nodes = client.spawn<Node>(top, std::uint64_t{0}, leaves / kChildren);
  if (!nodes.ok()) return nodes.status();
  const auto sum = nodes->reduce(&Node::count, kAdd).get();
  if (!sum.ok()) return sum.status();
  if (sum.value()->getSum() != wanted) {
    return Status(StatusCode::kDataCorruption, "the sum is " +
                                                   std::to_string(sum.value()->getSum()) +
                                                   " and not " + std::to_string(wanted));
  }
  if (const auto stopped = nodes->stop().get(); !stopped.ok()) return stopped.status();
  if (nodes_alive != 0) {
    return Status(StatusCode::kDataCorruption,
                  std::to_string(nodes_alive) + " actors are left over");
  }
  return sum.value()->getActors();
}

namespace {

Status measure(const DemoOptions& options) {
  const RealClock clock;
  std::uint64_t leaves = options.quick || options.simulation_seed ? 1'000 : 1'000'000;
  if (options.size > 0) leaves = options.size;
  std::uint64_t power = kChildren;
  while (power < leaves) power *= kChildren;
  if (power != leaves) return invalid_argument("--size has to be a power of ten, 10 at least");
  if (options.simulation_seed) {
    return show_simulated(kCluster, *options.simulation_seed,
                          [&](Simulation&, const Client& simulated) {
                            return count_leaves(simulated, leaves).status();
                          });
  }
  const auto client = connect(options.cluster.empty() ? kCluster : options.cluster);
  if (!client.ok()) return client.status();

  const std::uint64_t begin_ns = clock.now_ns();
  const auto actors = count_leaves(*client, leaves);
  if (!actors.ok()) return actors.status();
  const double seconds = static_cast<double>(clock.now_ns() - begin_ns) * 1e-9;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%s actors have lived, counted and ended in %.2f s: %s a second, %ld MiB at most\n",
              short_number(static_cast<double>(*actors)).c_str(), seconds,
              short_number(static_cast<double>(*actors) / seconds).c_str(), usage.ru_maxrss / 1024);
  return {};
}

}  // namespace

void register_skynet(Registry& registry) {
  registry.actor<Node, std::uint64_t, std::uint64_t>().reduction<Sum>(kAdd);
}

int run_skynet(const DemoOptions& options) { return finish("skynet", measure(options)); }

}  // namespace seaway::demos
