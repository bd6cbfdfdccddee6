// Addresses by role and index.

#include "actor/router.hpp"

#include "base/check.hpp"

namespace seaway::actor {

void Router::bind(Role role, std::uint32_t index, Address address) {
  auto& addresses = addresses_[static_cast<std::size_t>(role)];
  if (addresses.size() <= index) addresses.resize(index + 1);
  addresses[index] = std::move(address);
}

void Router::unbind(Role role, std::uint32_t index) {
  auto& addresses = addresses_[static_cast<std::size_t>(role)];
  if (index < addresses.size()) addresses[index] = Address();
}

void Router::send(Role role, std::uint32_t index, Frame frame, transport::Lane lane) const {
  const auto& addresses = addresses_[static_cast<std::size_t>(role)];
  if (index >= addresses.size() || !addresses[index]) {
    if (elsewhere_) elsewhere_(role, index, std::move(frame), lane);
    return;
  }
  Count& count = counts_[static_cast<std::size_t>(role)];
  ++count.frames;
  count.bytes += frame.size_bytes();
  if (observer_) [[unlikely]]
    observer_(role, index, frame);
  addresses[index].send(std::move(frame));
}

void Router::malformed(Role from, std::uint32_t index, const Status& why) const {
  SEAWAY_CHECK(malformed_, static_cast<unsigned>(from), index, why.to_string());
  malformed_(from, index, why);
}

}  // namespace seaway::actor
