// DeviceActor: the actor of one device: it owns the stream's state, memory, health and drain.

#pragma once

#include <functional>

#include "actor/actor.hpp"
#include "device/device_state.hpp"

namespace seaway::device {

/// Answers for one device. Gangs are advanced by the host's executor for all devices together (a
/// message for each gang and device would cost 300 ns); this actor holds what outlives a gang.
class DeviceActor final : public actor::Actor {
 public:
  /// `on_change` is called after a command changed `state`: the host looks at its streams again.
  DeviceActor(DeviceState& state, std::function<void()> on_change);

  void receive(const Frame& frame) override;

 private:
  DeviceState& state_;
  std::function<void()> on_change_;
};

}  // namespace seaway::device
