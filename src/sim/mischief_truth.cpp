// Slices that were struck, by what.

#include "sim/mischief_truth.hpp"

#include <string>

#include "base/random.hpp"

namespace seaway::sim {
namespace {

/// `status` is of `code`, or of an input that was lost of it.
bool is_of(const Status& status, StatusCode code) {
  if (status.code() == code) return true;
  return status.code() == StatusCode::kInputLost &&
         status.message().find(std::string(to_string(code)) + ": ") != std::string::npos;
}

}  // namespace

std::optional<RottenValue> change_bit(const device::HostCore& host, const MemoryRot& rot) {
  const auto values = host.values_at_rest();
  if (values.empty()) return {};
  RandomStream random(rot.choice, rot.island);
  const auto& value = values[random.below(values.size())];
  const std::size_t shard = random.below(value.devices->size());
  const std::uint64_t bit = random.below(8 * value.shard_bytes);
  value.bytes.shard(shard)[bit / 8] ^= std::byte{1} << (bit % 8);
  return RottenValue{rot.island, (*value.devices)[shard], value.array, value.stamp, value.value,
                     bit};
}

void MischiefTruth::look(IslandId island, DeviceId device) {
  for (const SliceId slice : slices_on_(island, device)) bound_[{island, device}].insert(slice);
}

void MischiefTruth::strike(std::set<SliceId>& struck, IslandId island, DeviceId device) {
  look(island, device);
  const std::set<SliceId>& bound = bound_[{island, device}];
  struck.insert(bound.begin(), bound.end());
}

void MischiefTruth::note(const Mischief& mischief) {
  strike(mischief.kind == Mischief::Kind::kShortage ? short_ : flipped_, mischief.island,
         mischief.device);
}

void MischiefTruth::note(const RottenValue& value) { strike(rotten_, value.island, value.device); }

void MischiefTruth::note(const SpillLoss& loss, const std::vector<DeviceId>& devices) {
  for (const DeviceId device : devices) {
    strike(loss.has_changed ? rotten_ : unread_, loss.island, device);
  }
}

bool MischiefTruth::is_excused(const Status& status, SliceId slice) const {
  return (rotten_.contains(slice) && is_of(status, StatusCode::kDataCorruption)) ||
         (unread_.contains(slice) && status.code() == StatusCode::kInputLost &&
          status.message().find("cannot be read back") != std::string::npos) ||
         (short_.contains(slice) && is_of(status, StatusCode::kResourceExhausted));
}

}  // namespace seaway::sim
