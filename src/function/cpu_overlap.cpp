// List scheduling with one kind of step that takes its time elsewhere.

#include "function/cpu_overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace seaway::function::cpu {
namespace {

/// A guess: 1 ms, and 1 GB/s. Too much only makes values wait for longer than they would have to.
std::uint64_t exchange_ns(const Step& step) {
  return 1'000'000 + step.collective->in_bytes() + step.collective->out_bytes();
}

class Overlapper {
 public:
  explicit Overlapper(Schedule schedule) : from_(std::move(schedule)) { find_dependences(); }

  Schedule run() {
    while (!exchanges_.empty() || !steps_.empty() || !under_way_.empty()) {
      if (may_begin_exchange()) {
        begin_exchange();
      } else if (!steps_.empty()) {
        compute();
      } else {
        now_ns_ = std::max(now_ns_, under_way_.begin()->first);
      }
      end_exchanges();
    }
    while (!unawaited_.empty()) wait_for(*unawaited_.begin());
    Schedule to = std::move(from_);
    to.steps = std::move(to_);
    return to;
  }

 private:
  bool is_exchange(std::size_t step) const { return from_.steps[step].step.collective != nullptr; }

  /// A step needs those that write what it reads; several may write parts of one value.
  void find_dependences() {
    const std::size_t count = from_.steps.size();
    users_.resize(count);
    needs_.resize(count);
    missing_.resize(count);
    std::vector<std::vector<std::size_t>> writers(from_.storages.size());
    for (std::size_t t = 0; t < count; ++t) {
      std::set<std::size_t> before;
      for (const StorageId storage : from_.steps[t].in) {
        before.insert(writers[storage].begin(), writers[storage].end());
      }
      for (const std::size_t writer : before) {
        users_[writer].push_back(t);
        if (is_exchange(writer)) needs_[t].push_back(writer);
      }
      missing_[t] = before.size();
      for (const StorageId storage : from_.steps[t].out) writers[storage].push_back(t);
      if (missing_[t] == 0) make_ready(t);
    }
  }
  void make_ready(std::size_t step) { (is_exchange(step) ? exchanges_ : steps_).insert(step); }
  void done(std::size_t step) {
    for (const std::size_t user : users_[step]) {
      if (--missing_[user] == 0) make_ready(user);
    }
  }

  /// Only so many are under way at once; one that is guessed to have ended is waited for then.
  bool may_begin_exchange() {
    if (exchanges_.empty()) return false;
    if (unawaited_.size() < kExchangesAtOnce) return true;
    const auto ended = std::find_if(unawaited_.begin(), unawaited_.end(),
                                    [this](const auto& one) { return !is_guessed(one.first); });
    if (ended == unawaited_.end()) return false;
    wait_for(*ended);
    return true;
  }
  bool is_guessed(std::size_t exchange) const {
    return std::any_of(under_way_.begin(), under_way_.end(),
                       [exchange](const auto& one) { return one.second == exchange; });
  }

  void begin_exchange() {
    const std::size_t step = take(exchanges_);
    await_needs(step);
    under_way_.emplace(now_ns_ + exchange_ns(from_.steps[step].step), step);
    unawaited_.emplace_back(step, to_.size());
    to_.push_back(std::move(from_.steps[step]));
  }
  void compute() {
    const std::size_t step = take(steps_);
    await_needs(step);
    now_ns_ += from_.steps[step].step.cost_ns;
    to_.push_back(std::move(from_.steps[step]));
    done(step);
  }
  /// As is guessed; nobody waits for it yet.
  void end_exchanges() {
    while (!under_way_.empty() && under_way_.begin()->first <= now_ns_) {
      const std::size_t step = under_way_.begin()->second;
      under_way_.erase(under_way_.begin());
      done(step);
    }
  }

  void await_needs(std::size_t step) {
    for (const std::size_t exchange : needs_[step]) {
      const auto found =
          std::find_if(unawaited_.begin(), unawaited_.end(),
                       [exchange](const auto& one) { return one.first == exchange; });
      if (found != unawaited_.end()) wait_for(*found);
    }
  }
  using Unawaited = std::pair<std::size_t, std::size_t>;  // Step in from_, and in to_.
  void wait_for(Unawaited one) {
    std::erase(unawaited_, one);
    ScheduledStep wait;
    wait.awaits = one.second;
    const ScheduledStep& exchange = to_[one.second];
    wait.in = exchange.in;
    wait.in.insert(wait.in.end(), exchange.out.begin(), exchange.out.end());
    to_.push_back(std::move(wait));
  }

  static std::size_t take(std::set<std::size_t>& steps) {
    return steps.extract(steps.begin()).value();
  }

  Schedule from_;
  std::vector<ScheduledStep> to_;
  std::vector<std::vector<std::size_t>> users_, needs_;  // Of each step; only exchanges in needs_.
  std::vector<std::size_t> missing_;                     // So many of what it needs are not there.
  std::set<std::size_t> exchanges_, steps_;              // To which nothing is missing.
  std::set<std::pair<std::uint64_t, std::size_t>> under_way_;  // By when they end.
  std::vector<Unawaited> unawaited_;                           // In the order of their begin.
  std::uint64_t now_ns_ = 0;
};

}  // namespace

Schedule overlap(Schedule schedule) { return Overlapper(std::move(schedule)).run(); }

}  // namespace seaway::function::cpu
