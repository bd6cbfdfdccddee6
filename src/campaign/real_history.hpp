// What clients of a campaign against real processes have asked for and got, line by line.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::campaign {

/// One line of a client's history. Times: ns of the machine's monotonic clock, the same in all of
/// its processes.
struct RealLine {
  enum class Kind : std::uint8_t { kSubmit, kOutcome, kEnd };
  Kind kind = Kind::kSubmit;
  std::uint64_t id = 0;  // Of the request; of one client's life each is another one.
  std::uint64_t at_ns = 0;
  StatusCode code = StatusCode::kOk;  // kOutcome: of the error, or kOk for a value;
  bool is_right = false;              // whether it is what it must be, where that is known.
  friend bool operator==(const RealLine&, const RealLine&) = default;
};
/// "outcome 17 123456789 HOST_LOST wrong", with its end of line.
std::string to_text(const RealLine& line);
/// Nothing for what is no such line, as the last one of whoever was killed while he wrote it.
std::optional<RealLine> parse_real_line(std::string_view text);

/// All of one life of a client.
struct RealHistory {
  std::string client;  // "client 1, process 4711".
  std::vector<RealLine> lines;
  std::optional<std::uint64_t> killed_ns;  // It was: what it waited for has no outcome.
  std::uint32_t index = 0;                 // Which client: lives of one have the same.
};
/// Whether all that was asked for before `since_ns` has its outcome, and at least `values` right
/// values have come for what was asked for after that.
bool is_settled(const RealHistory& history, std::uint64_t since_ns, std::size_t values);

/// Lines that are none are left out.
RealHistory read_real_history(std::string client, std::string_view text);

}  // namespace seaway::campaign
