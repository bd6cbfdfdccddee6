// Step: one instruction of a compiled CPU function, ready to run on any number of shards.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "function/collectives.hpp"
#include "function/executable.hpp"

namespace seaway::function::cpu {

/// Where a value lies: `offset` bytes into buffer `index` of one of the tables of a run.
struct Location {
  enum Table : std::uint32_t { kOperand, kOutput, kScratch, kConstant };
  Table table = kScratch;
  std::uint32_t index = 0;
  std::size_t offset = 0;

  friend bool operator==(const Location&, const Location&) = default;
};

/// The buffers of one run, so that a step finds a value in two loads.
struct Tables {
  std::array<const ShardedBuffer*, 4> tables;

  ShardedBuffer at(const Location& location) const {
    ShardedBuffer buffer = tables[location.table][location.index];
    buffer.base += location.offset;
    return buffer;
  }
};

/// Shards [shard_begin, shard_end) and pieces [piece_begin, piece_end) of Step::pieces.
struct Work {
  std::size_t shard_begin = 0, shard_end = 0;
  std::size_t piece_begin = 0, piece_end = 1;
};

struct Step;
using Kernel = void (*)(const Step&, const Tables&, const Work&);

/// Inner loop over one dense run of elements. Operands that are scalars by the variant chosen are
/// read once.
using DenseFunction = void (*)(void* out, const void* a, const void* b, const void* c,
                               std::size_t count);
/// Inner loop over one element in each of `count` places, `strides` bytes apart (out, a, b, c).
using StridedFunction = void (*)(std::byte* out, const std::byte* a, const std::byte* b,
                                 const std::byte* c, const std::size_t* strides, std::size_t count);

/// What a kernel knows beyond its operands; each kernel has its own.
struct Details {
  virtual ~Details() = default;
};

/// One instruction: which kernel, on what.
struct Step {
  Kernel kernel = nullptr;
  std::vector<Location> in, out;
  std::shared_ptr<const Details> details;
  DenseFunction dense = nullptr;
  StridedFunction strided = nullptr;
  std::size_t elements = 0;
  std::size_t element_bytes = 4;
  /// Into how many pieces one shard's work can be split; fixed by the sizes alone, so that results
  /// do not depend on the number of threads.
  std::size_t pieces = 1;
  std::uint64_t cost_ns = 0;
  /// All shards exchange values; null: each is on its own.
  std::shared_ptr<const Collective> collective;
  /// Of such an exchange: the first step that is not to begin before it has ended, if that is not
  /// the next one. Whatever reads or writes its operands and results comes behind that.
  std::size_t needed_at = 0;
  /// (output, operand) pairs that may be the same memory.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place;
};

/// Elements [begin, end) that pieces [first, last) of `pieces` equal ones cover, in whole `grain`s.
struct Slice {
  std::size_t begin, end;
};
inline Slice slice_of(std::size_t count, const Work& work, std::size_t pieces, std::size_t grain) {
  if (pieces == 1) return {0, count};
  const std::size_t grains = (count + grain - 1) / grain;
  const std::size_t begin = grains * work.piece_begin / pieces * grain;
  const std::size_t end = grains * work.piece_end / pieces * grain;
  return {begin < count ? begin : count, end < count ? end : count};
}

/// Cost model: 5 GB/s for bytes moved, 50 GFLOP/s for multiplications of matrices, 15 ns a step.
inline std::uint64_t cost_of(std::size_t bytes, std::size_t flops = 0) {
  return 15 + bytes / 5 + flops / 50;
}

/// Pieces for work of `cost_ns`, about 20 us each and never more than `pieces_max`.
inline std::size_t pieces_for(std::uint64_t cost_ns, std::size_t pieces_max) {
  constexpr std::uint64_t kPieceNs = 20000;
  constexpr std::size_t kPiecesMax = 64;
  std::size_t pieces = static_cast<std::size_t>(cost_ns / kPieceNs);
  if (pieces > kPiecesMax) pieces = kPiecesMax;
  if (pieces > pieces_max) pieces = pieces_max;
  return pieces == 0 ? 1 : pieces;
}

}  // namespace seaway::function::cpu
