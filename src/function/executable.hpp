// Executable: what a device back end makes of one function, run gang-wide over all local shards.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "function/collective.hpp"
#include "function/foreign.hpp"
#include "function/graph.hpp"
#include "seaway/status.hpp"
#include "seaway/types.hpp"

namespace seaway::function {

/// One value on all local shards of a gang: shard s lies at base + s * stride. Borrowed. Bases and
/// strides are multiples of 64 bytes, except that a value that one shard holds may have stride 0.
struct ShardedBuffer {
  std::byte* base = nullptr;
  std::size_t stride = 0;

  std::byte* shard(std::size_t index) const { return base + index * stride; }
};

/// Where a value of a running function lies: behind `offset` bytes of one of its buffers, or within
/// the function itself, the same for all shards.
struct ValuePlace {
  enum class Table : std::uint8_t { kOperand, kOutput, kScratch, kConstant };
  Table table = Table::kScratch;
  std::uint32_t index = 0;
  std::size_t offset = 0;
};

/// A stage of a function in which all shards of a gang exchange values: what lies at `in` of each
/// goes in, and what it gets lies at `out` of it.
struct Exchange {
  ValuePlace in, out;
  Collective collective;
  /// The first stage that is not to begin before it has ended, if that is not the next one. Those
  /// before it neither write at `in` nor touch `out`.
  std::size_t needed_at = 0;
};

/// Shards [begin, end) of a gang of `count`.
struct ShardRange {
  std::size_t begin = 0, end = 0, count = 0;
};

/// Runs pieces of work in parallel; the only parallelism a kernel may use. `parallel_for(n, f)`
/// calls f(0..n-1), each once, in any order and on any thread, and returns when all are done.
class Parallelism {
 public:
  virtual ~Parallelism() = default;
  virtual void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) = 0;
};

/// A compiled function. Immutable and thread-safe; one per (function, mesh axis sizes).
class Executable {
 public:
  virtual ~Executable() = default;

  virtual const std::vector<TensorType>& parameter_types() const = 0;
  virtual const std::vector<TensorType>& output_types() const = 0;
  /// Work space that one shard needs while it runs, in bytes; a multiple of 64.
  virtual std::size_t scratch_bytes() const = 0;
  /// Rough time that one shard takes, from operation and byte counts. Never 0.
  virtual std::uint64_t cost_ns() const = 0;
  /// What may be the same memory at no cost, for all that an operand holds is read before the
  /// output is written over it. By rising output; at most limits::kInPlacePairs. Any other donation
  /// is obeyed as well, by way of scratch.
  virtual OutputOperandPairs in_place() const { return {}; }

  /// Whether running it once more gives the same bits, and does nothing else. So it is with all
  /// graphs; a user's own code may draw numbers, or count how often it was called.
  virtual bool is_repeatable() const { return true; }

  /// Of a foreign program; null for all others. Valid as long as this is.
  virtual const ForeignTraits* foreign() const { return nullptr; }
  /// How many shards of one value there are in a gang of `shards`: as many, but for a foreign
  /// program over several devices, whose values are one shard's each,
  std::size_t shards_of_value(std::size_t shards) const {
    const ForeignTraits* const traits = foreign();
    return traits && traits->shards > 1 ? 1 : shards;
  }
  /// and the first of them is this one, of value `index` of `count`.
  std::size_t first_shard_of(std::size_t index, std::size_t count) const {
    const ForeignTraits* const traits = foreign();
    return traits && traits->shards > 1 ? index * traits->shards / count : 0;
  }

  /// Runs all `shards` shards of one gang, collectives included. Buffers do not overlap, except
  /// that a donated operand may be an output. `parallelism` may be null: then in this thread only.
  /// Bit-equal from run to run, whatever the number of threads, if it is repeatable. Does not
  /// throw. Errors: kUserFunctionError from a native function; outputs are undefined then.
  virtual Status run(std::span<const ShardedBuffer> operands,
                     std::span<const ShardedBuffer> outputs, ShardedBuffer scratch,
                     std::size_t shards, Parallelism* parallelism) const = 0;

