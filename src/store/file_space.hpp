// FileSpace: which bytes of a file are taken.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace seaway::store {

/// Bytes [offset, offset + bytes) of a file.
struct Extent {
  std::uint64_t offset = 0, bytes = 0;

  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Gives out ranges of a file of a fixed size: in one piece at the lowest place where that fits
/// (first fit, as Arena), else in pieces: what is free in all can always be had. A value; it
/// touches no file.
class FileSpace {
 public:
  explicit FileSpace(std::uint64_t bytes);

  /// `bytes` (> 0) in all, in the order of the file. Empty when so much is not free: nothing is
  /// taken then.
  std::vector<Extent> take(std::uint64_t bytes);
  /// All that one take() gave, once.
  void give_back(const std::vector<Extent>& extents);

  std::uint64_t free_bytes() const { return free_bytes_; }
  std::uint64_t used_bytes() const { return bytes_ - free_bytes_; }
  /// Of what is free, in how many pieces it is.
  std::size_t holes() const { return holes_.size(); }

 private:
  void give_back(const Extent& extent);

  std::uint64_t bytes_, free_bytes_;
  std::map<std::uint64_t, std::uint64_t> holes_;  // Offset, bytes; no two of them touch.
};

}  // namespace seaway::store
