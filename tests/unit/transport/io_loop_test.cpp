// The loop: what ends its waits.

#include "transport/io_loop.hpp"

#include <gtest/gtest.h>
#include <kj/async-unix.h>
#include <kj/async.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/clock.hpp"
#include "transport/io_loop_state.hpp"
#include "transport/read_scheduler.hpp"
#include "unit/transport/scarce_system.hpp"

namespace seaway::transport {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kLongNs = 60'000 * kMs;

TEST(IoLoop, WaitsAsLongAsItMayAndNotShorter) {
  const RealClock clock;
  const auto owned = IoLoop::make().value();
  IoLoop& loop = *owned;
  // Longer, shorter and longer again: its timer rings for an earlier wait, too.
  for (const std::uint64_t most_ns : {3 * kMs, kMs / 5, 2 * kMs}) {
    const std::uint64_t begin_ns = clock.now_ns();

    loop.wait(most_ns);

    // Clocks may differ by a little.
    EXPECT_GE(clock.now_ns() - begin_ns, most_ns - most_ns / 10);
  }
}

TEST(IoLoop, IsWokenByAnotherThread) {
  const RealClock clock;
  const auto owned = IoLoop::make().value();
  IoLoop& loop = *owned;
  const std::uint64_t begin_ns = clock.now_ns();
  for (int i = 0; i < 100; ++i) {
    std::thread other([&loop] { loop.wake(); });

    loop.wait(kLongNs);

    other.join();
  }
  EXPECT_LT(clock.now_ns() - begin_ns, kLongNs);
}

/// As the answer of a name's lookup: nothing else wakes the loop.
TEST(IoLoop, PollTakesEventsOfOtherThreads) {
  const auto owned = IoLoop::make().value();
  IoLoop& loop = *owned;
  for (int i = 0; i < 100; ++i) {
    bool has_come = false;
    auto pair = kj::newPromiseAndCrossThreadFulfiller<void>();
    const auto task =
        pair.promise.then([&has_come]() { has_come = true; }).eagerlyEvaluate(nullptr);
    std::thread([&fulfiller = *pair.fulfiller] { fulfiller.fulfill(); }).join();
    // Its owner was woken for something else, and does not wait.
    loop.wake();

    loop.wait(kLongNs);

    ASSERT_TRUE(has_come) << i;
  }
}

/// A caller whose turn is a chain of three events. The last event requests the next turn.
class BusyCaller {
 public:
  explicit BusyCaller(IoLoop& loop) : loop_(loop), tasks_(loop.state()) { tasks_.add(go_on()); }

  int begun() const { return begun_; }
  int ended() const { return ended_; }

 private:
  kj::Promise<void> go_on() {
    return loop_.state().next_turn(reader_).then([this]() {
      ++begun_;
      return kj::evalLater([this]() { return kj::evalLater([this]() { return end_turn(); }); });
    });
  }
  kj::Promise<void> end_turn() {
    ++ended_;
    return go_on();
  }

  IoLoop& loop_;
  ReadScheduler::Reader reader_ = {.is_authenticated = false, .group = "one address"};
  int begun_ = 0, ended_ = 0;
  kj::TaskSet tasks_;
};

/// Events after the turn would not be charged: TLS handshakes took 12 % of a core, 1 % charged.
TEST(IoLoop, RunsAllEventsOfACallerWithinItsTurn) {
  const auto loop = IoLoop::make().value();
  const BusyCaller caller(*loop);

  for (int i = 1; i <= 10; ++i) {
    loop->wait(kLongNs);

    EXPECT_GE(caller.begun(), i);
    EXPECT_EQ(caller.ended(), caller.begun());
  }
}

TEST(IoLoop, PollsDescriptorsBesideBusyCallers) {
  const auto owned = IoLoop::make().value();
  IoLoop& loop = *owned;
  const BusyCaller caller(loop);
  const kj::AutoCloseFd event(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  kj::UnixEventPort::FdObserver observer(loop.state().port, event.get(),
                                         kj::UnixEventPort::FdObserver::OBSERVE_READ);
  bool is_readable = false;
  const auto task = observer.whenBecomesReadable()
                        .then([&is_readable]() { is_readable = true; })
                        .eagerlyEvaluate(nullptr);
  loop.wait(0);
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(event.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));

  for (int i = 0; i < 4; ++i) loop.wait(kLongNs);

  EXPECT_TRUE(is_readable);
  EXPECT_GT(caller.begun(), 2);
}

TEST(IoLoop, AShortWaitIsShortAfterALongOneThatWasCutShort) {
  const RealClock clock;
  const auto owned = IoLoop::make().value();
  IoLoop& loop = *owned;
  const std::uint64_t begin_ns = clock.now_ns();
  std::thread other([&loop] { loop.wake(); });
  loop.wait(kLongNs);
  other.join();

  loop.wait(kMs);

  EXPECT_LT(clock.now_ns() - begin_ns, kLongNs);
}

TEST(IoLoop, AWakeBeforeAWaitEndsThatOneAlone) {
  const RealClock clock;
  const auto owned = IoLoop::make().value();
  IoLoop& loop = *owned;
  loop.wake();
  const std::uint64_t begin_ns = clock.now_ns();

  loop.wait(kLongNs);
  const std::uint64_t woken_ns = clock.now_ns();
  loop.wait(2 * kMs);

  EXPECT_LT(woken_ns - begin_ns, kLongNs);
  EXPECT_GE(clock.now_ns() - woken_ns, kMs);
}

TEST(IoLoop, APollDoesNotWait) {
  const auto owned = IoLoop::make().value();
  IoLoop& loop = *owned;
  for (int i = 0; i < 1000; ++i) loop.poll();
}

TEST(IoLoop, MayBeOutlivedByWhoWakesIt) {
  auto loop = IoLoop::make().value();
  const IoLoop::Waker waker = loop->waker();
  loop.reset();

  waker.wake();
  std::thread other([&waker] { waker.wake(); });
  other.join();
}

TEST(IoLoop, MakesAWriteToNobodyAnErrorAndNotASignal) {
  const auto loop = IoLoop::make().value();
  struct sigaction action = {};

  ::sigaction(SIGPIPE, nullptr, &action);

  EXPECT_EQ(action.sa_handler, SIG_IGN);
}

TEST(IoLoop, IsMadeOrSaysWhatTheSystemHasNot) {
  const std::size_t before = descriptors();

  const std::size_t needed = expect_refusals_below_what_it_needs([] { return IoLoop::make(); });

  EXPECT_GT(needed, 2u);
  EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace seaway::transport
