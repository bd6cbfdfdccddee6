// Chains of all-reduces of two lengths: what one more takes, without what a run takes.

#include "benchmarks/collectives/collectives.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "benchmarks/collectives/digits.hpp"
#include "benchmarks/collectives/peers.hpp"
#include "benchmarks/stages/slow_cluster.hpp"
#include "benchmarks/support/command.hpp"
#include "benchmarks/support/interval.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/pairs.hpp"
#include "benchmarks/support/up_cluster.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::int64_t kLarge = 26'214'400;  // Elements: 100 MiB of f32.
constexpr std::int64_t kLayerWidth = 256;
constexpr std::uint64_t kLinkDelayNs = 500'000;

/// A cluster of one island, each of whose hosts has one device.
class Island {
 public:
  static Result<std::unique_ptr<Island>> start(int hosts, const std::string& algorithm) {
    std::vector<std::string> words = {"--hosts", std::to_string(hosts)};
    if (algorithm != "auto") words.insert(words.end(), {"--options", "all_reduce=" + algorithm});
    auto cluster = UpCluster::start(1, static_cast<std::uint32_t>(hosts), words);
    if (!cluster.ok()) return cluster.status();
    std::unique_ptr<Island> island(new Island(std::move(*cluster), hosts));
    if (Status status = island->connect_to(); !status.ok()) return status;
    return island;
  }

  /// Each host on a core of its own, as far as there are that many.
  void pin() {
    for (int host = 0; host < hosts_; ++host) {
      const std::string name = host == 0 ? "host 0" : "host 0." + std::to_string(host);
      const std::vector<int> all = cores();
      stay_on(cluster_->process_of(name), all[static_cast<std::size_t>(host) % all.size()]);
    }
  }

  /// Chains of two lengths.
  struct Chains {
    Program one, more;
    int calls = 0;  // Of which the other one has more.
  };
  /// All-reduces of `elements` on each host: `calls` gangs in a row, each with one, or one gang
  /// with so many, behind a first one.
  Result<Chains> make_chains(std::int64_t elements, int calls, bool in_one_gang) {
    const auto one = program(elements, 1, in_one_gang);
    if (!one.ok()) return one.status();
    const auto more = program(elements, 1 + calls, in_one_gang);
    if (!more.ok()) return more.status();
    return Chains{*one, *more, calls};
  }

  /// Microseconds of one all-reduce, without what the first one takes.
  Result<double> one_us(const Chains& chains, int runs) {
    std::vector<double> samples;
    for (int run = 0; run < runs + 1; ++run) {
      const auto shorter = time_us(chains.one);
      if (!shorter.ok()) return shorter.status();
      const auto longer = time_us(chains.more);
      if (!longer.ok()) return longer.status();
      if (run > 0) samples.push_back((*longer - *shorter) / chains.calls);
    }
    return median(samples);
  }

 private:
  Island(std::unique_ptr<UpCluster> cluster, int hosts)
      : cluster_(std::move(cluster)), hosts_(hosts) {}

  Status connect_to() {
    auto client = connect(cluster_->address());
    if (!client.ok()) return client.status();
    client_ = *client;
    auto slice = client_->acquire_slice(
        {.devices = static_cast<std::uint32_t>(hosts_), .mesh = {{"x", hosts_}}});
    if (!slice.ok()) return slice.status();
    slice_ = *slice;
    return {};
  }

  /// Ones, added up over all hosts and halved or quartered again, and again; the first and the last
  /// element come back.
  Result<Program> program(std::int64_t elements, int calls, bool in_one_gang) {
    const double back = 1.0 / hosts_;
    const auto sum = [back](const Tensor& x) { return all_reduce(x, "x") * back; };
    const TensorType type = f32({elements});
    const auto made = client_->function("ones", [type] { return ones(type); }, {}, {});
    if (!made.ok()) return made.status();
    const auto sums =
        client_->function("sums",
                          [sum, calls, in_one_gang](Tensor x) {
                            for (int i = 0; i < (in_one_gang ? calls : 1); ++i) x = sum(x);
                            return x;
                          },
                          {type}, {.mesh = slice_->mesh(), .in = {P("x")}, .out = {P("x")}});
    if (!sums.ok()) return sums.status();
    const auto ends =
        client_->function("ends",
                          [elements](const Tensor& x) {
                            return slice(x, {0}, {1}) + slice(x, {elements - 1}, {elements});
                          },
                          {type}, {.in = {P("x")}, .out = {P("x")}});
    if (!ends.ok()) return ends.status();
    const auto start = made->on(*slice_).with({.in = {}, .out = {P("x")}});
    return client_->program("collectives",
                            [&, gangs = in_one_gang ? 1 : calls] {
                              Traced x = start();
                              for (int i = 0; i < gangs; ++i) x = sums->on(*slice_)(x);
                              return ends->on(*slice_)(x);
                            },
                            {});
  }

