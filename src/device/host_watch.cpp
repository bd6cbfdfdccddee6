// Gangs that do not start, do not end, or end late: starting them again, giving them up, and
// telling which device it is.

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using events::Event;
using events::EventKind;

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

std::string name_of(const PartRun& part, std::uint32_t gang) {
  return "gang " + std::to_string(part.plan->part->gangs[gang].position) + " of run " +
         std::to_string(sequence_of(part.run));
}

std::string milliseconds(std::uint64_t time_ns) {
  return std::to_string(time_ns / 1'000'000) + " ms";
}

}  // namespace

Event HostCore::gang_event(EventKind kind, const PartRun& part, std::uint32_t gang) const {
  return {.time_ns = clock_.now_ns(),
          .stamp = part.stamp,
          .object = part.run,
          .position = part.plan->part->gangs[gang].position,
          .tenant = part.tenant,
          .island = static_cast<std::uint16_t>(options_.island),
          .kind = kind};
}

/// `gang` ran in line and ended with `status`; or was not launched, and is again, until it is or
/// its device is lost.
void HostCore::end_in_line(PartRun& part, std::uint32_t gang, const GangWork& work, Status status) {
  std::map<DeviceId, std::uint32_t> failures;
  while (unlaunched_on_) {
    const DeviceId device = *std::exchange(unlaunched_on_, std::nullopt);
    if (status.code() == StatusCode::kResourceExhausted) {
      SEAWAY_PROBE("a gang in line has no memory to launch");
      status = shortage(part, gang, device, status);
      break;
    }
    if (!may_relaunch(part, gang, device, ++failures[device], status)) break;
    status = backend_.run(work, unlaunched_on_);
  }
  if (losses_ > 0) status = outcome_of(part, gang, std::move(status));
  if (!status.ok()) fail_gang(part, gang, status);
}

/// `device` did not launch `gang`, for the `failures`th time. True when it is to be tried again, at
/// the same place in the streams; else the device is lost, or the gang is not wanted any more.
bool HostCore::may_relaunch(const PartRun& part, std::uint32_t gang, DeviceId device,
                            std::uint32_t failures, const Status& cause) {
  SEAWAY_CHECK(device < devices_.size(), options_.island, device);
  Event event = gang_event(EventKind::kLaunchFailed, part, gang);
  event.place = device;
  event.value = failures;
  events_.record(event);
  if (part.has_failed() || is_any_lost(part.plan->gangs[gang].mask)) return false;
  SEAWAY_PROBE_IF(failures <= kRelaunchesMax, "a launch is tried again");
  if (failures <= kRelaunchesMax) return true;
  SEAWAY_PROBE("a device is lost, for it does not launch");
  lose_device(device, "it failed " + std::to_string(failures) + " times to launch " +
                          name_of(part, gang) + ": " + cause.message());
  return false;
}

/// `device` has no memory to launch `gang`, which has all the room that was planned for it.
Status HostCore::shortage(const PartRun& part, std::uint32_t gang, DeviceId device,
                          const Status& cause) const {
  const function::Executable& executable = *part.plan->gangs[gang].executable;
  std::uint64_t output_bytes = 0;
  for (const TensorType& type : executable.output_types()) output_bytes += type.bytes();
  return resource_exhausted(
      "device " + std::to_string(device) + " of island " + std::to_string(options_.island) +
      " had no memory to launch " + name_of(part, gang) + ", function " +
      std::to_string(sequence_of(part.plan->part->gangs[gang].function)) + ", with " +
      std::to_string(output_bytes) + " bytes of outputs and " +
      std::to_string(executable.scratch_bytes() + replay_bytes(executable)) +
      " of work space, though they are within its budget: " + cause.message() +
      "; run it again, or give the cluster less device_memory than the device has");
}

/// How long `gang` may take. A native function's estimate may be any number.
std::uint64_t HostCore::time_limit_ns(const GangPlan& gang) const {
  if (options_.gang_timeout_min_ns == 0) return kNever;
  const std::uint64_t shares = options_.gang_timeout_factor * std::max(gang.shards, 1u);
  if (gang.cost_ns > kNever / std::max<std::uint64_t>(shares, 1)) return kNever;
  return std::max(options_.gang_timeout_min_ns, gang.cost_ns * shares);
}

void HostCore::start_beside(std::uint64_t sequence) {
  started_.push_back({.ticket = ++last_ticket_, .sequence = sequence});
  hand_over(started_.back());
}

