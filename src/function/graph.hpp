// Graph: a tensor function as a typed list of operations in static single assignment form.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seaway/status.hpp"
#include "seaway/types.hpp"

namespace seaway::function {

/// (output, operand) pairs of a function that may be the same memory.
using OutputOperandPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Operations; names and semantics are StableHLO's, without implicit broadcasting.
enum class Op : std::uint8_t {
  kParameter,
  kConstant,  // A splat: every element is `number`.
  kIota,      // Counts along dimension dims[0].
  // Elementwise, one operand.
  kNegate,
  kExponential,
  kLog,
  kSqrt,
  kRsqrt,
  kTanh,
  kAbs,
  kNot,
  kConvert,
  // Elementwise, two operands of one type.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMaximum,
  kMinimum,
  kPower,
  kAnd,
  kOr,
  kCompare,  // Result kBool; `compare` says which.
  kSelect,   // (predicate, on_true, on_false), all of one shape.
  kReshape,
  kBroadcastInDim,  // dims[i] is the result dimension that operand dimension i becomes.
  kTranspose,       // Result dimension i is operand dimension dims[i].
  kSlice,           // starts, limits, strides per dimension.
  kConcatenate,     // Along dims[0].
  kDotGeneral,      // `dot`; result: batch, then lhs free, then rhs free dimensions.
  kReduce,          // Over dims, with `reduce`. kArgmax: one dimension, result i32, lowest index.
  kGatherRows,  // (table [n, ...], indices i32 [...]): rows of dimension 0; clamped to [0, n-1].
  kScatterAddRows,  // (base [n, ...], indices i32 [...], updates [indices..., ...]): derivative of
                    // kGatherRows; rows outside [0, n-1] are clamped likewise; added in index
                    // order.
  // Collectives over mesh axis `axis` (SPMD; every shard of the gang takes part).
  kAllReduce,      // With `reduce` (sum or max), a fixed tree by shard index.
  kAllGather,      // Concatenates along dims[0] in the order of coordinates.
  kReduceScatter,  // Sums, then keeps the own piece of dimension dims[0].
  kPermute,        // `pairs` of (source, target) coordinates; who receives nothing holds zeros.
  kAxisIndex,      // i32 scalar: the shard's own coordinate.
};

enum class Compare : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
enum class Reduce : std::uint8_t { kSum, kMax, kArgmax };

/// Dimension numbers of kDotGeneral.
struct DotDims {
  std::vector<std::int64_t> lhs_batch = {}, rhs_batch = {}, lhs_contract = {}, rhs_contract = {};
  friend bool operator==(const DotDims&, const DotDims&) = default;
};

using ValueId = std::uint32_t;  // Index into Graph::instructions.

/// One operation and the type of its one result. Fields that an op does not use stay empty.
struct Instruction {
  Op op = Op::kParameter;
  TensorType type = {};
  std::vector<ValueId> operands = {};
  std::vector<std::int64_t> dims = {}, starts = {}, limits = {}, strides = {};
  DotDims dot = {};
  double number = 0;  // kConstant.
  Compare compare = Compare::kEq;
  Reduce reduce = Reduce::kSum;
  std::string axis = {};
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs = {};
  std::uint32_t parameter = 0;  // kParameter: which one.

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// A function as one shard sees it. Operands come before their users. A value.
struct Graph {
  std::string name = {};
  std::vector<Instruction> instructions = {};
  std::vector<ValueId> parameters = {};
  std::vector<ValueId> outputs = {};

  TensorType parameter_type(std::size_t i) const { return instructions[parameters[i]].type; }
  TensorType output_type(std::size_t i) const { return instructions[outputs[i]].type; }

  friend bool operator==(const Graph&, const Graph&) = default;
};

/// Size of a named axis of the mesh a function runs on; functions are captured for given sizes.
using AxisSizes = std::vector<std::pair<std::string, std::int64_t>>;

/// Infers the result type of `instruction` from its operands' types; kInvalidArgument prints the
/// operation and all shapes. `instruction.type` is read only for ops whose operands do not fix it
/// (parameter, constant, iota, reshape, broadcast, convert): there it is checked.
Result<TensorType> infer_type(const Instruction& instruction,
                              const std::vector<TensorType>& operand_types, const AxisSizes& axes);

/// Checks a whole graph, as it comes from a stranger: order of operands, types, attributes.
Status validate(const Graph& graph, const AxisSizes& axes);

/// The graph as StableHLO text (MLIR), with explicit replica groups for `axes`. The operands in
/// `donated` are the caller's no more when it runs, and their memory may become that output.
std::string to_stablehlo(const Graph& graph, const AxisSizes& axes,
                         const OutputOperandPairs& donated = {});

/// One operation a line, as in `%2 = add %0, %1 : f32[2,3]`; for people and golden tests.
std::string to_string(const Graph& graph);

/// One such line, of the operation that makes value `id`.
std::string to_string(const Instruction& instruction, ValueId id);

/// Stable 64-bit hash of everything that the graph computes, without its name: the same on every
/// machine and in every build, so that caches and peers can compare. Not a defence against forgery.
std::uint64_t fingerprint(const Graph& graph);

/// Short name of an operation, StableHLO's.
std::string_view to_string(Op op);
/// "EQ", "LT", ...: StableHLO's.
std::string_view to_string(Compare compare);
/// "sum", "max", "argmax".
std::string_view to_string(Reduce reduce);

/// Product of the sizes: the number of shards of a gang over these axes.
std::int64_t shard_count(const AxisSizes& axes);

}  // namespace seaway::function
