// Functions: what the programs of simulated clients are made of.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "seaway/client.hpp"
#include "sim/world.hpp"

namespace seaway::sim {

/// One function with the shardings it takes and gives; all operands are of one global type.
struct FunctionPlan {
  Function function;
  std::size_t operands = 1;
  DType dtype = DType::kF32;
  std::int64_t rows = 0;
  PartitionSpec in, out;
  std::size_t slice = 0;  // Index of the slice it runs on.
  bool is_irregular = false, is_uncompilable = false;
  bool has_effects = false;      // Not idempotent.
  bool may_fail = false;         // At some values, or always.
  std::uint64_t executions = 0;  // Of one call: one for each device.
};

/// How the names of functions begin that have effects, and may not run twice.
inline constexpr std::string_view kOnce = "once";

/// Makes a random function for `slice`: elementwise, matmul, reduction, collective or native.
/// All values it gives are whole numbers within [-100, 100]. `number` makes its name unique. One
/// with effects calls `on_effect` for each shard; it outlives all runs.
Result<FunctionPlan> make_function(const Client& client, const Slice& slice,
                                   std::size_t slice_index, const World& world,
                                   RandomStream& random, const std::string& number,
                                   std::function<void()> on_effect);

/// A random split of an array with `rows` rows over `mesh`; every axis size divides the rows.
PartitionSpec make_spec(const Mesh& mesh, RandomStream& random);

}  // namespace seaway::sim
