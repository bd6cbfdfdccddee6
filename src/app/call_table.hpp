// CallTable: the calls of one silo that have no outcome yet, by an id that says where they are.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "actor/timer_wheel.hpp"
#include "app/envelope.hpp"
#include "seaway/app/runtime.hpp"

namespace seaway::app {

class Member;

/// Something of a silo that is due at some time.
struct SiloTimer : actor::TimerNode {
  enum class Kind : std::uint8_t { kCall, kSleep, kStop, kNode, kArgument };
  explicit SiloTimer(Kind own) : kind(own) {}
  Kind kind;
};

/// Another call of the same silo that has this one's answer as its argument.
struct Dependent {
  SiloId silo = 0;
  std::uint64_t call = 0;
};

/// One call without an outcome.
struct Call : SiloTimer {
  Call() : SiloTimer(SiloTimer::Kind::kCall) {}

  std::uint64_t id = 0;  // 0: free.
  std::shared_ptr<internal::CallBase> state;
  std::shared_ptr<internal::StreamSink> sink;
  std::uint32_t position = 0;
  bool is_once = false;
  bool is_resting = false;  // Between two tries.
  bool has_credit = false;  // Counted in its route.
  std::uint32_t retries = 0;
  std::uint32_t tries = 0;
  SiloId silo = 0;  // Whom it was sent to.
  MemberName member;
  std::shared_ptr<const internal::MeshInfo> mesh;
  std::string_view request_name;
  std::uint64_t begun_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t limit_ns = 0;    // From one sign of life to the next: of a stream more than one.
  std::uint64_t items_open = 0;  // Of a stream: answers that may come before its reader asks more.
  bool has_items = false;
  std::uint32_t client = 0;  // In whose name, unless it is a member.
  std::vector<Dependent> dependents;
  /// What another silo has passed on to this call's member, for the case that it is lost on the
  /// way.
  std::unique_ptr<Result<internal::RawMessage>> argument;
  SiloId argument_from = 0;
  std::vector<SiloId> tree;         // Of a reduction: all hosts that take part.
  std::unique_ptr<Envelope> again;  // What is sent again; null: nothing is.
  // In whose name: a list of a member's own calls, so that they end with it.
  Member* caller = nullptr;
  Call* next = nullptr;
  Call* previous = nullptr;
};

/// A slot map: an id is a place in the low half and how often that was used in the high one, so
/// that finding costs an index and an old id finds nothing. Memory stays as large as the most calls
/// that were ever open at a time. Not thread-safe.
class CallTable {
 public:
  /// No id is one of a table whose `uses` were smaller.
  explicit CallTable(std::uint32_t uses) : uses_begin_(uses) {}

  Call& open() {
    std::uint32_t place = 0;
    if (free_.empty()) {
      place = static_cast<std::uint32_t>(calls_.size());
      calls_.emplace_back();
      uses_.push_back(uses_begin_);
    } else {
      place = free_.back();
      free_.pop_back();
    }
    Call& call = calls_[place];
    call.id = (std::uint64_t{++uses_[place]} << 32) | place;
    ++size_;
    return call;
  }
  /// Null for an id whose call has had its outcome, and for what never was one.
  Call* find(std::uint64_t id) {
    const auto place = static_cast<std::uint32_t>(id);
    if (place >= calls_.size() || calls_[place].id != id || id == 0) return nullptr;
    return &calls_[place];
  }
  void close(Call& call) {
    const auto place = static_cast<std::uint32_t>(call.id);
    call.id = 0;
    call.state.reset();
    call.sink.reset();
    call.mesh.reset();
    call.dependents.clear();
    call.tree.clear();
    call.argument.reset();
    call.again.reset();
    call.is_once = call.is_resting = call.has_credit = call.has_items = false;
    call.tries = call.retries = call.client = 0;
    call.caller = nullptr;
    free_.push_back(place);
    --size_;
  }
  std::size_t size() const { return size_; }
  template <class Use>
  void for_each(Use&& use) const {
    for (const Call& call : calls_) {
      if (call.id != 0) use(call);
    }
  }
  /// All that are open, in the order of their places. `use` may close the one it is given.
  template <class Use>
  void for_each(Use&& use) {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].id != 0) use(calls_[i]);
    }
  }

 private:
  const std::uint32_t uses_begin_;
  std::deque<Call> calls_;
  std::vector<std::uint32_t> uses_;
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

}  // namespace seaway::app
