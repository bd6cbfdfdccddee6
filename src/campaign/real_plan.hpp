// The plan of a campaign against real processes: which fault begins when, as its seed says.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::campaign {

enum class RealRole : std::uint8_t { kController, kScheduler, kHost, kClient, kAnnex };
constexpr RealRole kLastRealRole = RealRole::kAnnex;
/// "controller", "scheduler", "host", "client", "annex".
std::string_view to_string(RealRole role);

/// A process of a campaign. A value. `index`: of its island, or which client; 0 of a controller.
/// `host`: which of its island's hosts an annex is, from 1 on; 0 of all others.
struct RealProcess {
  RealRole role = RealRole::kController;
  std::uint32_t index = 0;
  std::uint32_t host = 0;
  friend auto operator<=>(const RealProcess&, const RealProcess&) = default;
};
/// "host 1", "controller", "annex 1.1".
std::string to_string(const RealProcess& process);
std::optional<RealProcess> parse_real_process(std::string_view text);

/// What is done to real processes and to what is between them.
enum class RealFault : std::uint8_t {
  kKill,      // SIGKILL.
  kAgain,     // SIGKILL, and once more as soon as it is back, or to another one meanwhile.
  kMachine,   // SIGKILL to the hosts and the scheduler of an island.
  kLoop,      // SIGKILL to a host, three times, each as soon as it is back.
  kStop,      // SIGSTOP, and SIGCONT later.
  kStraggle,  // SIGSTOP and SIGCONT in turn, some milliseconds each.
  kIsolate,   // Nothing passes between one process and all others.
  kDeafen,    // Nothing reaches it.
  kMute,      // Nothing of it reaches others.
  kSever,     // Nothing passes between two processes.
  kSwizzle,   // All links of a process are held one after the other, and let go in another order.
  kDelay,     // Bytes of a link are late, each by another time; in their order.
  kCut,       // A connection is closed behind `amount` more bytes.
  kReset,     // The same, and both ends hear of an error and not of an end.
  kHalfOpen,  // What one end says is dropped, and nobody is told; then it is closed.
  kLose,      // The next `amount` bytes are dropped, and the connection is closed.
  kReplay,    // What a connection has carried last is carried there once more.
  kFlip,      // One bit in each byte of `amount` changes on its way.
  kStranger,  // Bytes that are no message, or only half of one, come to where a process listens.
  kFlood,     // `amount` connections are made to it; one says a byte now and then, the others none.
  kDisk,      // The disk of the directory that all roles write to is full.
  kMemory,    // A host gets no more memory than it has.
  kFiles,     // A process may open no more files than it has.
};
constexpr RealFault kLastRealFault = RealFault::kFiles;
/// "kill", "half-open".
std::string_view to_string(RealFault fault);
std::optional<RealFault> parse_real_fault(std::string_view text);
/// Of a connection between two processes, or of all of one.
bool is_of_links(RealFault fault);
/// After which somebody may be taken for dead. All others are to cost nobody anything but time.
bool is_of_loss(RealFault fault);
/// While which somebody may find no more memory, or no more descriptors.
bool is_of_shortage(RealFault fault);

/// Of links that let nothing pass, and in the end all that was said.
bool is_of_partition(RealFault fault);
/// Of processes that end at once, which others know as soon as their connections close.
bool is_of_death(RealFault fault);

/// Where connections go: from process to process, through a proxy that harms them, or from one
/// network to another.
enum class RealNet : std::uint8_t { kNone, kProxy, kNetns };

struct RealPlanOptions {
  std::uint64_t seed = 1;
  std::uint64_t duration_ns = 0;  // Of all rounds; what is between them is not counted.
  /// Faults begin within a round and are over at its end. Then nothing is done to anybody, until
  /// whoever executes the plan begins the next one.
  std::uint64_t round_ns = 30'000'000'000;
  std::uint32_t islands = 2, clients = 2;
  std::uint32_t hosts = 1;  // Of each island; all but one are annexes.
  std::set<RealRole> kills;
  bool stops = false;
  RealNet net = RealNet::kNone;
  bool strangers = false;
  bool disk = false;
  /// How many times as many faults as usual.
  double pace = 1;
};

/// A fault that is to be.
struct RealEvent {
  std::uint32_t round = 0;
  std::uint64_t at_ns = 0;   // Since the first round's begin, without what is between rounds.
  std::uint64_t for_ns = 0;  // 0: it is over at once.
  RealFault fault = RealFault::kKill;
  RealProcess target;
  std::optional<RealProcess> peer;  // Of a link: its other end; of kAgain: who is killed next.
  std::uint64_t amount = 0;         // Bytes, connections, a period in ns; as the fault says.
  bool from_peer = false;           // Of a link: what its `peer` says, and not its `target`.
  friend bool operator==(const RealEvent&, const RealEvent&) = default;
};
/// "12.125 s: delay of 40 ms between host 0 and controller for 1.5 s".
std::string to_string(const RealEvent& event);

/// All faults of a campaign, by their times. Pure: equal options give equal plans. Each kind, and
/// each role that is killed, draws from a stream of its own, so that without one the others stay
/// what they were; and a longer campaign begins as a shorter one.
std::vector<RealEvent> draw_real_plan(const RealPlanOptions& options);

}  // namespace seaway::campaign
