// HostRoom: bounded host memory in separate purses, so that no use of it can starve another.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "seaway/status.hpp"

namespace seaway::store {

/// What host memory is for. Uploads never take what spilling or sends need: otherwise arrays that
/// wait for memory could fill the room through which memory is freed.
enum class Purse : std::uint8_t { kUpload, kSpill, kSend };
constexpr std::size_t kPurses = 3;
/// "uploads", "spilling", "sends".
std::string_view to_string(Purse purse);

/// Counts; owns no memory. A copyable value.
class HostRoom {
 public:
  struct Limits {
    std::uint64_t upload_bytes = std::uint64_t{1} << 30;
    std::uint64_t spill_bytes = std::uint64_t{1} << 30;
    std::uint64_t send_bytes = std::uint64_t{1} << 30;
  };

  explicit HostRoom(Limits limits)
      : limits_{limits.upload_bytes, limits.spill_bytes, limits.send_bytes} {}

  /// Errors: kResourceExhausted with the numbers and the next step; the room is unchanged then.
  Status reserve(Purse purse, std::uint64_t bytes);
  /// Gives back. Stops the process when more is given back than was taken.
  void release(Purse purse, std::uint64_t bytes);

  std::uint64_t limit(Purse purse) const { return limits_[index(purse)]; }
  std::uint64_t used(Purse purse) const { return used_[index(purse)]; }
  std::uint64_t available(Purse purse) const { return limit(purse) - used(purse); }
  /// The most that was ever used of `purse`.
  std::uint64_t peak(Purse purse) const { return peak_[index(purse)]; }

 private:
  static std::size_t index(Purse purse) { return static_cast<std::size_t>(purse); }

  std::array<std::uint64_t, kPurses> limits_;
  std::array<std::uint64_t, kPurses> used_{};
  std::array<std::uint64_t, kPurses> peak_{};
};

}  // namespace seaway::store
