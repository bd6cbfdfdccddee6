// Where a failed SEAWAY_CHECK ends.

#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace seaway::base {

void check_failed(const char* file, int line, const char* condition, const std::string& operands) {
  std::fprintf(stderr, "%s:%d: bug in Seaway: expected %s%s%s\n", file, line, condition,
               operands.empty() ? "" : "; operands: ", operands.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace seaway::base
