// The device's gap between steps: fresh input and tight memory, against resident input and plenty.

#include "benchmarks/uploads/uploads.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/support/interval.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/pairs.hpp"
#include "cluster/cluster.hpp"
#include "events/event_stream.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::int64_t kWidth = 256;
constexpr std::int64_t kRows = 64;
constexpr std::uint32_t kStepsAhead = 32;

/// Records the times between the end of one gang and the start of the next.
class GapSink final : public events::EventSink {
 public:
  void record(const events::Event& event) override {
    if (event.kind == events::EventKind::kGangEnd) {
      if (last_end_ns_ > 0 && event.value >= last_end_ns_) {
        gaps_ns_.push_back(static_cast<double>(event.value - last_end_ns_));
      }
      last_end_ns_ = event.time_ns;
    }
  }
  std::vector<double> gaps_ns_;
  std::uint64_t last_end_ns_ = 0;
};

enum class Input { kResident, kFresh };

/// `steps` steps of a small training-like function on one device with `memory_bytes`.
Result<double> measure(Input input, std::uint64_t memory_bytes, std::uint32_t steps) {
  GapSink sink;  // Outlives the cluster, which records into it.
  auto cluster =
      Cluster::start("embedded:islands=1,devices=1,device_memory=" + std::to_string(memory_bytes));
  if (!cluster.ok()) return cluster.status();
  auto client = cluster->connect({.when_full = WhenFull::kWait});
  if (!client.ok()) return client.status();
  auto slice = client->acquire_slice({.devices = 1, .mesh = {{"data", 1}}});
  if (!slice.ok()) return slice.status();
  const NamedSharding replicated(slice->mesh(), P());
  auto step = client->function("step",
                               [](Tensor weights, Tensor rows) {
                                 const Tensor hidden = tanh(matmul(rows, weights));
                                 const Tensor change = matmul(transpose(hidden), rows);
                                 return weights + change * 0.001f;
                               },
                               {f32({kWidth, kWidth}), f32({kRows, kWidth})});
  if (!step.ok()) return step.status();
  auto program = client->program(
      "step", [&step](Traced weights, Traced rows) { return (*step)(weights, rows); },
      {ArraySpec{f32({kWidth, kWidth}), replicated}, ArraySpec{f32({kRows, kWidth}), replicated}});
  if (!program.ok()) return program.status();

  const std::vector<float> zeros(kWidth * kWidth), rows(kRows * kWidth, 0.5f);
  Array weights = client->put<float>(zeros, {kWidth, kWidth}, replicated);
  Array given = client->put<float>(rows, {kRows, kWidth}, replicated);
  actor::Engine& engine = *cluster->state()->engine;
  const auto on_control_thread = [&engine](const std::function<void()>& work) {
    std::atomic<bool> is_done = false;
    engine.post([&work, &is_done, &engine] {
      work();
      is_done = true;
      engine.notify();
    });
    engine.wait([&is_done] { return is_done.load(); }, 0);
  };
  std::optional<Future<void>> half_back;
  for (std::uint32_t i = 0; i < steps; ++i) {
    // The first steps compile, and fill the window.
    if (i == 2 * kStepsAhead) {
      on_control_thread([&] { cluster->state()->events.add_observer(sink); });
    }
    if (input == Input::kFresh) given = client->put<float>(rows, {kRows, kWidth}, replicated);
    const Run run = program->execute({weights, given});
    weights = run.output(0);
    if (i % (kStepsAhead / 2) != 0) continue;
    if (half_back) {
      if (const auto done = half_back->get(); !done.ok()) return done.status();
    }
    half_back = run.status();
  }
  if (Status status = weights.status(); !status.ok()) return status;
  on_control_thread([&] { cluster->state()->events.remove_observer(sink); });
  return median(sink.gaps_ns_);
}

/// One step's peak: the least memory of a device with which the cluster does not refuse a step,
/// rounded up to 64 bytes.
Result<std::uint64_t> peak_bytes() {
  std::uint64_t low = 0, high = 1 << 18;  // In units of 64 bytes; `high` is enough.
  if (auto enough = measure(Input::kResident, high * 64, 1); !enough.ok()) return enough.status();
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (measure(Input::kResident, middle * 64, 1).ok() ? high : low) = middle;
  }
  return high * 64;
}

/// What it takes to bring one MiB to the cluster's host and back, in microseconds.
Result<double> round_trip_us(const std::string& checksums, std::uint32_t rounds) {
  constexpr std::int64_t kMib = 16;
  auto client = connect("embedded:devices=1,shard_checksums=" + checksums);
  if (!client.ok()) return client.status();
  auto slice = client->acquire_slice({.devices = 1, .mesh = {{"data", 1}}});
  if (!slice.ok()) return slice.status();
  const std::vector<float> numbers(kMib << 18, 0.5f);
  std::vector<double> times_us;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const std::uint64_t begin_ns = now_ns();
    const Array array =
        client->put<float>(numbers, {kMib << 18}, NamedSharding(slice->mesh(), P()));
    if (auto value = array.to_host<float>().get(); !value.ok()) return value.status();
    times_us.push_back(static_cast<double>(now_ns() - begin_ns) / 1e3 / kMib);
  }
  return median(times_us);
}

}  // namespace

Status run_uploads(const BenchOptions& options, BenchReport& report) {
  const std::uint32_t steps = options.quick ? 100 : 2'000;
  const auto found = peak_bytes();
  if (!found.ok()) return found.status();
  const auto gap_us = [steps, found](Input input, double peaks) {
    return [=]() -> Result<double> {
      const auto bytes = static_cast<std::uint64_t>(peaks * static_cast<double>(*found));
      const auto gap_ns = measure(input, bytes, steps);
      if (!gap_ns.ok()) return gap_ns.status();
      return *gap_ns / 1e3;
    };
  };
  const auto pairs = measure_pairs(options.quick ? 1 : static_cast<int>(kPairsMin),
                                   gap_us(Input::kFresh, 1.1), gap_us(Input::kResident, 4));
  if (!pairs.ok()) return pairs.status();
  report.add_interval("upload.gap_us", interval_of(pairs->second), "us",
                      {{"input", "resident"}, {"memory_over_peak", "4"}});
  report.add_interval("upload.gap_us", interval_of(pairs->first), "us",
                      {{"input", "fresh"}, {"memory_over_peak", "1.1"}});
  report.add_ratio("upload.gap_ratio", interval_of(pairs->ratio),
                   {{"peak_bytes", std::to_string(*found)}}, Bound::at_most(1.1));
  for (const char* checksums : {"off", "on"}) {
    const auto time_us = round_trip_us(checksums, options.quick ? 3 : 50);
    if (!time_us.ok()) return time_us.status();
    report.add("upload.round_trip_us_per_mib", *time_us, "us", {{"checksums", checksums}});
  }
  return {};
}

}  // namespace seaway::benchmarks
