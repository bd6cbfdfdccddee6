// Frame: the one message that crosses actors, an immutable run of Cap'n Proto words.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace seaway {

/// Immutable 64-bit words with a shared reference count: one heap block, built once, copied by
/// reference, handed as it is to every local receiver. Thread-safe to read and to copy.
class Frame {
 public:
  Frame() = default;
  Frame(const Frame& other) : block_(other.block_) {
    if (block_) block_->count.fetch_add(1, std::memory_order_relaxed);
  }
  Frame(Frame&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Frame& operator=(Frame other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Frame() { release(); }

  /// Whether `wire::read_frame` checks the bounds of pointers.
  enum class Origin : std::uint8_t {
    kForeign,  // Checked: any bytes.
    kBuilt,    // Not checked: one segment, copied from a Cap'n Proto builder of this process.
  };
  /// A frame of `size` words that `fill(std::span<uint64_t>)` writes before anybody reads it.
  template <class Fill>
  static Frame make(std::size_t size, Fill&& fill, Origin origin = Origin::kForeign) {
    Frame frame = allocate(size, origin);
    fill(std::span<std::uint64_t>(frame.block_->words(), size));
    return frame;
  }

  std::span<const std::uint64_t> words() const {
    if (!block_) return {};
    return {block_->words(), block_->size};
  }
  std::size_t size_bytes() const { return words().size() * sizeof(std::uint64_t); }
  bool empty() const { return block_ == nullptr; }
  Origin origin() const { return block_ ? block_->origin : Origin::kForeign; }

 private:
  struct Block {
    std::atomic<std::uint32_t> count{1};
    Origin origin = Origin::kForeign;
    std::size_t size = 0;  // In words.
    std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  };
  static_assert(sizeof(Block) % sizeof(std::uint64_t) == 0);

  static Frame allocate(std::size_t size, Origin origin);
  void release();

  Block* block_ = nullptr;
};

}  // namespace seaway
