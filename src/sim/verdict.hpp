// Verdict: what one seed showed.

#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/coverage.hpp"

namespace seaway::sim {

/// What kind of promise was broken first; also the exit code of `seaway chaos`.
enum class Breach : std::uint8_t { kNone, kLiveness, kCorrectness, kDeterminism };

/// One broken invariant, in words.
struct Violation {
  Breach breach = Breach::kCorrectness;
  std::string invariant;  // "I1", as in src/sim/README.md.
  std::string text;
  std::string place = "";  // Which check it was: "loss_checker.cpp:61".
};

/// "loss_checker.cpp:61".
inline std::string place_of(const std::source_location& at) {
  const std::string_view file = at.file_name();
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(at.line());
}

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

  void report(Breach breach, std::string invariant, std::string text,
              const std::source_location& at = std::source_location::current()) {
    if (violations_.size() < kViolationsMax) {
      violations_.push_back({breach, std::move(invariant), std::move(text), place_of(at)});
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
