// Streams: which gang starts next, how it runs, and what its end sets free.

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "base/fault_point.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using events::EventKind;
using program::Gang;
using program::kNone;

namespace {

/// Kernel time, as estimated, after which other messages get their turn. Where gangs are foreseen
/// it comes early: those keep their device busy meanwhile, which takes about as long.
constexpr std::uint64_t longest_burst_ns(bool foresees) { return foresees ? 150'000 : 1'000'000; }
/// What it costs to free an array that a plugin has made.
constexpr std::uint64_t kFreeNs = 500;
/// Estimated time of short gangs after which the clock is read.
constexpr std::uint64_t kShortBurstNs = 2'000;
/// Overhead of one gang that estimates leave out.
constexpr std::uint64_t kGangOverheadNs = 50;

}  // namespace

const DeviceMask* HostCore::mask_of_entry(const Entry& entry) const {
  if (entry.part) return &entry.part->plan->gangs[entry.gang].mask;
  const auto found = arrays_.find(entry.array);
  return found == arrays_.end() ? nullptr : &found->second.desc->mask;
}

bool HostCore::advance() {
  std::uint64_t burst_ns = 0;
  bool did_something = true;
  bool has_more = false;
  bool was_passed_over = false;
  now_ns_ = 0;
  while (did_something && !has_more) {
    did_something = false;
    if (!arming_.empty()) arm_ready_parts();
    std::fill(blocked_.begin(), blocked_.end(), 0);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].is_draining) blocked_[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    for (std::size_t i = pending_begin_; i < pending_.size(); ++i) {
      Entry& entry = pending_[i];
      if (entry.state == Entry::State::kDone) {
        if (i == pending_begin_) ++pending_begin_;
        continue;
      }
      const DeviceMask* mask = mask_of_entry(entry);
      bool can_start = entry.state == Entry::State::kWaiting &&
                       (!mask || !intersects(blocked_, *mask)) &&
                       (!entry.part || is_ready(*entry.part, entry.gang));
      if (can_start && entry.part && SEAWAY_FAULT(kGangPassedOver)) {
        can_start = false;
        was_passed_over = true;
      }
      if (!can_start) {
        if (mask) unite(blocked_, *mask);
        if (covers(blocked_, all_devices_)) break;
        continue;
      }
      if (burst_ns > longest_burst_ns(foresees()) || (burst_ns > 0 && SEAWAY_FAULT(kHostYields))) {
        has_more = true;
        break;
      }
      did_something = true;
      if (run_entry(pending_base_ + i, burst_ns)) {
        if (i == pending_begin_) ++pending_begin_;
      } else {
        unite(blocked_, pending_[i].part->plan->gangs[pending_[i].gang].mask);
      }
    }
    // Inline gangs free devices for entries that were passed over, and room for receives.
    if (arming_.empty() && pending_begin_ == pending_.size()) break;
  }
  if (pending_begin_ == pending_.size()) {
    pending_base_ += pending_.size();
    pending_.clear();
    pending_begin_ = 0;
  } else if (pending_begin_ > 4096 && pending_begin_ > pending_.size() / 2) {
    pending_.erase(pending_.begin(),
                   pending_.begin() + static_cast<std::ptrdiff_t>(pending_begin_));
    pending_base_ += pending_begin_;
    pending_begin_ = 0;
  }
  // What is left for the next turn begins there with what was foreseen.
  SEAWAY_PROBE_IF(has_more && foresees(), "others have their turn before what is foreseen");
  if (!has_more) forget_foreseen();
  if (!arming_.empty()) arm_ready_parts();
  if (!forgotten_plans_.empty()) drop_forgotten_plans();
  if (spilled_.tiers) move_spilled();
  return has_more || was_passed_over;
}

bool HostCore::run_entry(std::uint64_t sequence, std::uint64_t& burst_ns) {
  for (;;) {
    Entry& entry = entry_at(sequence);
    entry.state = Entry::State::kRunning;
    if (!entry.part) {
      free_array(entry.array);
      burst_ns += kFreeNs;
      entry.state = Entry::State::kDone;
      return true;
    }
    const GangPlan& gang = entry.part->plan->gangs[entry.gang];
    const bool has_run = gang.is_short && entry.gang + 1 < entry.last &&
                         !events_.enabled(EventKind::kGangStart) &&
                         run_short_gangs(sequence, burst_ns);
    if (!has_run) {
      burst_ns += gang.cost_ns * gang.shards + kGangOverheadNs;
      may_look_ahead_ = true;
      start(sequence);
      may_look_ahead_ = false;
    }
    if (entry.state == Entry::State::kDone) return true;
    if (entry.state == Entry::State::kRunning) return false;
    const bool yields = burst_ns > longest_burst_ns(foresees()) || SEAWAY_FAULT(kHostYields);
    if (yields || !is_ready(*entry.part, entry.gang)) return false;
  }
}

