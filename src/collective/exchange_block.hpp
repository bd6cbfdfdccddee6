// Block: what the hosts of a gang send each other for a part of an exchange, and compute of it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace seaway::collective {

/// How hosts add up what all of them have. All give the same bits: those of the fixed tree (CO-1).
///
/// Of k hosts with n bytes each, kRing and kDirect move 2 n (k-1)/k bytes over each host's link, in
/// k+1 and 2 steps: first each host gets its k-th part of all others, then that goes around, or
/// from each to each. kHalving moves as many in 2 log2 k steps. kTree moves n over each link and
/// up to 2 n log2 k over the root's, in 2 log2 k steps. kDoubling moves n log2 k in log2 k steps:
/// of two hosts that is as much as any, in half of the steps. (Thakur, Rabenseifner, Gropp,
/// Optimization of Collective Communication Operations in MPICH, 2005, sections 3 and 4; a ring
/// that adds up as it goes would have another order of additions for each part, and so it only
/// gathers.)
enum class Algorithm : std::uint8_t { kDirect, kTree, kHalving, kRing, kDoubling };
inline constexpr Algorithm kLastAlgorithm = Algorithm::kDoubling;
std::string_view to_string(Algorithm algorithm);

/// `rows` runs of `bytes` bytes, each `stride` behind the one before, of one shard's value; or of
/// the block's own work space.
struct Piece {
  enum class Where : std::uint8_t { kIn, kOut, kWork };
  Where where = Where::kIn;
  std::uint32_t shard = 0;  // Of kIn and kOut.
  std::uint64_t offset = 0;
  std::uint64_t rows = 1, bytes = 0, stride = 0;

  std::uint64_t size() const { return rows * bytes; }
  /// From its first byte to behind its last one.
  std::uint64_t extent() const { return (rows - 1) * stride + bytes; }
  bool is_dense() const { return rows == 1 || stride == bytes; }
};

/// From one host to another: these pieces of the sender, one behind the other.
struct Message {
  std::uint32_t host = 0;  // The other one.
  std::vector<Piece> pieces;

  std::uint64_t size() const;
};

/// Something of this host; or a piece of a message that has come, of the same size.
struct Input {
  static constexpr std::int32_t kOwn = -1, kZeros = -2;
  std::int32_t message = kOwn;  // Which of Round::receives;
  std::uint32_t index = 0;      // which of its pieces.
  Piece piece;                  // kOwn.
};
struct Copy {
  Input from;
  Piece to;
};
/// Adds up its inputs in the order of the tree: `program` takes the next of them (kTake), or joins
/// the last two (kJoin). What is written may be one of the inputs.
struct Fold {
  static constexpr std::uint8_t kTake = 0, kJoin = 1;
  std::vector<Input> inputs;
  std::vector<std::uint8_t> program;
  Piece to;
};

/// Sends begin when the round does. What is received is computed with, folds before copies and in
/// their order, when all of it is there; then the next round begins.
struct Round {
  std::vector<Message> sends, receives;
  std::vector<Fold> folds;
  std::vector<Copy> copies;
};

/// A part of an exchange that goes on without the others: some elements of some groups, which are
/// on the same hosts. Its rounds are numbered alike on all of them.
struct Block {
  std::uint32_t number = 0;  // The same on all hosts.
  Algorithm algorithm = Algorithm::kDirect;
  std::uint64_t work_bytes = 0;
  std::vector<Round> rounds;
};

}  // namespace seaway::collective
