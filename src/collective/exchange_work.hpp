// What a round of an exchange computes, in memory.

#pragma once

#include <cstddef>
#include <vector>

#include "collective/exchange_block.hpp"
#include "function/collective.hpp"
#include "function/executable.hpp"

namespace seaway::collective {

/// Where a host's shards lie, and the work space of a block. Borrowed.
struct ExchangeMemory {
  function::ShardedBuffer in, out;
  std::byte* work = nullptr;

  std::byte* at(const Piece& piece) const {
    if (piece.where == Piece::Where::kWork) return work + piece.offset;
    const function::ShardedBuffer& buffer = piece.where == Piece::Where::kIn ? in : out;
    return buffer.shard(piece.shard) + piece.offset;
  }
};

/// A message that has come. Borrowed.
struct Received {
  /// Where each of its pieces begins.
  std::vector<const std::byte*> pieces;
  /// They lie one behind the other, as they were sent; else as they lie at their sender.
  bool is_packed = true;
};

/// Folds, then copies. `received`: one for each of `round.receives`. Thread-safe for rounds of
/// different blocks. Does not throw.
void carry_out(const function::Collective& collective, const Round& round,
               const ExchangeMemory& memory, const std::vector<Received>& received);

/// Puts the pieces of a message one behind the other at `to`.
void pack(const Message& message, const ExchangeMemory& memory, std::byte* to);

/// Roughly what carry_out() reads and writes.
std::uint64_t work_bytes(const Round& round);

}  // namespace seaway::collective
