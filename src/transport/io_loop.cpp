// KJ's loop in steps: what is ready runs, then its owner has his turn.

#include "transport/io_loop.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "base/check.hpp"
#include "transport/io_loop_state.hpp"

namespace seaway::transport {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

Status no_loop(const std::string& why) {
  return resource_exhausted("this process cannot wait for its sockets: " + why +
                            "; end others, or let it open more files (ulimit -n)");
}

}  // namespace

std::uint64_t SystemClock::now_ns() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

std::uint64_t ThreadClock::now_ns() const {
  timespec time = {};
  SEAWAY_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecondNs +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t QueueClock::now_ns() const {
  const kj::AutoCloseFd file(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
  char text[96] = {};
  if (::read(file.get(), text, sizeof(text) - 1) <= 0) return 0;
  const char* const queued = std::strchr(text, ' ');  // Field 1 is processor time.
  return queued ? std::strtoull(queued, nullptr, 10) : 0;
}

IoLoop::State::State(Waker::Bell& its_bell, kj::AutoCloseFd&& timer)
    : bell(its_bell),
      events(port),
      scope(std::in_place, events),
      time(kj::mv(timer)),
      bell_observer(port, bell.descriptor.get(), kj::UnixEventPort::FdObserver::OBSERVE_READ),
      time_observer(port, time.get(), kj::UnixEventPort::FdObserver::OBSERVE_READ),
      tasks(*this) {
  // A write to a connection that is gone is an error like any other.
  std::signal(SIGPIPE, SIG_IGN);
  bell.state = this;
  tasks.add(watch_bell());
  tasks.add(watch_time());
}

kj::Promise<void> IoLoop::State::watch_bell() {
  return bell_observer.whenBecomesReadable().then([this]() {
    std::uint64_t count = 0;
    static_cast<void>(!::read(bell.descriptor.get(), &count, sizeof(count)));
    was_woken = true;
    notice();
    return watch_bell();
  });
}

kj::Promise<void> IoLoop::State::watch_time() {
  return time_observer.whenBecomesReadable().then([this]() {
    std::uint64_t count = 0;
    static_cast<void>(!::read(time.get(), &count, sizeof(count)));
    rings_ns = UINT64_MAX;
    if (due_ns != UINT64_MAX) {
      const std::uint64_t now = clock.now_ns();
      if (now >= due_ns) {
        notice();
      } else {
        arm(due_ns - now);
      }
    }
    return watch_time();
  });
}

/// A timer that rings too early costs less than one that is set each time.
void IoLoop::State::arm(std::uint64_t most_ns) {
  const std::uint64_t now = clock.now_ns();
  due_ns = most_ns > UINT64_MAX - now ? UINT64_MAX : now + most_ns;
  if (rings_ns <= due_ns) return;
  rings_ns = due_ns;
  itimerspec in = {};
  in.it_value.tv_sec = static_cast<time_t>(most_ns / kSecondNs);
  in.it_value.tv_nsec = static_cast<long>(most_ns % kSecondNs);
  SEAWAY_CHECK(::timerfd_settime(time.get(), 0, &in, nullptr) == 0);
}

kj::Promise<void> IoLoop::State::after(std::uint64_t pause_ns) {
  constexpr std::uint64_t kYearNs = 365ull * 24 * 3600 * kSecondNs;
  return port.getTimer().afterDelay(static_cast<std::int64_t>(std::min(pause_ns, kYearNs)) *
                                    kj::NANOSECONDS);
}

void IoLoop::State::notice() {
  KJ_IF_MAYBE (fulfiller, waiter) {
    (*fulfiller)->fulfill();
  }
}

void IoLoop::State::run_ready() {
  kj::evalLater([]() {}).wait(*scope);
}

void IoLoop::State::run_callers() {
  if (!scheduler.has_callers()) return;
  events.run();  // Pending events of other connections are not charged to callers.
  while (scheduler.grant_caller()) events.run();
}

kj::Promise<void> IoLoop::State::next_turn(ReadScheduler::Reader& reader) {
  auto turn = kj::newPromiseAndFulfiller<void>();
  const auto fulfiller =
      std::make_shared<kj::Own<kj::PromiseFulfiller<void>>>(kj::mv(turn.fulfiller));
  scheduler.wait(reader, [fulfiller, &reader]() {
    // Who waits for it owns `reader`.
    if (!(*fulfiller)->isWaiting()) return false;
    reader.has_turn = true;
    (*fulfiller)->fulfill();
    return true;
  });
  notice();
  return kj::mv(turn.promise);
}

Result<std::unique_ptr<IoLoop>> IoLoop::make() {
  kj::AutoCloseFd bell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (bell.get() < 0) return no_loop(std::string("eventfd: ") + std::strerror(errno));
  kj::AutoCloseFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (timer.get() < 0) return no_loop(std::string("timerfd: ") + std::strerror(errno));
  std::unique_ptr<IoLoop> loop(new IoLoop());
  loop->waker_.bell_ = std::make_shared<Waker::Bell>(kj::mv(bell));
  try {
    loop->state_ = std::make_unique<State>(*loop->waker_.bell_, kj::mv(timer));
  } catch (const kj::Exception& exception) {
    return no_loop(exception.getDescription().cStr());
  }
  return loop;
}
IoLoop::~IoLoop() = default;

void IoLoop::poll() {
  state_->scheduler.begin_iteration();
  // True: another thread has left an event with KJ's executor. Only a loop that waits takes those.
  if (state_->port.poll()) {
    kj::getCurrentThreadExecutor().executeAsync([]() {}).wait(*state_->scope);
  }
  state_->run_ready();
  state_->run_callers();
}

void IoLoop::wait(std::uint64_t most_ns) {
  State& state = *state_;
  most_ns = std::min(most_ns, state.scheduler.wait_ns());
  if (state.was_woken || most_ns == 0) {
    poll();
  } else {
    state.scheduler.begin_iteration();
    auto noticed = kj::newPromiseAndFulfiller<void>();
    state.waiter = kj::mv(noticed.fulfiller);
    state.due_ns = UINT64_MAX;
    if (most_ns != UINT64_MAX) state.arm(most_ns);
    noticed.promise.wait(*state.scope);
    state.waiter = nullptr;
    state.run_callers();
  }
  state.was_woken = false;
}

void IoLoop::leave() {
  state_->bell.owner = std::thread::id();
  state_->scope.reset();
}

bool IoLoop::enter() {
  try {
    state_->scope.emplace(state_->events);
  } catch (const kj::Exception&) {
    return false;  // Two loops in one thread.
  }
  state_->bell.owner = std::this_thread::get_id();
  return true;
}

void IoLoop::Waker::wake() const {
  if (std::this_thread::get_id() != bell_->owner) {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(bell_->descriptor.get(), &one, sizeof(one)));
  } else if (bell_->state) {
    bell_->state->was_woken = true;
    bell_->state->notice();
  }
}

}  // namespace seaway::transport
