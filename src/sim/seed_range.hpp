// SeedRanges: which seeds were clean so far, kept in a file from one run of chaos to the next.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::sim {

/// What a count of seeds is about: worlds of one kind, run by one build of the program.
struct RangeKey {
  std::string kind;   // "programs".
  std::string build;  // Another build runs other worlds, or checks them otherwise.

  friend bool operator==(const RangeKey&, const RangeKey&) = default;
};

/// Seeds from `first` on, one behind another, all of them clean; and the one that ended the row.
struct CleanSeeds {
  RangeKey key;
  std::string commit;  // For people.
  std::uint64_t first = 1;
  std::uint64_t seeds = 0;
  std::uint64_t steps = 0;
  int failed_exit = 0;  // Not 0: the seed behind the last one failed with this exit code.

  std::uint64_t next() const { return first + seeds; }

  /// The next seed has ended with `exit_code`.
  void add(int exit_code, std::uint64_t steps_of_seed);
  /// "clean: 1..500 (500 seeds, 61000 steps, of kind programs, commit 1a2b3c4, build 5d6e)", and
  /// behind it the seed that failed.
  std::string to_string() const;
  friend bool operator==(const CleanSeeds&, const CleanSeeds&) = default;
};

/// The content of the file. A value; at most one count for each key, in the order of first use.
class SeedRanges {
 public:
  /// Errors: DATA_CORRUPTION with the line that is no count.
  static Result<SeedRanges> parse(std::string_view text);
  std::string to_string() const;

  /// The count to go on with when first..last are asked for; a new one when there is none.
  /// Errors: INVALID_ARGUMENT when what there is would not be one row with them.
  Result<CleanSeeds*> resume(const RangeKey& key, std::string_view commit, std::uint64_t first);

  friend bool operator==(const SeedRanges&, const SeedRanges&) = default;

 private:
  std::vector<CleanSeeds> counts_;
};

}  // namespace seaway::sim
