// CorruptionChecker: bits that change are noticed before anybody uses them, and no others are.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/ids.hpp"
#include "events/event_stream.hpp"
#include "sim/mischief_truth.hpp"
#include "sim/surroundings.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// I21: no gang starts to read a value of which a bit was changed, it is not sent and not spilled;
/// where all gangs run twice, no run succeeds that has a gang with a wrong bit. I3: nothing is said
/// to have changed, and no device to have computed two results, unless it was so.
class CorruptionChecker final : public events::EventSink {
 public:
  CorruptionChecker(const Surroundings& surroundings, bool runs_all_twice, Verdict& verdict)
      : surroundings_(surroundings), runs_all_twice_(runs_all_twice), verdict_(verdict) {}

  /// A bit was changed. Each value counts once.
  void note(const RottenValue& value);
  /// A device has made something wrong.
  void note(const Mischief& mischief);
  void record(const events::Event& event) override;
  /// The host of `island` has begun a new life, in which nothing has changed yet.
  void forget(IslandId island);

 private:
  using Value = std::tuple<IslandId, ArrayId, Stamp, std::uint32_t>;
  using Gang = std::tuple<IslandId, Stamp, std::uint32_t>;

  bool is_rotten(IslandId island, const PartFacts& part, Stamp stamp, std::uint32_t value) const;
  void find_damage(const events::Event& event);
  void find_flip(const events::Event& event);
  void start(const events::Event& event);
  void send(const events::Event& event);
  void end(const events::Event& event);
  void resolve(const events::Event& event);
  void complain(const char* invariant, std::string text);

  const Surroundings& surroundings_;
  const bool runs_all_twice_;
  Verdict& verdict_;
  std::map<Value, bool> rotten_;                                        // Whether that was found.
  std::map<Value, std::set<std::pair<DeviceId, std::uint64_t>>> bits_;  // That are wrong there.
  std::map<Gang, std::set<DeviceId>> wrong_;  // Gangs with flips that were not found yet.
  std::map<RunId, Stamp> escaped_;            // Runs with gangs that ended so, and their stamps.
};

}  // namespace seaway::sim
