// Records: what the controller remembers of tenants, clients, programs, runs, arrays and slices.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/controller_core.hpp"

namespace seaway::controller {

struct ControllerCore::Tenant {
  TenantId id = 0;
  std::string name;
  std::uint32_t weight = 1;
  /// Of one island.
  struct Share {
    std::uint64_t used = 0;      // Device time stamped so far over weight, scaled: start-time fair.
    std::uint64_t busy_in = 0;   // `idles` at the last stamp; 0: no run could be stamped since.
    std::uint64_t stuck_in = 0;  // The pump in which nothing more of it could be.
  };
  std::vector<Share> shares;
  std::uint64_t idles = 1;  // How often it had nothing queued.
  std::uint32_t runs_queued = 0;
  std::uint32_t runs_in_flight = 0;
  std::uint64_t arrays = 0;
  std::vector<std::uint64_t> kept_bytes;  // Per island, over all its devices.
  std::uint64_t limit_bytes = 0;          // Of all islands together; 0: none.
  std::vector<Client*> clients;
  std::size_t next_client = 0;  // Round robin among its clients.
};

/// An upload that waits until its tenant may keep it.
struct ControllerCore::WaitingPut {
  ArrayId array = 0;
  std::uint64_t spec = 0;
  Slice* slice = nullptr;
  std::vector<ControllerOutbox::Fetch> fetches;  // Passed on when it has its outcome.
};

struct ControllerCore::Client {
  ClientId id = 0;
  Tenant* tenant = nullptr;
  bool is_gone = false;
  std::deque<Run*> queue;  // Not stamped yet, in the order of submission.
  std::deque<Run*> runs;   // Unfinished, by sequence - first_sequence; null: finished.
  std::uint64_t first_sequence = 0;
  std::uint64_t last_sequence = 0;  // Of the ids of its runs, which rise.
  std::uint64_t definitions = 0;    // Functions, programs, specs and slices that it names.
  bool is_known_to_hosts = false;   // They were sent a function or a spec of it.
  /// Definitions that were refused, until it releases them: as many as it may have, at most.
  std::set<std::uint64_t> refused;
  /// Puts of unknown specs, until it releases the array: what runs that read it are told.
  static constexpr std::size_t kRefusedPutsMax = 4096;
  std::map<ArrayId, Status> refused_puts;
  std::size_t unfinished = 0;
  std::uint64_t arrays = 0;               // Live ones that it has named.
  std::vector<std::uint64_t> kept_bytes;  // Per island, by those and by its runs.
  bool waits_when_full = false;
  std::deque<WaitingPut> puts;        // In the order of submission.
  std::vector<std::uint64_t> drains;  // Requests that wait until nothing is unfinished.
};

/// What a client names until it releases it, and what stays while something needs it.
struct ControllerCore::Definition {
  std::uint64_t id = 0;
  std::uint64_t uses = 0;       // By unfinished runs, live arrays and programs.
  std::vector<SliceId> slices;  // Which it names; not of functions.
  bool is_released = false;
};

struct ControllerCore::Function : Definition {
  program::FunctionInfo info;
  Frame definition;
  std::vector<bool> awaits;  // By host: it has not said yet what came of compiling.
  std::uint32_t hosts_awaited = 0;
  bool is_compiled = false;  // By one of them at least.
  /// Of a foreign one, whose types its hosts find out: who asked for it, until it is answered, and
  /// what the first host says of it, until then.
  bool is_foreign = false;
  std::uint64_t request = 0;
  std::string format, description;
  Status failure;
};

/// The type and sharding of uploads.
struct ControllerCore::Spec : Definition {
  ArraySpec spec;
  Frame definition;  // For hosts that join; only with members.
};

struct ControllerCore::Program : Definition {
  ClientId client = 0;
  program::ProgramGraph graph;
  std::vector<FunctionId> functions;  // Which it uses, each once.
  Status failure;                     // Cannot ever run: the outcome of its runs.
  SliceId released_slice = 0;         // One that it uses and its client has released: no new runs.
  std::uint64_t runs_unfinished = 0;
  bool is_lowered = false;
  bool is_lowering = false;         // Away from the control thread.
  program::LoweredProgram lowered;  // Its parts' plans have ids when installed.
  std::vector<std::vector<program::PartPlanPtr>> plans;  // By segment, then part.
  std::map<SliceId, std::uint64_t> generations;          // Of the bindings it was lowered for.
  std::uint64_t cost_ns = 1;
  std::vector<IslandId> islands;              // Of its parts, rising.
  std::vector<std::uint64_t> kept_by_island;  // Bytes that its outputs keep.
  std::vector<std::uint64_t> held_by_island;  // By arrays between its segments, while it runs.
  std::vector<std::uint64_t> kept_by_output;  // The same, by output.
};

/// What comes of lowering a program.
struct ControllerCore::Plans {
  Status failure;
  program::LoweredProgram lowered;  // Without its parts, which are
  std::vector<std::vector<std::pair<program::PartPlanPtr, Frame>>> parts;  // these, by segment.
};

struct ControllerCore::Run {
  /// One part of an open segment, to be told again to a new scheduler.
  struct Launched {
    IslandId island = 0;
    ControllerOutbox::Launch launch;
    std::vector<ArrayId> ids;
  };
  RunId id = 0;
  Client* client = nullptr;  // Null for the controller's own.
  Program* program = nullptr;
  ArrayId first_output = 0;
  std::uint32_t output_count = 0;
  struct Use {
    ArrayId id = 0;
    Array* array = nullptr;  // Stays while the run holds its reference.
  };
  std::vector<Use> args;
  std::vector<Array*> outputs;  // Empty until the run was taken.
  std::vector<ArrayId> intermediates;
  std::uint32_t segment = 0;                 // Launched last.
  Stamp stamp = 0;                           // Of that segment.
  std::vector<Stamp> open_stamps;            // Segments launched and unfinished.
  std::vector<std::uint32_t> open_parts;     // Parallel: parts not finished.
  std::vector<std::uint32_t> open_segments;  // Parallel: which one it is.
  /// Parts of open segments that have finished, where there are several: their hosts may be lost.
  std::vector<std::pair<Stamp, IslandId>> finished;
  std::vector<Launched> launched;   // What its open parts were told; only with members that may go.
  std::vector<std::uint64_t> held;  // Bytes by island, as long as it is unfinished.
  /// Islands that have had a place for it; once it is stamped, those in whose windows it counts.
  std::vector<IslandId> places;
  std::uint64_t cost_ns = 0;     // Of its program when it was started.
  std::uint32_t to_enqueue = 0;  // Parts of the last segment not yet enqueued.
  Status failure;
  bool is_started = false;        // Stamped at least once.
  bool is_fully_stamped = false;  // Its last segment has a stamp.
  bool is_cancelled = false;
  bool is_reading = false;    // Counted in the open_readers of its arguments.
  bool is_returning = false;  // Failed of a loss: it is run again when all its parts are over.
  std::uint32_t reruns = 0;   // How often it has been put back into its queue.
  std::vector<ControllerOutbox::Fetch> fetches;  // Passed on when the run has its outcome.
  Slice* migration = nullptr;  // A copy of an array to the new devices of this slice.
};

struct ControllerCore::Array {
  enum class State : std::uint8_t { kPending, kReady, kFailed };
  State state = State::kPending;
  bool has_handle = true;
  bool is_donated = false;
  bool is_stamped = false;   // Its producer has a stamp (or it was uploaded).
  bool is_counted = false;   // Its room is charged to the island of its slice.
  bool is_freed = false;     // Its island knows that nobody will name it again.
  bool is_waiting = false;   // An upload for which there is no room yet,
  bool is_arriving = false;  // or whose bytes are on their way to its host.
  bool is_taken = false;     // The run that it was donated to has its stamp.
  std::uint16_t tenant = 0;
  std::uint16_t island = 0;         // Where its room is counted; once it has room.
  std::uint32_t references = 1;     // The handle, and each unfinished run that reads or makes it.
  std::uint64_t kept_bytes = 0;     // That room, over all its devices.
  std::uint32_t open_readers = 0;   // Uses by runs whose last segment has no stamp yet.
  ArrayId physical = 0;             // Its name on the islands.
  RunId run = 0;                    // Producer; 0: an upload.
  Definition* source = nullptr;     // The program or the spec that it was made with, and
  const ArraySpec* spec = nullptr;  // what that says of it.
  Status* failure = nullptr;        // Owned; only if failed.
};

struct ControllerCore::Slice {
  ClientId client = 0;
  SliceId id = 0;
  std::uint64_t generation = 1;
  program::Binding binding;
  bool is_released = false;     // Nothing new may use it.
  bool is_gone = false;         // And nothing does: its devices have been given back.
  std::uint64_t names = 0;      // Programs and specs over it: its record stays as long as they do.
  std::vector<Program*> users;  // While it is released and not gone.
  std::uint32_t puts_waiting = 0;
  std::uint32_t puts_arriving = 0;  // Uploads that are on their way to its devices.
  std::uint32_t runs_in_flight = 0;
  std::uint64_t rebind_request = 0;  // Not 0: its client has asked to have it bound anew.
  bool is_displaced = false;         // A device of it is lost: it is bound anew unasked.
  bool is_renewed = false;           // Its host has a new life: programs are lowered anew.
  Status failure;                    // The same, and there are no others: what its runs end with.
  std::uint32_t moves_in_flight = 0;
  program::Binding target;

  /// No run is stamped until nothing of it is in flight and it has been bound anew.
  bool is_suspended() const { return rebind_request != 0 || is_displaced || is_renewed; }
};

/// The two roles of one island, as far as they live.
struct ControllerCore::Member {
  std::uint32_t host_epoch = 0, scheduler_epoch = 0;  // 0: there is none.
  std::uint32_t view = 0;
  Stamp born_stamp = 0;  // The last one before the life of its host.
  // Of each role, the times of what restarts.cpp looks back at.
  Losses host_losses, scheduler_losses;
  std::uint64_t failed_until_ns = 0;  // Not 0: the island has failed, and has no roles.
  std::optional<Drain> drain;         // It takes nothing new.
  std::uint32_t waiting_host_epoch = 0, waiting_scheduler_epoch = 0;  // Who is there until then.
  /// Reads that were passed on to the host, by client, until the client says that it has them.
  std::map<ClientId, std::map<std::uint64_t, ArrayId>> fetches;
};

struct ControllerCore::WhyQuestion {
  ClientId client = 0;
  std::uint64_t request = 0;
  std::uint32_t awaited = 0;
  std::string text;
};

}  // namespace seaway::controller
