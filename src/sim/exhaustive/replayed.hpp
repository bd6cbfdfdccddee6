// Replayed: a world around cores that cannot be copied: a copy makes them anew, and takes all moves
// again.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace seaway::exhaustive {

/// What one process has been told, in order. A deterministic one that was told the same is in the
/// same state: so worlds whose processes cannot be looked into are pruned by what each was told,
/// whatever happened elsewhere in between.
class History {
 public:
  void add(std::uint64_t what) { hash_ = mix64(hash_ ^ what) + what; }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 1;
};

/// See Explorable. `Core` is made of a `Core::Spec`, and has everything that a world has. A copy
/// costs nothing until it is looked at, and all its moves then.
template <class Core>
class Replayed {
 public:
  using Move = typename Core::Move;
  using Spec = typename Core::Spec;

  explicit Replayed(Spec spec) : spec_(std::make_shared<const Spec>(std::move(spec))) {}
  Replayed(const Replayed& other) : spec_(other.spec_), path_(other.path_) {}
  Replayed(Replayed&&) noexcept = default;
  Replayed& operator=(Replayed&&) noexcept = default;
  Replayed& operator=(const Replayed& other) { return *this = Replayed(other); }
  ~Replayed() = default;

  /// A copy that takes the cores along: this one makes its own when it is looked at again.
  Replayed fork() {
    Replayed copy(*this);
    copy.core_ = std::move(core_);
    return copy;
  }

  std::string setting() const { return core().setting(); }
  void moves(std::vector<Move>& out) const { core().moves(out); }
  void take(const Move& move) {
    core().take(move);
    path_.push_back(move);
  }
  const std::string& violation() const { return core().violation(); }
  bool is_done() const { return core().is_done(); }
  std::uint64_t hash() const { return core().hash(); }
  static bool is_fault(const Move& move) { return Core::is_fault(move); }
  static std::string describe(const Move& move) { return Core::describe(move); }
  std::string to_string() const { return core().to_string(); }

 private:
  Core& core() const {
    if (!core_) {
      core_ = std::make_unique<Core>(*spec_);
      for (const Move& move : path_) core_->take(move);
    }
    return *core_;
  }

  std::shared_ptr<const Spec> spec_;
  std::vector<Move> path_;
  mutable std::unique_ptr<Core> core_;  // Null until somebody looks.
};

}  // namespace seaway::exhaustive
