// A sliding window of the times of failures, for each address that is remembered.

#include "transport/tries_limiter.hpp"

namespace seaway::transport {

std::string_view TriesLimiter::key_of(std::string_view address) const {
  return address.substr(0, limits_.address_bytes_max);
}

Status TriesLimiter::admit(std::string_view address) {
  const auto found = tries_.find(key_of(address));
  if (found == tries_.end()) return {};
  const std::uint64_t now_ns = clock_.now_ns();
  auto& times_ns = found->second.times_ns;
  while (!times_ns.empty() && now_ns - times_ns.front() >= limits_.window_ns) times_ns.pop_front();
  if (times_ns.empty()) {
    by_age_.erase(found->second.oldest);
    tries_.erase(found);
    return {};
  }
  if (times_ns.size() < limits_.tries_max) return {};
  const std::uint64_t left_ns = times_ns.front() + limits_.window_ns - now_ns;
  return {StatusCode::kUnauthenticated,
          std::to_string(limits_.tries_max) +
              " tokens from this address were not accepted within " +
              std::to_string(limits_.window_ns / 1'000'000'000) + " s; try again in " +
              std::to_string((left_ns + 999'999'999) / 1'000'000'000) + " s"};
}

void TriesLimiter::fail(std::string_view address) {
  const std::string_view key = key_of(address);
  auto found = tries_.find(key);
  if (found == tries_.end()) {
    if (tries_.size() == limits_.addresses_max) {
      tries_.erase(tries_.find(by_age_.front()));
      by_age_.pop_front();
    }
    found = tries_.emplace(key, Tries{}).first;
    found->second.oldest = by_age_.insert(by_age_.end(), found->first);
  }
  Tries& tries = found->second;
  by_age_.splice(by_age_.end(), by_age_, tries.oldest);
  tries.times_ns.push_back(clock_.now_ns());
  if (tries.times_ns.size() > limits_.tries_max) tries.times_ns.pop_front();
}

}  // namespace seaway::transport
