// One thing after the other, until nothing more can go.

#include "sim/shrink.hpp"

#include <algorithm>
#include <utility>

namespace seaway::sim {
namespace {

using Action = std::pair<std::uint32_t, std::uint32_t>;

/// Times are worth moving for a reader's sake, not at any price.
constexpr int kRoundsMax = 4;

/// 23'456'789 becomes 20'000'000.
std::uint64_t rounded(std::uint64_t number) {
  std::uint64_t unit = 1;
  while (number / unit >= 10) unit *= 10;
  return number / unit * unit;
}

class Shrinker {
 public:
  Shrinker(const TryEdits& try_edits, const std::function<bool()>& has_time)
      : try_(try_edits), has_time_(has_time) {}

  std::optional<Shrunk> run(const Edits& start) {
    edits_ = start;
    ++tries_;
    const auto first = try_(start);
    if (!first) return std::nullopt;
    before_ = world_ = *first;
    for (int round = 0; round < kRoundsMax && !is_over_; ++round) {
      const Edits was = edits_;
      leave_out_faults();
      lower_clients();
      leave_out_actions();
      lower(&Edits::islands, world_.islands);
      lower(&Edits::devices, world_.devices);
      round_times();
      lower_choices();
      if (edits_ == was) break;
    }
    return Shrunk{edits_, before_, world_, tries_, !is_over_};
  }

 private:
  /// Keeps the edits if the world still fails with them.
  bool keeps(const Edits& edits) {
    if (edits == edits_) return false;
    is_over_ = is_over_ || !has_time_();
    if (is_over_) return false;
    ++tries_;
    const auto world = try_(edits);
    if (!world) return false;
    edits_ = edits;
    world_ = *world;
    return true;
  }

  /// ddmin: `leave(edits, items)` takes items out; what stays in the end is needed, each one.
  template <class Item, class Leave>
  void minimise(std::vector<Item> items, const Leave& leave) {
    std::size_t parts = 1;
    while (!items.empty() && !is_over_) {
      const std::size_t size = (items.size() + parts - 1) / parts;
      bool is_less = false;
      for (std::size_t begin = 0; begin < items.size() && !is_over_;) {
        const std::size_t end = std::min(begin + size, items.size());
        Edits edits = edits_;
        leave(edits, std::vector<Item>(items.begin() + static_cast<std::ptrdiff_t>(begin),
                                       items.begin() + static_cast<std::ptrdiff_t>(end)));
        if (keeps(edits)) {
          items.erase(items.begin() + static_cast<std::ptrdiff_t>(begin),
                      items.begin() + static_cast<std::ptrdiff_t>(end));
          is_less = true;
        } else {
          begin = end;
        }
      }
      if (size == 1 && !is_less) return;
      parts =
          is_less && size > 1 ? parts : std::min(parts * 2, std::max<std::size_t>(items.size(), 1));
    }
  }

  void leave_out_faults() {
    minimise(world_.faults, [](Edits& edits, const std::vector<FaultLine>& gone) {
      for (const FaultLine& fault : gone) {
        edits.without.insert(fault.name);
        edits.at_ns.erase(fault.name);
        edits.for_ns.erase(fault.name);
      }
    });
  }

  void leave_out_actions() {
    std::vector<Action> actions;
    for (std::uint32_t client = 0; client < world_.clients; ++client) {
      for (std::uint32_t action = 0; action < world_.actions; ++action) {
        if (!edits_.skips(client, action)) actions.emplace_back(client, action);
      }
    }
    minimise(std::move(actions), [](Edits& edits, const std::vector<Action>& gone) {
      edits.skipped.insert(gone.begin(), gone.end());
    });
  }

  void lower_clients() {
    lower(&Edits::clients, world_.clients);
    std::erase_if(edits_.skipped,
                  [this](const Action& action) { return action.first >= world_.clients; });
  }

  /// To the least number that still fails, of those below the present one.
  void lower(std::optional<std::uint32_t> Edits::*limit, std::uint32_t present) {
    for (std::uint32_t number = 1; number < present && !is_over_; ++number) {
      Edits edits = edits_;
      edits.*limit = number;
      if (keeps(edits)) return;
    }
  }

  void round_times() {
    const std::vector<FaultLine> faults = world_.faults;
    for (const FaultLine& fault : faults) {
      move(fault.name, &Edits::at_ns, fault.at_ns);
      move(fault.name, &Edits::for_ns, fault.for_ns);
    }
  }
  void move(const std::string& name, std::map<std::string, std::uint64_t> Edits::*times,
            std::uint64_t present) {
    if (present == 0 || rounded(present) == present) return;
    Edits edits = edits_;
    (edits.*times)[name] = rounded(present);
    keeps(edits);
  }

  /// Fewer choices need not fail when more of them do: it tries none, and then halves.
  void lower_choices() {
    std::uint64_t most = edits_.choices.value_or(world_.steps);
    for (std::uint64_t choices = 0; choices < most && !is_over_;) {
      Edits edits = edits_;
      edits.choices = choices;
      if (keeps(edits)) {
        most = choices;
        choices = choices / 2;
        if (most == 0) return;
      } else {
        choices = choices == 0 ? std::max<std::uint64_t>(most / 2, 1)
                               : choices + (most - choices + 1) / 2;
        if (choices >= most) return;
      }
    }
  }

  const TryEdits& try_;
  const std::function<bool()>& has_time_;
  Edits edits_;
  FailedWorld before_, world_;
  std::uint32_t tries_ = 0;
  bool is_over_ = false;
};

}  // namespace

FailedWorld failed_world_of(const SeedReport& report) {
  return {report.faults,  report.clients, report.actions,
          report.islands, report.devices, report.steps};
}

std::optional<Shrunk> shrink(const Edits& start, const TryEdits& try_edits,
                             const std::function<bool()>& has_time) {
  return Shrinker(try_edits, has_time).run(start);
}

}  // namespace seaway::sim
