// Frames that a hostile client sends: made of honest ones, well-formed but foreign, or damaged.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/frame.hpp"
#include "base/ids.hpp"
#include "base/random.hpp"

namespace seaway::sim {

/// A frame that an honest client has sent.
struct TappedFrame {
  ClientId from = 0;
  std::uint32_t to = 0;  // transport::ProcessId.
  std::uint32_t channel = 0;
  Frame frame;
};

/// How a hostile client changes a frame.
enum class HostileChange : std::uint8_t {
  kForeign,   // The sender is the hostile client, all ids inside are the victim's.
  kMixed,     // Of the ids inside some are the hostile client's own, at random.
  kFlipped,   // Bits of some words are flipped.
  kReplaced,  // Some words are others of the frame, or extreme numbers.
  kCut,       // The end is missing.
};
constexpr std::uint64_t kHostileChanges = 5;
std::string_view to_string(HostileChange change);

/// `tapped` as `self` sends it; `hosts`: how many the cluster has. The frame passes for one of
/// `self` as far as its outermost sender goes.
Frame make_hostile(const TappedFrame& tapped, ClientId self, std::uint32_t hosts,
                   HostileChange change, RandomStream& random);

}  // namespace seaway::sim
