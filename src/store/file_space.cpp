// Holes of a file: cut, and joined again.

#include "store/file_space.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"

namespace seaway::store {

FileSpace::FileSpace(std::uint64_t bytes) : bytes_(bytes), free_bytes_(bytes) {
  if (bytes > 0) holes_[0] = bytes;
}

std::vector<Extent> FileSpace::take(std::uint64_t bytes) {
  SEAWAY_CHECK(bytes > 0);
  if (bytes > free_bytes_) return {};
  const auto fitting =
      std::ranges::find_if(holes_, [bytes](const auto& hole) { return hole.second >= bytes; });
  std::vector<Extent> taken;
  std::uint64_t left = bytes;
  for (auto hole = fitting == holes_.end() ? holes_.begin() : fitting; left > 0;) {
    const auto [offset, size] = *hole;
    const std::uint64_t part = std::min(size, left);
    hole = holes_.erase(hole);
    if (part < size) holes_.emplace_hint(hole, offset + part, size - part);
    taken.push_back({offset, part});
    left -= part;
  }
  free_bytes_ -= bytes;
  return taken;
}

void FileSpace::give_back(const std::vector<Extent>& extents) {
  for (const Extent& extent : extents) give_back(extent);
}

void FileSpace::give_back(const Extent& extent) {
  std::uint64_t begin = extent.offset, end = extent.offset + extent.bytes;
  SEAWAY_CHECK(begin < end && end <= bytes_, begin, end, bytes_);
  auto behind = holes_.lower_bound(begin);
  SEAWAY_CHECK(behind == holes_.end() || behind->first >= end, begin, end);
  if (behind != holes_.end() && behind->first == end) {
    end += behind->second;
    behind = holes_.erase(behind);
  }
  if (behind != holes_.begin()) {
    const auto before = std::prev(behind);
    SEAWAY_CHECK(before->first + before->second <= begin, begin, end);
    if (before->first + before->second == begin) {
      begin = before->first;
      behind = holes_.erase(before);
    }
  }
  holes_.emplace_hint(behind, begin, end - begin);
  free_bytes_ += extent.bytes;
}

}  // namespace seaway::store
