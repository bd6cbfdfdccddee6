// What stands behind a gang that runs: for backends that enqueue it before that one has ended.

#include <algorithm>

#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using program::Gang;
using program::kNone;

namespace {

/// Which output of `gang` of `maker` the value at `slot` of `part` is; kNone: none of them.
std::uint32_t find_result(const PartRun& part, const ValueSlot& slot, const PartRun& maker,
                          std::uint32_t gang) {
  std::size_t table = slot.table;
  std::uint64_t offset = slot.offset;
  if (&part != &maker) {
    const std::size_t blocks = part.blocks.size(), args = part.args.size();
    if (table < blocks || table >= blocks + args) return kNone;
    const std::vector<ArrayId>& outputs = maker.outputs;
    const auto output = std::find(outputs.begin(), outputs.end(), part.args[table - blocks]);
    if (output == outputs.end()) return kNone;
    table = maker.blocks.size() + maker.args.size() +
            static_cast<std::size_t>(output - outputs.begin());
    offset = 0;
  }
  const std::span<const ValueSlot> results = maker.plan->gangs[gang].results;
  const auto found = std::find_if(results.begin(), results.end(), [&](const ValueSlot& result) {
    return result.table == table && result.offset == offset;
  });
  return found == results.end() ? kNone : static_cast<std::uint32_t>(found - results.begin());
}

}  // namespace

/// The gang that comes next on the devices of the one at `ahead`, and can begin as soon as that has
/// ended; none, too, if a look at it is needed first.
std::optional<Foreseen::Place> HostCore::find_next(const Foreseen::Place& ahead) const {
  const Entry& own = entry_at(ahead.sequence);
  if (own.part->has_failed()) return {};
  const DeviceMask& mask = own.part->plan->gangs[ahead.gang].mask;
  if (ahead.gang + 1 < own.last) return Foreseen::Place{ahead.sequence, ahead.gang + 1};
  for (std::size_t i = ahead.sequence - pending_base_ + 1; i < pending_.size(); ++i) {
    const Entry& entry = pending_[i];
    // What is freed there is nothing that a gang behind it reads.
    if (entry.state == Entry::State::kDone || !entry.part) continue;
    if (!intersects(mask, entry.part->plan->gangs[entry.gang].mask)) continue;
    if (entry.state != Entry::State::kWaiting || entry.part->has_failed()) return {};
    return Foreseen::Place{pending_base_ + i, entry.gang};
  }
  return {};
}

/// What operand `slot` of `part`, of a gang behind all that are foreseen, will be when they and the
/// one at `running` have ended; false: it is not known.
bool HostCore::foresee_operand(PartRun& part, const ValueSlot& slot,
                               const Foreseen::Place& running) {
  Foreseen::Gang& into = foreseen_.room();
  const auto take = [&into](function::ShardedBuffer operand, ForeseenGang::Source source) {
    into.operands.push_back(operand);
    into.sources.push_back(source);
    return true;
  };
  // Whoever writes a place last before it is read.
  for (std::uint32_t places = 1; places <= foreseen_.size() + 1; ++places) {
    const bool is_running = places > foreseen_.size();
    const Foreseen::Place& maker =
        is_running ? running : foreseen_[foreseen_.size() - places].place;
    const std::uint32_t result =
        find_result(part, slot, *entry_at(maker.sequence).part, maker.gang);
    if (result != kNone) return take({}, {.places_ahead = places, .output = result});
  }
  const std::size_t blocks = part.blocks.size(), args = part.args.size();
  if (slot.table < blocks && part.is_bound[slot.table]) {
    into.kept.push_back(part.blocks[slot.table].share());
    return take(buffer_at(part, slot), {});
  }
  if (slot.table < blocks || slot.table >= blocks + args) return false;
  const auto found = arrays_.find(part.args[slot.table - blocks]);
  if (found == arrays_.end()) return false;
  ArrayRecord& record = found->second;
  if (record.state != ArrayRecord::State::kReady && record.state != ArrayRecord::State::kOnHost)
    return false;
  if (!record.memory.has_value() || record.memory.is_borrowed()) return false;
  into.kept.push_back(record.memory.share());
  function::ShardedBuffer operand = record.memory.buffer();
  operand.base += slot.offset;
  return take(operand, {});
}

