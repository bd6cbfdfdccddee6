// EventStream: where every role of a process records what happens; traces, metrics, checkers and
// `why` read it.

#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "events/event.hpp"

namespace seaway::events {

/// Something that wants to see events as they happen: a checker, a hash, a file.
class EventSink {
 public:
  virtual ~EventSink() = default;
  /// Called in the thread that records, in order. Must not record events itself.
  virtual void record(const Event& event) = 0;
};

/// The newest events, in a ring of fixed size. One thread writes; read it from the same thread.
class EventRing {
 public:
  /// `events_max` is rounded up to a power of two, at least 1.
  explicit EventRing(std::size_t events_max)
      : events_(std::bit_ceil(events_max == 0 ? 1 : events_max)), mask_(events_.size() - 1) {}

  void record(const Event& event) { events_[recorded_++ & mask_] = event; }

  /// All events ever recorded; those beyond size() are overwritten.
  std::uint64_t recorded() const { return recorded_; }
  std::size_t size() const { return recorded_ < events_.size() ? recorded_ : events_.size(); }
  std::size_t capacity() const { return events_.size(); }
  /// Event `index` of those that are kept, oldest first. Requires index < size().
  const Event& at(std::size_t index) const {
    SEAWAY_CHECK(index < size(), index, size());
    return events_[(recorded_ - size() + index) & mask_];
  }
  /// The events that are kept, oldest first.
  std::vector<Event> snapshot() const;

 private:
  std::vector<Event> events_;
  std::size_t mask_;
  std::uint64_t recorded_ = 0;
};

/// One process's stream: a ring, a choice of kinds, and observers. With the ring alone an event
/// costs a few ns: one test of the choice and one store. Not thread-safe: it belongs to the
/// control thread.
class EventStream final : public EventSink {
 public:
  static constexpr std::uint64_t kAll = (std::uint64_t{1} << kEventKinds) - 1;
  static constexpr std::uint64_t bit(EventKind kind) {
    return std::uint64_t{1} << static_cast<unsigned>(kind);
  }

  explicit EventStream(std::size_t events_max = 1 << 16) : ring_(events_max) {}

  void record(const Event& event) override {
    if ((enabled_ & bit(event.kind)) == 0) return;
    ring_.record(event);
    if (!observers_.empty()) [[unlikely]]
      notify(event);
  }

  /// True if events of `kind` are recorded: ask before working out what only the event needs.
  bool enabled(EventKind kind) const { return (enabled_ & bit(kind)) != 0; }
  /// Records the kinds whose bits are set, and no others. All kinds are recorded at first.
  void enable(std::uint64_t kinds) { enabled_ = kinds & kAll; }

  /// `observer` sees each later event that is enabled, after earlier observers, until removed;
  /// it must outlive that.
  void add_observer(EventSink& observer) { observers_.push_back(&observer); }
  void remove_observer(EventSink& observer) { std::erase(observers_, &observer); }

  const EventRing& ring() const { return ring_; }

 private:
  void notify(const Event& event);

  EventRing ring_;
  std::uint64_t enabled_ = kAll;
  std::vector<EventSink*> observers_;
};

/// Hash of all events in order, and their number: equal for equal runs of the simulator.
class EventHash final : public EventSink {
 public:
  void record(const Event& event) override {
    hash_ = combine(hash_, event);
    ++count_;
  }
  std::uint64_t hash() const { return hash_; }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t hash_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace seaway::events
