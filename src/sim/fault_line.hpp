// FaultLine: one fault of a world, in words and by name.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seaway::sim {

/// A value.
struct FaultLine {
  std::string name;  // "pause#2": unique in its world, and the same when others are left out.
  std::string_view family;   // One of fault_families(); static storage.
  std::string text;          // "pause of host 1 at 12000000 ns for 40000000 ns".
  std::uint64_t at_ns = 0;   // When it begins; 0: it has no time that could be changed.
  std::uint64_t for_ns = 0;  // How long it lasts; 0: it has no such time.

  friend bool operator==(const FaultLine&, const FaultLine&) = default;
};

struct FaultFamily {
  std::string_view name, text;
};
/// What `--faults` can choose from.
const std::vector<FaultFamily>& fault_families();

void append(std::vector<FaultLine>& faults, std::vector<FaultLine> more);
/// ", first, second"; empty when there are none.
std::string to_string(const std::vector<FaultLine>& faults);

}  // namespace seaway::sim