/// Adds the gang at `next` to what is foreseen; false: it could not begin at once.
bool HostCore::foresee_gang(const Foreseen::Place& next, const Foreseen::Place& running) {
  PartRun& part = *entry_at(next.sequence).part;
  const GangPlan& plan = part.plan->gangs[next.gang];
  const Gang& gang = part.plan->part->gangs[next.gang];
  if (gang.kind != Gang::Kind::kCompute || plan.is_simple || !plan.receives.empty()) return false;
  const std::vector<DeviceId>& devices = part.plan->part->groups[gang.group].devices;
  if (devices.size() != 1 || devices_[devices.front()].is_draining) return false;
  // What a backend takes for all of them is within the budget: the room of one may be the very room
  // that another one ahead has.
  const DeviceState& device = devices_[devices.front()];
  std::uint64_t bytes = plan.executable->scratch_bytes();
  for (std::size_t i = 0; i < foreseen_.size(); ++i) {
    bytes += foreseen_[i].told.work.executable->scratch_bytes();
  }
  if (bytes > device.budget_bytes - device.used_bytes) return false;
  Foreseen::Gang& foreseen = foreseen_.room();
  for (const ValueSlot& slot : plan.operands) {
    if (foresee_operand(part, slot, running)) continue;
    Foreseen::clear(foreseen);
    return false;
  }
  foreseen.place = next;
  foreseen.told = {.work = {.executable = plan.executable,
                            .operands = foreseen.operands,
                            .outputs = {},
                            .scratch = {},
                            .shards = plan.shards,
                            .plan = part.plan->part.get(),
                            .gang = next.gang,
                            .stamp = part.stamp},
                   .place = static_cast<std::uint32_t>(foreseen_.size() + 1),
                   .sources = foreseen.sources};
  foreseen_.push();
  return true;
}

/// Those behind the gang that starts which the backend does not know yet. Null: there are none, or
/// none that could begin at once.
const ForeseenGang* HostCore::foresee(std::uint64_t sequence) {
  // Whatever may stop, repeat or look at a gang comes between.
  const bool is_plain = !annexes_.any() && !has_sums() && losses_ == 0 && file_arrays_.empty() &&
                        !spilled_.tiers && options_.integrity.replay_per_mille == 0;
  if (!is_plain || !may_look_ahead_) return nullptr;
  const Foreseen::Place running{sequence, entry_at(sequence).gang};
  const std::size_t known = foreseen_.size();
  while (!foreseen_.is_full()) {
    const bool is_first = foreseen_.is_empty();
    const auto next = find_next(is_first ? running : foreseen_[foreseen_.size() - 1].place);
    if (!next || !foresee_gang(*next, running)) break;
    const std::size_t last = foreseen_.size() - 1;
    SEAWAY_PROBE("a backend is told of the next gang");
    SEAWAY_PROBE_IF(last > 0, "a backend is told of a gang behind the next one");
    if (last > known) foreseen_[last - 1].told.work.next = &foreseen_[last].told;
  }
  return foreseen_.size() > known ? &foreseen_[known].told : nullptr;
}

/// Its turn has come: what it works with is bound now, and is nobody else's any more.
void HostCore::begin_foreseen(const Foreseen::Place& place) {
  if (foreseen_[0].place == place) foreseen_[0].kept.clear();
}

/// The backend is told of its start. False: others are foreseen, and stand behind another one.
bool HostCore::end_foreseen(const Foreseen::Place& place) {
  if (foreseen_.is_empty()) return true;
  if (foreseen_[0].place != place) return false;
  foreseen_.pop();
  return true;
}

void HostCore::forget_foreseen() {
  if (foreseen_.is_empty()) return;
  SEAWAY_PROBE("a gang that was foreseen does not begin");
  backend_.forget_next();
  while (!foreseen_.is_empty()) foreseen_.pop();
}

}  // namespace seaway::device
