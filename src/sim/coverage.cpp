// Names and sums of features.

#include "sim/coverage.hpp"

#include "device/backend.hpp"

namespace seaway::sim {

using events::Event;
using events::EventKind;

std::string_view to_string(Feature feature) {
  constexpr std::array<std::string_view, kFeatures> kNames = {
      "several clients",
      "several islands",
      "several slices",
      "fifo policy",
      "shares policy",
      "weighted shares",
      "tight memory",
      "flooded worlds",
      "parallel runs",
      "sequential runs",
      "irregular runs",
      "edges between islands",
      "early gangs",
      "overtakes",
      "moved sends",
      "spills",
      "loads",
      "reshards",
      "donations",
      "rebinds",
      "cancels",
      "failing functions",
      "uncompilable functions",
      "poisoned inputs",
      "gangs that did nothing",
      "dropped handles",
      "dropped runs",
      "deleted arrays",
      "fetches",
      "refused puts",
      "puts over quota",
      "refused runs",
      "runs over quota",
      "worlds with losses",
      "lost devices",
      "runs that failed of a loss",
      "values lost with a device",
      "slices that left a lost device",
      "runs without devices",
      "slow devices",
      "stragglers",
      "launches tried again",
      "devices that launched nothing",
      "gangs given up",
      "late ends of gangs",
      "runs again",
      "runs that succeeded again",
      "runs that may have run",
      "launches without memory",
      "bits changed at rest",
      "changes found",
      "bits computed wrong",
      "wrong bits found",
      "wrong bits missed",
      "arrays written to files",
      "arrays read from files",
      "files that take nothing",
      "arrays lost in files",
      "worlds of processes",
      "whole processes",
      "kills",
      "kills of machines",
      "pauses",
      "isolations",
      "deaf processes",
      "mute processes",
      "cuts between two",
      "clocks moved",
      "clocks of another rate",
      "crash loops",
      "drains",
      "connections cut",
      "connections half open",
      "bits flipped",
      "writes repeated",
      "processes without memory",
      "faults during recovery",
      "clients that did not read",
      "clients that came back",
      "schedulers restored",
      "views without a death",
      "islands that failed",
      "islands used again",
      "hosts lost with runs",
      "hosts lost with arrays",
      "hosts lost with edges",
      "runs lost between hosts",
      "words of zombies",
      "clients lost with runs",
      "controllers lost with runs",
      "worlds of actors that share arrays",
  };
  return kNames[static_cast<std::size_t>(feature)];
}

Coverage& Coverage::operator+=(const Coverage& other) {
  for (std::size_t i = 0; i < kFeatures; ++i) counts[i] += other.counts[i];
  return *this;
}

bool Coverage::is_expected(Feature feature) const {
  const bool has_processes = counts[static_cast<std::size_t>(Feature::kWorldOfProcesses)] > 0;
  // Contests, and where slices go, are left to worlds where nothing but devices is lost.
  const bool is_left_out =
      feature == Feature::kWeightedShares || feature == Feature::kSliceLeftLoss;
  if (is_left_out && has_processes) return false;
  // Ten quiet seconds are more than clients live for, but in few worlds: see process_cluster_test.
  if (feature == Feature::kIslandReturned) return false;
  return has_processes || feature < Feature::kWorldOfProcesses;
}

std::vector<Feature> Coverage::missing() const {
  std::vector<Feature> features;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (counts[i] == 0 && is_expected(feature)) features.push_back(feature);
  }
  return features;
}

std::string Coverage::to_string() const {
  std::string text;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (!is_expected(feature)) continue;
    text += (text.empty() ? "" : ", ") + std::string(sim::to_string(feature)) + " " +
            std::to_string(counts[i]);
  }
  return text;
}

void CoverageCounter::record(const Event& event) {
  switch (event.kind) {
    case EventKind::kReceive:
      return coverage_.add(Feature::kEdgeBetweenIslands);
    case EventKind::kArraySpill:
      return coverage_.add(Feature::kSpill);
    case EventKind::kArrayLoad:
      return coverage_.add(Feature::kLoad);
    case EventKind::kSpillWrite:
      return coverage_.add(event.code == StatusCode::kOk ? Feature::kFileWrite
                                                         : Feature::kFileFull);
    case EventKind::kSpillRead:
      return coverage_.add(event.code == StatusCode::kOk ? Feature::kFileRead : Feature::kFileLoss);
    case EventKind::kDeviceLost:
      return coverage_.add(Feature::kDeviceLoss);
    case EventKind::kStraggler:
      return coverage_.add(Feature::kStraggler);
    case EventKind::kLaunchFailed:
      return coverage_.add(event.value > device::kRelaunchesMax ? Feature::kRelaunchedOut
                                                                : Feature::kRelaunch);
    case EventKind::kIslandFailed:
      return coverage_.add(event.value > 0 ? Feature::kIslandFailed : Feature::kIslandReturned);
    case EventKind::kGangGivenUp:
      return coverage_.add(Feature::kHungGang);
    case EventKind::kGangLate:
      return coverage_.add(Feature::kLateGang);
    case EventKind::kGangNoop:
      return coverage_.add(Feature::kNoop);
    case EventKind::kRerun:
      again_.insert(event.object);
      return coverage_.add(Feature::kRerun);
    case EventKind::kResolve:
      if (again_.erase(event.object) > 0 && event.code == StatusCode::kOk) {
        return coverage_.add(Feature::kRerunOk);
      }
      if (event.code == StatusCode::kUserFunctionError) {
        return coverage_.add(Feature::kFailingFunction);
      }
      if (event.code == StatusCode::kInputLost) return coverage_.add(Feature::kPoisonedInput);
      if (event.code == StatusCode::kResourceExhausted) {
        return coverage_.add(Feature::kRunOverQuota);
      }
      return;
    default:
      return;
  }
}

}  // namespace seaway::sim