/// Looks at a few gangs behind it only: there may be thousands.
bool HostCore::is_alone(std::uint64_t sequence) const {
  constexpr std::size_t kNear = 16;
  if (started_.size() > 1) return false;
  const std::size_t own = sequence - pending_base_;
  const DeviceMask* const mask = mask_of_entry(pending_[own]);
  for (std::size_t i = own + 1; i < std::min(pending_.size(), own + 1 + kNear); ++i) {
    if (pending_[i].state == Entry::State::kDone) continue;  // Its part may be gone.
    const DeviceMask* const other = mask_of_entry(pending_[i]);
    if (other && !intersects(*mask, *other)) return false;
  }
  return true;
}

/// The backend may end it, and forget `started`, before this returns.
void HostCore::hand_over(StartedGang& started) {
  const PartRun& part = *entry_at(started.sequence).part;
  const std::uint32_t gang = entry_at(started.sequence).gang;
  const GangPlan& plan = part.plan->gangs[gang];
  const std::uint64_t limit_ns = time_limit_ns(plan);
  started.begin_ns = clock_.now_ns();
  started.due_ns = limit_ns > kNever - started.begin_ns ? kNever : started.begin_ns + limit_ns;
  GangWork work = work_of(part, gang);
  work.is_alone = is_alone(started.sequence);
  work.may_hold_operands = !started.is_replay && may_hold_operands();
  work.may_keep_outputs = !started.is_replay && may_keep_outputs(part, gang);
  const bool is_next = end_foreseen({started.sequence, gang});
  if (is_next && !started.is_replay && started_.size() == 1 && backend_.looks_ahead(work)) {
    work.next = foresee(started.sequence);
  }
  std::vector<function::ShardedBuffer> room;
  if (started.is_replay) {
    room = replay_room(part, gang);
    work.outputs = room;
  }
  backend_.start(work, plan.cost_ns, [this, ticket = started.ticket](GangEnd end) {
    end_beside(ticket, std::move(end));
  });
}

void HostCore::end_beside(std::uint64_t ticket, GangEnd end) {
  const auto found =
      std::find_if(started_.begin(), started_.end(),
                   [ticket](const StartedGang& one) { return one.ticket == ticket; });
  if (found == started_.end()) {
    SEAWAY_PROBE("a gang that was given up ends after all");
    end.made.clear();  // Before what it works with goes.
    end.held.clear();
    const auto late = given_up_.find(ticket);
    SEAWAY_CHECK(late != given_up_.end(), options_.island, ticket);
    late->second.event.time_ns = clock_.now_ns();
    late->second.event.kind = EventKind::kGangLate;
    events_.record(late->second.event);
    given_up_.erase(late);
    return;
  }
  const std::uint64_t sequence = found->sequence;
  PartRun& part = *entry_at(sequence).part;
  const std::uint32_t gang = entry_at(sequence).gang;
  if (end.unlaunched_on && end.status.code() == StatusCode::kResourceExhausted) {
    SEAWAY_PROBE("a gang beside has no memory to launch");
    end.status = shortage(part, gang, *end.unlaunched_on, end.status);
  } else if (end.unlaunched_on && may_relaunch(part, gang, *end.unlaunched_on,
                                               ++found->failures[*end.unlaunched_on], end.status)) {
    hand_over(*found);
    return;
  }
  const bool may_go_on = end.status.ok() && !part.has_failed();
  if (may_go_on && !found->is_replay && is_sampled(part, gang)) {
    SEAWAY_PROBE("a gang beside runs a second time");
    found->is_replay = true;
    found->first_begin_ns = end.begin_ns;
    hand_over(*found);
    return;
  }
  if (found->is_replay) {
    end.begin_ns = found->first_begin_ns;
    if (may_go_on) end.status = compare_replay(part, gang);
  }
  started_.erase(found);
  report_straggler(part, gang, end);
  if (end.status.ok() && !end.held.empty()) hold_operands(part, gang, end.held);
  end.held.clear();
  if (end.status.ok() && !end.made.empty()) keep_outputs(part, gang, end.made);
  finish_async(sequence, std::move(end.status), end.begin_ns, end.end_ns);
}

/// One that doubles the time of a gang, at least, is worth a word: its others idle half of it.
void HostCore::report_straggler(const PartRun& part, std::uint32_t gang, const GangEnd& end) {
  if (end.waited_ns == 0 || end.waited_ns < (end.end_ns - end.begin_ns) / 2) return;
  SEAWAY_PROBE("a device is a straggler");
  ++devices_[end.last].gangs_delayed;
  Event event = gang_event(EventKind::kStraggler, part, gang);
  event.place = end.last;
  event.value = end.waited_ns;
  events_.record(event);
}

