// One loop over the devices, or a thread for each of them; kernels are those of the CPU back end.

#include "benchmarks/dispatch/multi_controller.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "benchmarks/dispatch/spin.hpp"
#include "benchmarks/support/measure.hpp"
#include "collective/local_collectives.hpp"
#include "function/executable.hpp"

namespace seaway::benchmarks {
namespace {

using function::ShardedBuffer;

constexpr std::size_t kStride = 64;
constexpr std::uint32_t kTrySteps = 100;

/// y = all_reduce(x) + 1 on one i32, compiled for one axis.
std::shared_ptr<const function::Executable> compile_step(std::uint32_t devices) {
  static const collective::LocalCollectives collectives;
  function::Graph graph;
  graph.name = "step";
  const TensorType type = i32({});
  graph.instructions = {
      {.op = function::Op::kParameter, .type = type},
      {.op = function::Op::kAllReduce, .type = type, .operands = {0}, .axis = "data"},
      {.op = function::Op::kConstant, .type = type, .number = 1},
      {.op = function::Op::kAdd, .type = type, .operands = {1, 2}}};
  graph.parameters = {0};
  graph.outputs = {3};
  return function::compile_cpu(graph, {{"data", devices}}, collectives).value();
}

/// Two values on all devices, which take turns as input and output, and work space.
class Room {
 public:
  explicit Room(const function::Executable& step, std::uint32_t devices) : devices_(devices) {
    const std::size_t value_bytes = kStride * devices;
    bytes_.resize(2 * value_bytes + step.scratch_bytes() * devices + kStride);
    auto* base = bytes_.data();
    base += (kStride - reinterpret_cast<std::uintptr_t>(base) % kStride) % kStride;
    values_ = {ShardedBuffer{base, kStride}, ShardedBuffer{base + value_bytes, kStride}};
    scratch_ = {base + 2 * value_bytes, step.scratch_bytes()};
  }

  void run(const function::Executable& step) {
    const Status status =
        step.run({&values_[turn_], 1}, {&values_[1 - turn_], 1}, scratch_, devices_, nullptr);
    SEAWAY_CHECK(status.ok());
    turn_ = 1 - turn_;
  }

 private:
  std::uint32_t devices_;
  std::vector<std::byte> bytes_;
  std::array<ShardedBuffer, 2> values_;
  ShardedBuffer scratch_;
  std::size_t turn_ = 0;
};

double one_loop_step_ns(const function::Executable& step, std::uint32_t devices,
                        std::uint64_t kernel_ns, std::uint32_t steps) {
  Room room(step, devices);
  const std::uint64_t begin_ns = now_ns();
  for (std::uint32_t i = 0; i < steps; ++i) {
    for (std::uint32_t device = 0; device < devices; ++device) spin(kernel_ns);
    room.run(step);
  }
  return static_cast<double>(now_ns() - begin_ns) / steps;
}

double thread_each_step_ns(const function::Executable& step, std::uint32_t devices,
                           std::uint64_t kernel_ns, std::uint32_t steps) {
  Room room(step, devices);
  // The last to arrive does the reduction for all: the barrier's completion.
  std::barrier barrier(static_cast<std::ptrdiff_t>(devices),
                       [&room, &step]() noexcept { room.run(step); });
  const std::uint64_t begin_ns = now_ns();
  std::vector<std::thread> threads;
  for (std::uint32_t device = 0; device < devices; ++device) {
    threads.emplace_back([&barrier, kernel_ns, steps] {
      for (std::uint32_t i = 0; i < steps; ++i) {
        spin(kernel_ns);
        barrier.arrive_and_wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(now_ns() - begin_ns) / steps;
}

}  // namespace

double multi_controller_ns(std::uint32_t devices, std::uint32_t nodes, std::uint32_t chains) {
  const auto step = compile_step(devices);
  Room room(*step, devices);
  std::vector<double> rounds;
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t begin_ns = now_ns();
    for (std::uint32_t chain = 0; chain < chains; ++chain) {
      for (std::uint32_t node = 0; node < nodes; ++node) room.run(*step);
    }
    rounds.push_back(static_cast<double>(now_ns() - begin_ns) / chains);
  }
  return quantile(std::move(rounds), 0.1);
}

MultiController::MultiController(std::uint32_t devices, std::uint64_t kernel_ns)
    : step_(compile_step(devices)), devices_(devices), kernel_ns_(kernel_ns) {
  const double loop_ns = one_loop_step_ns(*step_, devices_, kernel_ns_, kTrySteps);
  has_threads_ = thread_each_step_ns(*step_, devices_, kernel_ns_, kTrySteps) < loop_ns;
}

double MultiController::step_ns(std::uint32_t steps) const {
  return has_threads_ ? thread_each_step_ns(*step_, devices_, kernel_ns_, steps)
                      : one_loop_step_ns(*step_, devices_, kernel_ns_, steps);
}

}  // namespace seaway::benchmarks
