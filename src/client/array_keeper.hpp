// ArrayKeeper: who counts the arrays of a session that share their client with other processes.

#pragma once

#include <cstdint>
#include <span>

#include "base/ids.hpp"

namespace seaway::client {

/// Outputs of one run, or one upload: then `run` is the array, too.
struct Made {
  RunId run = 0;
  ArrayId first = 0;
  std::uint32_t count = 0;
};

/// A question for the outcome of `run`, which another process has begun, and which makes `array`.
struct Asked {
  std::uint64_t request = 0;
  RunId run = 0;
  ArrayId array = 0;
};

/// Told by the session's actor, in the order of what the session says: what it has made before the
/// frames that make it leave, what it has dropped after all frames that name it have left.
class ArrayKeeper {
 public:
  virtual ~ArrayKeeper() = default;
  /// Whether an array that this session has made is the keeper's to let go. Any thread.
  virtual bool keeps(ArrayId array) const = 0;

  // Control thread.
  virtual void made(std::span<const Made> made) = 0;
  virtual void dropped(std::span<const ArrayId> arrays) = 0;
  /// Session::on_told() follows once for each.
  virtual void asked(std::span<const Asked> asked) = 0;
};

}  // namespace seaway::client
