// Foreseen: the gang that a host has told its backend of, and that has not begun.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/backend.hpp"

namespace seaway::device {

/// A part of HostCore, which says what becomes of it. It outlives a turn of the host only where
/// that one lets others have theirs before it goes on: the gang is then the first to begin in the
/// next one, or is forgotten, as it is when something comes between that could keep it from that.
struct Foreseen {
  struct Place {
    std::uint64_t sequence = 0;  // Of the entry,
    std::uint32_t gang = 0;      // and of its gangs this one.
    friend bool operator==(const Place&, const Place&) = default;
  };

  bool is_known = false;
  Place place;
  std::vector<function::ShardedBuffer> operands;
  std::vector<std::uint32_t> made;
  std::vector<std::shared_ptr<const void>> kept;  // What operands lie in.
  ForeseenGang told;
};

}  // namespace seaway::device
