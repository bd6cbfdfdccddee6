// The table of fault points.

#include "sim/fault_point_info.hpp"

#include <array>

namespace seaway::sim {
namespace {

constexpr WorldKinds kInProcesses(WorldKind::kProcesses);
constexpr WorldKinds kInApps(WorldKind::kApps);
constexpr WorldKinds kInBoth(WorldKind::kPrograms, WorldKind::kProcesses);
constexpr WorldKinds kOverWires(WorldKind::kApps, WorldKind::kProcesses);

constexpr std::array<FaultPointInfo, kFaultPoints> kInfos = {{
    {"frame twice", "transport/conversation.cpp", "a frame is written twice", kOverWires},
    {"held acknowledgement", "transport/conversation.cpp",
     "an acknowledgement waits for the next turn", kInProcesses},
    // Rare, for silence of a second is a loss.
    {"late heartbeat", "transport/conversation.cpp",
     "a heartbeat comes an eighth of its time later", kInProcesses, 50},
    {"read in pieces", "cluster/peers.cpp", "what comes over a connection is heard in two pieces",
     kInProcesses},
    {"lost connection", "cluster/peers.cpp", "a connection is closed right after it was made",
     kInProcesses},
    {"failed connection", "cluster/peers.cpp", "an attempt to connect fails", kInProcesses},
    {"long pause", "cluster/peers.cpp", "the longest pause before an attempt to connect",
     kInProcesses},
    {"late timer", "actor/simulated_process.cpp", "a timer of a process is 50 us late",
     kInProcesses},
    {"closed window", "controller/dispatch.cpp", "the window of runs in flight counts as full",
     kInBoth},
    {"arrays apart", "controller/controller_messages.cpp",
     "fetches and frees do not go along with launches", kInBoth},
    {"slow rebind", "controller/dispatch.cpp", "a slice is bound anew at a later look", kInBoth},
    {"no early gang", "island/order.cpp", "a gang is not placed before its inputs exist", kInBoth},
    {"no overtake", "island/admission.cpp", "a part may not pass another one", kInBoth},
    {"gangs apart", "island/order.cpp", "free gangs are placed one by one", kInBoth},
    {"needless spill", "island/admission.cpp", "an array is spilled though there is room", kInBoth,
     50},
    {"exists apart", "island/scheduler_actor.cpp",
     "what one island hears of values that exist comes in several frames", kInBoth},
    {"host yields", "device/host_execution.cpp", "messages get their turn after each gang",
     kInBoth},
    {"gang passed over", "device/host_execution.cpp",
     "a gang that could start waits, and others may go first", kInBoth},
    {"late dones", "device/host_actor.cpp", "the scheduler hears a turn later what is done",
     kInBoth},
    {"early watch", "device/host_actor.cpp", "gangs are looked at long before their limit",
     kInBoth},
    {"records apart", "client/session_actor.cpp", "a frame for what a client says ends early",
     kInBoth},
    {"late records", "client/session_actor.cpp", "what a client says is sent a turn later",
     kInBoth},
    {"late launches", "controller/controller_actor.cpp", "what an island is told waits for more",
     kInProcesses},
    {"short turn", "app/silo.cpp", "a silo gives way to others after one step", kInApps},
    {"held credit", "app/silo.cpp", "callers get their credit back a turn later", kInApps},
    {"envelopes apart", "app/silo.cpp", "what one silo says to another one goes in two batches",
     kInApps},
    {"late deadline", "app/silo.cpp", "timers and deadlines of a silo are 50 us late", kInApps},
    {"out of memory", "cluster/peers.cpp", "the process dies between two messages that it sends",
     kInProcesses, 1, 1},
}};

}  // namespace

const FaultPointInfo& info_of(FaultPoint point) { return kInfos[static_cast<std::size_t>(point)]; }

}  // namespace seaway::sim
