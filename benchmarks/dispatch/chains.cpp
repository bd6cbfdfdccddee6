// Capturing a chain in each mode, and running it with a bounded number of chains ahead.

#include "benchmarks/dispatch/chains.hpp"

#include <optional>

#include "benchmarks/support/measure.hpp"

namespace seaway::benchmarks {
namespace {

/// What each node does, on one shard: one i32, so that wrapped values stay comparable.
Tensor step(const Tensor& x) { return all_reduce(x, "data") + 1; }

}  // namespace

std::string to_string(ChainMode mode) {
  switch (mode) {
    case ChainMode::kParallel:
      return "parallel";
    case ChainMode::kSequential:
      return "sequential";
    case ChainMode::kOpByOp:
      return "op_by_op";
    case ChainMode::kFused:
      return "fused";
  }
  return "unknown";
}

Result<Chain> Chain::make(const ChainOptions& options) {
  Chain chain;
  chain.options_ = options;
  ClientOptions client_options;
  client_options.when_full = WhenFull::kWait;
  auto client =
      connect("embedded:islands=1,devices=" + std::to_string(options.devices), client_options);
  if (!client.ok()) return client.status();
  chain.client_ = *client;
  auto slice = chain.client_.acquire_slice(
      {.devices = options.devices, .mesh = {{"data", static_cast<std::int64_t>(options.devices)}}});
  if (!slice.ok()) return slice.status();
  chain.slice_ = *slice;
  const NamedSharding replicated(chain.slice_.mesh(), P());
  const std::uint32_t steps_a_node = options.mode == ChainMode::kFused ? options.nodes : 1;
  const std::uint32_t nodes_a_run =
      options.mode == ChainMode::kFused || options.mode == ChainMode::kOpByOp ? 1 : options.nodes;
  chain.runs_a_chain_ = options.mode == ChainMode::kOpByOp ? options.nodes : 1;
  auto function = chain.client_.function("step",
                                         [steps_a_node](Tensor x) {
                                           for (std::uint32_t i = 0; i < steps_a_node; ++i)
                                             x = step(x);
                                           return x;
                                         },
                                         {i32({})}, {.mesh = chain.slice_.mesh()});
  if (!function.ok()) return function.status();
  ProgramOptions program_options;
  if (options.mode == ChainMode::kSequential) program_options.dispatch = DispatchMode::kSequential;
  auto program = chain.client_.program(
      "chain",
      [&function, nodes_a_run](Traced x) {
        for (std::uint32_t i = 0; i < nodes_a_run; ++i) x = (*function)(x);
        return x;
      },
      {ArraySpec{i32({}), replicated}}, program_options);
  if (!program.ok()) return program.status();
  chain.program_ = *program;
  chain.value_ = chain.client_.put<std::int32_t>({0}, {}, replicated);
  return chain;
}

Result<double> Chain::run_ns(std::uint32_t chains) {
  // Waiting in halves of the window costs one wake-up for many chains, not one for each.
  const std::uint32_t half = std::max(1u, options_.chains_ahead / 2);
  std::optional<Future<void>> half_back;
  const std::uint64_t begin_ns = now_ns();
  for (std::uint32_t chain = 0; chain < chains; ++chain) {
    Run run;
    for (std::uint32_t i = 0; i < runs_a_chain_; ++i) {
      run = program_.execute({value_});
      value_ = run.output(0);
    }
    if (Status status = run.error(); !status.ok()) return status;
    if (chain % half != half - 1) continue;
    if (half_back) {
      if (const auto done = half_back->get(); !done.ok()) return done.status();
    }
    half_back = run.status();
  }
  const auto value = value_.to_host<std::int32_t>().get();
  const auto elapsed_ns = static_cast<double>(now_ns() - begin_ns);
  if (!value.ok()) return value.status();
  for (std::uint64_t i = 0; i < std::uint64_t{chains} * options_.nodes; ++i) {
    expected_ = expected_ * options_.devices + 1;
  }
  if (static_cast<std::uint32_t>(value->at(0)) != expected_) {
    return invalid_argument("the chain gave " + std::to_string(value->at(0)) + ", not " +
                            std::to_string(static_cast<std::int32_t>(expected_)));
  }
  return elapsed_ns;
}

}  // namespace seaway::benchmarks
