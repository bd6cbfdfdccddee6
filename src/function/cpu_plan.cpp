// Where each value lies: liveness, packing, in-place reuse, and what donation forbids.

#include "function/cpu_plan.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "function/cpu_kernels.hpp"

namespace seaway::function::cpu {
namespace {

constexpr std::size_t kAlignment = 64;
std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// First fit in a row of bytes that grows at its end.
class Packer {
 public:
  std::size_t take(std::size_t bytes) {
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      if (hole->second < bytes) continue;
      const auto [offset, size] = *hole;
      holes_.erase(hole);
      if (size > bytes) holes_.emplace(offset + bytes, size - bytes);
      return offset;
    }
    // A hole at the end is stretched.
    std::size_t offset = end_;
    if (!holes_.empty()) {
      const auto last = std::prev(holes_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        holes_.erase(last);
      }
    }
    end_ = offset + bytes;
    return offset;
  }

  void give(std::size_t offset, std::size_t bytes) {
    if (bytes == 0) return;
    auto [hole, inserted] = holes_.emplace(offset, bytes);
    const auto next = std::next(hole);
    if (next != holes_.end() && hole->first + hole->second == next->first) {
      hole->second += next->second;
      holes_.erase(next);
    }
    if (hole == holes_.begin()) return;
    const auto before = std::prev(hole);
    if (before->first + before->second != hole->first) return;
    before->second += hole->second;
    holes_.erase(hole);
  }

  std::size_t end() const { return end_; }

 private:
  std::map<std::size_t, std::size_t> holes_;  // Offset to size.
  std::size_t end_ = 0;
};

class Planner {
 public:
  Planner(const Schedule& schedule, const std::vector<bool>& staged)
      : storages_(schedule.storages), steps_(schedule.steps), outputs_(schedule.outputs) {
    is_staged_ = staged;
    is_staged_.resize(outputs_.size(), false);
    locations_.resize(storages_.size());
    has_location_.resize(storages_.size(), false);
  }

  Plan run() {
    place_fixed();
    add_output_copies();
    find_last_uses();
    place_scratch();
    Plan plan;
    plan.scratch_bytes = packer_.end();
    std::vector<std::size_t> places;  // Of steps in the plan, which has none that wait.
    for (const ScheduledStep& scheduled : steps_) {
      places.push_back(plan.steps.size());
      if (scheduled.awaits) {
        plan.steps[places[*scheduled.awaits]].needed_at = plan.steps.size();
        continue;
      }
      Step step = scheduled.step;
      for (const StorageId storage : scheduled.in) step.in.push_back(locations_[storage]);
      for (const StorageId storage : scheduled.out) step.out.push_back(locations_[storage]);
      plan.steps.push_back(std::move(step));
    }
    find_hazards(plan);
    return plan;
  }

 private:
  void place(StorageId storage, Location location) {
    locations_[storage] = location;
    has_location_[storage] = true;
  }

  void place_fixed() {
    for (StorageId id = 0; id < storages_.size(); ++id) {
      const Storage& storage = storages_[id];
      if (storage.kind == Storage::kParameter) place(id, {Location::kOperand, storage.index, 0});
      if (storage.kind == Storage::kConstant) {
        place(id, {Location::kConstant, 0, storage.index * sizeof(std::uint32_t)});
      }
    }
    for (std::uint32_t j = 0; j < outputs_.size(); ++j) {
      if (!has_location_[outputs_[j]] && !is_staged_[j]) {
        place(outputs_[j], {Location::kOutput, j, 0});
      }
    }
  }

  StorageId add_copy(StorageId source, std::size_t bytes, StorageId target) {
    const bool is_wide = bytes % 4 == 0;
    const auto elements = static_cast<std::int64_t>(is_wide ? bytes / 4 : bytes);
    steps_.push_back({make_copy({.sizes = {elements},
                                 .in_steps = {1},
                                 .out_steps = {1},
                                 .element_bytes = is_wide ? std::size_t{4} : std::size_t{1}}),
                      {source},
                      {target}});
    return target;
  }

  StorageId new_storage(std::size_t bytes) {
    storages_.push_back({Storage::kComputed, bytes, 0});
    locations_.emplace_back();
    has_location_.push_back(false);
    return static_cast<StorageId>(storages_.size() - 1);
  }

  /// Outputs that are parameters, constants, listed twice, or staged are copied at the end: first
  /// whatever still reads operands, then the staged ones.
  void add_output_copies() {
    std::vector<std::pair<StorageId, std::uint32_t>> last;
    for (std::uint32_t j = 0; j < outputs_.size(); ++j) {
      const StorageId source = outputs_[j];
      const std::size_t bytes = storages_[source].bytes;
      const Location direct{Location::kOutput, j, 0};
      if (bytes == 0 || (has_location_[source] && locations_[source] == direct)) continue;
      if (is_staged_[j]) {
        const bool is_operand = storages_[source].kind == Storage::kParameter;
        last.emplace_back(is_operand ? add_copy(source, bytes, new_storage(bytes)) : source, j);
        continue;
      }
      const StorageId target = new_storage(bytes);
      place(target, direct);
      add_copy(source, bytes, target);
    }
    for (const auto& [source, j] : last) {
      const StorageId target = new_storage(storages_[source].bytes);
      place(target, {Location::kOutput, j, 0});
      add_copy(source, storages_[source].bytes, target);
    }
  }

