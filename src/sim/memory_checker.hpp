// MemoryChecker: budgets hold, and what is taken is given back, once and as a whole.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "events/event_stream.hpp"
#include "sim/surroundings.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// I11: after every event no device holds, and none has reserved, more than its budget, and each
/// admits at least to the arrays that lie there. I9: an array is allocated before it is freed, and
/// once. I10: its shards come and go together, with the bytes that they came with.
class MemoryChecker final : public events::EventSink {
 public:
  MemoryChecker(const Surroundings& surroundings, Verdict& verdict)
      : surroundings_(surroundings), verdict_(verdict) {}
  void record(const events::Event& event) override;
  void finish();

  /// Arrays that have been uploaded or allocated, and not freed.
  std::size_t array_count() const { return arrays_.size(); }

 private:
  struct Array {
    bool is_on_device = false;
    std::uint64_t bytes = 0;  // On each of its devices, while it is there.
    std::vector<DeviceId> devices;
  };
  using Key = std::pair<IslandId, ArrayId>;
  void follow(const events::Event& event);
  void enter(const Key& key, std::uint64_t bytes);
  void leave(const Key& key, std::uint64_t bytes);
  void check_budgets(IslandId island);
  void complain(const char* invariant, const Key& key, const std::string& text);

  const Surroundings& surroundings_;
  Verdict& verdict_;
  std::map<Key, Array> arrays_;
  std::map<std::pair<IslandId, DeviceId>, std::uint64_t> bytes_;  // Of arrays, by the events.
};

}  // namespace seaway::sim
