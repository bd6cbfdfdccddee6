// TravellingArray: what one process says to another one of an array of the same client.

#pragma once

#include <cstdint>

#include "base/ids.hpp"
#include "client/shared_arrays.hpp"
#include "seaway/array.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"

namespace seaway::client {

/// Which process has begun the run that makes an array, and how many words it had said to the
/// client when that was among them; 0: nobody has to wait for any.
struct ArrayMaker {
  Holder holder;
  std::uint64_t said = 0;
};

/// A value: a handle of an array, on its way.
struct TravellingArray {
  ClientId client = 0;  // 0: the handle is empty.
  ArrayId id = 0;       // 0: it was refused, or is gone: `outcome` says why.
  RunId run = 0;
  ArraySpec spec;
  bool is_known = false;  // What has become of it:
  Status outcome;
  ArrayMaker maker;  // Without a holder: whoever describes it.
};

/// What is to be said of `array`.
TravellingArray describe(const Array& array);

}  // namespace seaway::client
