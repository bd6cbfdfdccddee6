// ArrayTable: the arrays of one host: where each one's bytes are, and whether it has a value.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/ids.hpp"
#include "seaway/status.hpp"
#include "store/id_table.hpp"
#include "store/slab.hpp"

namespace seaway::store {

enum class ArrayState : std::uint8_t {
  kPending,   // It is being made; a slab, if there is one, is being written.
  kOnDevice,  // It has its value, in device memory.
  kOnHost,    // It has its value, in host room: uploaded or spilled.
  kPoisoned,  // It never gets a value; the status says why. No slab.
};
/// "pending", "on device", "on host", "poisoned".
std::string_view to_string(ArrayState state);

/// One array on one host. Read freely; changed by ArrayTable alone.
struct ArrayRecord {
  ArrayId id = 0;
  std::uint64_t shard_bytes = 0;   // On each device.
  Slab slab;                       // Of all local shards.
  std::unique_ptr<Status> poison;  // Only when poisoned.
  std::uint32_t group = 0;         // Number of the device group, given by the owner of the table.
  std::uint32_t pins = 0;          // Readers at work; the bytes stay where they are meanwhile.
  std::uint32_t generation = 0;    // Tells this array from an earlier one of the same id.
  ArrayState state = ArrayState::kPending;

  bool has_value() const { return state == ArrayState::kOnDevice || state == ArrayState::kOnHost; }
};

/// At most 110 bytes an array beside its data. Not thread-safe. Pointers to records are valid until
/// that array is removed. Methods that take an id stop the process if it is unknown or in the wrong
/// state: what strangers ask for is looked up with find() or require() first.
class ArrayTable {
 public:
  struct Limits {
    std::size_t arrays_max = 4'000'000;
  };

  explicit ArrayTable(Limits limits) : limits_(limits) {}

  /// A new pending array without a slab.
  /// Errors: kProtocolError if the id is taken; kResourceExhausted at the limit.
  Status add(ArrayId id, std::uint32_t group, std::uint64_t shard_bytes);
  /// Null if there is none. About 5 ns when it is in the cache.
  ArrayRecord* find(ArrayId id) { return records_.find(id); }
  const ArrayRecord* find(ArrayId id) const { return records_.find(id); }
  /// The record of an array that has its value.
  /// Errors: kInvalidArgument if it is unknown or pending; its own status if it is poisoned.
  Result<const ArrayRecord*> require(ArrayId id) const;

  /// The pending array gets the memory into which its value is being written.
  void give_slab(ArrayId id, Slab slab);
  /// The pending array has its value, on the devices or (`state`) in host room.
  void set_ready(ArrayId id, ArrayState state = ArrayState::kOnDevice);
  /// The value has been copied into `slab`, on the other side: spilled or loaded. Requires no pins.
  /// The old slab is returned, for the caller to free when its last use is over.
  Slab move_to(ArrayId id, ArrayState state, Slab slab);
  /// It will never have a value, or has lost it. The first poison stays. Returns the slab, which
  /// readers in flight may still use. `status` must be a failure.
  Slab poison(ArrayId id, const Status& status);

  void pin(ArrayId id);
  void unpin(ArrayId id);
  /// Takes the array out; its slab is returned. Requires no pins.
  Slab remove(ArrayId id);

  std::size_t size() const { return records_.size(); }
  /// Calls visit(const ArrayRecord&) in the order in which arrays were added.
  template <class Visit>
  void for_each(Visit&& visit) const {
    records_.for_each(visit);
  }
  std::size_t memory_bytes() const { return records_.memory_bytes(); }

 private:
  ArrayRecord& get(ArrayId id);

  Limits limits_;
  IdTable<ArrayRecord> records_;
  std::uint32_t generations_ = 0;
};

}  // namespace seaway::store
