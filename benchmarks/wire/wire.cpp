// Ping-pong between two processes on one core: 64 bytes over a bare socket, and a frame from actor
// to actor over the same kind of socket, where it becomes a packet of 64 bytes; beside it, others
// who do the same. Then the same messages one way, in batches.

#include "benchmarks/wire/wire.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/support/command.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/wire/ends.hpp"
#include "benchmarks/wire/one_way.hpp"
#include "benchmarks/wire/others.hpp"
#include "benchmarks/wire/python_peers.hpp"
#include "benchmarks/wire/round_trips.hpp"

namespace seaway::benchmarks {
namespace {

constexpr int kRounds = 50'000;
constexpr int kPythonRounds = 5'000;
constexpr int kQuickRounds = 200;
struct Kind {
  const char* socket;
  const char* bound;  // Of wire.over_raw_socket.
  double bound_number;
};
/// The raw socket of TLS is one of TCP: what encryption costs counts as ours.
constexpr std::array<Kind, 3> kKinds = {
    {{"unix", "2.0", 2.0}, {"tcp", "2.0", 2.0}, {"tls", "3.5", 3.5}}};

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

/// What has a core of its own.
Status run_pinned(const std::string& directory, const BenchOptions& options, BenchReport& report) {
  const int rounds = options.quick ? kQuickRounds : kRounds;
  const PinnedToOneCore pinned;
  const BenchReport::Params pinning = {{"pinning", pinned.pinned() ? "one_core" : "none"}};
  Status status;
  const auto expect = [&](bool holds, const std::string& figure, double value,
                          const std::string& bound) {
    if (options.quick || holds) return;
    status =
        resource_exhausted(figure + " is " + std::to_string(value) + "; the bound is " + bound);
  };
  for (const Kind& kind : kKinds) {
    const bool is_unix = std::string_view(kind.socket) == "unix";
    BenchReport::Params params = {{"socket", kind.socket}};
    params.insert(params.end(), pinning.begin(), pinning.end());
    const double raw = quantile(raw_round_trips_us(is_unix, rounds), kFastRounds);
    const double ours =
        quantile(actor_round_trips_us(kind.socket, directory, {.rounds = rounds}), kFastRounds);
    report.add("wire.raw_socket_us", raw, "us", params);
    report.add("wire.round_trip_us", ours, "us", params);
    report.add("wire.over_raw_socket", ours / raw, "ratio", with_bound(params, kind.bound));
    // A NaN is no ratio below the bound either.
    expect(ours / raw <= kind.bound_number, std::string("wire.over_raw_socket over ") + kind.socket,
           ours / raw, kind.bound);

    const double writev_ns = writev_message_ns(is_unix, rounds);
    report.add("wire.writev_message_ns", writev_ns, "ns", params);
    for (const Batching batching : {Batching::kTurn, Batching::kFrame}) {
      const bool is_frame = batching == Batching::kFrame;
      const double message_ns = actor_message_ns(kind.socket, directory, batching, rounds);
      BenchReport::Params batched = params;
      batched.emplace_back("batched", is_frame ? "frame" : "turn");
      report.add("wire.message_ns", message_ns, "ns", batched);
      const double ratio = writev_ns / message_ns;
      // What TLS costs has its bound above.
      const bool is_held = is_frame && std::string_view(kind.socket) != "tls";
      report.add("wire.messages_over_writev", ratio, "ratio",
                 is_held ? with_bound(batched, "1.0") : batched);
      expect(!is_held || ratio >= 1, std::string("wire.messages_over_writev over ") + kind.socket,
             ratio, "1.0");
    }
  }
  run_others(directory, rounds, pinning, report);
  return status;
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
