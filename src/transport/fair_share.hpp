// FairShare: who of several tenants sends next over one connection.

#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace seaway::transport {

/// Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996, section 2): while several tenants
/// have bytes to send, each gets its weight's share of them; who comes later owes nothing and is
/// owed nothing for the time before. A pure core. Costs of n tenants that send: next() is O(n).
class FairShare {
 public:
  /// 1 unless it was said; 0 is as 1.
  void set_weight(std::uint32_t tenant, std::uint32_t weight);

  /// It has something more to send, or less: as often as begin() was called for it.
  void begin(std::uint32_t tenant);
  void end(std::uint32_t tenant);

  /// Who of those that have something to send has got the least for its weight.
  std::optional<std::uint32_t> next();
  /// It has sent so many.
  void charge(std::uint32_t tenant, std::uint64_t bytes);

 private:
  struct Tenant {
    std::uint32_t weight = 1;
    std::uint32_t sends = 0;
    std::uint64_t start = 0;  // In bytes for weight 1.
  };
  std::map<std::uint32_t, Tenant> tenants_;
  std::uint64_t now_ = 0;  // The start of who was next last.
};

}  // namespace seaway::transport
