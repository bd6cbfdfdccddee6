// Coverage: how often seeds do what they are there to do.

#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "events/event_stream.hpp"

namespace seaway::sim {

/// What a thousand seeds must have done at least once. Worlds count once for each seed.
enum class Feature : std::uint8_t {
  kSeveralClients,
  kSeveralIslands,
  kSeveralSlices,
  kFifoPolicy,
  kSharesPolicy,
  kWeightedShares,  // Shares of different weights, measured.
  kTightMemory,
  kFloodedWorld,  // Clients ask for ten times as much as usual, and read nothing meanwhile.
  kParallelRun,
  kSequentialRun,
  kIrregularRun,
  kEdgeBetweenIslands,
  kEarlyGang,  // Placed before its inputs exist.
  kOvertake,
  kMovedSends,
  kSpill,
  kLoad,
  kReshard,
  kDonation,
  kRebind,
  kCancel,
  kFailingFunction,
  kUncompilableFunction,
  kPoisonedInput,
  kNoop,
  kDroppedHandle,
  kDroppedRun,
  kDeletedArray,
  kFetch,
  kPutRefused,    // By the limit of its client.
  kPutOverQuota,  // By the controller.
  kRunRefused,    // By the limit of its client.
  kRunOverQuota,  // By the controller.
  kWorldWithLosses,
  kDeviceLoss,
  kRunOnLostDevice,    // Failed of a loss, also of an input that was lost with a device.
  kArrayOnLostDevice,  // The same, of values that were fetched.
  kSliceLeftLoss,      // Bound anew, as a device of it was lost.
  kRunWithoutDevices,  // Failed at once, as its slice has a lost device and nowhere to go.
  kSlowDevice,
  kStraggler,      // A gang that one device held up, as its host noticed.
  kRelaunch,       // A gang that a device did not launch, and was asked to launch again.
  kRelaunchedOut,  // A device that was lost as it did not launch a gang often enough.
  kHungGang,       // Given up by its host.
  kLateGang,       // Such a gang that ended after all.
  kRerun,          // A run that was run again, as it had failed of a loss,
  kRerunOk,        // and one that succeeded then.
  kMaybeExecuted,  // One that was not, as a function of it is not idempotent.
  kShortage,       // A launch that a device had no memory for.
  kRot,            // A bit of a value that lay still was changed,
  kRotFound,       // and that was noticed when it was to be used.
  kFlip,           // A bit of what a gang made was changed, as it ran,
  kFlipFound,      // and that was noticed as it ran twice;
  kFlipMissed,     // or not, where not all gangs do.
  kFileWrite,      // An array in host room that went to a file,
  kFileRead,       // and one that came back;
  kFileFull,       // one that could not be written,
  kFileLoss,       // and one that was not what it was, or could not be read.

  // Only where roles are processes.
  kWorldOfProcesses,
  kWholeProcesses,  // A world of processes to which nothing is done: no error may be there.
  kKill,            // The kinds of faults, in their order.
  kKillMachine,
  kPause,
  kIsolate,
  kDeafen,
  kMute,
  kCutPair,
  kClockJump,
  kClockRate,
  kCrashLoop,
  kDrain,
  kWireCut,
  kWireHalfOpen,
  kWireFlip,
  kWireRepeat,
  kOutOfMemory,        // A process that died between two messages that it sends.
  kFaultInRecovery,    // Begun while the one before had not been overcome.
  kSlowReader,         // A client that stood still while something was on its way to it.
  kClientCameBack,     // A user whose client was lost, as a new one.
  kSchedulerRestored,  // A new life of it, while its host had parts.
  kViewWithoutDeath,   // Begun anew as scheduler and host could not reach each other.
  kIslandFailed,       // As its roles were lost too often,
  kIslandReturned,     // and one that was used again.
  kHostLostWithRuns,
  kHostLostWithArrays,
  kHostLostWithEdges,    // With a run that another island had a part of, too.
  kRunLostBetweenHosts,  // Of two that live and could not reach each other.
  kZombieHost,           // Went on with its work after the controller had given it up.
  kClientLostWithRuns,
  kControllerLostWithRuns,
  kSharingWorld,  // Actors on hosts share arrays with their clients.
};
constexpr std::size_t kFeatures = 91;
static_assert(static_cast<std::size_t>(Feature::kSharingWorld) + 1 == kFeatures);

/// "several clients".
std::string_view to_string(Feature feature);

/// Counts, by feature. A value.
struct Coverage {
  std::array<std::uint64_t, kFeatures> counts{};

  void add(Feature feature, std::uint64_t count = 1) {
    counts[static_cast<std::size_t>(feature)] += count;
  }
  Coverage& operator+=(const Coverage& other);
  /// Those that seeds of their kinds should have had, and did not.
  std::vector<Feature> missing() const;
  /// "several clients 671, ..., run refused 90".
  std::string to_string() const;

  friend bool operator==(const Coverage&, const Coverage&) = default;

 private:
  bool is_expected(Feature feature) const;
};

/// Counts what events show.
class CoverageCounter final : public events::EventSink {
 public:
  explicit CoverageCounter(Coverage& coverage) : coverage_(coverage) {}
  void record(const events::Event& event) override;

 private:
  Coverage& coverage_;
  std::set<RunId> again_;
};

}  // namespace seaway::sim