std::optional<std::uint64_t> HostCore::due_ns() const {
  std::uint64_t due_ns = kNever;
  for (const StartedGang& gang : started_) due_ns = std::min(due_ns, gang.due_ns);
  for (const auto& [of, gang] : spread_) due_ns = std::min(due_ns, gang.due_ns());
  if (spilled_.tiers) due_ns = std::min(due_ns, spilled_.tiers->resume_ns().value_or(kNever));
  if (due_ns == kNever) return {};
  return due_ns;
}

void HostCore::tick(std::uint64_t now_ns) {
  for (std::size_t i = 0; i < started_.size();) {
    if (started_[i].due_ns > now_ns) {
      ++i;
      continue;
    }
    const Entry& entry = entry_at(started_[i].sequence);
    const program::PartPlan& plan = *entry.part->plan->part;
    const auto laggard = backend_.give_up(plan.groups[plan.gangs[entry.gang].group].devices);
    if (!laggard) {
      started_[i++].due_ns = kNever;
      continue;
    }
    const StartedGang gang = std::move(started_[i]);
    started_.erase(started_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!SEAWAY_MUTANT("a gang that hangs is forgotten")) give_up(gang, *laggard, now_ns);
  }
  for (auto& [of, gang] : spread_) {
    if (gang.due_ns() <= now_ns) give_up(of.first, of.second, gang);
  }
}

/// What hosts have said to each other may be lost or wrong. An annex is given up, which ends this
/// life of all of them; in no other way does the gang end.
void HostCore::give_up(std::uint64_t sequence, std::uint32_t gang, SpreadGang& spread) {
  const std::uint32_t host = annexes_.laggard(spread.number);
  outbox_.wrong.push_back(
      {actor::Role::kAnnex, actor::annex_of(options_.island, host),
       deadline_exceeded(name_of(*entry_at(sequence).part, gang) + " did not end within " +
                         milliseconds(spread.limit_ns) + " (estimated " +
                         milliseconds(spread.cost_ns) + "), and host " + std::to_string(host) +
                         " of island " + std::to_string(options_.island) + " is at it")});
  spread.limit_ns = kNever;
}

/// The gang has failed on all its devices, though `laggard` may go on with it: nobody else gets the
/// memory that it works on before the backend says that it is done.
void HostCore::give_up(const StartedGang& started, DeviceId laggard, std::uint64_t now_ns) {
  PartRun& part = *entry_at(started.sequence).part;
  const std::uint32_t gang = entry_at(started.sequence).gang;
  const GangPlan& plan = part.plan->gangs[gang];
  SEAWAY_CHECK(laggard < devices_.size(), options_.island, laggard);
  Event event = gang_event(EventKind::kGangGivenUp, part, gang);
  event.place = laggard;
  event.value = started.begin_ns;
  events_.record(event);
  given_up_[started.ticket] = {event, keep_work(part, gang)};
  SEAWAY_PROBE("a device is lost, for it hangs");
  lose_device(laggard, "it did not finish " + name_of(part, gang) + " within " +
                           milliseconds(started.due_ns - started.begin_ns) + " (estimated " +
                           milliseconds(plan.cost_ns * plan.shards) + ")");
  finish_async(started.sequence, *loss_of(laggard), started.begin_ns, now_ns);
}

std::vector<std::shared_ptr<const void>> HostCore::keep_work(PartRun& part, std::uint32_t gang) {
  std::vector<std::shared_ptr<const void>> kept(part.plan->executables.begin(),
                                                part.plan->executables.end());
  kept.push_back(part.plan->part);
  const std::size_t blocks = part.blocks.size(), args = part.args.size();
  for (const std::uint32_t table : part.plan->gangs[gang].tables) {
    if (table < blocks) {
      kept.push_back(part.blocks[table].share());
      continue;
    }
    if (table >= part.plan->nothing) continue;  // Values of no bytes, and receives.
    const auto found = arrays_.find(table < blocks + args ? part.args[table - blocks]
                                                          : part.outputs[table - blocks - args]);
    // What was donated lies in the output that took it over.
    if (found != arrays_.end()) kept.push_back(found->second.memory.share());
  }
  for (const Donor& donor : part.donors) kept.push_back(donor.memory);
  for (const std::uint32_t receive : part.plan->gangs[gang].receives) {
    const std::uint32_t value = part.plan->part->receives[receive].value;
    const std::uint32_t block = part.plan->block_of_group[part.plan->part->values[value].group];
    if (block != program::kNone) kept.push_back(part.blocks[block].share());
    if (part.receives[receive].kept) kept.push_back(part.receives[receive].kept);
  }
  return kept;
}

}  // namespace seaway::device
