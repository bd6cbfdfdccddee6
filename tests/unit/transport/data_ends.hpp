// What the tests of the data plane share: pairs of sockets, those that do harm, and values.

#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "transport/data_plane.hpp"
#include "transport/data_socket.hpp"

namespace seaway::transport {

using SocketPair = std::pair<std::unique_ptr<DataSocket>, std::unique_ptr<DataSocket>>;

inline SocketPair make_pair_of_sockets() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  return {make_data_socket(Descriptor(ends[0])), make_data_socket(Descriptor(ends[1]))};
}

/// Ends, or changes a bit, behind so many bytes that were written; 0: never.
struct Harm {
  std::uint64_t ends_behind = 0, flips_behind = 0;
};
class HarmedSocket final : public DataSocket {
 public:
  HarmedSocket(std::unique_ptr<DataSocket> inner, Harm harm)
      : inner_(std::move(inner)), harm_(harm) {}

  Step read(std::span<const Piece> pieces) override {
    return has_ended() ? Step{0, false, true} : inner_->read(pieces);
  }
  Step write(std::span<const ConstPiece> pieces) override {
    if (has_ended()) return {0, false, true};
    ConstPiece piece;
    for (const ConstPiece& one : pieces) {
      if (piece = one; !one.empty()) break;
    }
    std::vector<std::byte> bytes(piece.begin(), piece.end());
    const std::uint64_t at = harm_.flips_behind;
    if (at > 0 && written_ <= at && at < written_ + bytes.size()) {
      bytes[at - written_] ^= std::byte{4};
    }
    const ConstPiece one(bytes);
    const Step step = inner_->write(std::span(&one, 1));
    written_ += step.bytes;
    return step;
  }
  int descriptor() const override { return inner_->descriptor(); }

 private:
  bool has_ended() {
    const bool ends = harm_.ends_behind > 0 && written_ >= harm_.ends_behind;
    if (ends) ::shutdown(descriptor(), SHUT_RDWR);
    return ends;
  }
  const std::unique_ptr<DataSocket> inner_;
  const Harm harm_;
  std::uint64_t written_ = 0;
};

/// Bytes that differ from value to value and from place to place.
inline std::vector<std::byte> make_value(std::uint64_t seed, std::size_t bytes) {
  std::vector<std::byte> value(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    value[i] = static_cast<std::byte>((seed * 131 + i * 7 + (i >> 8) * 3) & 0xff);
  }
  return value;
}

inline DataSource source_of(std::shared_ptr<const std::vector<std::byte>> value,
                            std::uint32_t tenant = 0) {
  return {value->size(),
          [value](std::uint64_t begin, std::uint64_t end, auto& pieces) {
            // In two pieces where there are two shards, as it were.
            const std::uint64_t middle = value->size() / 2 + 1;
            const auto* const base = value->data();
            if (begin < middle) pieces.emplace_back(base + begin, std::min(end, middle) - begin);
            if (end > middle) {
              const std::uint64_t from = std::max(begin, middle);
              pieces.emplace_back(base + from, end - from);
            }
          },
          value, tenant};
}

/// `is_scattered`: nothing of it lies in one place.
inline DataTarget target_of(std::vector<std::byte>& room, bool is_scattered = false) {
  return {room.size(),
          [&room, is_scattered](std::uint64_t begin, std::uint64_t most) -> std::span<std::byte> {
            if (is_scattered || begin >= room.size()) return {};
            return std::span(room).subspan(begin).first(
                std::min<std::uint64_t>(most, room.size() - begin));
          },
          [&room](std::uint64_t begin, std::span<const std::byte> bytes) {
            std::memcpy(room.data() + begin, bytes.data(), bytes.size());
          }};
}

}  // namespace seaway::transport
