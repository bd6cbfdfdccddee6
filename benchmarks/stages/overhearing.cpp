// One frame that introduces, whose table says how long it is, and packets behind it.

#include "benchmarks/stages/overhearing.hpp"

#include <cstdint>
#include <cstring>
#include <variant>

namespace seaway::benchmarks {
namespace {

constexpr std::uint32_t kSegmentsMax = 16;

}  // namespace

std::size_t Overhearing::hear(std::span<const std::byte> bytes) {
  if (is_deaf_) return 0;
  if (has_begun_) {
    reader_.feed(bytes);
  } else {
    first_.insert(first_.end(), bytes.begin(), bytes.end());
    hear_first();
    if (!has_begun_) return 0;
  }
  std::size_t frames = 0;
  for (;;) {
    const auto packet = reader_.next();
    is_deaf_ = !packet.ok();
    if (is_deaf_ || !*packet) return frames;
    using Kind = transport::Packet::Kind;
    frames += (*packet)->kind == Kind::kFrame || (*packet)->kind == Kind::kChunk;
  }
}

void Overhearing::hear_first() {
  const auto number = [this](std::size_t index) -> std::uint64_t {
    std::uint32_t value = 0;
    if (first_.size() < (index + 1) * sizeof(value)) return 0;
    std::memcpy(&value, first_.data() + index * sizeof(value), sizeof(value));
    return value;
  };
  const std::uint64_t segments = number(0) + 1;
  if (segments > kSegmentsMax) {
    is_deaf_ = true;
    return;
  }
  std::uint64_t words = segments / 2 + 1;
  const std::uint64_t table_bytes = words * sizeof(std::uint64_t);
  for (std::size_t i = 1; i <= segments; ++i) words += number(i);
  const std::uint64_t size = words * sizeof(std::uint64_t);
  if (first_.size() < table_bytes || first_.size() < size) return;
  has_begun_ = true;
  const Frame frame = Frame::make(words, [this](std::span<std::uint64_t> out) {
    std::memcpy(out.data(), first_.data(), out.size_bytes());
  });
  // A welcome is no introduction.
  const auto introduction = transport::read_introduction(frame);
  if (introduction.ok()) {
    if (const auto* talk = std::get_if<transport::Talk>(&introduction->what)) talk_ = *talk;
  }
  reader_.feed(std::span(first_).subspan(size));
  first_.clear();
}

}  // namespace seaway::benchmarks
