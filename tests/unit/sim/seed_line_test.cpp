// Records of seeds: read back as they were written, from pieces too.

#include "sim/seed_line.hpp"

#include <gtest/gtest.h>

namespace seaway::sim {
namespace {

SeedLine make_line(std::uint64_t seed) {
  SeedLine line;
  line.seed = seed;
  line.steps = 100;
  line.counts = {.runs = 3, .ok = 2, .failed = 1, .values_checked = 5};
  line.coverage.add(Feature::kSpill, 7);
  line.fault_points.add(FaultPoint::kNeedlessSpill);
  line.probes.assign(probe_count(), seed);
  line.breach = Breach::kLiveness;
  line.json = "{\"seed\":1}";
  line.text = "two\nlines\n";
  return line;
}

TEST(SeedLine, IsReadBackAsItWasWritten) {
  std::string bytes = to_record(make_line(1)) + to_record(make_line(2));

  EXPECT_EQ(take_record(bytes), make_line(1));
  EXPECT_EQ(take_record(bytes), make_line(2));
  EXPECT_EQ(take_record(bytes), std::nullopt);
}

TEST(SeedLine, APieceIsNotTaken) {
  const std::string whole = to_record(make_line(1));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string bytes = whole.substr(0, size);

    EXPECT_EQ(take_record(bytes), std::nullopt) << size;
    EXPECT_EQ(bytes.size(), size);
  }
}

}  // namespace
}  // namespace seaway::sim