/// Runs as many short gangs of one entry as make up a time worth measuring, without the ceremony of
/// start(): what one of them costs would otherwise be mostly the clock and its event. False when
/// the first of them cannot run, and nothing has happened.
bool HostCore::run_short_gangs(std::uint64_t sequence, std::uint64_t& burst_ns) {
  Entry& entry = entry_at(sequence);
  PartRun& part = *entry.part;
  const std::uint32_t first = entry.gang;
  const std::uint64_t begin_ns = now_ns_ > 0 ? now_ns_ : clock_.now_ns();
  std::uint64_t estimate_ns = 0;
  std::uint32_t gang = first;
  while (gang < entry.last && estimate_ns <= kShortBurstNs && !part.has_failed()) {
    const GangPlan& plan = part.plan->gangs[gang];
    if (!plan.is_short || is_any_lost(plan.mask)) break;
    if (!is_ready(part, gang) || !bind_tables(part, gang)) break;
    const GangWork work = work_of(part, gang);
    Status status = backend_.run(work, unlaunched_on_);
    if (!status.ok() || losses_ > 0) [[unlikely]]
      end_in_line(part, gang, work, std::move(status));
    if (!plan.receives.empty()) check_loans(part, gang);
    if (!file_arrays_.empty()) [[unlikely]]
      check_files(part, gang);
    estimate_ns += plan.cost_ns * plan.shards + kGangOverheadNs;
    ++gang;
  }
  if (gang == first) return false;
  burst_ns += estimate_ns;
  now_ns_ = clock_.now_ns();
  const std::uint32_t group = part.plan->part->gangs[first].group;
  events_.record({.time_ns = now_ns_,
                  .stamp = part.stamp,
                  .object = gang,
                  .value = begin_ns,
                  .position = first,
                  .place = group,
                  .tenant = part.tenant,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = EventKind::kGangsEnd});
  part.busy_ns += now_ns_ - begin_ns;
  part.gangs_ran += gang - first;
  part.gangs_done += gang - first;
  entry.gang = gang;
  entry.state = gang == entry.last ? Entry::State::kDone : Entry::State::kWaiting;
  report_done(part.stamp, first, gang);
  for (std::uint32_t done = first; done < gang; ++done) hand_on(part, done);
  if (part.gangs_done >= part.gangs_placed) end_part_if_over(part);
  return true;
}

bool HostCore::is_ready(const PartRun& part, std::uint32_t gang) {
  const GangPlan& plan = part.plan->gangs[gang];
  for (const std::uint32_t r : plan.receives) {
    const ReceiveState& receive = part.receives[r];
    if (receive.has_value || SEAWAY_MUTANT("a gang starts before what it receives")) continue;
    // A no-op waits only for what may still be written into the part's room.
    if (!part.has_failed() || receive.state == ReceiveState::State::kArmed ||
        receive.state == ReceiveState::State::kCopying) {
      return false;
    }
  }
  return !spilled_.tiers || part.has_failed() || has_arrays(part, gang);
}

