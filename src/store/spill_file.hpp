// SpillFile: where a host keeps arrays that its memory has no room for. A seam: a file, or a
// simulated one.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "seaway/status.hpp"
#include "store/file_space.hpp"

namespace seaway::store {

/// One shard of an array on its way.
struct SpillShard {
  std::span<std::byte> bytes;
  std::vector<Extent> places;  // That hold them, one behind the other.
  std::uint32_t sum = 0;       // CRC-32C of what was written or read; once it has ended well.
};

/// One array on its way to the file or back. Its memory stays as it is until `done`.
struct SpillJob {
  ArrayId array = 0;  // For messages.
  std::vector<SpillShard> shards;
  /// Nobody needs what a write makes any more: it ends soon, with kCancelled unless it has ended.
  std::atomic<bool> is_cancelled = false;
};

/// Bytes of one host, which are nothing to anybody else and nothing to its next life. Control
/// thread. Transfers may overlap in time, not in the file; what is read has been written.
class SpillFile {
 public:
  /// Called once, on the control thread, never within the call that began it.
  using Done = std::function<void(Status)>;

  virtual ~SpillFile() = default;

  /// Errors: kResourceExhausted when there is no room, kDataCorruption when the disk fails; any
  /// part may have been written then. kCancelled.
  virtual void write(std::shared_ptr<SpillJob> job, Done done) = 0;
  /// Errors: kDataCorruption when the disk fails. Whoever reads compares the sums: what has changed
  /// is no error here.
  virtual void read(std::shared_ptr<SpillJob> job, Done done) = 0;
  /// Waits for what is under way, and calls nobody any more: all that jobs refer to may go.
  virtual void close() = 0;
};

/// Deals `extents`, in their order, to `shards` shards that are `stride` apart in memory from
/// `base` on; each has `bytes` bytes, and `place_bytes` in the file.
std::vector<SpillShard> deal_shards(const std::vector<Extent>& extents, std::byte* base,
                                    std::size_t stride, std::size_t shards, std::uint64_t bytes,
                                    std::uint64_t place_bytes);

/// One range of bytes of a file, moved now.
using MoveBytes = std::function<Status(std::uint64_t offset, std::span<std::byte> bytes)>;

/// Moves all shards of `job`, piece by piece, and takes their sums: of a write before a piece is
/// moved, of a read behind that. kCancelled as soon as it is a write that nobody needs.
Status move_shards(SpillJob& job, bool is_write, const MoveBytes& move);

}  // namespace seaway::store
