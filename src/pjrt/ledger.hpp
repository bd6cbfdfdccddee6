// Ledger: what the plugin's devices hold for us, counted here, for not all plugins tell.

#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::pjrt {

/// Bytes that programs under way take on each device beside the values that the host keeps: outputs
/// until they are copied out, work space, and operands that are copied in. Thread-safe.
class Ledger {
 public:
  Ledger(std::size_t devices, std::uint64_t bytes_max) : bytes_max_(bytes_max), counts_(devices) {}

  struct Count {
    std::uint64_t bytes = 0, peak_bytes = 0;
  };

  /// Bytes on some devices, until its end. The list of them is the caller's, and outlives it.
  class Charge {
   public:
    Charge() = default;
    Charge(Ledger& ledger, std::span<const std::uint32_t> devices, std::uint64_t bytes)
        : ledger_(&ledger), devices_(devices), bytes_(bytes) {}
    Charge(Charge&& other) noexcept
        : ledger_(std::exchange(other.ledger_, nullptr)),
          devices_(other.devices_),
          bytes_(other.bytes_) {}
    Charge& operator=(Charge&&) = delete;
    ~Charge() {
      if (ledger_ != nullptr) ledger_->give_back(devices_, bytes_);
    }

   private:
    Ledger* ledger_ = nullptr;
    std::span<const std::uint32_t> devices_;
    std::uint64_t bytes_ = 0;
  };

  /// Takes `bytes` on each of `devices`, or nothing. Errors: kResourceExhausted with the first
  /// device that has not so much left, and the numbers; then `refused` is its place in `devices`.
  Result<Charge> charge(std::span<const std::uint32_t> devices, std::uint64_t bytes,
                        std::size_t& refused);
  Count count(std::uint32_t device) const {
    std::lock_guard guard(mutex_);
    return counts_[device];
  }

 private:
  void give_back(std::span<const std::uint32_t> devices, std::uint64_t bytes);

  const std::uint64_t bytes_max_;  // Of each device.
  mutable std::mutex mutex_;
  std::vector<Count> counts_;  // Guarded by mutex_.
};

}  // namespace seaway::pjrt
