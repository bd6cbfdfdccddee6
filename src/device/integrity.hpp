// Integrity: what a host does to notice bytes that change and devices that compute wrong.

#pragma once

#include <cstdint>

namespace seaway::device {

/// Both are off: then neither costs anything.
struct Integrity {
  /// Each shard of each value gets a CRC-32 as soon as its bytes are complete, and is compared with
  /// it before they are used: by a gang, a copy, a send, a spill, a client. What has changed is
  /// poison with kDataCorruption. In the control thread; 0.4 ms for each MiB, each time it is made
  /// or used (`benchmarks/uploads`).
  bool shard_checksums = false;
  /// So many of 1000 gangs run twice, and their results are compared bit by bit. A device that has
  /// computed two different ones is lost. Only functions that are graphs: natives may give
  /// something else each time; nor a gang that overwrites an operand. Those gangs take twice their
  /// time, and all such functions ask for work space of the size of their outputs.
  std::uint32_t replay_per_mille = 0;

  friend bool operator==(const Integrity&, const Integrity&) = default;
};

}  // namespace seaway::device
