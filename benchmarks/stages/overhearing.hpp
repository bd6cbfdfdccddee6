// Overhearing: how many frames come over one way of a connection between two processes.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "transport/introduction.hpp"
#include "transport/packet.hpp"

namespace seaway::benchmarks {

/// Cuts what one end says as its reader does: an introduction or a welcome, and then packets.
class Overhearing {
 public:
  /// How many frames are whole with `bytes`, in pieces of any size. Bytes that are none: 0, from
  /// then on.
  std::size_t hear(std::span<const std::byte> bytes);
  /// Who talks with whom, once this end has said so.
  const std::optional<transport::Talk>& talk() const { return talk_; }

 private:
  void hear_first();

  bool is_deaf_ = false;
  bool has_begun_ = false;        // What comes now are packets.
  std::vector<std::byte> first_;  // What is said before.
  std::optional<transport::Talk> talk_;
  transport::PacketReader reader_;
};

}  // namespace seaway::benchmarks
