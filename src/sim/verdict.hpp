// Verdict: what one seed showed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/coverage.hpp"

namespace seaway::sim {

/// What kind of promise was broken first; also the exit code of `seaway chaos`.
enum class Breach : std::uint8_t { kNone, kLiveness, kCorrectness, kDeterminism };

/// One broken invariant, in words.
struct Violation {
  Breach breach = Breach::kCorrectness;
  std::string invariant;  // "I1", as in docs/invariants.md.
  std::string text;
};

/// What the clients of one world counted.
struct Counts {
  std::uint64_t runs = 0, ok = 0, failed = 0, cancelled = 0, refused = 0;
  std::uint64_t values_checked = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

/// Collects violations; the first is the one that counts, for the rest may follow from it.
class Verdict {
 public:
  static constexpr std::size_t kViolationsMax = 20;

  void report(Breach breach, std::string invariant, std::string text) {
    if (violations_.size() < kViolationsMax) {
      violations_.push_back({breach, std::move(invariant), std::move(text)});
    }
  }
  bool ok() const { return violations_.empty(); }
  Breach breach() const { return ok() ? Breach::kNone : violations_.front().breach; }
  const std::vector<Violation>& violations() const { return violations_; }

  Counts counts;
  Coverage coverage;

 private:
  std::vector<Violation> violations_;
};

}  // namespace seaway::sim