  // A gang whose shards are on several hosts runs in stages: each begins when those before it have
  // ended, but for exchanges that it does not need. Exchanges begin on all hosts in this order.
  // The stages depend on whether an output overwrites an operand that is still to be read.

  /// `is_same(output, operand)`: whether they are the same memory.
  virtual bool has_conflict(
      const std::function<bool(std::uint32_t output, std::uint32_t operand)>& is_same) const {
    (void)is_same;
    return false;
  }
  virtual std::size_t stages(bool has_conflict) const {
    (void)has_conflict;
    return 1;
  }
  /// Null: each shard runs it on its own. Valid as long as this is.
  virtual const Exchange* exchange_at(std::size_t stage, bool has_conflict) const {
    (void)stage, (void)has_conflict;
    return nullptr;
  }
  /// Rough time that one shard takes for a stage.
  virtual std::uint64_t stage_cost_ns(std::size_t stage, bool has_conflict) const {
    (void)stage;
    return cost_ns() / stages(has_conflict);
  }
  /// What lies at places of kConstant, the same for all shards. Valid as long as this is.
  virtual ShardedBuffer constants() const { return {}; }
  /// Runs one stage, on some of the shards; an exchange on all. Buffers are as those of run(), but
  /// that nothing lies at other shards than those. Errors: those of run(); kUnimplemented for who
  /// cannot run on some shards alone.
  virtual Status run_stage(std::size_t stage, bool has_conflict,
                           std::span<const ShardedBuffer> operands,
                           std::span<const ShardedBuffer> outputs, ShardedBuffer scratch,
                           ShardRange shards, Parallelism* parallelism) const {
    (void)stage, (void)has_conflict, (void)operands, (void)outputs, (void)scratch;
    (void)shards, (void)parallelism;
    return unimplemented("this function runs on all shards of a gang at once, on one host");
  }
};

/// All pairs of equal size in bytes, but for empty ones; the first limits::kInPlacePairs of them.
OutputOperandPairs pairs_of_one_size(std::span<const TensorType> parameters,
                                     std::span<const TensorType> outputs);

class Collectives;

/// Compiles for the built-in CPU back end. kInvalidArgument if the graph does not validate.
/// `axes` are the mesh axes in order: shard s has the row-major coordinates of s. `collectives`
/// outlives the executable. A function with collectives runs on all shards of the mesh at once.
Result<std::shared_ptr<const Executable>> compile_cpu(const Graph& graph, const AxisSizes& axes,
                                                      const Collectives& collectives);

/// The same for gangs on several hosts: while an exchange is under way, those steps run that do not
/// need it. The order of the steps is another one, and so may be scratch_bytes(); results are the
/// same.
Result<std::shared_ptr<const Executable>> compile_cpu_overlapping(const Graph& graph,
                                                                  const AxisSizes& axes,
                                                                  const Collectives& collectives);

/// The same contract on the reference interpreter: slow, sequential, obviously right.
Result<std::shared_ptr<const Executable>> compile_reference(const Graph& graph,
                                                            const AxisSizes& axes);

/// A function in the user's own C++: called once per shard.
struct NativeFunction {
  std::string name = {};
  std::vector<TensorType> parameters = {}, outputs = {};
  std::size_t scratch_bytes = 0;
  std::uint64_t cost_ns = 1000;
  bool idempotent = true;
  /// Data-dependent: what follows it is launched only when it has finished.
  bool irregular = false;
  /// Operands and outputs of one shard, dense and row-major. May throw or return an error.
  std::function<Status(std::span<const std::byte* const> operands,
                       std::span<std::byte* const> outputs, std::byte* scratch)>
      body = {};
};
std::shared_ptr<const Executable> make_native(NativeFunction native);

}  // namespace seaway::function