  Result<double> time_us(const Program& program) {
    const std::uint64_t begin_ns = now_ns();
    const auto value = program.execute({}).output(0).to_host<float>().get();
    const std::uint64_t end_ns = now_ns();
    if (!value.ok()) return value.status();
    for (const float one : *value) {
      if (one != 2) return Status(StatusCode::kDataCorruption, "a sum is wrong");
    }
    return static_cast<double>(end_ns - begin_ns) / 1e3;
  }

  const std::unique_ptr<UpCluster> cluster_;
  const int hosts_;
  std::optional<Client> client_;
  std::optional<Slice> slice_;
};

BenchReport::Params params_of(int hosts, std::int64_t elements, const std::string& algorithm) {
  return {{"hosts", std::to_string(hosts)},
          {"bytes", std::to_string(elements * 4)},
          {"algorithm", algorithm}};
}

using PeerUs = Result<std::vector<double>> (*)(const AllReduceGame& game,
                                               const std::string& directory);
struct Peer {
  const char* name;
  PeerUs measure;
};
constexpr Peer kPeers[] = {{"gloo", gloo_us}, {"mpi", mpi_us}};

/// What an all-reduce takes here and with others, in turns.
struct Beside {
  std::string metric;  // "collectives.large_over_": and the peer's name.
  BenchReport::Params params;
  AllReduceGame game;
  Measure own_us;
  bool is_rate = false;  // The peer's time by ours; else ours by its.
  Bound over_gloo;
};

/// None that are not there, and none among small sizes.
Status run_beside(const Beside& what, const ScratchDirectory& directory,
                  const BenchOptions& options, BenchReport& report) {
  const auto own = what.own_us();
  if (!own.ok()) return own.status();
  report.add("collectives.all_reduce", *own, "us", what.params);
  if (options.quick) return {};
  for (const Peer& peer : kPeers) {
    const Measure peer_us = [&]() -> Result<double> {
      const auto samples = peer.measure(what.game, directory.path());
      if (!samples.ok()) return samples.status();
      return median(*samples);
    };
    if (const auto first = peer_us(); !first.ok()) {
      report.add("collectives.not_run", 0, "",
                 {{"peer", peer.name}, {"why", first.status().message()}});
      continue;
    }
    const auto pairs = what.is_rate ? measure_pairs(kPairsMin, peer_us, what.own_us)
                                    : measure_pairs(kPairsMin, what.own_us, peer_us);
    if (!pairs.ok()) return pairs.status();
    report.add_interval("collectives.all_reduce",
                        interval_of(what.is_rate ? pairs->first : pairs->second), "us",
                        params_of(what.game.processes, what.game.elements, peer.name));
    report.add_ratio(what.metric + peer.name, interval_of(pairs->ratio), what.params,
                     peer.measure == gloo_us ? what.over_gloo : Bound());
  }
  return {};
}

/// Layers of one function, each of which multiplies two matrices and adds up over both hosts what
/// came of the one before: microseconds of one more layer, where what the hosts say to each other
/// takes its time.
Result<std::vector<double>> layer_us(bool overlaps, const BenchOptions& options) {
  auto cluster = SlowCluster::start(1, 2, overlaps ? "overlap=on" : "overlap=off");
  if (!cluster.ok()) return cluster.status();
  auto client = connect(SlowCluster::address());
  if (!client.ok()) return client.status();
  auto slice = client->acquire_slice({.devices = 2, .mesh = {{"x", 2}}});
  if (!slice.ok()) return slice.status();
  const auto make = [&](int layers) {
    const auto function = client->function("layers",
                                           [layers] {
                                             Tensor y = ones(f32({kLayerWidth, kLayerWidth}));
                                             Tensor total = zeros(f32({kLayerWidth}));
                                             const Tensor weights = y * (1.0 / kLayerWidth);
                                             for (int i = 0; i < layers; ++i) {
                                               total = total + all_reduce(reduce_max(y, {1}), "x");
                                               y = matmul(y, weights);
                                             }
                                             return total + reduce_max(y, {1});
                                           },
                                           {}, {.mesh = slice->mesh(), .in = {}, .out = {P("x")}});
    return client->program("overlap", [&] { return function->on(*slice)(); }, {});
  };
  const int more = options.quick ? 2 : 8;
  const auto few = make(1), many = make(1 + more);
  if (!few.ok()) return few.status();
  if (!many.ok()) return many.status();
  (*cluster)->links().delay(kLinkDelayNs);
  std::vector<double> samples;
  for (int run = 0; run < (options.quick ? 3 : 31); ++run) {
    std::vector<double> us;
    for (const Program* const program : {&*few, &*many}) {
      const std::uint64_t begin_ns = now_ns();
      const auto value = program->execute({}).output(0).to_host<float>().get();
      us.push_back(static_cast<double>(now_ns() - begin_ns) / 1e3);
      if (!value.ok()) return value.status();
      const float wanted = program == &*few ? 3 : static_cast<float>(3 + 2 * more);
      if ((*value)[0] != wanted) return Status(StatusCode::kDataCorruption, "a sum is wrong");
    }
    if (run > 0) samples.push_back((us[1] - us[0]) / more);
  }
  return samples;
}

