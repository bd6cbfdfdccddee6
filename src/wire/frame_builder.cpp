// From the segments of a built message to the words of a frame.

#include "wire/frame_builder.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace seaway::wire {
namespace internal {
namespace {

constexpr unsigned kKept = 4;  // More messages than one is made of at a time.

struct Kept {
  std::uint64_t words[kKept][Scratch::kWords];
  unsigned used;  // One bit for each.
};
constinit thread_local Kept kept = {};

}  // namespace

Scratch::Scratch() {
  const auto index = static_cast<unsigned>(std::countr_one(kept.used));
  if (index >= kKept) {
    words_ = new std::uint64_t[kWords]();
    return;
  }
  kept.used |= 1u << index;
  words_ = kept.words[index];
}

Scratch::~Scratch() {
  for (unsigned index = 0; index < kKept; ++index) {
    if (words_ != kept.words[index]) continue;
    kept.used &= ~(1u << index);
    return;
  }
  delete[] words_;
}

}  // namespace internal

Frame freeze(capnp::MessageBuilder& message) {
  const auto segments = message.getSegmentsForOutput();
  // The segment table: count - 1, then each size, as 32-bit numbers, padded to whole words.
  const std::size_t table_words = segments.size() / 2 + 1;
  std::size_t words = table_words;
  for (const auto& segment : segments) words += segment.size();
  const auto fill = [&segments, table_words](std::span<std::uint64_t> out) {
    out[table_words - 1] = 0;
    auto* table = reinterpret_cast<std::byte*>(out.data());
    const auto put = [table](std::size_t index, std::size_t number) {
      const auto value = static_cast<std::uint32_t>(number);
      std::memcpy(table + index * sizeof(value), &value, sizeof(value));
    };
    put(0, segments.size() - 1);
    std::uint64_t* next = out.data() + table_words;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      put(i + 1, segments[i].size());
      std::memcpy(next, segments[i].begin(), segments[i].size() * sizeof(std::uint64_t));
      next += segments[i].size();
    }
  };
  return Frame::make(words, fill,
                     segments.size() == 1 ? Frame::Origin::kBuilt : Frame::Origin::kForeign);
}

}  // namespace seaway::wire
