// SEAWAY_CHECK: stops the process when a promise of our own is broken, and prints the operands.

#pragma once

#include <sstream>
#include <string>

namespace seaway::base {

/// Prints one readable line to standard error and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& operands);

template <class... Operands>
std::string join_operands([[maybe_unused]] const Operands&... operands) {
  std::ostringstream out;
  [[maybe_unused]] const char* separator = "";
  ((out << separator << operands, separator = ", "), ...);
  return out.str();
}

}  // namespace seaway::base

/// SEAWAY_CHECK(a == b, a, b). On in every build. Never for input from outside: that is a Status.
#define SEAWAY_CHECK(condition, ...)                                  \
  (static_cast<bool>(condition)                                       \
       ? void()                                                       \
       : ::seaway::base::check_failed(__FILE__, __LINE__, #condition, \
                                      ::seaway::base::join_operands(__VA_ARGS__)))
