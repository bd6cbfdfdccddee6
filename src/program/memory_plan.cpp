// Best fit from the last gang back to the first.

#include "program/memory_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.hpp"

namespace seaway::program {
namespace {

/// The holes of a block that has no upper end of its own.
class Holes {
 public:
  /// Takes the smallest hole that fits, the lowest among equals, or grows the block.
  std::uint64_t take(std::uint64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) return grow(bytes);
    const auto [size, offset] = *fit;
    erase(offset, size);
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }

  void give_back(std::uint64_t offset, std::uint64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      erase(next->first, next->second);
    }
    next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto [before, size] = *std::prev(next);
      if (before + size == offset) {
        erase(before, size);
        offset = before;
        bytes += size;
      }
    }
    insert(offset, bytes);
  }

  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t grow(std::uint64_t bytes) {
    std::uint64_t offset = end_;
    // A hole that reaches the end is a head start.
    if (!by_offset_.empty()) {
      const auto [last, size] = *by_offset_.rbegin();
      if (last + size == end_) {
        erase(last, size);
        offset = last;
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  void insert(std::uint64_t offset, std::uint64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void erase(std::uint64_t offset, std::uint64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<std::uint64_t, std::uint64_t> by_offset_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
  std::uint64_t end_ = 0;
};

}  // namespace

std::vector<BlockStep> plan_memory(std::vector<LiveRange>& ranges, std::uint32_t gangs) {
  std::vector<std::uint32_t> by_last, by_first;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    SEAWAY_CHECK(ranges[i].first <= ranges[i].last && ranges[i].last < gangs, i, gangs);
    if (ranges[i].bytes == 0) continue;
    by_last.push_back(i);
    by_first.push_back(i);
  }
  if (by_last.empty()) return {};
  std::sort(by_last.begin(), by_last.end(), [&ranges](std::uint32_t a, std::uint32_t b) {
    const LiveRange &x = ranges[a], &y = ranges[b];
    if (x.last != y.last) return x.last > y.last;
    if (x.first != y.first) return x.first < y.first;
    if (x.bytes != y.bytes) return x.bytes > y.bytes;
    return a < b;
  });
  std::sort(by_first.begin(), by_first.end(), [&ranges](std::uint32_t a, std::uint32_t b) {
    return ranges[a].first != ranges[b].first ? ranges[a].first > ranges[b].first : a < b;
  });

  Holes holes;
  std::vector<BlockStep> rises;  // Up to `gang` the block needs `bytes`; from last to first.
  std::size_t ended = 0;
  for (std::size_t i = 0; i < by_last.size();) {
    const std::uint32_t gang = ranges[by_last[i]].last;
    for (; ended < by_first.size() && ranges[by_first[ended]].first > gang; ++ended) {
      const LiveRange& range = ranges[by_first[ended]];
      holes.give_back(range.offset, range.bytes);
    }
    for (; i < by_last.size() && ranges[by_last[i]].last == gang; ++i) {
      LiveRange& range = ranges[by_last[i]];
      range.offset = holes.take(range.bytes);
    }
    if (rises.empty() || holes.end() > rises.back().bytes) rises.push_back({gang, holes.end()});
  }
  std::vector<BlockStep> steps;
  for (std::size_t i = rises.size(); i-- > 0;) {
    steps.push_back({i + 1 < rises.size() ? rises[i + 1].gang + 1 : 0, rises[i].bytes});
  }
  if (rises[0].gang + 1 < gangs) steps.push_back({rises[0].gang + 1, 0});
  steps.push_back({gangs, 0});
  return steps;
}

}  // namespace seaway::program
