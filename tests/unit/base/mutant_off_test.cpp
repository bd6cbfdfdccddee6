// Mutants, as all other files have them: they are not there.

#include <gtest/gtest.h>

#include "base/mutant.hpp"

namespace seaway {
namespace {

static_assert(!SEAWAY_MUTANT("of a file without mutants"));

TEST(MutantsOff, CannotBeSwitchedOn) {
  const bool is_on = SEAWAY_MUTANT("of a file without mutants");

  EXPECT_FALSE(is_on);
  EXPECT_FALSE(switch_mutant("of a file without mutants"));
}

}  // namespace
}  // namespace seaway