void HostCore::start(std::uint64_t sequence) {
  Entry& entry = entry_at(sequence);
  PartRun& part = *entry.part;
  const std::uint32_t gang = entry.gang;
  const GangPlan& plan = part.plan->gangs[gang];
  if (foresees() && !part.has_failed()) begin_foreseen({sequence, gang});
  if (!part.has_failed() && is_any_lost(plan.mask)) {
    if (Status loss = lost_gang(part, gang); !loss.ok()) fail_gang(part, gang, loss);
  }
  const bool is_bound = !part.has_failed() && bind_tables(part, gang);
  if (is_bound && has_sums()) {
    if (Status damage = check_operands(part, gang); !damage.ok()) fail_gang(part, gang, damage);
  }
  if (part.has_failed()) {
    forget_foreseen();
    events_.record({.time_ns = clock_.now_ns(),
                    .stamp = part.stamp,
                    .object = part.run,
                    .position = part.plan->part->gangs[gang].position,
                    .place = part.plan->part->gangs[gang].group,
                    .tenant = part.tenant,
                    .island = static_cast<std::uint16_t>(options_.island),
                    .kind = EventKind::kGangNoop,
                    .code = part.failure.code()});
    complete(sequence, 0, 0, false);
    return;
  }
  // Gangs that run back to back share one reading of the clock.
  const std::uint64_t begin_ns = now_ns_ > 0 ? now_ns_ : clock_.now_ns();
  if (events_.enabled(EventKind::kGangStart)) {
    events_.record({.time_ns = begin_ns,
                    .stamp = part.stamp,
                    .object = part.run,
                    .position = part.plan->part->gangs[gang].position,
                    .place = part.plan->part->gangs[gang].group,
                    .tenant = part.tenant,
                    .island = static_cast<std::uint16_t>(options_.island),
                    .kind = EventKind::kGangStart});
  }
  if (plan.is_simple) {
    const GangWork work = work_of(part, gang);
    Status status = backend_.run(work, unlaunched_on_);
    if (!status.ok() || losses_ > 0) [[unlikely]]
      end_in_line(part, gang, work, std::move(status));
    if (!plan.receives.empty()) check_loans(part, gang);
    if (!file_arrays_.empty()) [[unlikely]]
      check_files(part, gang);
    if (plan.may_replay) [[unlikely]]
      replay_in_line(part, gang, work);
    now_ns_ = clock_.now_ns();
    complete(sequence, begin_ns, now_ns_, true);
    return;
  }
  now_ns_ = 0;
  switch (part.plan->part->gangs[gang].kind) {
    case Gang::Kind::kSend:
      complete(sequence, begin_ns, begin_ns, true);
      break;
    case Gang::Kind::kReshard:
      start_reshard(part, gang, sequence);
      break;
    case Gang::Kind::kCompute:
      if (plan.is_spread) {
        start_spread(sequence, gang, nullptr);
        begin_next(sequence);
      } else {
        start_beside(sequence);
      }
      break;
  }
}

/// Its operands and outputs are valid until the next call.
GangWork HostCore::work_of(const PartRun& part, std::uint32_t gang) {
  const GangPlan& plan = part.plan->gangs[gang];
  const std::size_t operands = plan.operands.size(), values = operands + plan.results.size();
  if (value_scratch_.size() < values) value_scratch_.resize(values);
  function::ShardedBuffer* const first = value_scratch_.data();
  function::ShardedBuffer* next = first;
  for (const ValueSlot& slot : plan.operands) *next++ = buffer_at(part, slot);
  for (const ValueSlot& slot : plan.results) *next++ = buffer_at(part, slot);
  return {.executable = plan.executable,
          .operands = {first, operands},
          .outputs = {first + operands, next},
          .scratch = plan.scratch_block == kNone ? function::ShardedBuffer()
                                                 : buffer_at(part, plan.scratch),
          .shards = plan.shards,
          .plan = part.plan->part.get(),
          .gang = gang,
          .stamp = part.stamp};
}

void HostCore::start_reshard(PartRun& part, std::uint32_t gang, std::uint64_t sequence) {
  const GangPlan& shape = part.plan->gangs[gang];
  const transfer::ReshardPlan& plan = *shape.reshard;
  const function::ShardedBuffer source = buffer_at(part, shape.operands[0]);
  const function::ShardedBuffer target = buffer_at(part, shape.results[0]);
  const std::uint64_t begin_ns = clock_.now_ns();
  const auto copy = [this, sequence, begin_ns, &plan, source, target] {
    backend_.copy(
        plan.bytes_total(),
        [&plan, source, target] {
          for (std::size_t shard = 0; shard < plan.target_shards(); ++shard) {
            for (const transfer::Copy& copy : plan.copies(shard)) {
              transfer::copy_region(source.shard(copy.source_shard), target.shard(shard), copy);
            }
          }
        },
        [this, sequence, begin_ns] { end_reshard(sequence, begin_ns); });
  };
  const std::uint32_t value = part.plan->part->gangs[gang].operands[0];
  const Room* const room = remote_room(part, value);
  if (!room) return copy();
  annexes_.read(*room, shape.operands[0].offset, part.plan->data_bytes[value], source, true,
                [copy](const Status&) { copy(); });
}

void HostCore::end_reshard(std::uint64_t sequence, std::uint64_t begin_ns) {
  const Entry& entry = entry_at(sequence);
  write_out(*entry.part, entry.part->plan->part->gangs[entry.gang].results[0]);
  finish_async(sequence, {}, begin_ns, clock_.now_ns());
}

void HostCore::finish_async(std::uint64_t sequence, Status status, std::uint64_t begin_ns,
                            std::uint64_t end_ns) {
  begin_turn();  // The backend has told it, not a message.
  PartRun& part = *entry_at(sequence).part;
  const std::uint32_t gang = entry_at(sequence).gang;
  if (losses_ > 0) status = outcome_of(part, gang, std::move(status));
  if (!status.ok()) fail_gang(part, gang, status);
  check_loans(part, gang);
  if (!file_arrays_.empty()) check_files(part, gang);
  complete(sequence, begin_ns, end_ns, true);
}

