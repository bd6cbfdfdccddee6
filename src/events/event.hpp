// Event: one thing that happened in the cluster, small enough to be recorded always.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "seaway/status.hpp"

namespace seaway::events {

/// What happened. The comment names the fields that count; all others are 0. `time_ns` always
/// counts. "key" stands for island, stamp and position, which name one gang.
enum class EventKind : std::uint8_t {
  kSubmit,         // A client submits a run: object = run, tenant.
  kResolve,        // The client learns its outcome: object = run, tenant, code.
  kStamp,          // The controller gives a stamp: stamp, object = run, tenant.
  kLaunch,         // An island receives a part: island, stamp, object = run, tenant.
  kPrepare,        // A host prepares a part: island, stamp, object = plan, tenant, value = newest
                   // array that it reads.
  kAdmit,          // A part is admitted: island, stamp, tenant, value = bytes reserved.
  kPlace,          // Gangs [first, last) join the order: island, stamp, position = first,
                   // value = last.
  kGangStart,      // A gang starts on all its devices: key, place = group, tenant.
  kGangEnd,        // A gang is finished: key, place = group, tenant, value = start in ns.
  kGangsEnd,       // Short gangs of one part, run back to back, are finished: island, stamp,
                   // position = index of the first in its part, object = one past the last,
                   // place = group, tenant, value = start of the first in ns.
  kGangNoop,       // A gang does nothing, for its run is poisoned: key, place = group, code.
  kArrayAllocate,  // An array gets device memory: island, place = group, stamp and position of
                   // the gang that makes it, object = array, value = bytes on each device.
  kArrayFree,      // It gives device memory back: island, place = group, object = array, value.
  kArraySpill,     // It moves from devices to its host: as kArrayFree.
  kArrayLoad,      // It moves from its host to devices: as kArrayFree.
  kArrayPoison,    // It will never have a value: island, object = array, code.
  kSend,           // An edge leaves: island, place = peer island, stamp, position = edge,
                   // value = bytes.
  kReceive,        // An edge has arrived: island, place = peer island, stamp, position = edge,
                   // value = bytes.
  kExists,         // An island hears that an edge exists: island, place = peer island, stamp,
                   // position = edge.
  kFinished,       // A part is finished: island, stamp, code.
  kCancel,         // A cancel reaches an island: island, stamp, object = run, code.
  kRoom,           // Memory of one device has changed: island, place = device, value = bytes now,
                   // object = most bytes since its event before.
  kUpload,         // A client's array is in host room: island, object = array, tenant,
                   // value = bytes.
  kFetch,          // A client's array is read: island, object = array, tenant, value = bytes.
  kMessage,        // Messages of one kind: place = role, position = kind, value = count.
  kDeviceLost,     // A device runs nothing any more, its memory is gone: island, place = device.
  kHostJoined,  // A new life of an island's host, which knows nothing: island, value = its epoch.
  kHostLost,    // The controller knows that it is gone: island.
  kSchedulerLost,  // The same of a scheduler: island.
  kIslandFailed,   // Its roles were lost too often: island, value = for how many ns it is left
                   // alone, if neither is lost again; 0: it is used again.
  kView,           // A scheduler begins anew with what its host knows: island, value = number,
                   // object = parts that the host has.
  kLaunchFailed,   // A device did not launch a gang, of which nothing was executed: key, object =
                   // run, tenant, place = device, value = how often by now.
  kGangGivenUp,    // A gang was over its time and was given up: key, object = run, tenant, place =
                   // the device that kept it from ending, value = start in ns.
  kGangLate,       // A gang that was given up ended after all: as kGangGivenUp.
  kStraggler,      // The other devices of a gang waited for one for at least half of its time: key,
                   // object = run, tenant, place = device, value = how long they waited, in ns.
  kRerun,          // A run that failed of a loss waits for a new stamp: object = run, tenant, code,
                   // value = its stamp before.
  kDamage,         // A value is not what its checksum says: island, place = device, object = array;
                   // 0 for one inside a part: then stamp, position = its number in the part.
  kMiscompute,     // A gang that ran twice gave two results: key, object = run, tenant, place =
                   // device that did.
  kSpillWrite,     // An array in host room has gone to a file: island, object = array, value =
                   // bytes in all; with a code it stays in memory, for it could not be written.
  kSpillRead,      // It is back in memory: as kSpillWrite; with a code it is lost.
};
constexpr unsigned kEventKinds = 40;
static_assert(static_cast<unsigned>(EventKind::kSpillRead) + 1 == kEventKinds);

/// "gang_end".
std::string_view to_string(EventKind kind);

/// A value of 48 bytes without padding: compared, hashed and copied as six words.
struct Event {
  std::uint64_t time_ns = 0;
  Stamp stamp = 0;
  std::uint64_t object = 0;    // Array, run or plan.
  std::uint64_t value = 0;     // Bytes, or what the kind says.
  std::uint32_t position = 0;  // Gang or edge, numbered over the whole program.
  std::uint32_t place = 0;     // Device, group, peer or role, as the kind says.
  TenantId tenant = 0;
  std::uint16_t island = 0;
  EventKind kind = EventKind::kSubmit;
  StatusCode code = StatusCode::kOk;

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 48 && std::is_trivially_copyable_v<Event>);
static_assert(std::has_unique_object_representations_v<Event>, "padding would enter the hash");

/// One line: the kind, the time, and the fields that are not 0, each with its name in this kind.
std::string to_string(const Event& event);

/// Order-sensitive hash: the next hash after `event` was recorded behind `hash`. Two runs of the
/// simulator did the same exactly when they end with the same hash.
inline std::uint64_t combine(std::uint64_t hash, const Event& event) {
  std::uint64_t words[6];
  std::memcpy(words, &event, sizeof(words));
  for (const std::uint64_t word : words) hash = mix64(hash ^ word) + 0x9e3779b97f4a7c15ULL;
  return hash;
}

}  // namespace seaway::events