/// How much of the time that exchanges wait for each other is hidden by what is computed meanwhile.
Status run_overlap(const BenchOptions& options, BenchReport& report) {
  std::vector<double> us;
  for (const bool overlaps : {true, false}) {
    const auto samples = layer_us(overlaps, options);
    if (!samples.ok()) return samples.status();
    us.push_back(median(*samples));
    report.add_interval("collectives.layer", interval_of(*samples), "us",
                        {{"overlap", overlaps ? "on" : "off"},
                         {"link_delay_us", std::to_string(kLinkDelayNs / 1000)}});
  }
  report.add("collectives.overlap", us[0] / us[1], "x",
             {{"link_delay_us", std::to_string(kLinkDelayNs / 1000)}});
  return {};
}

/// All algorithms at all sizes: the table that usual_algorithm() is made from.
Status run_table(const BenchOptions& options, BenchReport& report) {
  for (const int hosts : options.quick ? std::vector{2} : std::vector{2, 4, 8}) {
    for (const char* const algorithm : {"direct", "tree", "halving", "ring", "doubling"}) {
      auto island = Island::start(hosts, algorithm);
      if (!island.ok()) return island.status();
      for (const std::int64_t elements : {1, 4096, 65536, 1 << 20, 4 << 20}) {
        if (options.quick && elements > 4096) continue;
        const auto chains = (*island)->make_chains(elements, elements > 65536 ? 4 : 16, true);
        if (!chains.ok()) return chains.status();
        const auto us = (*island)->one_us(*chains, 7);
        if (!us.ok()) return us.status();
        report.add("collectives.all_reduce", *us, "us", params_of(hosts, elements, algorithm));
      }
    }
  }
  return {};
}

}  // namespace

Status run_collectives(const BenchOptions& options, BenchReport& report) {
  const ScratchDirectory directory;
  {
    const std::int64_t elements = options.quick ? 1 << 16 : kLarge;
    auto island = Island::start(2, "auto");
    if (!island.ok()) return island.status();
    (*island)->pin();
    const auto chains = (*island)->make_chains(elements, 4, false);
    if (!chains.ok()) return chains.status();
    const Beside large{.metric = "collectives.large_over_",
                       .params = params_of(2, elements, "auto"),
                       .game = {2, static_cast<int>(elements), 1, true},
                       .own_us = [&] { return (*island)->one_us(*chains, 1); },
                       .is_rate = true,
                       .over_gloo = Bound::at_least(1.2)};
    if (Status status = run_beside(large, directory, options, report); !status.ok()) return status;
  }
  {
    const int hosts = options.quick ? 2 : 8, calls = options.quick ? 8 : 64;
    auto island = Island::start(hosts, "auto");
    if (!island.ok()) return island.status();
    const auto inner = (*island)->make_chains(1, calls, true);
    if (!inner.ok()) return inner.status();
    const auto inner_us = (*island)->one_us(*inner, 15);
    if (!inner_us.ok()) return inner_us.status();
    report.add("collectives.all_reduce", *inner_us, "us", params_of(hosts, 1, "auto, in one gang"));
    const auto chains = (*island)->make_chains(1, calls, false);
    if (!chains.ok()) return chains.status();
    const Beside small{.metric = "collectives.small_over_",
                       .params = params_of(hosts, 1, "auto, a gang each"),
                       .game = {hosts, 1, 100, false},
                       .own_us = [&] { return (*island)->one_us(*chains, 3); },
                       .over_gloo = Bound::at_most(0.25)};
    if (Status status = run_beside(small, directory, options, report); !status.ok()) return status;
  }
  if (Status status = run_overlap(options, report); !status.ok()) return status;
  if (Status status = run_digits(options, report); !status.ok()) return status;
  return run_table(options, report);
}

}  // namespace seaway::benchmarks
