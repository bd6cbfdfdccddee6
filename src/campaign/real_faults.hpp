// The fault catalogue of real processes: how each fault is made there, or that it is not.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "campaign/real_plan.hpp"

namespace seaway::campaign {

/// Fault F<number> of sim::fault_catalogue(), as `seaway chaos real` makes it.
struct RealFaultInfo {
  std::uint32_t number = 0;
  std::vector<RealFault> kinds;  // What plans say for it; none: the workload does it, or nobody.
  std::string_view flag;         // Of the command line, that brings them; "always", or "-": none.
  std::string_view how;

  bool is_made() const { return flag != "-"; }
};

/// F1, F2 and so on, as many as the catalogue has.
std::span<const RealFaultInfo> real_fault_catalogue();

/// The catalogue as a table for people: a line each, a head above and a sum below.
std::string real_fault_table();

}  // namespace seaway::campaign
