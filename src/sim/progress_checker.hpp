// ProgressChecker: whatever was launched ends.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/ids.hpp"
#include "events/event_stream.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// I12: each part that an island was handed finishes, once. What it waited for if it did not is in
/// SeedReport::waiting; this says how far it came. A scheduler that begins anew is handed what is
/// unfinished without a word for each, and says again what nobody may have heard: once in its view.
class ProgressChecker final : public events::EventSink {
 public:
  explicit ProgressChecker(Verdict& verdict) : verdict_(verdict) {}
  void record(const events::Event& event) override;
  void finish();

  /// Of parts that were handed to an island and have not finished.
  std::set<RunId> open_runs(IslandId island) const;

 private:
  struct Part {
    RunId run = 0;
    bool is_admitted = false;
    std::uint64_t placed = 0, ended = 0;  // Gangs.
  };
  Verdict& verdict_;
  std::map<std::pair<IslandId, Stamp>, Part> parts_;  // Launched and not finished.
  std::map<IslandId, std::set<Stamp>> finished_;      // In a view that is not the first.
};

}  // namespace seaway::sim
