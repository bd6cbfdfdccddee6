// Reserving host room, and what to do when there is none.

#include "store/host_room.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"

namespace seaway::store {
namespace {

struct Advice {
  const char* limit;
  const char* wait;
};

Advice advice_of(Purse purse) {
  switch (purse) {
    case Purse::kUpload:
      return {"HostRoom::Limits::upload_bytes", "wait for runs that read earlier uploads"};
    case Purse::kSpill:
      return {"HostRoom::Limits::spill_bytes", "free arrays that are kept"};
    case Purse::kSend:
      return {"HostRoom::Limits::send_bytes", "wait for earlier sends to arrive"};
  }
  return {"HostRoom::Limits", "wait"};
}

}  // namespace

std::string_view to_string(Purse purse) {
  constexpr std::string_view kNames[kPurses] = {"uploads", "spilling", "sends"};
  const auto index = static_cast<std::size_t>(purse);
  return index < kPurses ? kNames[index] : "unknown";
}

Status HostRoom::reserve(Purse purse, std::uint64_t bytes) {
  std::uint64_t& used = used_[index(purse)];
  if (bytes <= available(purse)) {
    used += bytes;
    peak_[index(purse)] = std::max(peak_[index(purse)], used);
    return {};
  }
  const Advice advice = advice_of(purse);
  std::string message =
      "host room for " + std::string(to_string(purse)) + " refused: " + std::to_string(bytes);
  if (bytes > limit(purse)) {
    message +=
        " bytes wanted, more than all " + std::to_string(limit(purse)) + "; use smaller arrays";
  } else {
    message += " bytes wanted, " + std::to_string(available(purse)) + " of " +
               std::to_string(limit(purse)) + " free; " + advice.wait;
  }
  return resource_exhausted(message + ", or raise " + advice.limit);
}

void HostRoom::release(Purse purse, std::uint64_t bytes) {
  std::uint64_t& used = used_[index(purse)];
  SEAWAY_CHECK(bytes <= used, to_string(purse), bytes, used);
  used -= bytes;
}

}  // namespace seaway::store
