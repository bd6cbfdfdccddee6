// ReadyQueue: which of the admitted parts with free gangs is placed next (rule 7).

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "island/options.hpp"

namespace seaway::island {

/// Parts by tenant, each tenant's by stamp. kFifo keeps all in one queue. With kShares each tenant
/// has a virtual time, the gang time it was given over its weight; the smallest goes first, so
/// that each ready part is chosen after finitely many others. An idle tenant saves nothing up.
class ReadyQueue {
 public:
  explicit ReadyQueue(Policy policy) : policy_(policy) {}

  void set_weight(TenantId tenant, std::uint32_t weight) {
    tenants_[index_of(tenant)].weight = std::max(weight, 1u);
  }
  /// A part of `tenant` was launched, or has finished.
  void launched(TenantId tenant) { active_ += tenants_[index_of(tenant)].parts++ == 0; }
  void finished(TenantId tenant) { active_ -= --tenants_[index_of(tenant)].parts == 0; }
  /// Several tenants have parts that are not finished.
  bool competing() const { return policy_ == Policy::kShares && active_ > 1; }

  void push(TenantId tenant, Stamp stamp, std::uint32_t slot) {
    Tenant& owner = tenants_[policy_ == Policy::kFifo ? 0 : index_of(tenant)];
    if (owner.ready.empty()) owner.virtual_time = std::max(owner.virtual_time, now_);
    owner.ready.emplace_back(stamp, slot);
    std::push_heap(owner.ready.begin(), owner.ready.end(), std::greater<>());
    ++count_;
  }
  bool empty() const { return count_ == 0; }

  /// Takes the next part that `allowed(slot)` admits; kNone when there is none. Looks at no more
  /// than kLookahead parts of a tenant.
  template <class Allowed>
  std::uint32_t pop(const Allowed& allowed) {
    Tenant* best = nullptr;
    std::size_t best_at = 0;
    for (Tenant& tenant : tenants_) {
      if (tenant.ready.empty()) continue;
      if (best && best->virtual_time <= tenant.virtual_time) continue;
      const std::size_t at = first_allowed(tenant, allowed);
      if (at == tenant.ready.size()) continue;
      best = &tenant;
      best_at = at;
    }
    if (!best) return kNone;
    now_ = std::max(now_, best->virtual_time);
    const std::uint32_t slot = best->ready[best_at].second;
    if (best_at == 0) {
      std::pop_heap(best->ready.begin(), best->ready.end(), std::greater<>());
      best->ready.pop_back();
    } else {
      best->ready[best_at] = best->ready.back();
      best->ready.pop_back();
      std::make_heap(best->ready.begin(), best->ready.end(), std::greater<>());
    }
    --count_;
    return slot;
  }

  /// Takes `slot` out, if it is here: its part is cancelled. O(ready parts of the tenant).
  void remove(TenantId tenant, std::uint32_t slot) {
    auto& ready = tenants_[policy_ == Policy::kFifo ? 0 : index_of(tenant)].ready;
    count_ -= std::erase_if(ready, [slot](const auto& entry) { return entry.second == slot; });
    std::make_heap(ready.begin(), ready.end(), std::greater<>());
  }

  /// `tenant` was given `cost_ns` of gang time.
  void charge(TenantId tenant, std::uint64_t cost_ns) {
    if (policy_ == Policy::kFifo) return;
    Tenant& owner = tenants_[index_of(tenant)];
    owner.virtual_time += std::max<std::uint64_t>(cost_ns, 1) * kScale / owner.weight;
  }

  static constexpr std::uint32_t kNone = 0xffffffff;

 private:
  static constexpr std::size_t kLookahead = 64;
  static constexpr std::uint64_t kScale = 1024;  // So that weights divide short gangs finely.

  struct Tenant {
    TenantId id = 0;
    std::uint32_t weight = 1;
    std::uint32_t parts = 0;
    std::uint64_t virtual_time = 0;
    std::vector<std::pair<Stamp, std::uint32_t>> ready;  // A heap, smallest stamp first.
  };

  template <class Allowed>
  std::size_t first_allowed(const Tenant& tenant, const Allowed& allowed) const {
    if (allowed(tenant.ready[0].second)) return 0;
    std::size_t best = tenant.ready.size();
    for (std::size_t at = 1; at < std::min(tenant.ready.size(), kLookahead); ++at)
      if (allowed(tenant.ready[at].second) &&
          (best == tenant.ready.size() || tenant.ready[at] < tenant.ready[best]))
        best = at;
    return best;
  }

  std::size_t index_of(TenantId tenant) {
    if (last_ < tenants_.size() && tenants_[last_].id == tenant) return last_;
    for (last_ = 0; last_ < tenants_.size(); ++last_)
      if (tenants_[last_].id == tenant) return last_;
    tenants_.push_back({.id = tenant, .weight = 1, .parts = 0, .virtual_time = 0, .ready = {}});
    return last_;
  }

  Policy policy_;
  std::vector<Tenant> tenants_ = std::vector<Tenant>(1);  // The first is nobody's: kFifo's queue.
  std::size_t last_ = 0;
  std::size_t active_ = 0;
  std::size_t count_ = 0;
  std::uint64_t now_ = 0;
};

}  // namespace seaway::island
