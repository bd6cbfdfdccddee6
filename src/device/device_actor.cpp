// Commands to one device.

#include "device/device_actor.hpp"

#include <seaway.capnp.h>

#include "base/check.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::device {

DeviceActor::DeviceActor(DeviceState& state, std::function<void()> on_change)
    : state_(state), on_change_(std::move(on_change)) {}

void DeviceActor::receive(const Frame& frame) {
  const Status status = wire::read_frame<wire::Message>(frame, [&](auto message) {
    if (!message.isDeviceCommand()) {
      return protocol_error("a device takes commands only");
    }
    state_.is_draining = message.getDeviceCommand().isDrain();
    on_change_();
    return Status();
  });
  SEAWAY_CHECK(status.ok(), status.to_string());
}

}  // namespace seaway::device
