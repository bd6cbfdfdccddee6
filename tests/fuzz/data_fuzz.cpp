// Any bytes on a connection for data, and any headers whose sums are right: what is fetched is
// written to its place alone and only in its order, nothing is answered twice, and memory stays
// bounded.

#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "target.hpp"
#include "transport/data_link.hpp"

namespace seaway::fuzz {
namespace {

using transport::DataHeader;
using transport::DataKey;

constexpr std::size_t kValueBytes = 600'000;  // Three chunks.
constexpr std::size_t kSaidMax = std::size_t{64} << 20;

/// Hears what a stranger says; what is said to him is counted.
class Ears final : public transport::DataSocket {
 public:
  explicit Ears(std::span<const std::byte> heard) : heard_(heard) {}

  Step read(std::span<const Piece> pieces) override {
    Step step;
    for (const Piece& piece : pieces) {
      const std::size_t part = std::min(piece.size(), heard_.size());
      if (part > 0) std::memcpy(piece.data(), heard_.data(), part);
      heard_ = heard_.subspan(part);
      step.bytes += part;
    }
    step.is_blocked = heard_.empty();
    return step;
  }
  Step write(std::span<const ConstPiece> pieces) override {
    Step step;
    for (const ConstPiece& piece : pieces) step.bytes += piece.size();
    said_ += step.bytes;
    return step;
  }
  int descriptor() const override { return -1; }
  std::size_t said() const { return said_; }
  bool is_over() const { return heard_.empty(); }

 private:
  std::span<const std::byte> heard_;
  std::size_t said_ = 0;
};

/// Records of 16 bytes as headers with right sums, each chunk with bytes of its own.
std::vector<std::byte> talk(std::span<const std::uint8_t> input) {
  std::vector<std::byte> bytes;
  constexpr std::size_t kRecord = 16;
  for (; input.size() >= kRecord && bytes.size() < (1u << 22); input = input.subspan(kRecord)) {
    DataHeader header;
    header.kind = static_cast<DataHeader::Kind>(input[0] % 6);
    header.key = {input[1] % 4u, 0};
    std::memcpy(&header.length, input.data() + 4, sizeof(header.length));
    std::uint32_t offset = 0, end = 0;
    std::memcpy(&offset, input.data() + 8, sizeof(offset));
    std::memcpy(&end, input.data() + 12, sizeof(end));
    header.offset = offset;
    header.end = end;
    std::vector<std::byte> body;
    if (header.kind == DataHeader::Kind::kChunk) {
      header.length %= DataHeader::kChunkBytesMax + 2;
      body.assign(header.length, std::byte{input[2]});
      header.checksum = transport::crc32c(~std::uint32_t{0}, body) ^ (input[3] & 1u);
    } else if (input[3] % 4 != 0) {
      header.length = 0;
    }
    const DataHeader::Bytes head = header.to_bytes();
    bytes.insert(bytes.end(), head.begin(), head.end());
    bytes.insert(bytes.end(), body.begin(), body.end());
  }
  return bytes;
}

}  // namespace

void data(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const std::vector<std::byte> made = talk(input.subspan(1));
  const bool is_raw = (input[0] & 1) != 0;
  auto socket = std::make_unique<Ears>(is_raw ? std::as_bytes(input.subspan(1))
                                              : std::span<const std::byte>(made));
  Ears& ears = *socket;
  const std::vector<std::byte> value(kValueBytes, std::byte{7});
  const auto source = std::make_shared<const transport::DataSource>(
      transport::DataSource{kValueBytes,
                            [&value](std::uint64_t begin, std::uint64_t end, auto& pieces) {
                              SEAWAY_CHECK(begin < end && end <= value.size(), begin, end);
                              pieces.emplace_back(value.data() + begin, end - begin);
                            },
                            nullptr, 0});
  transport::DataLink link(std::move(socket),
                           [&source](DataKey key) { return key.id == 1 ? source : nullptr; });
  // Of two values that are fetched one goes right to its place.
  std::vector<std::byte> room(kValueBytes);
  std::uint64_t written = 0;
  const auto target_of = [&](bool is_scattered) {
    return std::make_shared<const transport::DataTarget>(transport::DataTarget{
        kValueBytes,
        [&room, is_scattered](std::uint64_t begin, std::uint64_t most) -> std::span<std::byte> {
          SEAWAY_CHECK(begin < room.size() && most <= room.size() - begin, begin, most);
          if (is_scattered) return {};
          return std::span(room).subspan(begin, most);
        },
        [&written](std::uint64_t begin, std::span<const std::byte> bytes) {
          SEAWAY_CHECK(begin == written && begin + bytes.size() <= kValueBytes, begin, written);
          written += bytes.size();
        }});
  };
  transport::DataFetch placed{{2, 0}, target_of(false), 0, kValueBytes};
  transport::DataFetch scattered{{3, 0}, target_of(true), 0, kValueBytes};
  link.ask(placed);
  link.ask(scattered);
  std::size_t ended = 0;
  for (int turn = 0; turn < 4096 && !link.has_ended() && ears.said() < kSaidMax; ++turn) {
    link.readable();
    link.writable();
    const bool is_busy = link.run(1 << 20);
    ended += link.take_ended().size();
    SEAWAY_CHECK(ended <= 2, ended);
    SEAWAY_CHECK(placed.next <= kValueBytes && scattered.next == written);
    SEAWAY_CHECK(link.extra_bytes() <= DataHeader::kChunkBytesMax);
    if (!is_busy && ears.is_over()) break;
  }
}

}  // namespace seaway::fuzz
