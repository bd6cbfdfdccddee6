// ValueStream: a sharded value as one run of bytes, which is how it goes from host to host. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transfer/reshard_plan.hpp"

namespace seaway::transfer {

/// The shards of a value that differ, each once and in the order of their numbers, one behind the
/// other and without what lies between them in memory. Of replicas the first one goes. Both ends
/// work it out alone, from the sender's placement.
class ValueStream {
 public:
  /// `placement` must validate for `type`.
  ValueStream(const TensorType& type, const Placement& placement);

  /// Of the whole value: what each of its elements takes, once.
  std::uint64_t bytes() const { return shard_bytes_ * shards_.size(); }
  std::uint64_t shard_bytes() const { return shard_bytes_; }
  const std::vector<std::uint32_t>& shards() const { return shards_; }

  /// Adds where bytes [begin, end) of the stream lie, if shard s lies at base + s * stride: at most
  /// one piece a shard.
  void add_pieces(const std::byte* base, std::size_t stride, std::uint64_t begin, std::uint64_t end,
                  std::vector<std::span<const std::byte>>& pieces) const;

 private:
  std::uint64_t shard_bytes_ = 0;
  std::vector<std::uint32_t> shards_;
};

/// Puts a stream to where a receiver wants it, whichever parts of it come first.
class StreamTarget {
 public:
  /// For `type` from `source` to `target`; both must validate.
  StreamTarget(const TensorType& type, const Placement& source, const Placement& target);

  const ValueStream& stream() const { return stream_; }

  /// Where the bytes from `begin` on go, as long as they lie densely in one place and nowhere else:
  /// they can be read right to there. Empty: they go to several places, or piece by piece.
  /// At most `most` bytes.
  std::span<std::byte> place(std::byte* base, std::size_t stride, std::uint64_t begin,
                             std::uint64_t most) const;
  /// Copies bytes [begin, begin + bytes.size()) of the stream to all shards that hold them; shard s
  /// lies at base + s * stride.
  void scatter(std::byte* base, std::size_t stride, std::uint64_t begin,
               std::span<const std::byte> bytes) const;

 private:
  struct Part {
    std::uint32_t target_shard = 0;
    Copy copy;
  };
  ValueStream stream_;
  std::vector<std::vector<Part>> parts_;  // By the place of their source shard in the stream.
};

}  // namespace seaway::transfer
