// Orders to annexes and their answers, as frames.

#pragma once

#include <span>
#include <vector>

#include "base/frame.hpp"
#include "device/annex_order.hpp"

namespace seaway::device {

/// Frames of orders, in order, each of about kAnnexFrameBytes at most: larger ones are none that
/// Annexes makes.
std::vector<Frame> encode_orders(std::span<const AnnexOrder> orders);
/// Errors: kProtocolError.
Result<std::vector<AnnexOrder>> decode_orders(const Frame& frame);

std::vector<Frame> encode_answers(std::span<const AnnexAnswer> answers);
/// Errors: kProtocolError.
Result<std::vector<AnnexAnswer>> decode_answers(const Frame& frame);

/// Of the bytes of values in one frame.
inline constexpr std::uint64_t kAnnexFrameBytes = std::uint64_t{4} << 20;

}  // namespace seaway::device
