// Fault points, as all other files have them: they are not there.

#include <gtest/gtest.h>

#include "base/fault_point.hpp"

namespace seaway {
namespace {

/// Would have all of them fire.
struct Chooser final : FaultChooser {
  Chooser() { exchange_fault_chooser(this); }
  ~Chooser() override { exchange_fault_chooser(nullptr); }
  bool fires(FaultPoint) override { return is_asked = true; }

  bool is_asked = false;
};

static_assert(!SEAWAY_FAULT(kLateHeartbeat));

TEST(FaultPointsOff, NobodyIsAsked) {
  Chooser chooser;

  const bool fires = SEAWAY_FAULT(kLateHeartbeat);

  EXPECT_FALSE(fires);
  EXPECT_FALSE(chooser.is_asked);
}

}  // namespace
}  // namespace seaway
