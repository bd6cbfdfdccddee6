// Holes of a region: cut, and joined again.

#include "store/arena.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/check.hpp"

namespace seaway::store {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = 4096;

/// The whole pages of `piece`.
std::span<std::byte> pages_of(std::span<std::byte> piece) {
  const auto begin = reinterpret_cast<std::uintptr_t>(piece.data());
  const std::size_t skipped = (kPage - begin % kPage) % kPage;
  if (skipped >= piece.size()) return {};
  return piece.subspan(skipped, (piece.size() - skipped) / kPage * kPage);
}

}  // namespace

Arena::Arena(std::span<std::byte> region, Allocator& elsewhere, Scrub scrub)
    : region_(region.first(region.size() / kLine * kLine)),
      elsewhere_(elsewhere),
      scrub_(std::move(scrub)),
      free_bytes_(region_.size()) {
  SEAWAY_CHECK(reinterpret_cast<std::uintptr_t>(region_.data()) % kLine == 0);
  if (!region_.empty()) holes_[0] = region_.size();
}

std::byte* Arena::allocate(std::size_t bytes) {
  SEAWAY_CHECK(bytes > 0 && bytes % kLine == 0, bytes);
  const auto found =
      std::ranges::find_if(holes_, [bytes](const auto& hole) { return hole.second >= bytes; });
  if (found == holes_.end()) return elsewhere_.allocate(bytes);
  const auto [offset, size] = *found;
  const auto next = holes_.erase(found);
  if (size > bytes) holes_.emplace_hint(next, offset + bytes, size - bytes);
  free_bytes_ -= bytes;
  return region_.data() + offset;
}

void Arena::release(std::byte* base, std::size_t bytes) {
  const std::optional<std::size_t> place = offset_of(base);
  if (!place) return elsewhere_.release(base, bytes);
  SEAWAY_CHECK(bytes % kLine == 0 && bytes <= region_.size() - *place, *place, bytes);
  if (scrub_) {
    const auto pages = pages_of({base, bytes});
    if (!pages.empty()) scrub_(pages);
    // And what is not of whole pages.
    const auto before = pages.empty() ? bytes : static_cast<std::size_t>(pages.data() - base);
    std::memset(base, 0, before);
    std::memset(base + before + pages.size(), 0, bytes - before - pages.size());
  }
  free_bytes_ += bytes;
  std::size_t begin = *place, end = *place + bytes;
  auto behind = holes_.lower_bound(begin);
  SEAWAY_CHECK(behind == holes_.end() || behind->first >= end, begin, bytes);
  if (behind != holes_.end() && behind->first == end) {
    end += behind->second;
    behind = holes_.erase(behind);
  }
  if (behind != holes_.begin()) {
    const auto before = std::prev(behind);
    SEAWAY_CHECK(before->first + before->second <= begin, begin, bytes);
    if (before->first + before->second == begin) {
      begin = before->first;
      behind = holes_.erase(before);
    }
  }
  holes_.emplace_hint(behind, begin, end - begin);
}

/// What was released was scrubbed, and the region is zeros at first.
bool Arena::is_zeros(const std::byte* base, std::size_t bytes) const {
  return offset_of(base) ? scrub_ != nullptr : elsewhere_.is_zeros(base, bytes);
}

std::optional<std::size_t> Arena::offset_of(const std::byte* place) const {
  const std::less<const std::byte*> before;
  if (before(place, region_.data()) || !before(place, region_.data() + region_.size())) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(place - region_.data());
}

}  // namespace seaway::store
