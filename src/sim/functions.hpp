// Functions: what the programs of simulated clients are made of.

#pragma once

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
};

/// Makes a random function for `slice`: elementwise, matmul, reduction, collective or native.
/// All values it gives are whole numbers within [-100, 100]. `number` makes its name unique.
Result<FunctionPlan> make_function(const Client& client, const Slice& slice,
                                   std::size_t slice_index, const World& world,
                                   RandomStream& random, const std::string& number);

/// A random split of an array with `rows` rows over `mesh`; every axis size divides the rows.
PartitionSpec make_spec(const Mesh& mesh, RandomStream& random);

}  // namespace seaway::sim
