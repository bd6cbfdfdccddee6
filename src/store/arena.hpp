// Arena: cuts one region of memory into pieces.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "store/slab.hpp"

namespace seaway::store {

/// Gives out pieces of one region, each at the lowest place where it fits (Knuth, TAOCP 1, 2.5:
/// first fit), and what the region has no room for from elsewhere. Meant to stand below a
/// SlabCache, which asks seldom: a call costs a look at each hole. Pieces are whole lines of 64
/// bytes, and the region begins at one. Not thread-safe.
class Arena final : public Allocator {
 public:
  /// Hears of each piece that has come back, of whole pages alone: what lies there is nobody's.
  using Scrub = std::function<void(std::span<std::byte> pages)>;

  /// `region` may be empty. All that is handed in outlives the arena.
  Arena(std::span<std::byte> region, Allocator& elsewhere, Scrub scrub = {});

  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* base, std::size_t bytes) override;
  bool is_zeros(const std::byte* base, std::size_t bytes) const override;

  /// What is lent from the region stays as it is from here on, whatever comes back.
  void scrub_no_more() { scrub_ = nullptr; }

  /// Where in the region `place` lies; nothing: it does not.
  std::optional<std::size_t> offset_of(const std::byte* place) const;
  std::size_t free_bytes() const { return free_bytes_; }
  /// Of the region's rest, how many pieces it is in.
  std::size_t holes() const { return holes_.size(); }

 private:
  const std::span<std::byte> region_;
  Allocator& elsewhere_;
  Scrub scrub_;
  std::map<std::size_t, std::size_t> holes_;  // Offset, bytes; no two of them touch.
  std::size_t free_bytes_ = 0;
};

}  // namespace seaway::store
