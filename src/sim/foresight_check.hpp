// ForesightCheck: whether a host keeps its word about the gang that it says will come next.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/backend.hpp"

namespace seaway::sim {

/// A part of SimBackend. What a backend was told of may be under way from then on: so the gang that
/// begins has to be that one, with the bytes that were foretold, and what it reads stays as it is
/// until it begins or is forgotten. `complain` hears of anything else.
class ForesightCheck {
 public:
  explicit ForesightCheck(std::function<void(std::string)> complain);

  /// `ahead` starts, and behind it `next` will.
  void expect(const device::GangWork& ahead, const device::ForeseenGang& next);
  /// `ahead`, of which expect() was told, has made its outputs.
  void made(const device::GangWork& ahead);
  /// `work` starts.
  void begin(const device::GangWork& work);
  void forget();

 private:
  struct Operand {
    function::ShardedBuffer buffer;  // Unless the gang ahead makes it.
    std::uint32_t made = device::ForeseenGang::kIsThere;
    std::vector<std::byte> bytes;
  };
  struct Foreseen {
    device::GangWork work;  // Its lists are not valid.
    std::vector<DeviceId> devices;
    std::vector<Operand> operands;
    bool is_ahead_done = false;
  };
  bool is_foreseen(const device::GangWork& work) const;
  /// What it reads and the gang ahead does not make.
  void check_untouched(const std::string& when) const;

  const std::function<void(std::string)> complain_;
  std::optional<Foreseen> foreseen_;
};

}  // namespace seaway::sim
