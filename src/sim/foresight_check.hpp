// ForesightCheck: whether a host keeps its word about the gangs that it says will come next.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "device/backend.hpp"

namespace seaway::sim {

/// A part of SimBackend. What a backend was told of may be under way from then on: so the gangs
/// that begin have to be those, in their order, with the bytes that were foretold, and what they
/// read stays as it is until they begin or are forgotten. `complain` hears of anything else.
class ForesightCheck {
 public:
  explicit ForesightCheck(std::function<void(std::string)> complain);

  /// `work` starts, and behind it what it names as next will, behind those that are foreseen.
  void begin(const device::GangWork& work);
  /// `work` has ended well.
  void made(const device::GangWork& work);
  void forget();

 private:
  struct Operand {
    function::ShardedBuffer buffer;  // Unless one ahead makes it,
    std::uint64_t maker = 0;         // the gang of this number; 0: it is there.
    std::uint32_t output = 0;        // Of that one.
    bool is_known = false;           // What it is,
    std::vector<std::byte> bytes;    // and that is this.
  };
  struct Foreseen {
    device::GangWork work;  // Its lists are not valid.
    std::vector<DeviceId> devices;
    std::vector<Operand> operands;
    std::size_t outputs = 0;
  };
  void take(const device::GangWork& work);
  void expect(const device::GangWork& work, const device::ForeseenGang& next);
  /// What `foreseen` reads and none ahead makes.
  void check_untouched(const Foreseen& foreseen, const std::string& when) const;

  const std::function<void(std::string)> complain_;
  std::deque<Foreseen> foreseen_;
  std::pair<Stamp, std::uint32_t> runs_;  // The gang that they stand behind,
  std::uint64_t number_ = 0;              // and its number; theirs follow.
};

}  // namespace seaway::sim
