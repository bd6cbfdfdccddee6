// Virtual time in bytes.

#include "transport/fair_share.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace seaway::transport {

void FairShare::set_weight(std::uint32_t tenant, std::uint32_t weight) {
  tenants_[tenant].weight = std::max(weight, 1u);
}

void FairShare::begin(std::uint32_t tenant) {
  Tenant& its = tenants_[tenant];
  if (its.sends++ == 0) its.start = std::max(its.start, now_);
}

void FairShare::end(std::uint32_t tenant) {
  Tenant& its = tenants_[tenant];
  SEAWAY_CHECK(its.sends > 0, tenant);
  --its.sends;
}

std::optional<std::uint32_t> FairShare::next() {
  const std::pair<const std::uint32_t, Tenant>* least = nullptr;
  for (const auto& entry : tenants_) {
    if (entry.second.sends == 0) continue;
    if (!least || entry.second.start < least->second.start) least = &entry;
  }
  if (!least) return std::nullopt;
  now_ = least->second.start;
  return least->first;
}

void FairShare::charge(std::uint32_t tenant, std::uint64_t bytes) {
  Tenant& its = tenants_[tenant];
  // More than 2^32 bytes at once and a weight of 2^32 give nothing sensible, and nobody asks for
  // it.
  its.start += bytes * 1024 / its.weight;
}

}  // namespace seaway::transport
