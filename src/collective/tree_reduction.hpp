// TreeReduction: folds the values of a group along a balanced tree that only its size decides.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.hpp"

namespace seaway::collective {

struct Sum {
  static float apply(float a, float b) { return a + b; }
  static std::int32_t apply(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};
struct Max {
  /// NaN if either is.
  static float apply(float a, float b) { return (a > b || a != a) ? a : b; }
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return a > b ? a : b; }
  static std::uint8_t apply(std::uint8_t a, std::uint8_t b) { return a | b; }
};

/// Levels of the tree that fit; groups have fewer than 2^kLevelsMax members.
constexpr std::size_t kLevelsMax = 32;

/// Folds one value of each member, which lie `step` bytes apart.
///
/// Neighbours are joined level by level, a last one without partner moves up as it is:
/// ((0+1)+(2+3))+((4+5)+6). Done in one pass, like a binary counter: complete subtrees wait on a
/// stack until their right neighbour of the same height is complete.
template <class F, class T>
T fold_values(const std::byte* first, std::size_t step, std::size_t members) {
  const auto value = [first, step](std::size_t i) {
    return *reinterpret_cast<const T*>(first + i * step);
  };
  T waiting[kLevelsMax];
  std::size_t height = 0;
  std::size_t i = 0;
  // Eight at a time are a complete subtree of their own.
  for (; i + 8 <= members; i += 8) {
    T subtree = F::apply(
        F::apply(F::apply(value(i), value(i + 1)), F::apply(value(i + 2), value(i + 3))),
        F::apply(F::apply(value(i + 4), value(i + 5)), F::apply(value(i + 6), value(i + 7))));
    for (std::size_t count = i / 8; count & 1; count >>= 1) {
      subtree = F::apply(waiting[--height], subtree);
    }
    waiting[height++] = subtree;
  }
  const std::size_t whole = i;
  for (; i < members; ++i) {
    T subtree = value(i);
    for (std::size_t count = i - whole; count & 1; count >>= 1) {
      subtree = F::apply(waiting[--height], subtree);
    }
    waiting[height++] = subtree;
  }
  T total = waiting[--height];
  while (height > 0) total = F::apply(waiting[--height], total);
  return total;
}

/// The same for `count` <= kTile elements of each member at once, in the same order per element.
/// Only the levels in use touch the cache.
template <class F, class T>
class TileFold {
 public:
  static constexpr std::size_t kTile = 512;

  /// Returns the folded tile, valid until the next call.
  const T* fold(const std::byte* first, std::size_t step, std::size_t members, std::size_t count) {
    const auto tile = [first, step](std::size_t i) {
      return reinterpret_cast<const T*>(first + i * step);
    };
    std::size_t height = 0;
    for (std::size_t i = 0; i + 1 < members; i += 2) {
      combine(waiting_[height++], tile(i), tile(i + 1), count);
      for (std::size_t pairs = i / 2; pairs & 1; pairs >>= 1, --height) {
        combine(waiting_[height - 2], waiting_[height - 2], waiting_[height - 1], count);
      }
    }
    if (members % 2 == 1) {
      std::memcpy(waiting_[height++], tile(members - 1), count * sizeof(T));
    }
    for (; height > 1; --height) {
      combine(waiting_[height - 2], waiting_[height - 2], waiting_[height - 1], count);
    }
    return waiting_[0];
  }

 private:
  static void combine(T* out, const T* a, const T* b, std::size_t count) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) out[i] = F::apply(a[i], b[i]);
  }

  alignas(64) T waiting_[kLevelsMax][kTile];
};

}  // namespace seaway::collective
