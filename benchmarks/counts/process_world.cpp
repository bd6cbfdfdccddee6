// Starting the processes, and handing work to the client's.

#include "benchmarks/counts/process_world.hpp"

#include <utility>

#include "benchmarks/counts/inline_backend.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::uint64_t kWireNs = 10'000;
constexpr std::uint64_t kSeed = 1;

}  // namespace

ProcessWorld::ProcessWorld(Begin begin, std::uint32_t idle_clients)
    : begin_(std::move(begin)), idle_wanted_(idle_clients) {
  sim::ProcessCluster::Options options;
  options.cluster.devices = 1;
  options.cluster.threads = 1;
  options.seed = kSeed;
  options.clients_max = 1 + idle_clients;
  options.faults.wires.latency_min_ns = kWireNs;
  options.faults.wires.latency_max_ns = kWireNs + 1;
  options.tap = [this](const cluster::RoleName&, transport::ProcessId, std::uint32_t,
                       Frame& frame) {
    ++frames_;
    frame_bytes_ += frame.size_bytes();
  };
  cluster_ = std::make_unique<sim::ProcessCluster>(
      std::move(options), *engine_, events_,
      [](actor::Engine& engine, IslandId, std::function<void()> on_progress) {
        return std::make_unique<InlineBackend>(engine, std::move(on_progress));
      });
  cluster_->start_client(1, [this](cluster::Member& member, actor::SeededProcess& process) {
    be_client(member, process);
  });
  for (std::uint32_t i = 0; i < idle_clients; ++i) {
    cluster_->start_client(2 + i, [this](cluster::Member& member, actor::SeededProcess& process) {
      be_idle(member, process);
    });
  }
}

ProcessWorld::~ProcessWorld() {
  is_over_ = true;
  engine_->abandon_bodies();
  cluster_.reset();
  engine_.reset();
}

void ProcessWorld::be_idle(cluster::Member& member, actor::SeededProcess& process) {
  const auto client = member.connect({});
  if (!client.ok()) status_ = client.status();
  ++idle_;
  process.wait([this] { return is_over_; }, 0);
}

void ProcessWorld::be_client(cluster::Member& member, actor::SeededProcess& process) {
  auto client = member.connect({});
  if (!client.ok()) {
    status_ = client.status();
    return;
  }
  auto work = begin_(*std::move(client));
  if (!work.ok()) {
    status_ = work.status();
    return;
  }
  client_ = &process;
  while (!is_over_ && status_.ok()) {
    if (done_ < wanted_) {
      status_ = (*work)();
      ++done_;
    } else if (!process.wait([this] { return is_over_ || done_ < wanted_; }, 0)) {
      return;
    }
  }
}

Status ProcessWorld::run(std::uint32_t count) {
  wanted_ += count;
  if (client_) client_->notify();
  while (status_.ok() && (done_ < wanted_ || idle_ < idle_wanted_)) {
    if (!engine_->step()) return deadline_exceeded("the simulated cluster stands still");
  }
  return status_;
}

}  // namespace seaway::benchmarks
