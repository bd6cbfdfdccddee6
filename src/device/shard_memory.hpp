// ShardMemory: the bytes of one value on all local shards, made here or handed over by a client.

#pragma once

#include <memory>
#include <utility>

#include "function/executable.hpp"
#include "store/slab.hpp"
#include "transport/bulk.hpp"

namespace seaway::device {

/// Owns a slab, or shares bytes that have other owners too. Move-only.
class ShardMemory {
 public:
  ShardMemory() = default;
  explicit ShardMemory(store::Slab slab) : slab_(std::move(slab)) {}
  explicit ShardMemory(transport::Payload payload)
      : payload_(std::make_unique<transport::Payload>(std::move(payload))) {}

  bool has_value() const { return payload_ != nullptr || slab_.has_value(); }
  /// The payload is the user's own memory: it is read where it lies, never written, never kept.
  bool is_borrowed() const { return payload_ != nullptr && payload_->owner == nullptr; }
  /// Base null for a value without bytes.
  function::ShardedBuffer buffer() const {
    if (payload_) return {payload_->base, payload_->stride};
    return {slab_.base(), slab_.stride()};
  }
  /// Another owner of the same bytes, which stay until both are gone. Null for what is borrowed.
  std::shared_ptr<const void> share() {
    if (!has_value()) return nullptr;
    if (!payload_) {
      const function::ShardedBuffer bytes = buffer();
      payload_ = std::make_unique<transport::Payload>(transport::Payload{
          bytes.base, bytes.stride, std::make_shared<store::Slab>(std::move(slab_))});
    }
    return payload_->owner;
  }
  void reset() {
    payload_.reset();
    slab_ = store::Slab();
  }

 private:
  store::Slab slab_;
  std::unique_ptr<transport::Payload> payload_;
};

}  // namespace seaway::device
