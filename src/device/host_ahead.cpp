// Gangs on several hosts that are ordered before the one ahead of them has ended.

#include <algorithm>

#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {
namespace {

bool is_made_by(const PartRun& part, std::uint32_t gang, ArrayId array) {
  const program::PartPlan& shape = *part.plan->part;
  return std::ranges::any_of(shape.gangs[gang].results, [&](std::uint32_t value) {
    return shape.values[value].place == program::Value::Place::kOutput &&
           part.outputs[shape.values[value].index] == array;
  });
}

}  // namespace

/// The gang behind one that runs is ordered before that has ended, where it needs nothing but what
/// is there: hosts begin it as they end the one ahead, without a word in between. If that fails the
/// part has failed, of which both are.
void HostCore::start_ahead(std::uint64_t sequence) {
  Entry& entry = entry_at(sequence);
  PartRun& part = *entry.part;
  const std::uint32_t next = entry.gang + 1;
  if (next == entry.last) return start_follower(sequence);
  if (entry.ahead > 0 || !part.plan->gangs[next].is_spread) return;
  if (part.plan->part->gangs[next].kind != program::Gang::Kind::kCompute) return;
  if (!is_ready(part, next) || !takes_no_room(part, next) || !bind_tables(part, next)) return;
  SEAWAY_PROBE("a gang is ordered before the one ahead of it has ended");
  entry.ahead = 1;
  start_spread(sequence, next, &spread_.at({sequence, entry.gang}));
}

/// Nothing has to be loaded or made for it, which has its time in the order: its arguments are on
/// the devices, and what outlives it takes over what is given to it.
bool HostCore::takes_no_room(const PartRun& part, std::uint32_t gang) const {
  const program::PartPlan& shape = *part.plan->part;
  const std::size_t blocks = shape.blocks.size(), args = shape.args.size();
  const auto is_ready_array = [this](ArrayId id) {
    const auto found = arrays_.find(id);
    return found != arrays_.end() && found->second.state == ArrayRecord::State::kReady &&
           !found->second.memory.is_borrowed();
  };
  for (const std::uint32_t table : part.plan->gangs[gang].tables) {
    if (part.is_bound[table]) continue;
    if (table < blocks || table >= part.plan->nothing) return false;
    if (table < blocks + args) {
      if (!is_ready_array(part.args[table - blocks])) return false;
      continue;
    }
    const std::uint32_t output = table - static_cast<std::uint32_t>(blocks + args);
    const auto donor =
        std::find_if(shape.args.begin(), shape.args.end(),
                     [output](const auto& arg) { return arg.donated && arg.donated_to == output; });
    if (donor == shape.args.end()) return false;
    if (!is_ready_array(part.args[static_cast<std::size_t>(donor - shape.args.begin())]))
      return false;
  }
  return true;
}

/// Behind the last gang of an entry comes the first one of the next entry, which is often of the
/// next run and reads what this one makes. Its room has begun, so that it takes what it needs; if
/// the gang ahead fails, it reads poison, does its work for nothing, and has failed.
void HostCore::start_follower(std::uint64_t sequence) {
  const Entry& running = entry_at(sequence);
  const PartRun& ahead = *running.part;
  const GangPlan& plan_ahead = ahead.plan->gangs[running.gang];
  SpreadGang& spread = spread_.at({sequence, running.gang});
  if (spread.follower) return;
  // Arrays that are freed in between wait for their turn, and nobody behind them names them.
  std::size_t at = sequence - pending_base_ + 1;
  while (at < pending_.size() &&
         (pending_[at].state == Entry::State::kDone || !pending_[at].part)) {
    ++at;
  }
  if (at == pending_.size()) return;
  Entry& next = pending_[at];
  PartRun& part = *next.part;
  const GangPlan& plan = part.plan->gangs[next.gang];
  const bool may_begin = next.state == Entry::State::kWaiting && !part.has_failed() &&
                         plan.is_spread && plan.mask == plan_ahead.mask && !is_any_lost(plan.mask);
  if (!may_begin || part.plan->part->gangs[next.gang].kind != program::Gang::Kind::kCompute) return;
  if (has_sums() || !is_ready(part, next.gang) || !has_room(part)) return;
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    const bool is_on = plan.mask[device / 64] >> (device % 64) & 1;
    if (is_on && devices_[device].is_draining) return;
  }
  if (!may_follow(part, next.gang, ahead, running.gang) || !bind_tables(part, next.gang)) return;
  SEAWAY_PROBE("a gang is ordered before that of another run has ended");
  next.state = Entry::State::kRunning;
  spread.follower = pending_base_ + at;
  start_spread(*spread.follower, next.gang, &spread).kept = keep_work(part, next.gang);
}

/// Whether all that `gang` reads is here, or will be when `gang_ahead` of `ahead` has ended, and
/// what it makes lies in blocks of its part.
bool HostCore::may_follow(const PartRun& part, std::uint32_t gang, const PartRun& ahead,
                          std::uint32_t gang_ahead) const {
  const std::size_t blocks = part.blocks.size(), args = part.args.size();
  for (const std::uint32_t table : part.plan->gangs[gang].tables) {
    if (part.is_bound[table] || table < blocks) continue;
    if (table >= blocks + args) return false;
    const ArrayId id = part.args[table - blocks];
    const auto found = arrays_.find(id);
    if (found == arrays_.end() || found->second.memory.is_borrowed() || is_away(id)) return false;
    const ArrayRecord& record = found->second;
    if (record.state == ArrayRecord::State::kPoisoned) return false;
    const bool is_there = record.state != ArrayRecord::State::kPending;
    if (!is_there && !(record.memory.has_value() && is_made_by(ahead, gang_ahead, id)))
      return false;
  }
  return true;
}

/// The gang ahead of the first one of an entry has ended: its turn has come.
void HostCore::begin_follower(std::uint64_t sequence) {
  const Entry& entry = entry_at(sequence);
  PartRun& part = *entry.part;
  const GangPlan& plan = part.plan->gangs[entry.gang];
  if (!part.has_failed() && is_any_lost(plan.mask)) {
    if (Status loss = lost_gang(part, entry.gang); !loss.ok()) fail_gang(part, entry.gang, loss);
  }
  const std::size_t blocks = part.blocks.size(), args = part.args.size();
  for (const std::uint32_t table : plan.tables) {
    if (part.has_failed() || table < blocks || table >= blocks + args) continue;
    const auto arg = static_cast<std::uint32_t>(table - blocks);
    const auto found = arrays_.find(part.args[arg]);
    if (found == arrays_.end() || found->second.state != ArrayRecord::State::kPoisoned) continue;
    fail(part, poisoned_argument(part, arg, *found->second.poison));
  }
  begin_next(sequence);
}

}  // namespace seaway::device
