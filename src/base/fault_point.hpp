// Fault points: places in product code where a simulated world may make an ordinary thing rare.

#pragma once

#include <cstddef>
#include <cstdint>

namespace seaway {

/// All points. Whatever one does is something that a correct system survives without an error to
/// anybody but, of the last one, to those whom a killed process fails.
enum class FaultPoint : std::uint8_t {
  kFrameTwice,
  kHeldAcknowledgement,
  kLateHeartbeat,
  kReadInPieces,
  kLostConnection,
  kFailedConnection,
  kLongPause,
  kLateTimer,
  kClosedWindow,
  kArraysApart,
  kSlowRebind,
  kNoEarlyGang,
  kNoOvertake,
  kGangsApart,
  kNeedlessSpill,
  kExistsApart,
  kHostYields,
  kGangPassedOver,
  kLateDones,
  kEarlyWatch,
  kRecordsApart,
  kLateRecords,
  kLateLaunches,
  kShortTurn,
  kHeldCredit,
  kEnvelopesApart,
  kLateDeadline,
  kOutOfMemory,
};
constexpr std::size_t kFaultPoints = 28;
static_assert(static_cast<std::size_t>(FaultPoint::kOutOfMemory) + 1 == kFaultPoints);

/// Decides, each time that code comes by a point, whether it fires.
class FaultChooser {
 public:
  virtual ~FaultChooser() = default;
  virtual bool fires(FaultPoint point) = 0;
};

/// The chooser of the world that runs now; null: there is none, and nothing ever fires. Borrowed,
/// and returned by the next call. One thread.
FaultChooser* exchange_fault_chooser(FaultChooser* chooser);

/// Asks the chooser. By way of SEAWAY_FAULT only.
bool fault_fires(FaultPoint point);

}  // namespace seaway

/// SEAWAY_FAULT(kLateHeartbeat): whether the point fires now. The constant false unless the file is
/// compiled with -DSEAWAY_FAULT_POINTS=1, as meson.build does a second time with those files that
/// have points (`fault_point_sources`). In .cpp files only: one function compiled in two ways would
/// be two functions of one name. SEAWAY_FAULT_IF asks only when its condition holds, and evaluates
/// that only where there are points.
#if defined(SEAWAY_FAULT_POINTS) && SEAWAY_FAULT_POINTS
#define SEAWAY_FAULT(point) ::seaway::fault_fires(::seaway::FaultPoint::point)
#define SEAWAY_FAULT_IF(is_possible, point) ((is_possible) && SEAWAY_FAULT(point))
#else
#define SEAWAY_FAULT(point) (static_cast<void>(::seaway::FaultPoint::point), false)
#define SEAWAY_FAULT_IF(is_possible, point) SEAWAY_FAULT(point)
#endif
