// What stands behind a gang that runs: for backends that enqueue it before that one has ended.

#include <algorithm>

#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using program::Gang;
using program::kNone;

/// The gang that comes next on the devices of `sequence`, and can begin as soon as that one has
/// ended; none, too, if a look at it is needed first.
std::optional<Foreseen::Place> HostCore::find_next(std::uint64_t sequence) const {
  // Whatever may stop, repeat or look at a gang comes between.
  const bool is_plain = !annexes_.any() && !has_sums() && losses_ == 0 && file_arrays_.empty() &&
                        !spilled_.tiers && options_.integrity.replay_per_mille == 0;
  if (!is_plain || !may_look_ahead_ || foreseen_.is_known) return {};
  const Entry& own = entry_at(sequence);
  const DeviceMask& mask = own.part->plan->gangs[own.gang].mask;
  if (own.gang + 1 < own.last) {
    if (own.part->has_failed()) return {};
    return Foreseen::Place{sequence, own.gang + 1};
  }
  for (std::size_t i = sequence - pending_base_ + 1; i < pending_.size(); ++i) {
    const Entry& entry = pending_[i];
    // What is freed there is nothing that a gang behind it reads.
    if (entry.state == Entry::State::kDone || !entry.part) continue;
    if (!intersects(mask, entry.part->plan->gangs[entry.gang].mask)) continue;
    if (entry.state != Entry::State::kWaiting || entry.part->has_failed()) return {};
    return Foreseen::Place{pending_base_ + i, entry.gang};
  }
  return {};
}

/// What a backend takes for both gangs is within the budget: the room of the next one may be the
/// very room that the one ahead has.
bool HostCore::has_room_ahead(const GangPlan& plan, DeviceId device) const {
  const DeviceState& state = devices_[device];
  return plan.executable->scratch_bytes() <= state.budget_bytes - state.used_bytes;
}

/// What operand `slot` of `part` will be when `ahead`, which runs, has ended; false: it is not
/// known.
bool HostCore::foresee_operand(PartRun& part, const ValueSlot& slot, const Entry& ahead) {
  const auto find_result = [&ahead](std::size_t table, std::uint64_t offset) {
    const std::span<const ValueSlot> results = ahead.part->plan->gangs[ahead.gang].results;
    const auto found = std::find_if(results.begin(), results.end(), [&](const ValueSlot& result) {
      return result.table == table && result.offset == offset;
    });
    return found == results.end() ? kNone : static_cast<std::uint32_t>(found - results.begin());
  };
  const auto take = [this](function::ShardedBuffer operand, std::uint32_t made) {
    foreseen_.operands.push_back(operand);
    foreseen_.made.push_back(made);
    return true;
  };
  const std::size_t blocks = part.plan->part->blocks.size(), args = part.plan->part->args.size();
  if (&part == ahead.part) {
    const std::uint32_t result = find_result(slot.table, slot.offset);
    if (result != kNone) return take({}, result);
  }
  if (slot.table < blocks && part.is_bound[slot.table]) {
    foreseen_.kept.push_back(part.blocks[slot.table].share());
    return take(buffer_at(part, slot), ForeseenGang::kIsThere);
  }
  if (slot.table < blocks || slot.table >= blocks + args) return false;
  const ArrayId id = part.args[slot.table - blocks];
  const auto found = arrays_.find(id);
  if (found == arrays_.end()) return false;
  ArrayRecord& record = found->second;
  if (record.state == ArrayRecord::State::kReady || record.state == ArrayRecord::State::kOnHost) {
    if (!record.memory.has_value() || record.memory.is_borrowed()) return false;
    foreseen_.kept.push_back(record.memory.share());
    function::ShardedBuffer operand = record.memory.buffer();
    operand.base += slot.offset;
    return take(operand, ForeseenGang::kIsThere);
  }
  if (record.state != ArrayRecord::State::kPending || &part == ahead.part) return false;
  const std::vector<ArrayId>& outputs = ahead.part->outputs;
  const auto output = std::find(outputs.begin(), outputs.end(), id);
  if (output == outputs.end()) return false;
  const program::PartPlan& maker = *ahead.part->plan->part;
  const std::uint32_t result = find_result(
      maker.blocks.size() + maker.args.size() + static_cast<std::size_t>(output - outputs.begin()),
      0);
  return result != kNone && take({}, result);
}

/// Null: there is none, or none that could begin at once.
const ForeseenGang* HostCore::foresee(std::uint64_t sequence) {
  const std::optional<Foreseen::Place> next = find_next(sequence);
  if (!next) return nullptr;
  PartRun& part = *entry_at(next->sequence).part;
  const GangPlan& plan = part.plan->gangs[next->gang];
  const Gang& gang = part.plan->part->gangs[next->gang];
  if (gang.kind != Gang::Kind::kCompute || plan.is_simple || !plan.receives.empty()) return nullptr;
  const std::vector<DeviceId>& devices = part.plan->part->groups[gang.group].devices;
  if (devices.size() != 1 || devices_[devices.front()].is_draining) return nullptr;
  if (!has_room_ahead(plan, devices.front())) return nullptr;
  foreseen_.operands.clear();
  foreseen_.made.clear();
  for (const ValueSlot& slot : plan.operands) {
    if (foresee_operand(part, slot, entry_at(sequence))) continue;
    foreseen_.kept.clear();
    return nullptr;
  }
  SEAWAY_PROBE("a backend is told of the next gang");
  foreseen_.is_known = true;
  foreseen_.place = *next;
  foreseen_.told = {.work = {.executable = plan.executable,
                             .operands = foreseen_.operands,
                             .outputs = {},
                             .scratch = {},
                             .shards = plan.shards,
                             .plan = part.plan->part.get(),
                             .gang = next->gang,
                             .stamp = part.stamp},
                    .made = foreseen_.made};
  return &foreseen_.told;
}

/// Its turn has come: what it works with is bound now, and is nobody else's any more.
void HostCore::begin_foreseen(const Foreseen::Place& place) {
  if (foreseen_.place == place) foreseen_.kept.clear();
}

/// The backend is told of its start.
void HostCore::end_foreseen(const Foreseen::Place& place) {
  if (foreseen_.place == place) foreseen_.is_known = false;
}

void HostCore::forget_foreseen() {
  if (!foreseen_.is_known) return;
  SEAWAY_PROBE("a gang that was foreseen does not begin");
  if (!SEAWAY_MUTANT("a gang that does not begin is still foreseen")) backend_.forget_next();
  foreseen_.is_known = false;
  foreseen_.kept.clear();
}

}  // namespace seaway::device
