// Aligned memory, and what becomes of it when it is given back.

#include "base/aligned.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

namespace seaway {
namespace {

TEST(Aligned, BeginsAtALineAndHoldsAll) {
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 4096, 1 << 20}) {
    std::byte* const base = allocate_aligned(bytes);
    ASSERT_NE(base, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(base) % kLineBytes, 0u);
    std::memset(base, 0x5a, bytes);
    release_aligned(base);
  }
  release_aligned(nullptr);
  EXPECT_EQ(allocate_aligned(SIZE_MAX), nullptr);
  EXPECT_EQ(allocate_aligned(SIZE_MAX / 2), nullptr);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
TEST(Aligned, ValuesOfOneSizeTakeNoMoreMemoryThanThereAreAtOnce) {
  constexpr std::size_t kBytes = 100'032;  // Below what the system maps on its own.
  std::vector<void*> small;
  std::deque<std::byte*> live;
  std::size_t before = 0;
  for (int round = 0; round < 1000; ++round) {
    void* const frame = std::malloc(kBytes + 80);  // What a value came in.
    live.push_back(allocate_aligned(kBytes));
    std::free(frame);
    small.push_back(std::malloc(40));  // It stays between this value and the next.
    if (live.size() > 6) {
      release_aligned(live.front());
      live.pop_front();
    }
    if (round == 100) before = mallinfo2().arena;
  }
  EXPECT_LT(mallinfo2().arena - before, 20 * kBytes);
  for (std::byte* const one : live) release_aligned(one);
  for (void* const one : small) std::free(one);
}
#endif

}  // namespace
}  // namespace seaway
