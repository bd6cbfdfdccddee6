// Ping-pong between two processes on one core: 64 bytes over a bare socket, and a frame from actor
// to actor over the same kind of socket, where it becomes a packet of 64 bytes; beside it, others
// who do the same. Then the same messages one way, in batches.

#include "benchmarks/wire/wire.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/support/command.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/pairs.hpp"
#include "benchmarks/wire/ends.hpp"
#include "benchmarks/wire/one_way.hpp"
#include "benchmarks/wire/others.hpp"
#include "benchmarks/wire/python_peers.hpp"
#include "benchmarks/wire/round_trips.hpp"

namespace seaway::benchmarks {
namespace {

constexpr int kRounds = 50'000;  // Of others, who are measured as a whole.
constexpr int kPythonRounds = 5'000;
constexpr int kQuickRounds = 200;
constexpr int kPairs = 40, kRoundsOfPair = 1'000, kBatchesOfPair = 1'000;
/// Other work on the machine only makes rounds of others slower: the fast tenth counts.
constexpr double kFastRounds = 0.1;
struct Kind {
  const char* socket;
  double most;  // Of wire.over_raw_socket.
};
/// The raw socket of TLS is one of TCP: what encryption costs counts as ours.
constexpr std::array<Kind, 3> kKinds = {{{"unix", 2}, {"tcp", 2}, {"tls", 3.5}}};

/// Others who carry messages between processes, beside us.
void run_others(const std::string& directory, int rounds, const BenchReport::Params& pinning,
                BenchReport& report) {
  const auto add = [&](const char* name, const char* socket, std::vector<double> samples) {
    BenchReport::Params params = {{"peer", name}, {"socket", socket}};
    params.insert(params.end(), pinning.begin(), pinning.end());
    report.add("wire.peer_round_trip_us", quantile(std::move(samples), kFastRounds), "us", params);
  };
  add("capnp_rpc", "unix", capnp_rpc_us("unix:" + directory + "/rpc", rounds));
  add("capnp_rpc", "tcp", capnp_rpc_us("127.0.0.1", rounds));
  add("caf_net", "tcp", caf_net_us(rounds));
}

/// Systems that may not be there; where they are not, that is said and is no figure. Each polls or
/// has threads that need a core of their own: nothing is pinned.
void run_python_peers(const std::string& directory, bool is_quick, BenchReport& report) {
  for (const PythonPeer& peer : python_peers()) {
    const auto samples = python_peer_us(peer, directory, is_quick ? kQuickRounds : kPythonRounds);
    if (!samples.ok()) {
      std::fprintf(stderr, "seaway: bench wire: %s\n", samples.status().message().c_str());
      continue;
    }
    report.add("wire.peer_round_trip_us", quantile(*samples, kFastRounds), "us",
               {{"peer", peer.name}, {"socket", "own"}, {"pinning", "none"}});
  }
}

Status run_round_trips(const Kind& kind, const std::string& directory, const BenchOptions& options,
                       const BenchReport::Params& params, BenchReport& report) {
  const int rounds = options.quick ? kQuickRounds : kRoundsOfPair;
  RawRoundTrips raw(std::string_view(kind.socket) == "unix");
  ActorRoundTrips ours(kind.socket, directory, {});
  const auto pairs = measure_pairs(
      options.quick ? 1 : kPairs, [&] { return Result<double>(median(ours.measure_us(rounds))); },
      [&] { return Result<double>(median(raw.measure_us(rounds))); });
  if (!pairs.ok()) return pairs.status();
  report.add("wire.raw_socket_us", median(pairs->second), "us", params);
  report.add("wire.round_trip_us", median(pairs->first), "us", params);
  report.add_ratio("wire.over_raw_socket", interval_of(pairs->ratio), params,
                   Bound::at_most(kind.most));
  return {};
}

Status run_messages(const Kind& kind, Batching batching, const std::string& directory,
                    const BenchOptions& options, const BenchReport::Params& params,
                    BenchReport& report) {
  const int batches = options.quick ? kQuickRounds : kBatchesOfPair;
  const bool is_frame = batching == Batching::kFrame;
  RawMessages raw(std::string_view(kind.socket) == "unix", batches);
  ActorMessages ours(kind.socket, directory, batching, batches);
  const auto pairs = measure_pairs(
      options.quick ? 1 : kPairs, [&] { return Result<double>(raw.measure_ns()); },
      [&] { return Result<double>(ours.measure_ns()); });
  if (!pairs.ok()) return pairs.status();
  BenchReport::Params batched = params;
  batched.emplace_back("batched", is_frame ? "frame" : "turn");
  report.add("wire.writev_message_ns", median(pairs->first), "ns", batched);
  report.add("wire.message_ns", median(pairs->second), "ns", batched);
  // What TLS costs has its bound above.
  const bool is_held = is_frame && std::string_view(kind.socket) != "tls";
  report.add_ratio("wire.messages_over_writev", interval_of(pairs->ratio), batched,
                   is_held ? Bound::at_least(1) : Bound());
  return {};
}

/// What has one core for both ends.
Status run_pinned(const std::string& directory, const BenchOptions& options, BenchReport& report) {
  const PinnedToOneCore pinned;
  const BenchReport::Params pinning = {{"pinning", pinned.pinned() ? "one_core" : "none"}};
  for (const Kind& kind : kKinds) {
    BenchReport::Params params = {{"socket", kind.socket}};
    params.insert(params.end(), pinning.begin(), pinning.end());
    Status status = run_round_trips(kind, directory, options, params, report);
    for (const Batching batching : {Batching::kTurn, Batching::kFrame}) {
      if (!status.ok()) return status;
      status = run_messages(kind, batching, directory, options, params, report);
    }
    if (!status.ok()) return status;
  }
  run_others(directory, options.quick ? kQuickRounds : kRounds, pinning, report);
  return {};
}

}  // namespace

Status run_wire(const BenchOptions& options, BenchReport& report) {
  const ScratchDirectory directory;
  if (directory.path().empty()) return resource_exhausted("cannot make a directory for sockets");
  Status status = run_pinned(directory.path(), options, report);
  run_python_peers(directory.path(), options.quick, report);
  return status;
}

}  // namespace seaway::benchmarks
