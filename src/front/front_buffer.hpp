// FrontBuffer: one shard of a framework's array.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "front/devices.hpp"
#include "seaway/array.hpp"

namespace seaway::front {

class Recording;

/// An array of Seaway's on one device; or what a recording will make there. Thread-safe.
class FrontBuffer {
 public:
  FrontBuffer(Array array, FrontDevice* where)
      : device(where), type_(array.type()), array_(std::move(array)) {}
  /// Output `output` of node `node` of `recording`.
  FrontBuffer(std::shared_ptr<Recording> recording, std::uint32_t node, std::uint32_t output,
              TensorType type, FrontDevice* where)
      : device(where),
        recording_(std::move(recording)),
        node_(node),
        output_(output),
        type_(std::move(type)) {}
  ~FrontBuffer();
  FrontBuffer(const FrontBuffer&) = delete;
  FrontBuffer& operator=(const FrontBuffer&) = delete;

  const TensorType& type() const { return type_; }
  /// A recording that is to make it ends first.
  const Array& array() const;
  bool is_deleted() const;
  void delete_now();

  FrontDevice* const device;

 private:
  friend class Recording;

  const std::shared_ptr<Recording> recording_;  // Null: there was none.
  const std::uint32_t node_ = 0, output_ = 0;
  const TensorType type_;
  Array array_;                        // The recording's, until it has ended.
  std::atomic<bool> is_gone_ = false;  // Deleted, or given up to a node of a recording.
};

}  // namespace seaway::front
