// Bisection over the time of a kernel that only spins.

#include "benchmarks/dispatch/parity.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/dispatch/multi_controller.hpp"
#include "benchmarks/dispatch/spin.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/pairs.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

constexpr double kShareOfRate = 0.95;
constexpr std::uint32_t kStepsAProgram = 64;  // Two nodes each: the kernel, and the all-reduce.
constexpr std::uint32_t kProgramsAhead = 64;
constexpr std::uint64_t kKernelMinNs = 250, kKernelMaxNs = 64'000, kStepMinNs = 25;
constexpr double kTurnNs = 2e6, kQuickTurnNs = 1e6;  // Of each side of a pair.
constexpr int kRoundsMax = 4;                        // Of kPairsMin pairs.

/// A cluster with a program of steps, each a kernel that spins and an all-reduce with addition.
class Steps {
 public:
  static Result<Steps> make(std::uint32_t devices, std::uint64_t kernel_ns) {
    Steps steps;
    auto client = connect("embedded:islands=1,devices=" + std::to_string(devices),
                          {.when_full = WhenFull::kWait});
    if (!client.ok()) return client.status();
    steps.client_ = *client;
    auto slice = steps.client_.acquire_slice(
        {.devices = devices, .mesh = {{"data", static_cast<std::int64_t>(devices)}}});
    if (!slice.ok()) return slice.status();
    const NamedSharding replicated(slice->mesh(), P());
    auto kernel = steps.client_.native(
        "spin", {.parameters = {i32({})},
                 .outputs = {i32({})},
                 .cost_ns = std::max<std::uint64_t>(1, kernel_ns),
                 .body = [kernel_ns](std::span<const std::byte* const> operands,
                                     std::span<std::byte* const> outputs, std::byte*) -> Status {
                   spin(kernel_ns);
                   std::memcpy(outputs[0], operands[0], sizeof(std::int32_t));
                   return {};
                 }});
    if (!kernel.ok()) return kernel.status();
    auto reduce =
        steps.client_.function("reduce", [](Tensor x) { return all_reduce(x, "data") + 1; },
                               {i32({})}, {.mesh = slice->mesh()});
    if (!reduce.ok()) return reduce.status();
    auto program = steps.client_.program("steps",
                                         [&kernel, &reduce](Traced x) {
                                           for (std::uint32_t i = 0; i < kStepsAProgram; ++i)
                                             x = (*reduce)((*kernel)(x));
                                           return x;
                                         },
                                         {ArraySpec{i32({}), replicated}});
    if (!program.ok()) return program.status();
    steps.program_ = *program;
    steps.value_ = steps.client_.put<std::int32_t>({0}, {}, replicated);
    return steps;
  }

  /// Nanoseconds of one step, over `programs` programs of 64 steps enqueued ahead.
  Result<double> step_ns(std::uint32_t programs) {
    const std::uint64_t begin_ns = now_ns();
    std::optional<Future<void>> half_back;
    for (std::uint32_t i = 0; i < programs; ++i) {
      const Run run = program_.execute({value_});
      value_ = run.output(0);
      if (i % (kProgramsAhead / 2) != 0) continue;
      if (half_back) {
        if (const auto done = half_back->get(); !done.ok()) return done.status();
      }
      half_back = run.status();
    }
    if (Status status = value_.status(); !status.ok()) return status;
    return static_cast<double>(now_ns() - begin_ns) / (programs * kStepsAProgram);
  }

 private:
  Client client_;
  Program program_;
  Array value_;
};

enum class Reach { kYes, kNo, kNotResolved };

/// Whether steps with kernels of `kernel_ns` reach the share of the loop's rate: the interval of
/// the ratios says so, of more pairs as long as the share is within it.
Result<Reach> reaches(std::uint32_t devices, std::uint64_t kernel_ns, bool quick) {
  auto steps = Steps::make(devices, kernel_ns);
  if (!steps.ok()) return steps.status();
  const MultiController loop(devices, kernel_ns);
  const double about_ns = static_cast<double>(kernel_ns) * devices + 500;
  const auto programs = static_cast<std::uint32_t>(
      std::max(2.0, (quick ? kQuickTurnNs : kTurnNs) / about_ns / kStepsAProgram));
  std::vector<double> ratios;
  for (int round = 0; round < (quick ? 1 : kRoundsMax); ++round) {
    const auto pairs = measure_pairs(
        quick ? 2 : static_cast<int>(kPairsMin),
        [&] { return Result<double>(loop.step_ns(programs * kStepsAProgram)); },
        [&] { return steps->step_ns(programs); });
    if (!pairs.ok()) return pairs.status();
    ratios.insert(ratios.end(), pairs->ratio.begin(), pairs->ratio.end());
    const Interval interval = interval_of(ratios);
    if (interval.low >= kShareOfRate) return Reach::kYes;
    if (interval.high < kShareOfRate) return Reach::kNo;
  }
  return Reach::kNotResolved;
}

}  // namespace

Status measure_parity(std::uint32_t devices, const BenchOptions& options, BenchReport& report) {
  constexpr std::uint64_t kNone = 0;
  // The longest kernel that does not reach the share, and the shortest one that does.
  std::uint64_t low_ns = 0, high_ns = kNone;
  for (std::uint64_t kernel_ns = kKernelMinNs; kernel_ns <= kKernelMaxNs && high_ns == kNone;
       kernel_ns *= 2) {
    const auto reach = reaches(devices, kernel_ns, options.quick);
    if (!reach.ok()) return reach.status();
    if (*reach == Reach::kYes) high_ns = kernel_ns;
    if (*reach == Reach::kNo) low_ns = kernel_ns;
  }
  // To a twentieth, or as far as pairs can tell.
  while (high_ns != kNone &&
         high_ns - low_ns > std::max(kStepMinNs, high_ns / (options.quick ? 2 : 20))) {
    const std::uint64_t middle_ns = (low_ns + high_ns) / 2;
    const auto reach = reaches(devices, middle_ns, options.quick);
    if (!reach.ok()) return reach.status();
    if (*reach == Reach::kNotResolved) break;
    (*reach == Reach::kYes ? high_ns : low_ns) = middle_ns;
  }
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  BenchReport::Params params = {{"devices", std::to_string(devices)}, {"share_of_rate", "0.95"}};
  if (high_ns == kNone) {
    params.emplace_back("not_resolved", "up to " + std::to_string(kKernelMaxNs / 1'000) + " us");
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    report.add("dispatch.parity_us", kNan, "us", params);
    return {};
  }
  report.add_interval("dispatch.parity_us", {us(low_ns), us(high_ns), us(high_ns)}, "us", params);
  return {};
}

}  // namespace seaway::benchmarks
