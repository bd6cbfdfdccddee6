// Who gets a place, and who loses one.

#include "transport/caller_places.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace seaway::transport {

std::string caller_group(const Caller& caller) {
  if (caller.is_local) return "user " + std::to_string(caller.user);
  in6_addr address = {};
  // A zone ("fe80::1%eth0") is no part of the address.
  const std::string host = caller.host.substr(0, caller.host.find('%'));
  if (::inet_pton(AF_INET6, host.c_str(), &address) != 1) return caller.host;
  char text[INET6_ADDRSTRLEN] = {};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    return ::inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof(text));
  }
  std::memset(&address.s6_addr[8], 0, 8);
  return std::string(::inet_ntop(AF_INET6, &address, text, sizeof(text))) + "/64";
}

CallerPlaces::Place::~Place() {
  if (is_taken_) places_.leave(*this);
}

std::unique_ptr<CallerPlaces::Place> CallerPlaces::enter(const std::string& group,
                                                         std::function<void()> displaced) {
  if (taken_ >= places_max_) {
    const auto largest =
        std::max_element(groups_.begin(), groups_.end(), [](const auto& left, const auto& right) {
          return left.second.size() < right.second.size();
        });
    // With one place less the largest group still has no fewer than this one with one more.
    if (largest == groups_.end() || taken(group) + 2 > largest->second.size()) return nullptr;
    Place& newest = *largest->second.back();
    const std::function<void()> displace = newest.displaced_;  // It may end the place.
    leave(newest);
    displace();
  }
  std::unique_ptr<Place> place(new Place(*this, group, std::move(displaced)));
  groups_[group].push_back(place.get());
  ++taken_;
  return place;
}

std::size_t CallerPlaces::taken(const std::string& group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? 0 : found->second.size();
}

void CallerPlaces::leave(Place& place) {
  place.is_taken_ = false;
  const auto group = groups_.find(place.group_);
  group->second.remove(&place);
  if (group->second.empty()) groups_.erase(group);
  --taken_;
}

}  // namespace seaway::transport
