// Threads that are made where there is but one core, and have all of them afterwards.

#include "base/one_core.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <future>
#include <optional>
#include <thread>

namespace seaway {
namespace {

int cores() {
  cpu_set_t own;
  CPU_ZERO(&own);
  return sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 0;
}

/// A thread that counts its cores when it is told to.
class Counter {
 public:
  int count() {
    go_.set_value();
    return count_.get();
  }
  ~Counter() { thread_.join(); }

 private:
  std::promise<void> go_;
  std::promise<int> counted_;
  std::future<int> count_ = counted_.get_future();
  std::thread thread_{[this] {
    go_.get_future().wait();
    counted_.set_value(cores());
  }};
};

TEST(OneCore, IsAllThatIsThereMeanwhileAndNotAfterwards) {
  std::optional<Counter> before(std::in_place), made;
  int meanwhile = 0;
  const bool has_several = cores() > 1;

  const bool has_run = run_on_one_core([&] {
    meanwhile = cores();
    made.emplace();
  });

  EXPECT_EQ(has_run, has_several);
  EXPECT_EQ(meanwhile, has_several ? 1 : 0);
  if (made) {
    EXPECT_EQ(made->count(), cores());
  }
  EXPECT_EQ(before->count(), cores());
}

TEST(OneCore, IsNothingSpecialWhereThereIsButOne) {
  bool has_run = true, was_called = false;
  std::thread narrow([&] {
    cpu_set_t all, one;
    CPU_ZERO(&all);
    CPU_ZERO(&one);
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    int core = 0;
    while (!CPU_ISSET(core, &all)) ++core;
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    has_run = run_on_one_core([&] { was_called = true; });
  });
  narrow.join();

  EXPECT_FALSE(has_run);
  EXPECT_FALSE(was_called);
}

}  // namespace
}  // namespace seaway
