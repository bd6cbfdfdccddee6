// What each gang reads, looked up in its plan and compared with what has happened.

#include "sim/input_checker.hpp"

#include <algorithm>

namespace seaway::sim {

using events::Event;
using events::EventKind;
using program::kNone;

void InputChecker::record(const Event& event) {
  const std::pair<IslandId, ArrayId> key{event.island, event.object};
  switch (event.kind) {
    case EventKind::kAdmit:
      admitted_.emplace(event.island, event.stamp);
      break;
    case EventKind::kView:  // An admission that the host never heard of was never said.
      std::erase_if(admitted_, [this, &event](const auto& part) {
        const auto [island, stamp] = part;
        return island == event.island && !surroundings_.part_of(island, stamp).is_admitted;
      });
      break;
    case EventKind::kSend:
    case EventKind::kReceive:
      transfer(event);
      break;
    case EventKind::kUpload:
      arrays_[key] = {.is_made = true};
      break;
    case EventKind::kArrayAllocate:
      arrays_[key] = {.is_on_device = true};
      break;
    case EventKind::kArrayLoad:
      load(key);
      break;
    case EventKind::kArraySpill:
      arrays_[key].is_on_device = false;
      break;
    case EventKind::kArrayFree:
      arrays_[key] = {.is_freed = true};
      break;
    case EventKind::kDeviceLost:
      lose(event);
      break;
    case EventKind::kGangStart:
      start(event);
      break;
    case EventKind::kGangEnd:
      end(event);
      break;
    case EventKind::kRerun:
      lost_inputs_.erase(event.object);
      break;
    case EventKind::kResolve:
      resolve(event);
      break;
    default:
      break;
  }
}

void InputChecker::complain(const Event& event, const char* invariant, const std::string& text) {
  verdict_.report(Breach::kCorrectness, invariant,
                  gang_name(event.island, event.stamp, event.position) + " of run " +
                      std::to_string(event.object) + " started, but " + text);
}

void InputChecker::lose(const Event& event) {
  lost_.emplace(event.island, event.place);
  for (auto& [key, array] : arrays_) {
    if (array.is_on_device && lies_at_loss(key)) array.is_lost = true;
  }
}

void InputChecker::load(const std::pair<IslandId, ArrayId>& key) {
  arrays_[key].is_on_device = true;
  if (lost_.empty() || !lies_at_loss(key)) return;
  verdict_.report(Breach::kCorrectness, "I9",
                  "array " + std::to_string(key.second) + " on island " +
                      std::to_string(key.first) + " was loaded to a device that was lost");
}

/// One of the array's devices is lost.
bool InputChecker::lies_at_loss(const std::pair<IslandId, ArrayId>& key) const {
  const auto* const devices = surroundings_.devices_of_array(key.first, key.second);
  if (devices == nullptr) return false;
  return std::any_of(devices->begin(), devices->end(), [this, &key](DeviceId device) {
    return lost_.contains({key.first, device});
  });
}

void InputChecker::transfer(const Event& event) {
  const bool is_send = event.kind == EventKind::kSend;
  auto& [sent, received] =
      edges_[{event.stamp, event.position, is_send ? event.place : event.island}];
  ++(is_send ? sent : received);
  if (sent <= 1 && received <= sent) return;
  verdict_.report(Breach::kCorrectness, "I6",
                  "edge " + std::to_string(event.position) + " of stamp " +
                      std::to_string(event.stamp) + " was received " + std::to_string(received) +
                      " times and sent " + std::to_string(sent) + " times");
}

void InputChecker::start(const Event& event) {
  if (!admitted_.contains({event.island, event.stamp})) {
    complain(event, "I6", "its part was never admitted: its room is not reserved");
  }
  const PartFacts part = surroundings_.part_of(event.island, event.stamp);
  const std::uint32_t gang = part.plan == nullptr ? kNone : index_of(*part.plan, event.position);
  if (gang == kNone) return;  // For GangChecker.
  for (const std::uint32_t value : part.plan->gangs[gang].operands) {
    check_operand(event, part, gang, value);
  }
  for (const std::uint32_t result : part.plan->gangs[gang].results) {
    const program::Value& value = part.plan->values[result];
    if (value.place != program::Value::Place::kOutput) continue;
    const ArrayId id = (*part.outputs)[value.index];
    if (arrays_[{event.island, id}].is_on_device) continue;
    complain(event, "I6", "its output, array " + std::to_string(id) + ", has no memory");
  }
}

void InputChecker::check_operand(const Event& event, const PartFacts& part, std::uint32_t gang,
                                 std::uint32_t operand) {
  const program::PartPlan& plan = *part.plan;
  const program::Value& value = plan.values[operand];
  if (value.place == program::Value::Place::kArg) {
    const program::Arg& arg = plan.args[value.index];
    // A donated buffer changes its name as the gang that overwrites it starts.
    const bool is_taken_over =
        arg.donated && arg.donated_to != kNone && plan.outputs[arg.donated_to].gang == gang;
    if (!is_taken_over) check_array(event, (*part.args)[value.index]);
    return;
  }
  for (const program::Receive& receive : plan.receives) {
    if (receive.value != operand) continue;
    if (edges_[{event.stamp, receive.edge, event.island}].second == 0) {
      complain(event, "I6",
               "edge " + std::to_string(receive.edge) + " from island " +
                   std::to_string(receive.peer) + " was not received");
    }
    return;
  }
  // The last gang before this one that makes the value: a block's room is used again.
  for (std::uint32_t maker = gang; maker-- > 0;) {
    const auto& results = plan.gangs[maker].results;
    if (std::find(results.begin(), results.end(), operand) == results.end()) continue;
    if (!ended_.contains({event.island, event.stamp, maker})) {
      complain(event, "I6",
               "gang " + std::to_string(plan.gangs[maker].position) +
                   ", which makes what it reads, has not ended");
    }
    return;
  }
}

void InputChecker::check_array(const Event& event, ArrayId id) {
  const Array& array = arrays_[{event.island, id}];
  const std::string name = "array " + std::to_string(id) + ", which it reads, ";
  if (array.is_freed) {
    complain(event, "I9", name + "was freed");
  } else if (!array.is_made) {
    complain(event, "I6", name + "was not made");
  } else if (array.is_lost) {
    complain(event, "I9", name + "lay on a device that was lost");
  } else if (!array.is_on_device && !lies_at_loss({event.island, id})) {
    // One that has nowhere to be loaded to is read in host room.
    complain(event, "I6", name + "is not on its devices");
  }
}

void InputChecker::end(const Event& event) {
  const PartFacts part = surroundings_.part_of(event.island, event.stamp);
  const std::uint32_t gang = part.plan == nullptr ? kNone : index_of(*part.plan, event.position);
  if (gang == kNone) return;
  ended_.emplace(event.island, event.stamp, gang);
  for (const std::uint32_t operand : part.plan->gangs[gang].operands) {
    const program::Value& value = part.plan->values[operand];
    if (value.place != program::Value::Place::kArg) continue;
    const ArrayId id = (*part.args)[value.index];
    // It was there when the gang started, or that would have been said.
    if (arrays_[{event.island, id}].is_lost) lost_inputs_.emplace(event.object, id);
  }
  for (const std::uint32_t result : part.plan->gangs[gang].results) {
    const program::Value& value = part.plan->values[result];
    if (value.place != program::Value::Place::kOutput) continue;
    arrays_[{event.island, (*part.outputs)[value.index]}].is_made = true;
  }
}

void InputChecker::resolve(const Event& event) {
  const auto found = lost_inputs_.find(event.object);
  if (event.code != StatusCode::kOk || found == lost_inputs_.end()) return;
  verdict_.report(Breach::kCorrectness, "I9",
                  "run " + std::to_string(event.object) + " succeeded, but array " +
                      std::to_string(found->second) + " was lost while a gang of it read it");
}

}  // namespace seaway::sim
