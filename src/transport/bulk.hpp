// LocalBulk: payload that changes hands inside one process, beside the frames that announce it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "base/ids.hpp"
#include "seaway/status.hpp"
#include "transport/file_view.hpp"
#include "transport/near_memory.hpp"

namespace seaway::transport {

/// Of one value that goes to another process in a frame: a list of Cap'n Proto's is no longer.
constexpr std::size_t kPayloadBytesMax = (std::size_t{1} << 29) - 1;
/// kResourceExhausted for more; `what` is "array 3".
Status check_payload(std::size_t bytes, const std::string& what);

/// Shards of one value: shard s lies at base + s * stride; `owner` keeps the memory alive.
struct Payload {
  std::byte* base = nullptr;
  std::size_t stride = 0;
  std::shared_ptr<void> owner;
  // Whoever takes it within the process knows these:
  std::size_t shards = 0;
  std::size_t shard_bytes = 0;  // Of each; what lies between shards is nobody's business.
  /// Another process lends it: whoever has read it asks whether it still did. Null: nobody does.
  std::shared_ptr<const Loan> loan = nullptr;
  bool may_be_kept = false;  // For longer than it takes to copy it.
  /// It lies in a file, as far as that is still there. Null: it does not.
  std::shared_ptr<const FileView> file = nullptr;
  /// It is still with its sender, who offers so many bytes to the data plane; 0: it is here.
  std::uint64_t offered_bytes = 0;
};

/// Copies the shards of `payload`, and nothing that lies between them, to `target`, each at the
/// same place as in `payload`. The rest of `target` stays as it is: zeros, for it may go to a
/// stranger.
void copy_shards(const Payload& payload, std::span<std::byte> target);
/// How large that target is.
std::size_t extent_of(const Payload& payload);

/// A copy of `bytes`, in memory that is aligned for kernels.
Payload copy_payload(std::span<const std::byte> bytes, std::size_t stride);

/// Where payload waits for whoever a frame tells to take it. Thread-safe. Each entry is offered
/// once and taken once. Uploads: client -> host, by array id. Fetch targets: the client's buffer
/// that a host writes into, by (client, request). Edges: sending host -> receiving host, by (stamp,
/// edge).
class LocalBulk {
 public:
  void offer_upload(ArrayId array, Payload payload) { uploads_.offer(array, std::move(payload)); }
  std::optional<Payload> take_upload(ArrayId array) { return uploads_.take(array); }

  void offer_target(ClientId client, std::uint64_t request, std::span<std::byte> target) {
    targets_.offer(make_id(client, request), target);
  }
  /// Nothing when the client has withdrawn it (its deadline passed): then nothing may be written.
  std::optional<std::span<std::byte>> take_target(ClientId client, std::uint64_t request) {
    return targets_.take(make_id(client, request));
  }

  void offer_edge(Stamp stamp, std::uint32_t edge, Payload payload) {
    edges_.offer(edge_key(stamp, edge), std::move(payload));
  }
  std::optional<Payload> take_edge(Stamp stamp, std::uint32_t edge) {
    return edges_.take(edge_key(stamp, edge));
  }

  /// Entries that nobody has taken; 0 when a cluster is idle.
  std::size_t size() const { return uploads_.size() + targets_.size() + edges_.size(); }

 private:
  /// Stamps stay below 2^40 and edges of one program below 2^24 (program::kNodesMax).
  static std::uint64_t edge_key(Stamp stamp, std::uint32_t edge) { return (stamp << 24) | edge; }

  template <class T>
  class Table {
   public:
    void offer(std::uint64_t key, T value) {
      std::lock_guard guard(mutex_);
      entries_[key] = std::move(value);
    }
    std::optional<T> take(std::uint64_t key) {
      std::lock_guard guard(mutex_);
      const auto found = entries_.find(key);
      if (found == entries_.end()) return std::nullopt;
      std::optional<T> value(std::move(found->second));
      entries_.erase(found);
      return value;
    }
    std::size_t size() const {
      std::lock_guard guard(mutex_);
      return entries_.size();
    }

   private:
    mutable std::mutex mutex_;
    std::unordered_map<std::uint64_t, T> entries_;  // Never iterated.
  };

  Table<Payload> uploads_;
  Table<std::span<std::byte>> targets_;
  Table<Payload> edges_;
};

}  // namespace seaway::transport