void HostCore::fail_gang(PartRun& part, std::uint32_t gang, const Status& status) {
  const std::string_view site = part.plan->part->site_of(gang);
  const std::string where = site.empty() ? "" : "; called at " + std::string(site);
  fail(part, Status(status.code(), status.message() + where));
}

void HostCore::complete(std::uint64_t sequence, std::uint64_t begin_ns, std::uint64_t end_ns,
                        bool ran) {
  Entry& entry = entry_at(sequence);
  const std::uint32_t gang = entry.gang++;
  entry.state = entry.gang == entry.last ? Entry::State::kDone : Entry::State::kWaiting;
  if (entry.ahead > 0) {
    --entry.ahead;
    entry.state = Entry::State::kRunning;
  }
  finish_gang(*entry.part, gang, begin_ns, end_ns, ran);  // May be the end of the part.
}

void HostCore::finish_gang(PartRun& part, std::uint32_t gang, std::uint64_t begin_ns,
                           std::uint64_t end_ns, bool ran) {
  const program::PartPlan& shape = *part.plan->part;
  ++part.gangs_done;
  if (ran && has_sums() && !part.has_failed()) {
    for (const std::uint32_t value : shape.gangs[gang].results) take_sums(part, value);
  }
  if (ran) {
    events_.record({.time_ns = end_ns,
                    .stamp = part.stamp,
                    .object = part.run,
                    .value = begin_ns,
                    .position = shape.gangs[gang].position,
                    .place = shape.gangs[gang].group,
                    .tenant = part.tenant,
                    .island = static_cast<std::uint16_t>(options_.island),
                    .kind = EventKind::kGangEnd});
    if (part.plan->is_uniform) {
      ++part.gangs_ran;
      part.busy_ns += end_ns - begin_ns;
    } else {
      count_on_devices(part.plan->gangs[gang], 1, end_ns - begin_ns);
    }
  }
  hand_on(part, gang);
  report_done(part.stamp, gang, gang + 1);
  if (part.gangs_done >= part.gangs_placed) end_part_if_over(part);
}

/// What the end of a gang sets free or lets go on.
void HostCore::hand_on(PartRun& part, std::uint32_t gang) {
  const GangPlan& plan = part.plan->gangs[gang];
  const program::PartPlan& shape = *part.plan->part;
  if (!plan.receives.empty()) end_reads(part, gang);
  if (plan.makes_outputs && part.has_failed()) poison_outputs(part, gang);
  if (!part.donors.empty()) drop_donors(part, gang);
  if (plan.makes_outputs && !part.has_failed()) {
    for (const std::uint32_t value : shape.gangs[gang].results) {
      if (shape.values[value].place != program::Value::Place::kOutput) continue;
      arrays_.find(part.outputs[shape.values[value].index])->second.state =
          ArrayRecord::State::kReady;
    }
  }
  for (const std::uint32_t send : plan.sends) {
    part.sends[send].is_made = true;
    try_send(part, send);
  }
  if (plan.ends_step) end_steps(part, gang);
  if (plan.ends_step || part.is_cancelled) shrink_blocks(part);
}

/// Devices of `gang` took part in `gangs` gangs like it.
void HostCore::count_on_devices(const GangPlan& gang, std::uint32_t gangs, std::uint64_t busy_ns) {
  for (std::size_t word = 0; word < gang.mask.size(); ++word) {
    for (std::uint64_t bits = gang.mask[word]; bits != 0; bits &= bits - 1) {
      DeviceState& device = devices_[word * 64 + static_cast<unsigned>(std::countr_zero(bits))];
      device.busy_ns += busy_ns;
      device.gangs_done += gangs;
    }
  }
}

/// Blocks need less from here on. They shrink only behind gangs that run on all their devices, and
/// those of one device are done in order.
void HostCore::end_steps(PartRun& part, std::uint32_t gang) {
  const program::PartPlan& shape = *part.plan->part;
  for (std::size_t b = 0; b < shape.blocks.size(); ++b) {
    for (const program::BlockStep& step : shape.blocks[b].steps) {
      if (step.gang == gang + 1) part.block_needs[b] = std::min(part.block_needs[b], step.bytes);
    }
  }
}

