// TimerQueue: what is due when, in exact order of time and then of scheduling.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace seaway::actor {

/// Pending timers. A heap with lazy removal: schedule and take cost O(log n), cancel O(1).
/// Ties fire in the order of scheduling, so that a simulated run repeats. Not thread-safe.
class TimerQueue {
 public:
  using Work = std::function<void()>;

  std::uint64_t schedule(std::uint64_t at_ns, Work work) {
    const std::uint64_t id = ++last_id_;
    heap_.push({at_ns, id});
    works_.emplace(id, std::move(work));
    return id;
  }
  void cancel(std::uint64_t id) {
    works_.erase(id);
    if (!heap_.empty() && heap_.top().id == id) drop_cancelled();
  }

  /// When the next timer is due, or nothing.
  std::optional<std::uint64_t> next_ns() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.top().at_ns;
  }
  /// Takes the next timer if it is due at `now_ns`; an empty function otherwise.
  Work take_due(std::uint64_t now_ns) {
    if (heap_.empty() || heap_.top().at_ns > now_ns) return {};
    const auto found = works_.find(heap_.top().id);
    Work work = std::move(found->second);
    works_.erase(found);
    heap_.pop();
    drop_cancelled();
    return work;
  }
  std::size_t size() const { return works_.size(); }

 private:
  struct Entry {
    std::uint64_t at_ns;
    std::uint64_t id;
    bool operator<(const Entry& other) const {  // The queue's top is its largest: turn it round.
      return at_ns != other.at_ns ? at_ns > other.at_ns : id > other.id;
    }
  };
  /// The heap's top is never a cancelled timer: the engine looks at it in every step.
  void drop_cancelled() {
    while (!heap_.empty() && !works_.contains(heap_.top().id)) heap_.pop();
  }

  std::priority_queue<Entry> heap_;
  std::unordered_map<std::uint64_t, Work> works_;  // Never iterated.
  std::uint64_t last_id_ = 0;
};

}  // namespace seaway::actor
