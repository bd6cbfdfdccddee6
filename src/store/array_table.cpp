// The states of an array on one host, and the ways between them.

#include "store/array_table.hpp"

#include <utility>

#include "base/check.hpp"

namespace seaway::store {

std::string_view to_string(ArrayState state) {
  constexpr std::string_view kNames[] = {"pending", "on device", "on host", "poisoned"};
  const auto index = static_cast<std::size_t>(state);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

Status ArrayTable::add(ArrayId id, std::uint32_t group, std::uint64_t shard_bytes) {
  if (records_.find(id)) {
    return protocol_error("array " + std::to_string(id) + " is already on this host");
  }
  if (records_.size() >= limits_.arrays_max) {
    return resource_exhausted("array " + std::to_string(id) +
                              " refused: " + std::to_string(records_.size()) + " of " +
                              std::to_string(limits_.arrays_max) +
                              " arrays are on this host; drop handles that are not needed, or "
                              "raise ArrayTable::Limits::arrays_max");
  }
  ArrayRecord record;
  record.id = id;
  record.group = group;
  record.shard_bytes = shard_bytes;
  record.generation = ++generations_;
  records_.insert(std::move(record));
  return {};
}

ArrayRecord& ArrayTable::get(ArrayId id) {
  ArrayRecord* record = records_.find(id);
  SEAWAY_CHECK(record != nullptr, id);
  return *record;
}

Result<const ArrayRecord*> ArrayTable::require(ArrayId id) const {
  const ArrayRecord* record = records_.find(id);
  if (!record) {
    return invalid_argument("array " + std::to_string(id) +
                            " is not on this host: it was freed, or never lay here");
  }
  if (record->state == ArrayState::kPoisoned) return *record->poison;
  if (record->state == ArrayState::kPending) {
    return invalid_argument("array " + std::to_string(id) +
                            " has no value yet: wait for it before reading");
  }
  return record;
}

void ArrayTable::give_slab(ArrayId id, Slab slab) {
  ArrayRecord& record = get(id);
  SEAWAY_CHECK(record.state == ArrayState::kPending, id, to_string(record.state));
  SEAWAY_CHECK(!record.slab.has_value(), id);
  record.slab = std::move(slab);
}

void ArrayTable::set_ready(ArrayId id, ArrayState state) {
  ArrayRecord& record = get(id);
  SEAWAY_CHECK(record.state == ArrayState::kPending, id, to_string(record.state));
  SEAWAY_CHECK(state == ArrayState::kOnDevice || state == ArrayState::kOnHost, id,
               to_string(state));
  SEAWAY_CHECK(record.slab.has_value(), id);
  record.state = state;
}

Slab ArrayTable::move_to(ArrayId id, ArrayState state, Slab slab) {
  ArrayRecord& record = get(id);
  SEAWAY_CHECK(record.has_value() && record.state != state, id, to_string(record.state));
  SEAWAY_CHECK(state == ArrayState::kOnDevice || state == ArrayState::kOnHost, id,
               to_string(state));
  SEAWAY_CHECK(record.pins == 0, id, record.pins);
  record.state = state;
  return std::exchange(record.slab, std::move(slab));
}

Slab ArrayTable::poison(ArrayId id, const Status& status) {
  SEAWAY_CHECK(!status.ok(), id);
  ArrayRecord& record = get(id);
  if (record.state == ArrayState::kPoisoned) return {};
  record.state = ArrayState::kPoisoned;
  record.poison = std::make_unique<Status>(status);
  return std::exchange(record.slab, Slab());
}

void ArrayTable::pin(ArrayId id) { ++get(id).pins; }

void ArrayTable::unpin(ArrayId id) {
  ArrayRecord& record = get(id);
  SEAWAY_CHECK(record.pins > 0, id);
  --record.pins;
}

Slab ArrayTable::remove(ArrayId id) {
  ArrayRecord& record = get(id);
  SEAWAY_CHECK(record.pins == 0, id, record.pins);
  Slab slab = std::exchange(record.slab, Slab());
  records_.erase(id);
  return slab;
}

}  // namespace seaway::store
