// ArrayTravel: how arrays beside envelopes get to another process.

#pragma once

#include "app/envelope.hpp"
#include "base/frame.hpp"
#include "seaway/array.hpp"
#include "seaway/status.hpp"

namespace seaway::app {

/// One end of a process, as the codec of envelopes knows it; what it says of an array is nobody
/// else's business. Not thread-safe.
class ArrayTravel {
 public:
  virtual ~ArrayTravel() = default;
  /// Whether give() may be asked. Errors: kInvalidArgument and kCancelled, with whom it cannot be
  /// given to and why.
  virtual Status check(const Array& array) = 0;
  /// What the receiver is told, who gets a handle of his own with it: those of one frame are taken
  /// in the order in which they were given. Requires check().
  virtual Frame give(const Array& array) = 0;
  /// A handle of what `from` gave. An array that is of no use here says so itself. Errors:
  /// kProtocolError for what give() has never said.
  virtual Result<Array> take(const Frame& given, SiloId from) = 0;
};

}  // namespace seaway::app
