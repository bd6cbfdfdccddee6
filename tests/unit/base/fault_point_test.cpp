// Fault points, as a file has them that is compiled with them.

#define SEAWAY_FAULT_POINTS 1
#include "base/fault_point.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace seaway {
namespace {

/// Notes who asks.
class Chooser final : public FaultChooser {
 public:
  explicit Chooser(bool answer) : answer_(answer) { exchange_fault_chooser(this); }
  ~Chooser() override { exchange_fault_chooser(nullptr); }
  bool fires(FaultPoint point) override {
    asked.push_back(point);
    return answer_;
  }

  std::vector<FaultPoint> asked;

 private:
  const bool answer_;
};

TEST(FaultPoints, NeverFireWithoutAChooser) {
  const bool fires = SEAWAY_FAULT(kLateHeartbeat);

  EXPECT_FALSE(fires);
}

TEST(FaultPoints, FireAsTheChooserSays) {
  Chooser chooser(true);

  const bool fires = SEAWAY_FAULT(kLateHeartbeat);
  const bool another_fires = SEAWAY_FAULT(kOutOfMemory);

  EXPECT_TRUE(fires && another_fires);
  EXPECT_EQ(chooser.asked,
            (std::vector<FaultPoint>{FaultPoint::kLateHeartbeat, FaultPoint::kOutOfMemory}));
}

TEST(FaultPoints, DoNotFireWhenTheChooserSaysNo) {
  Chooser chooser(false);

  const bool fires = SEAWAY_FAULT(kLateHeartbeat);

  EXPECT_FALSE(fires);
  EXPECT_EQ(chooser.asked.size(), 1u);
}

TEST(FaultPoints, AChooserIsGivenBackByTheNextOne) {
  Chooser chooser(true);

  FaultChooser* const given_back = exchange_fault_chooser(nullptr);

  EXPECT_EQ(given_back, &chooser);
  EXPECT_FALSE(SEAWAY_FAULT(kLateHeartbeat));
}

}  // namespace
}  // namespace seaway
