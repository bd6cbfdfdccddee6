// ShardMemory: the bytes of one value on all shards, made here or handed over by a client.

#pragma once

#include <memory>
#include <utility>

#include "device/annexes.hpp"
#include "function/executable.hpp"
#include "store/slab.hpp"
#include "transport/bulk.hpp"

namespace seaway::device {

/// As whom slabs know a tenant.
constexpr store::SlabOwner owner_of(TenantId tenant) { return tenant + 1; }

/// Owns a slab, or shares bytes that have other owners too. Where some of the shards are annexes'
/// it owns a room too: what lies there counts, and the slab's bytes of these shards are scratch.
/// Move-only.
class ShardMemory {
 public:
  ShardMemory() = default;
  ShardMemory(ShardMemory&&) = default;
  ShardMemory& operator=(ShardMemory&& other) {
    let_go();
    slab_ = std::move(other.slab_);
    given_ = std::move(other.given_);
    room_ = std::move(other.room_);
    held_ = std::move(other.held_);
    return *this;
  }
  explicit ShardMemory(store::Slab slab) : slab_(std::move(slab)) {}
  explicit ShardMemory(transport::Payload payload)
      : given_(std::make_unique<Given>(Given{std::move(payload)})) {}

  /// Where a backend has made it, and goes on to read it.
  static ShardMemory kept(transport::Payload payload) {
    ShardMemory memory(std::move(payload));
    memory.given_->is_kept = true;
    return memory;
  }

  /// Those of its shards that are annexes' lie in `room`; null: none are.
  void spread(std::unique_ptr<Room> room) { room_ = std::move(room); }
  /// At the same address until it is reset, wherever this moves.
  const Room* room() const { return room_.get(); }

  bool has_value() const { return given_ != nullptr || slab_.has_value(); }
  /// The payload is the user's own memory: it is read where it lies, never written, never kept.
  bool is_borrowed() const { return given_ && !given_->payload.owner; }
  /// It lies in a file that has become shorter: what was read may have been zeros.
  bool is_torn() const { return given_ && given_->payload.file && given_->payload.file->is_torn(); }
  /// Somebody who was given it by share() still has it: nothing may be written there.
  bool is_shared() const {
    if (!given_ || !given_->payload.owner) return false;
    return given_->payload.owner.use_count() > (given_->payload.file ? 2 : 1);
  }
  /// Its owners may read it after it is given away, too: nobody writes there.
  bool is_for_reading() const { return (given_ && given_->is_kept) || (is_shared() && !room_); }
  /// What a backend has made of the bytes: it ends before they change or go. One for all.
  void hold(std::shared_ptr<void> what) {
    if (!held_) held_ = std::make_unique<std::shared_ptr<void>>(std::move(what));
  }
  void let_go() { held_.reset(); }
  /// Base null for a value without bytes.
  function::ShardedBuffer buffer() const {
    if (given_) return {given_->payload.base, given_->payload.stride};
    return {slab_.base(), slab_.stride()};
  }
  /// Another owner of the same bytes, which stay until both are gone. Null for what is borrowed.
  std::shared_ptr<const void> share() {
    if (!has_value()) return nullptr;
    if (!given_) {
      const function::ShardedBuffer bytes = buffer();
      given_ = std::make_unique<Given>(
          Given{{bytes.base, bytes.stride, std::make_shared<store::Slab>(std::move(slab_))}});
    }
    return given_->payload.owner;
  }
  void reset() {
    let_go();
    given_.reset();
    slab_ = store::Slab();
    room_.reset();
  }

 private:
  /// Not all have one: it is small where it is not.
  struct Given {
    transport::Payload payload;
    bool is_kept = false;  // By the backend that has made it.
  };

  store::Slab slab_;
  std::unique_ptr<Given> given_;
  std::unique_ptr<Room> room_;
  std::unique_ptr<std::shared_ptr<void>> held_;  // Ends first.
};
static_assert(sizeof(ShardMemory) <= 56, "10^6 live arrays are a goal");

}  // namespace seaway::device
