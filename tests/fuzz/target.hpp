// Fuzz targets: functions that take any bytes and must not crash, hang, leak or grow beyond bounds.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/frame.hpp"

namespace seaway::fuzz {

// Each is defined in NAME_fuzz.cpp, says there what must hold, and is independent of what it was
// given before. libfuzzer_main.cpp gives them libFuzzer's inputs.
void config(std::span<const std::uint8_t> input);
void controller(std::span<const std::uint8_t> input);
void data(std::span<const std::uint8_t> input);
void door(std::span<const std::uint8_t> input);
void envelopes(std::span<const std::uint8_t> input);
void frames(std::span<const std::uint8_t> input);
void functions(std::span<const std::uint8_t> input);
void handshake(std::span<const std::uint8_t> input);
void packets(std::span<const std::uint8_t> input);
void programs(std::span<const std::uint8_t> input);
void relay(std::span<const std::uint8_t> input);
void session(std::span<const std::uint8_t> input);
void token_store(std::span<const std::uint8_t> input);

inline Frame frame_of(std::span<const std::uint8_t> bytes) {
  return Frame::make(bytes.size() / sizeof(std::uint64_t), [bytes](std::span<std::uint64_t> words) {
    if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size_bytes());
  });
}

/// One of several frames in an input: who says it, in numbers that the target knows, and what.
struct Said {
  std::uint8_t from = 0, to = 0;
  std::uint16_t number = 0;
  Frame frame;
};

/// Cuts an input into what is said: one word (from, to, number, words of the frame as 16 bits), and
/// the frame. The last one has what is left.
class Sayings {
 public:
  explicit Sayings(std::span<const std::uint8_t> input) : input_(input) {}

  bool next(Said& said) {
    if (input_.size() < kHead) return false;
    said.from = input_[0];
    said.to = input_[1];
    std::memcpy(&said.number, input_.data() + 2, sizeof(said.number));
    std::uint16_t words = 0;
    std::memcpy(&words, input_.data() + 4, sizeof(words));
    const std::size_t bytes = std::min(words * sizeof(std::uint64_t), input_.size() - kHead);
    said.frame = frame_of(input_.subspan(kHead, bytes));
    input_ = input_.subspan(kHead + bytes);
    return true;
  }

  static constexpr std::size_t kHead = 8;

 private:
  std::span<const std::uint8_t> input_;
};

}  // namespace seaway::fuzz
