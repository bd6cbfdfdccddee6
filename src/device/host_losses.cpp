// Lost devices: what goes with one, and who may not go on without it.

#include <algorithm>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using program::Gang;
using program::Value;

void HostCore::lose_device(DeviceId device, const std::string& cause) {
  SEAWAY_CHECK(device < devices_.size(), options_.island, device);
  SEAWAY_PROBE_IF(loss_of(device), "a lost device is lost again");
  if (loss_of(device)) return;
  begin_turn();  // A fault has told it, not a message.
  forget_foreseen();
  const Status loss(StatusCode::kDeviceLost, "device " + std::to_string(device) + " of island " +
                                                 std::to_string(options_.island) +
                                                 " is lost: " + cause);
  loss_causes_[device] = loss;
  lost_[device / 64] |= std::uint64_t{1} << (device % 64);
  ++losses_;
  outbox_.lost.push_back({device, loss});
  events_.record({.time_ns = clock_.now_ns(),
                  .place = device,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = events::EventKind::kDeviceLost});
  DeviceMask mask(lost_.size());
  mask[device / 64] = std::uint64_t{1} << (device % 64);
  std::vector<ArrayId> gone;
  for (const auto& [id, record] : arrays_) {
    // What was spilled, or has not been loaded, is not touched.
    if (record.state != ArrayRecord::State::kReady || !intersects(record.desc->mask, mask))
      continue;
    if (SEAWAY_MUTANT("arrays on a lost device are read on")) continue;
    gone.push_back(id);
  }
  SEAWAY_PROBE_IF(!gone.empty(), "arrays are lost with their device");
  std::sort(gone.begin(), gone.end());
  for (const ArrayId id : gone) {
    // Its room stays charged until it is freed: whoever planned with it is told in that way.
    poison_array(id, input_lost("array " + std::to_string(sequence_of(id)) +
                                " lay on a device that is gone: " + loss.to_string()));
    arrays_.find(id)->second.is_lost = true;
  }
}

const Status* HostCore::loss_of(DeviceId device) const {
  const auto found = loss_causes_.find(device);
  return found == loss_causes_.end() ? nullptr : &found->second;
}

/// Why there is nothing on `group`; OK when all its devices are there.
Status HostCore::loss_on(const program::DeviceGroup& group) const {
  for (const DeviceId device : group.devices) {
    if (const Status* const loss = loss_of(device)) return *loss;
  }
  return {};
}

/// Why the bytes of `value`, which was made, are not there any more. OK when they are.
Status HostCore::lost_value(const PartRun& part, std::uint32_t index) const {
  const program::PartPlan& plan = *part.plan->part;
  const Value& value = plan.values[index];
  if (value.place == Value::Place::kBlock) return loss_on(plan.groups[value.group]);
  const auto found = arrays_.find(value.place == Value::Place::kArg ? part.args[value.index]
                                                                    : part.outputs[value.index]);
  if (found == arrays_.end() || !found->second.is_lost) return {};
  return *found->second.poison;
}

/// Why `gang` cannot run, or has come to nothing. A value that is only read to be moved elsewhere
/// does not need the devices that it was made for: it may lie in host room.
Status HostCore::lost_gang(const PartRun& part, std::uint32_t gang) const {
  const program::PartPlan& plan = *part.plan->part;
  const Gang& shape = plan.gangs[gang];
  if (shape.kind != Gang::Kind::kSend) {
    if (Status loss = loss_on(plan.groups[shape.group]); !loss.ok()) return loss;
  }
  for (const std::uint32_t operand : shape.operands) {
    if (Status loss = lost_value(part, operand); !loss.ok()) return loss;
  }
  return {};
}

/// What came of `gang`, which says `status`: a device that was lost while it ran explains it
/// better.
Status HostCore::outcome_of(const PartRun& part, std::uint32_t gang, Status status) const {
  if (!is_any_lost(part.plan->gangs[gang].mask)) return status;
  Status loss = lost_gang(part, gang);
  return loss.ok() ? status : loss;
}

}  // namespace seaway::device
