// Bisection over the time of a kernel that only spins.

#include "benchmarks/dispatch/parity.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "benchmarks/dispatch/multi_controller.hpp"
#include "benchmarks/dispatch/spin.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

constexpr double kShareOfRate = 0.95;
constexpr std::uint32_t kStepsAProgram = 64;  // Two nodes each: the kernel, and the all-reduce.
constexpr std::uint32_t kProgramsAhead = 64;
constexpr std::uint64_t kKernelMaxNs = 1'000'000;

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

/// The rate of Seaway by that of the multi-controller loop, both the best of several rounds that
/// take turns.
Result<double> share_of_rate(std::uint32_t devices, std::uint64_t kernel_ns, bool quick) {
  auto steps = Steps::make(devices, kernel_ns);
  if (!steps.ok()) return steps.status();
  if (const auto warm = steps->step_ns(2); !warm.ok()) return warm.status();
  const double round_ns = quick ? 2e6 : 4e6;
  const double about_ns = static_cast<double>(kernel_ns) * devices + 500;
  const auto programs =
      static_cast<std::uint32_t>(std::max(2.0, round_ns / about_ns / kStepsAProgram));
  double seaway_ns = std::numeric_limits<double>::infinity();
  double loop_ns = seaway_ns;
  for (int round = 0; round < (quick ? 1 : 15); ++round) {
    const auto one_ns = steps->step_ns(programs);
    if (!one_ns.ok()) return one_ns.status();
    seaway_ns = std::min(seaway_ns, *one_ns);
    loop_ns =
        std::min(loop_ns, multi_controller_step_ns(devices, kernel_ns, programs * kStepsAProgram));
  }
  return loop_ns / seaway_ns;
}

}  // namespace

Status measure_parity(std::uint32_t devices, const BenchOptions& options, BenchReport& report) {
  std::uint64_t low_ns = 0, high_ns = 1'000;
  const auto reaches = [&](std::uint64_t kernel_ns) -> Result<bool> {
    auto share = share_of_rate(devices, kernel_ns, options.quick);
    if (!share.ok()) return share.status();
    return *share >= kShareOfRate;
  };
  for (;;) {
    const auto enough = reaches(high_ns);
    if (!enough.ok()) return enough.status();
    if (*enough || high_ns >= kKernelMaxNs) break;
    low_ns = high_ns;
    high_ns *= 2;
  }
  // To a twentieth: rates on a real machine are not steadier than that.
  while (high_ns - low_ns > std::max<std::uint64_t>(25, high_ns / (options.quick ? 2 : 20))) {
    const std::uint64_t middle_ns = (low_ns + high_ns) / 2;
    const auto enough = reaches(middle_ns);
    if (!enough.ok()) return enough.status();
    (*enough ? high_ns : low_ns) = middle_ns;
  }
  report.add("dispatch.parity_us", static_cast<double>(high_ns) / 1e3, "us",
             {{"devices", std::to_string(devices)}, {"share_of_rate", "0.95"}});
  return {};
}

}  // namespace seaway::benchmarks
