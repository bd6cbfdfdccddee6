// HostWorld: one island with a real scheduler and a real host, and a controller, devices and copies
// that do what they have to at any time.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "device/host_core.hpp"
#include "events/event_stream.hpp"
#include "island/scheduler_core.hpp"
#include "sim/exhaustive/replayed.hpp"
#include "transport/bulk.hpp"

namespace seaway::exhaustive {

/// What is fixed about one island. All values are one shard on each of their devices.
struct HostSpec {
  struct Array {
    ArrayId id = 0;
    std::vector<DeviceId> devices;
  };
  struct Run {
    program::PartPlanPtr plan;
    std::vector<ArrayId> args, outputs;
  };
  std::uint32_t devices = 2;
  std::uint64_t device_bytes = 0;
  std::vector<Array> uploads;
  std::vector<Run> runs;
  std::vector<ArrayId> fetched, freed;  // Behind the last launch.
  bool has_slow_copies = false;         // Copies between device and host end at any time.
  // How often, anywhere: a scheduler is lost, a device is lost, a run is cancelled.
  std::uint32_t schedulers_lost_max = 0, devices_lost_max = 0, cancels_max = 0;

  /// FOR TESTS ONLY: a promise that is not kept.
  enum class Weakening : std::uint8_t {
    kNone,
    kNoWordOfSpills,  // The host does not say that an array has been spilled.
    kSkippedGang,     // A device says that a gang has run, and it has not.
  };
  Weakening weakening = Weakening::kNone;
};

/// One step that a HostWorld may take.
struct HostMove {
  enum class Kind : std::uint8_t {
    kTell,      // The scheduler gets the controller's next word.
    kOrder,     // The host gets the scheduler's next order.
    kHostWord,  // The scheduler gets the host's next word.
    kEndGang,   // Gang `index` of those that run ends.
    kEndCopy,   // Copy `index` of those under way ends.
    kLoseScheduler,
    kLoseDevice,  // Number `index`.
    kCancel       // The run of stamp `index`.
  };
  Kind kind = Kind::kTell;
  std::uint32_t index = 0;
};

/// The core of Replayed<HostCluster>. Devices may never hold more than they have, each part ends
/// once, each fetch is answered once and with the right value unless something was lost, and in the
/// end nothing is left over.
class HostCluster {
 public:
  using Move = HostMove;
  using Spec = HostSpec;

  explicit HostCluster(const HostSpec& spec);
  ~HostCluster();

  std::string setting() const;
  void moves(std::vector<Move>& out) const;
  void take(const Move& move);
  const std::string& violation() const { return violation_; }
  bool is_done() const;
  std::uint64_t hash() const;
  static bool is_fault(const Move& move) { return move.kind >= Move::Kind::kLoseScheduler; }
  static std::string describe(const Move& move);
  std::string to_string() const;

 private:
  class Devices;  // The backend.
  struct Word {   // Of the controller.
    enum class Kind : std::uint8_t { kPut, kLaunch, kFree, kCancel };
    Kind kind = Kind::kPut;
    std::size_t index = 0;  // Of an upload, a run or an array; of kCancel: the stamp.
  };

  island::Launch launch_of(std::size_t run) const;
  void tell(const Word& word);
  void lose_scheduler();
  void take_actions();
  void take_outbox();
  void cancel(Stamp stamp);
  void fail(const std::string& text);

  const HostSpec spec_;
  island::CoreOptions options_;
  ManualClock clock_;
  events::EventStream events_{1};
  transport::LocalBulk bulk_;
  std::unique_ptr<Devices> backend_;
  std::unique_ptr<device::HostCore> host_;
  island::SchedulerCore core_;
  std::deque<Word> words_;
  std::deque<island::Action> orders_;
  std::deque<device::HostOutbox::Done> dones_;
  std::map<ArrayId, float> values_;  // As they have to be.
  std::set<Stamp> finished_, cancelled_;
  std::set<std::uint64_t> answered_;
  std::uint32_t schedulers_lost_ = 0, devices_lost_ = 0, cancels_ = 0;
  std::uint32_t lost_ = 0;  // Bits by device.
  History host_history_;
  std::string violation_;
};

using HostWorld = Replayed<HostCluster>;

}  // namespace seaway::exhaustive
