// Fiber: exceptions stay on the stack on which they were thrown.

#include "actor/fiber.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace seaway::actor {
namespace {

constexpr std::size_t kStackBytes = 128 * 1024;

TEST(Fiber, TwoFibersMaySuspendWhileTheyHandleExceptionsAndEndInAnyOrder) {
  std::string story;
  std::vector<std::unique_ptr<Fiber>> fibers;
  for (const char name : {'a', 'b'}) {
    fibers.push_back(std::make_unique<Fiber>(
        [&fibers, &story, name] {
          try {
            throw name;
          } catch (const char caught) {
            fibers[name - 'a']->suspend();
            story += caught;
            try {
              throw;
            } catch (const char again) {
              story += again;
            }
          }
        },
        kStackBytes));
  }

  fibers[0]->resume();
  fibers[1]->resume();
  fibers[0]->resume();
  fibers[1]->resume();

  EXPECT_EQ(story, "aabb");
}

TEST(Fiber, AnExceptionThatIsOnItsWayInOneFiberIsNoneInAnother) {
  std::vector<int> uncaught;
  std::unique_ptr<Fiber> fiber;
  struct Suspends {
    Fiber& fiber;
    std::vector<int>& uncaught;
    ~Suspends() {
      uncaught.push_back(std::uncaught_exceptions());
      fiber.suspend();
      uncaught.push_back(std::uncaught_exceptions());
    }
  };
  fiber = std::make_unique<Fiber>(
      [&] {
        try {
          const Suspends suspends{*fiber, uncaught};
          throw 1;
        } catch (int) {
        }
      },
      kStackBytes);

  fiber->resume();
  uncaught.push_back(std::uncaught_exceptions());
  fiber->resume();

  EXPECT_EQ(uncaught, (std::vector<int>{1, 0, 1}));
  EXPECT_TRUE(fiber->finished());
}

}  // namespace
}  // namespace seaway::actor
