// What was changed, and who uses it all the same.

#include "sim/corruption_checker.hpp"

#include <algorithm>
#include <string>

namespace seaway::sim {

using events::Event;
using events::EventKind;

void CorruptionChecker::complain(const char* invariant, std::string text) {
  verdict_.report(Breach::kCorrectness, invariant, std::move(text));
}

void CorruptionChecker::note(const RottenValue& value) {
  // A bit that changes twice is what it was.
  const Value name{value.island, value.array, value.stamp, value.value};
  auto& bits = bits_[name];
  const std::pair bit(value.device, value.bit);
  if (bits.erase(bit) == 0) bits.insert(bit);
  if (bits.empty()) {
    rotten_.erase(name);
  } else {
    rotten_.emplace(name, false);
  }
  verdict_.coverage.add(Feature::kRot);
}

void CorruptionChecker::note(const Mischief& mischief) {
  if (mischief.kind == Mischief::Kind::kShortage) {
    return verdict_.coverage.add(Feature::kShortage);
  }
  wrong_[{mischief.island, mischief.stamp, mischief.position}].insert(mischief.device);
  verdict_.coverage.add(Feature::kFlip);
}

void CorruptionChecker::forget(IslandId island) {
  std::erase_if(rotten_,
                [island](const auto& entry) { return std::get<0>(entry.first) == island; });
  std::erase_if(bits_, [island](const auto& entry) { return std::get<0>(entry.first) == island; });
  std::erase_if(wrong_, [island](const auto& entry) { return std::get<0>(entry.first) == island; });
}

void CorruptionChecker::record(const Event& event) {
  switch (event.kind) {
    case EventKind::kDamage:
      return find_damage(event);
    case EventKind::kMiscompute:
      return find_flip(event);
    case EventKind::kGangStart:
      return start(event);
    case EventKind::kGangEnd:
      return end(event);
    case EventKind::kSend:
      return send(event);
    case EventKind::kArraySpill:
      if (rotten_.contains({event.island, event.object, 0, 0})) {
        complain("I21", "array " + std::to_string(event.object) + " on island " +
                            std::to_string(event.island) +
                            " was spilled, but a bit of it had changed");
      }
      return;
    case EventKind::kRerun:
      if (const auto found = escaped_.find(event.object);
          found != escaped_.end() && found->second <= event.value) {
        escaped_.erase(found);
      }
      return;
    case EventKind::kResolve:
      return resolve(event);
    default:
      return;
  }
}

void CorruptionChecker::find_damage(const Event& event) {
  const bool is_array = event.object != 0;
  const auto found =
      rotten_.find({event.island, event.object, event.stamp, is_array ? 0 : event.position});
  if (found == rotten_.end()) {
    return complain("I3", events::to_string(event) + ": but nothing had changed there");
  }
  if (!std::exchange(found->second, true)) verdict_.coverage.add(Feature::kRotFound);
}

void CorruptionChecker::find_flip(const Event& event) {
  const auto found = wrong_.find({event.island, event.stamp, event.position});
  if (found == wrong_.end() || found->second.erase(event.place) == 0) {
    return complain("I3", gang_name(event.island, event.stamp, event.position) +
                              " is said to have given two results on device " +
                              std::to_string(event.place) + ", which computed nothing wrong");
  }
  verdict_.coverage.add(Feature::kFlipFound);
}

bool CorruptionChecker::is_rotten(IslandId island, const PartFacts& part, Stamp stamp,
                                  std::uint32_t index) const {
  const program::Value& value = part.plan->values[index];
  switch (value.place) {
    case program::Value::Place::kArg:
      return rotten_.contains({island, (*part.args)[value.index], 0, 0});
    case program::Value::Place::kOutput:
      return rotten_.contains({island, (*part.outputs)[value.index], 0, 0});
    case program::Value::Place::kBlock:
      break;
  }
  return rotten_.contains({island, 0, stamp, index});
}

/// What is only made ready for other islands is looked at when it leaves.
void CorruptionChecker::start(const Event& event) {
  if (rotten_.empty()) return;
  const PartFacts part = surroundings_.part_of(event.island, event.stamp);
  const std::uint32_t index =
      part.plan == nullptr ? program::kNone : index_of(*part.plan, event.position);
  if (index == program::kNone) return;  // For GangChecker.
  const program::Gang& gang = part.plan->gangs[index];
  if (gang.kind == program::Gang::Kind::kSend) return;
  for (const std::uint32_t operand : gang.operands) {
    if (!is_rotten(event.island, part, event.stamp, operand)) continue;
    complain("I21", gang_name(event.island, event.stamp, event.position) +
                        " started, but a bit of its value " + std::to_string(operand) +
                        " had changed");
  }
}

void CorruptionChecker::send(const Event& event) {
  if (rotten_.empty() || event.code != StatusCode::kOk) return;
  const PartFacts part = surroundings_.part_of(event.island, event.stamp);
  // A copy was looked at when it was made, and what lies where it came from may change.
  if (part.plan == nullptr || part.has_moved) return;
  for (const program::Send& send : part.plan->sends) {
    if (send.edge != event.position) continue;
    if (!is_rotten(event.island, part, event.stamp, send.value)) continue;
    complain("I21", "edge " + std::to_string(send.edge) + " of stamp " +
                        std::to_string(event.stamp) + " left, but a bit of its value had changed");
  }
}

/// Its run may fail for another reason, and then nobody sees what it made.
void CorruptionChecker::end(const Event& event) {
  const auto found = wrong_.find({event.island, event.stamp, event.position});
  if (found == wrong_.end()) return;
  if (!found->second.empty()) escaped_[event.object] = event.stamp;
  wrong_.erase(found);
}

void CorruptionChecker::resolve(const Event& event) {
  if (escaped_.erase(event.object) == 0 || event.code != StatusCode::kOk) return;
  verdict_.coverage.add(Feature::kFlipMissed);
  if (!runs_all_twice_) return;
  complain("I21", "run " + std::to_string(event.object) +
                      " succeeded, but a gang of it computed a wrong bit, and it was to run twice");
}

}  // namespace seaway::sim
