// Chains of dependent gangs, and how fast an embedded cluster runs them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "seaway/seaway.hpp"

namespace seaway::benchmarks {

/// How a chain is put to the cluster.
enum class ChainMode : std::uint8_t {
  kParallel,    // One program of many nodes.
  kSequential,  // The same, node by node.
  kOpByOp,      // One run a node, all enqueued ahead.
  kFused,       // One node whose function has the whole chain in it.
};
std::string to_string(ChainMode mode);

struct ChainOptions {
  std::uint32_t devices = 1;
  std::uint32_t nodes = 128;  // Steps of the chain; each an all-reduce of one i32 and an addition.
  ChainMode mode = ChainMode::kParallel;
  std::uint32_t chains_ahead = 64;  // Chains without a known outcome, at most.
};

/// An embedded cluster of one island with one chain, each output of which feeds the next.
class Chain {
 public:
  static Result<Chain> make(const ChainOptions& options);

  /// Runs `chains` chains, waits for the last value and returns the nanoseconds that it took.
  /// Errors: whatever a run failed with; kInvalidArgument when the value is not the right one.
  Result<double> run_ns(std::uint32_t chains);

 private:
  Chain() = default;

  ChainOptions options_;
  Client client_;
  Slice slice_;
  Program program_;
  std::uint32_t runs_a_chain_ = 1;
  Array value_;
  std::uint32_t expected_ = 0;  // i32 wraps, so the right value is known after any number of steps.
};

}  // namespace seaway::benchmarks