  void find_last_uses() {
    last_use_.assign(storages_.size(), 0);
    use_before_.assign(storages_.size(), 0);
    for (std::size_t t = 0; t < steps_.size(); ++t) {
      const auto use = [this, t](StorageId storage) {
        if (last_use_[storage] != t) use_before_[storage] = last_use_[storage];
        last_use_[storage] = t;
      };
      for (const StorageId storage : steps_[t].in) use(storage);
      // What nobody reads lives during the step that makes it.
      for (const StorageId storage : steps_[t].out) use(storage);
    }
  }

  /// The last step that uses it, without the end of step `t`: an exchange may overwrite its operand
  /// if nobody else uses that any more.
  std::size_t last_use(StorageId storage, std::size_t t) const {
    const std::size_t last = last_use_[storage];
    return steps_[last].awaits == t ? use_before_[storage] : last;
  }

  void place_scratch() {
    std::vector<std::size_t> room(storages_.size(), 0);  // Bytes taken in scratch.
    for (std::size_t t = 0; t < steps_.size(); ++t) {
      for (std::uint32_t o = 0; o < steps_[t].out.size(); ++o) {
        const StorageId out = steps_[t].out[o];
        if (has_location_[out]) continue;
        const std::size_t bytes = aligned(storages_[out].bytes);
        const StorageId operand = dying_operand(t, o, room);
        if (operand != kNone) {
          place(out, locations_[operand]);
          std::swap(room[out], room[operand]);
        } else {
          place(out, {Location::kScratch, 0, packer_.take(bytes)});
          room[out] = bytes;
        }
      }
      const auto release = [&](StorageId storage) {
        if (last_use_[storage] != t || room[storage] == 0) return;
        packer_.give(locations_[storage].offset, room[storage]);
        room[storage] = 0;
      };
      for (const StorageId storage : steps_[t].in) release(storage);
      for (const StorageId storage : steps_[t].out) release(storage);
    }
  }

  bool may_share(const ScheduledStep& scheduled, std::uint32_t out, StorageId operand) const {
    for (std::uint32_t i = 0; i < scheduled.in.size(); ++i) {
      if (scheduled.in[i] != operand) continue;
      const auto& pairs = scheduled.step.in_place;
      if (std::find(pairs.begin(), pairs.end(), std::pair{out, i}) == pairs.end()) return false;
    }
    return true;
  }

  /// An operand in scratch that step `t` reads last and output `o` may overwrite.
  StorageId dying_operand(std::size_t t, std::uint32_t o,
                          const std::vector<std::size_t>& room) const {
    const ScheduledStep& scheduled = steps_[t];
    for (const StorageId operand : scheduled.in) {
      if (room[operand] == 0 || last_use(operand, t) != t) continue;
      if (storages_[operand].bytes != storages_[scheduled.out[o]].bytes) continue;
      if (may_share(scheduled, o, operand)) return operand;
    }
    return kNone;
  }

  void find_hazards(Plan& plan) const {
    for (std::uint32_t j = 0; j < outputs_.size(); ++j) {
      const Location direct{Location::kOutput, j, 0};
      std::size_t written = steps_.size();
      std::uint32_t out = 0;
      for (std::size_t t = steps_.size(); t-- > 0;) {
        for (std::uint32_t o = 0; o < steps_[t].out.size(); ++o) {
          if (locations_[steps_[t].out[o]] == direct) written = t, out = o;
        }
      }
      for (StorageId operand = 0; operand < storages_.size(); ++operand) {
        const Storage& storage = storages_[operand];
        if (storage.kind != Storage::kParameter || written == steps_.size()) continue;
        if (storage.bytes != storages_[outputs_[j]].bytes) continue;
        const std::size_t read = last_use(operand, written);
        if (read < written || (read == written && may_share(steps_[written], out, operand))) {
          continue;
        }
        plan.hazards.emplace_back(j, storage.index);
      }
    }
  }

  static constexpr StorageId kNone = std::numeric_limits<StorageId>::max();

  std::vector<Storage> storages_;
  std::vector<ScheduledStep> steps_;
  std::vector<StorageId> outputs_;
  std::vector<bool> is_staged_;
  std::vector<Location> locations_;
  std::vector<bool> has_location_;
  std::vector<std::size_t> last_use_, use_before_;
  Packer packer_;
};

}  // namespace

Plan make_plan(const Schedule& schedule, const std::vector<bool>& staged) {
  return Planner(schedule, staged).run();
}

Plan make_plan_for_donation(const Schedule& schedule) {
  std::vector<bool> staged(schedule.outputs.size(), false);
  Plan plan = make_plan(schedule, staged);
  // Staging one output can delay the last read of an operand; with all staged no hazard is left.
  while (!plan.hazards.empty()) {
    for (const auto& [output, operand] : plan.hazards) staged[output] = true;
    plan = make_plan(schedule, staged);
  }
  return plan;
}

}  // namespace seaway::function::cpu
