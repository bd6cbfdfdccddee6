// Which protocol processes talk.

#pragma once

#include <cstdint>

/// Builds of tests say another one (tests/tools/meson.build).
#ifndef SEAWAY_PROTOCOL_VERSION
#define SEAWAY_PROTOCOL_VERSION 6
#endif

namespace seaway::transport {

/// Of all that is said between processes, from the first bytes of a connection on: introductions,
/// packets, and the schemas. Others are refused with both numbers. Fields that are added to a
/// schema and may be left out, and answers that are only given to who asked for them, leave it as
/// it is; whatever else changes takes the next number.
constexpr std::uint32_t kProtocolVersion = SEAWAY_PROTOCOL_VERSION;
static_assert(kProtocolVersion < 256, "packets have a byte for it");

}  // namespace seaway::transport
