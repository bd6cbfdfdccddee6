// SliceBinder: who turns a slice's virtual devices into physical ones; implemented by resources.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "program/lowering.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"

namespace seaway::program {

/// What a client asks for: constraints, not device numbers.
struct SliceRequest {
  std::uint32_t devices = 1;
  std::vector<MeshAxis> axes = {};  // Their product is `devices`.
  std::string kind = {};            // Empty: any.
  std::int32_t island = -1;         // -1: any.
  bool contiguous = false;          // Neighbouring device numbers.
  bool spread = false;  // The least loaded devices; so too when neither is said. Not both.
};

/// Whether an island may be chosen.
using IslandFilter = std::function<bool(IslandId)>;

class SliceBinder {
 public:
  virtual ~SliceBinder() = default;

  /// Binds a new slice. Errors: kInvalidArgument or kResourceExhausted with the numbers;
  /// kDeviceLost when only devices that are lost keep it from fitting.
  virtual Result<Binding> acquire(ClientId client, SliceId slice, const SliceRequest& request) = 0;
  /// Binds `slice` anew, to other devices where there are any; on another island only if it
  /// `may_go` there. Errors: kDeviceLost when it lies on a lost device and none can take its place;
  /// it stays where it is.
  virtual Result<Binding> rebind(SliceId slice, const IslandFilter& may_go) = 0;
  virtual Status release(SliceId slice) = 0;
  /// No slice is bound to `device` any more; those that are stay until they are bound anew. False
  /// when it is known to be lost.
  virtual bool lose(IslandId island, DeviceId device) = 0;
  /// A lost device is there again, with nothing in its memory.
  virtual void find_again(IslandId island, DeviceId device) = 0;
  /// One slice a line, for `stats` and messages.
  virtual std::string to_string() const = 0;
};

}  // namespace seaway::program
