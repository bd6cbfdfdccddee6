// From call to value, beside two threads that wake each other through a condition variable.

#include "benchmarks/run/run.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/support/measure.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

constexpr int kTurns = 60, kOfTurn = 300;
constexpr double kMostPinned = 1.3, kMost = 1.0;  // Of run.over_condvar.

/// Two threads, one of which waits for the other at any time.
class PingPong {
 public:
  PingPong() : partner_([this] { answer(); }) {}
  ~PingPong() {
    {
      std::lock_guard guard(mutex_);
      ended_ = true;
    }
    to_partner_.notify_one();
    partner_.join();
  }

  /// One round trip, in nanoseconds.
  double once_ns() {
    const std::uint64_t begin_ns = now_ns();
    {
      std::lock_guard guard(mutex_);
      asked_ = true;
    }
    to_partner_.notify_one();
    {
      std::unique_lock guard(mutex_);
      to_caller_.wait(guard, [this] { return answered_; });
      answered_ = false;
    }
    return static_cast<double>(now_ns() - begin_ns);
  }

 private:
  void answer() {
    for (;;) {
      {
        std::unique_lock guard(mutex_);
        to_partner_.wait(guard, [this] { return asked_ || ended_; });
        if (ended_) return;
        asked_ = false;
        answered_ = true;
      }
      to_caller_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable to_partner_, to_caller_;
  bool asked_ = false, answered_ = false, ended_ = false;
  std::thread partner_;
};

/// Medians of one turn each.
struct Times {
  std::vector<double> call_ns, ping_pong_ns, ratio;
};

/// Both kinds of round trip in turns, so that what else the machine does meets both alike.
Result<Times> sample(bool quick) {
  auto client = connect("embedded:islands=1,devices=1");
  if (!client.ok()) return client.status();
  auto slice = client->acquire_slice({.devices = 1, .mesh = {{"data", 1}}});
  if (!slice.ok()) return slice.status();
  const NamedSharding replicated(slice->mesh(), P());
  auto next = client->function("next", [](Tensor x) { return x + 1; }, {i32({})});
  if (!next.ok()) return next.status();
  auto program = client->program("next", [&next](Traced x) { return (*next)(x); },
                                 {ArraySpec{i32({}), replicated}});
  if (!program.ok()) return program.status();
  const Array input = client->put<std::int32_t>({41}, {}, replicated);
  PingPong ping_pong;
  Times times;
  const int each = quick ? 20 : kOfTurn;
  for (int turn = 0; turn < (quick ? 1 : kTurns); ++turn) {
    std::vector<double> call_ns, ping_pong_ns;
    for (int i = 0; i < each; ++i) {
      const std::uint64_t begin_ns = now_ns();
      const auto value = program->execute({input}).output(0).to_host<std::int32_t>().get();
      call_ns.push_back(static_cast<double>(now_ns() - begin_ns));
      if (!value.ok()) return value.status();
      if (value->at(0) != 42) {
        return invalid_argument("41 + 1 gave " + std::to_string(value->at(0)));
      }
    }
    for (int i = 0; i < each; ++i) ping_pong_ns.push_back(ping_pong.once_ns());
    times.call_ns.push_back(median(std::move(call_ns)));
    times.ping_pong_ns.push_back(median(std::move(ping_pong_ns)));
    times.ratio.push_back(times.call_ns.back() / times.ping_pong_ns.back());
  }
  return times;
}

Status measure(bool pinned, const BenchOptions& options, BenchReport& report) {
  std::unique_ptr<PinnedToOneCore> pin;
  if (pinned) {
    pin = std::make_unique<PinnedToOneCore>();
    if (!pin->pinned()) return {};
  }
  auto times = sample(options.quick);
  if (!times.ok()) return times.status();
  const BenchReport::Params params = {{"quantile", "0.5"},
                                      {"pinning", pinned ? "one core" : "none"}};
  report.add("run.call_to_value_us", median(times->call_ns) / 1e3, "us", params);
  report.add("run.condvar_us", median(times->ping_pong_ns) / 1e3, "us", params);
  report.add_ratio("run.over_condvar", interval_of(times->ratio), params,
                   Bound::at_most(pinned ? kMostPinned : kMost));
  return {};
}

}  // namespace

Status run_run(const BenchOptions& options, BenchReport& report) {
  for (const bool pinned : {true, false}) {
    if (Status status = measure(pinned, options, report); !status.ok()) return status;
  }
  return {};
}

}  // namespace seaway::benchmarks
