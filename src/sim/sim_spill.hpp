// SimSpill: the file of a simulated host's spill room, on a disk that is slow, full, fails and
// changes bits.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actor/engine.hpp"
#include "base/random.hpp"
#include "sim/fault_line.hpp"
#include "store/spill_file.hpp"

namespace seaway::sim {

/// How often what goes wrong with one array that is written or read, in a thousand. A value.
struct SpillFaults {
  std::uint32_t full = 0;         // Nothing is written: the disk is full.
  std::uint32_t write_error = 0;  // The same: it fails.
  std::uint32_t short_write = 0;  // A first part is written, and then the disk is full.
  std::uint32_t read_error = 0;
  std::uint32_t flip = 0;          // A bit of what was written changes.
  std::uint64_t delay_max_ns = 1;  // Of each; no fault.

  /// "file full", "file flip" and so on.
  std::vector<FaultLine> lines() const;
  /// Leaves those of these names out.
  void leave_out(const std::set<std::string>& names);
};

/// Each kind has a random stream of its own.
SpillFaults make_spill_faults(std::uint64_t seed, bool is_wild);

/// What a read did not bring back as it was, just now.
struct SpillLoss {
  IslandId island = 0;
  ArrayId array = 0;
  bool has_changed = false;  // Else it could not be read.
};

/// In memory. What is written is taken, and what is read is given, when its time has come. Nothing
/// that was never written may be read.
class SimSpill final : public store::SpillFile {
 public:
  using Tell = std::function<void(const SpillLoss& loss)>;
  using Complain = std::function<void(std::string)>;

  /// `life` tells the files of one island apart. The engine outlives it.
  SimSpill(actor::Engine& engine, std::uint64_t seed, IslandId island, std::uint32_t life,
           const SpillFaults& faults, Tell tell, Complain complain);

  void write(std::shared_ptr<store::SpillJob> job, Done done) override;
  void read(std::shared_ptr<store::SpillJob> job, Done done) override;
  void close() override { is_here_.reset(); }

 private:
  void later(std::function<Status()> work, Done done);
  Status write_now(store::SpillJob& job);
  Status read_now(store::SpillJob& job);
  Status put(std::uint64_t offset, std::span<const std::byte> bytes);
  Status get(std::uint64_t offset, std::span<std::byte> bytes);
  bool happens(RandomStream& random, std::uint32_t per_mille) {
    return random.below(1000) < per_mille;
  }
  void flip_a_bit(const store::SpillJob& job);

  actor::Engine& engine_;
  const IslandId island_;
  const SpillFaults faults_;
  const Tell tell_;
  const Complain complain_;
  RandomStream delays_, fulls_, write_errors_, short_writes_, read_errors_, flips_;
  std::vector<std::byte> bytes_;
  std::vector<bool> is_written_;     // Per byte.
  std::set<std::uint64_t> flipped_;  // Bits that are not what they were.
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace seaway::sim
