// Resident memory before and after a million arrays; processor time of an idle cluster.

#include "benchmarks/arrays/arrays.hpp"

#include <malloc.h>
#include <time.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/support/measure.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

/// One cache line: the room of an array is a multiple of it, so that all of it counts as data.
constexpr std::uint64_t kArrayBytes = 64;

enum class MadeBy { kRun, kPut };

Result<double> bytes_each(MadeBy made_by, std::size_t count) {
  auto client = connect("embedded:islands=1,devices=1",
                        {.runs_in_flight_max = 256, .when_full = WhenFull::kWait});
  if (!client.ok()) return client.status();
  auto slice = client->acquire_slice({.devices = 1, .mesh = {{"data", 1}}});
  if (!slice.ok()) return slice.status();
  const NamedSharding replicated(slice->mesh(), P());
  auto next = client->function("next", [](Tensor x) { return x + 1.0f; }, {f32({16})});
  if (!next.ok()) return next.status();
  auto program = client->program("next", [&next](Traced x) { return (*next)(x); },
                                 {ArraySpec{f32({16}), replicated}});
  if (!program.ok()) return program.status();
  const std::vector<float> zeros(16);
  const Array input = client->put<float>(zeros, {16}, replicated);
  const auto make = [&] {
    return made_by == MadeBy::kRun ? program->execute({input}).output(0)
                                   : client->put<float>(zeros, {16}, replicated);
  };
  std::vector<Array> arrays;
  arrays.reserve(count);
  // Pages of the handles themselves are touched first: they are the caller's.
  for (std::size_t i = 0; i < count; ++i) arrays.emplace_back();
  for (std::size_t i = 0; i < 1'000; ++i) arrays[i] = make();
  if (Status status = client->drain(); !status.ok()) return status;
  malloc_trim(0);  // What earlier measurements freed must not serve this one unseen.
  const std::uint64_t before = resident_bytes();
  for (std::size_t i = 1'000; i < count; ++i) {
    arrays[i] = make();
    // Nothing in flight is to be counted.
    if (i % 1'000 == 0) {
      if (Status status = client->drain(); !status.ok()) return status;
    }
  }
  if (Status status = client->drain(); !status.ok()) return status;
  for (const std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
    if (Status status = arrays[i].status(); !status.ok()) return status;
  }
  const auto grown = static_cast<double>(resident_bytes()) - static_cast<double>(before);
  return grown / static_cast<double>(count - 1'000) - kArrayBytes;
}

std::uint64_t processor_ns() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Percent of one core that a connected cluster without work uses.
Result<double> idle_percent(std::chrono::milliseconds time) {
  auto client = connect("embedded:islands=2,devices=8");
  if (!client.ok()) return client.status();
  if (auto slice = client->acquire_slice({.devices = 8}); !slice.ok()) return slice.status();
  const std::uint64_t before_ns = processor_ns(), begin_ns = now_ns();
  std::this_thread::sleep_for(time);
  return 100.0 * static_cast<double>(processor_ns() - before_ns) /
         static_cast<double>(now_ns() - begin_ns);
}

}  // namespace

Status run_arrays(const BenchOptions& options, BenchReport& report) {
  const std::size_t count = options.quick ? 100'000 : 1'000'000;
  // Idle first: later the process has a past.
  auto percent = idle_percent(std::chrono::milliseconds(options.quick ? 100 : 2'000));
  if (!percent.ok()) return percent.status();
  report.add("idle.core_percent", *percent, "%",
             with_bound({{"islands", "2"}, {"devices", "8"}}, "1"));
  for (const MadeBy made_by : {MadeBy::kRun, MadeBy::kPut}) {
    auto bytes = bytes_each(made_by, count);
    if (!bytes.ok()) return bytes.status();
    report.add("array.bytes", *bytes, "bytes",
               with_bound({{"arrays", std::to_string(count)},
                           {"made_by", made_by == MadeBy::kRun ? "run" : "put"}},
                          "400"));
  }
  return {};
}

}  // namespace seaway::benchmarks