/// Gives back what neither gangs nor transfers use any more.
void HostCore::shrink_blocks(PartRun& part) {
  const program::PartPlan& shape = *part.plan->part;
  for (std::size_t b = 0; b < shape.blocks.size(); ++b) {
    if (part.block_bytes[b] == 0) continue;
    std::uint64_t bytes = part.block_needs[b];
    // Of a cancelled part only the gangs that were placed need room.
    if (part.is_cancelled && !is_busy_on(part, shape.blocks[b].group)) bytes = 0;
    bytes = std::max(bytes, held_bytes(part, shape.blocks[b].group));
    if (bytes >= part.block_bytes[b]) continue;
    uncharge(shape.groups[shape.blocks[b].group].devices, part.block_bytes[b] - bytes);
    part.block_bytes[b] = bytes;
  }
}

bool HostCore::is_busy_on(const PartRun& part, std::uint32_t group) const {
  const DeviceMask& mask = part.plan->group_masks[group];
  for (std::size_t i = pending_begin_; i < pending_.size(); ++i) {
    const Entry& entry = pending_[i];
    if (entry.state == Entry::State::kDone || entry.part != &part) continue;
    for (std::uint32_t gang = entry.gang; gang < entry.last; ++gang) {
      if (intersects(part.plan->gangs[gang].mask, mask)) return true;
    }
  }
  return false;
}

void HostCore::report_done(Stamp stamp, std::uint32_t first, std::uint32_t last) {
  auto& dones = outbox_.dones;
  if (!dones.empty() && dones.back().kind == HostOutbox::Done::Kind::kGangs &&
      dones.back().id == stamp && dones.back().last == first) {
    dones.back().last = last;
    return;
  }
  dones.push_back({HostOutbox::Done::Kind::kGangs, stamp, first, last});
}

/// The scheduler learns of the ends of short gangs that follow one another at once, and the
/// controller of uploads with them. Whoever waits for their words is not kept waiting: such gangs
/// end by themselves, and the island's work with them.
bool HostCore::may_tell_later() const {
  constexpr std::uint64_t kSoonNs = 500'000;
  constexpr std::size_t kWordsMax = 64;
  if (spread_.empty() || outbox_.dones.size() + outbox_.arrived.size() > kWordsMax) return false;
  return std::ranges::all_of(spread_,
                             [](const auto& spread) { return spread.second.cost_ns <= kSoonNs; });
}

bool HostCore::has_only_ends() const {
  return outbox_.failures.empty() &&
         std::ranges::all_of(outbox_.dones, [](const HostOutbox::Done& done) {
           return done.kind == HostOutbox::Done::Kind::kGangs ||
                  done.kind == HostOutbox::Done::Kind::kReceived;
         });
}

bool HostCore::bind_tables(PartRun& part, std::uint32_t gang) {
  for (const std::uint32_t table : part.plan->gangs[gang].tables) {
    if (!part.is_bound[table] && !bind_table(part, table)) return false;
  }
  return true;
}

bool HostCore::bind_table(PartRun& part, std::uint32_t table) {
  const program::PartPlan& shape = *part.plan->part;
  const auto blocks = static_cast<std::uint32_t>(shape.blocks.size());
  const auto args = static_cast<std::uint32_t>(shape.args.size());
  if (table < blocks) {
    ensure_block(part, table);
    bind(part, table, part.blocks[table]);
  } else if (table < blocks + args) {
    if (!bind_arg(part, table - blocks)) return false;
  } else if (table < part.plan->nothing) {
    make_output(part, table - blocks - args);
  } else {
    bind_receive(part, table);
  }
  part.is_bound[table] = 1;
  return true;
}

/// Where it is received to; what is taken over from its sender lies there instead.
void HostCore::bind_receive(PartRun& part, std::uint32_t table) {
  const auto& tables = part.plan->receive_tables;
  const auto receive = std::find(tables.begin(), tables.end(), table) - tables.begin();
  const program::PartPlan& shape = *part.plan->part;
  const program::Value& value =
      shape.values[shape.receives[static_cast<std::size_t>(receive)].value];
  const std::uint32_t block = part.plan->block_of_group[value.group];
  if (!part.is_bound[block]) bind_table(part, block);
  part.tables[table] = buffer_at(part, {block, value.offset});
}

void HostCore::ensure_block(PartRun& part, std::uint32_t block) {
  const program::Block& shape = part.plan->part->blocks[block];
  const auto& devices = part.plan->part->groups[shape.group].devices;
  // Less than all of it, where gangs that did nothing are over before there was room for them.
  const std::uint64_t bytes = part.block_needs[block];
  charge(devices, bytes);
  part.block_bytes[block] = bytes;
  part.blocks[block] =
      make_device_memory(devices, shape.steps.front().bytes, owner_of(part.tenant));
}

}  // namespace seaway::device
