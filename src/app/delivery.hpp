// Delivery: one message at its member, from its arrival to its answer.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/envelope.hpp"
#include "seaway/app/runtime.hpp"

namespace seaway::app {

class Silo;
class Member;
struct ReductionNode;

/// Where a call's answer also goes.
struct Forward {
  SiloId caller = 0;  // Whose call it is the argument of.
  std::uint64_t call = 0;
  MemberName target;
  SiloId target_silo = 0;
  std::uint32_t target_epoch = 0;
};

/// Whose messages keep their order among each other: a member's or a client's. Each client of a
/// cluster of processes has a silo of its own, and number 0 there.
struct Source {
  MemberName member;
  SiloId silo = 0;
  std::uint32_t client = 0;
  bool operator==(const Source&) const = default;
};

/// Owned by its silo's pool; used again for other messages.
class Delivery final : public internal::Invocation {
 public:
  /// Among whose messages it keeps its place.
  Source source() const { return {sender, from, client}; }

  enum class State : std::uint8_t {
    kFree,
    kQueued,   // In its member's mailbox, or held behind one that waits.
    kRunning,  // Its handler has begun.
  };

  void finish(Result<internal::RawMessage> reply) override;
  void crash(Status cause) override;
  std::shared_ptr<internal::Keeper> promise() override;
  std::shared_ptr<internal::ItemSink> sink() override;
  std::shared_ptr<internal::Caller> caller() override;

  State state = State::kFree;
  bool awaits_argument = false;
  bool is_stream = false;  // The caller reads a stream.
  bool is_once = false;
  bool owes_credit = false;  // Its sender hears when it has been handled.
  bool is_resuming = false;  // In the silo's list of those to be resumed.
  bool is_entered = false;   // Its handler is on the stack right now.
  bool is_waiting = false;   // Its coroutine waits; counted in Member::waiting.
  std::uint64_t ticket = 0;  // Another one for each message: what is kept across uses.
  Silo* silo = nullptr;
  Member* member = nullptr;
  const internal::MethodInfo* method = nullptr;
  SiloId from = 0;
  std::uint32_t client = 0;  // Who sent it, if `sender` is nobody.
  std::uint64_t call = 0;    // 0: nobody waits for an answer.
  std::uint64_t request_id = 0;
  std::optional<Result<internal::RawMessage>> reply;
  std::optional<Status> crash_cause;
  std::vector<Forward> forwards;
  std::shared_ptr<const Death> death;  // Of a word about one.
  ReductionNode* node = nullptr;
  std::uint32_t node_position = 0;
  // A stream's writer.
  std::uint32_t credit = 0;
  std::shared_ptr<internal::FutureState<void>> blocked_write;
  internal::RawMessage blocked_item;
  // In the mailbox, or among the running ones.
  Delivery* next = nullptr;
  Delivery* previous = nullptr;
};

/// A list through Delivery::next and previous.
class DeliveryList {
 public:
  bool empty() const { return first_ == nullptr; }
  Delivery* first() const { return first_; }
  std::size_t size() const { return size_; }
  void push_back(Delivery& delivery) {
    delivery.next = nullptr;
    delivery.previous = last_;
    (last_ ? last_->next : first_) = &delivery;
    last_ = &delivery;
    ++size_;
  }
  void push_front(Delivery& delivery) {
    delivery.previous = nullptr;
    delivery.next = first_;
    (first_ ? first_->previous : last_) = &delivery;
    first_ = &delivery;
    ++size_;
  }
  /// `behind` is in the list; null: as the first.
  void insert(Delivery* behind, Delivery& delivery) {
    if (!behind) return push_front(delivery);
    delivery.previous = behind;
    delivery.next = behind->next;
    (behind->next ? behind->next->previous : last_) = &delivery;
    behind->next = &delivery;
    ++size_;
  }
  void remove(Delivery& delivery) {
    (delivery.previous ? delivery.previous->next : first_) = delivery.next;
    (delivery.next ? delivery.next->previous : last_) = delivery.previous;
    delivery.next = delivery.previous = nullptr;
    --size_;
  }

 private:
  Delivery* first_ = nullptr;
  Delivery* last_ = nullptr;
  std::size_t size_ = 0;
};

/// Deliveries that are used again. Memory stays as large as the most that were there at a time.
class DeliveryPool {
 public:
  Delivery& take() {
    ++used_;
    if (free_.empty()) {
      all_.emplace_back();
      free_.push_back(&all_.back());
    }
    Delivery& delivery = *free_.back();
    free_.pop_back();
    delivery.ticket = ++last_ticket_;
    return delivery;
  }
  void give_back(Delivery& delivery);
  std::size_t used() const { return used_; }

 private:
  std::deque<Delivery> all_;
  std::vector<Delivery*> free_;
  std::uint64_t last_ticket_ = 0;
  std::size_t used_ = 0;
};

}  // namespace seaway::app
