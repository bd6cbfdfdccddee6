// Orders and parts: what the controller and the scheduler say, and when a part is over.

#include "device/host_core.hpp"

#include <algorithm>
#include <limits>

#include "actor/router.hpp"
#include "base/check.hpp"
#include "base/mutant.hpp"
#include "transport/memory_file.hpp"

namespace seaway::device {

using program::kNone;
using program::OrderKind;

namespace {

std::uint64_t edge_key(Stamp stamp, std::uint32_t edge) { return (stamp << 24) | edge; }

/// Of dead slabs: so that steps that are alike find the memory of the one before.
std::size_t cached_bytes(const HostCore::Options& options) {
  return std::max<std::size_t>(std::size_t{256} << 20, options.devices * options.device_bytes / 2);
}

}  // namespace

HostCore::HostCore(Options options, Backend& backend, transport::LocalBulk& bulk,
                   const Clock& clock, events::EventStream& events, transport::NearMemory* near,
                   transport::DataPlane* data, store::SpillFile* spill)
    : options_(options),
      backend_(backend),
      bulk_(bulk),
      clock_(clock),
      turn_clock_(clock),
      events_(events),
      near_(near),
      data_(data),
      arena_(near ? near->lendable() : std::span<std::byte>(), heap_, transport::scrub),
      slabs_(arena_, {.cached_bytes_max = cached_bytes(options)}),
      annexes_(options.hosts, options.devices,
               {near,
                [island = options.island](std::uint32_t host) {
                  return actor::data_peer_of(island, host);
                },
                options.exchange.packed_bytes_max}),
      devices_(options.devices),
      lost_((options.devices + 63) / 64),
      last_spread_(first_gang_of(options.life)),
      exchanges_(0, {backend, slabs_, near, data,
                     [island = options.island](std::uint32_t host) {
                       return actor::data_peer_of(island, host);
                     },
                     options.exchange, options.life}),
      stages_(backend, exchanges_),
      blocked_((options.devices + 63) / 64) {
  std::vector<DeviceId> all(options.devices);
  for (DeviceId i = 0; i < options.devices; ++i) all[i] = i;
  all_devices_ = mask_of(all, options.devices);
  SEAWAY_CHECK(!annexes_.any() ||
                   (options.is_process && !has_sums() && options.integrity.replay_per_mille == 0),
               options.hosts);
  if (options.is_process) born_stamp_ = std::numeric_limits<Stamp>::max();  // Not born yet.
  for (DeviceState& device : devices_) device.budget_bytes = options.device_bytes;
  if (!spill) return;
  spilled_.file = spill;
  spilled_.tiers.emplace(store::SpillTiers::Limits{.memory_bytes = options.spill_memory_bytes,
                                                   .file_bytes = options.spill_file_bytes});
}

HostCore::~HostCore() {
  forget_foreseen();
  if (spilled_.file) spilled_.file->close();
  arena_.scrub_no_more();
  slabs_.retire();
}

PartRun* HostCore::find(Stamp stamp) {
  const auto found = parts_.find(stamp);
  return found == parts_.end() ? nullptr : found->second.get();
}

const PartRun* HostCore::find_part(Stamp stamp) const {
  const auto found = parts_.find(stamp);
  return found == parts_.end() ? nullptr : found->second.get();
}

const std::vector<DeviceId>* HostCore::array_devices(ArrayId array) const {
  const auto found = arrays_.find(array);
  return found == arrays_.end() ? nullptr : &found->second.desc->group.devices;
}

/// The actor ends the conversation with it.
void HostCore::refuse(actor::Role role, std::uint32_t index, const std::string& why) {
  outbox_.wrong.push_back({role, index, protocol_error(why)});
}

void HostCore::refuse_order(const std::string& why) {
  refuse(actor::Role::kIsland, options_.island, "order refused: " + why);
}

Status HostCore::check_launch(Stamp stamp, PlanId plan,
                              const std::function<ArrayId(std::uint32_t)>& id_at) const {
  const auto who = [stamp] { return "launch of stamp " + std::to_string(stamp); };
  const auto found = plans_.find(plan);
  if (found == plans_.end()) {
    return protocol_error(who() + ": plan " + std::to_string(plan) + " is not defined");
  }
  if (stamp <= last_launch_) {
    return protocol_error(who() + " after stamp " + std::to_string(last_launch_));
  }
  const auto args = static_cast<std::uint32_t>(found->second->part->args.size());
  for (std::uint32_t arg = 0; arg < args; ++arg) {
    if (arrays_.contains(id_at(arg))) continue;
    return protocol_error(who() + ": argument " + std::to_string(arg) + ", array " +
                          std::to_string(id_at(arg)) + ", is not on this host");
  }
  return {};
}

/// Gangs are placed once each, in their order.
Status HostCore::check_place(const PartRun& part, std::uint32_t first, std::uint32_t last) const {
  const bool is_next = part.is_admitted && first == part.gangs_placed && first < last &&
                       last <= part.plan->gangs.size();
  if (is_next) return {};
  return protocol_error("gangs " + std::to_string(first) + " to " + std::to_string(last) +
                        " of stamp " + std::to_string(part.stamp) +
                        " cannot be placed: " + std::to_string(part.gangs_placed) + " of " +
                        std::to_string(part.plan->gangs.size()) + " were, and the part is " +
                        (part.is_admitted ? "admitted" : "not admitted"));
}

/// A gang that is placed and not done may read or write it.
bool HostCore::is_in_use(ArrayId array) const {
  bool is_found = false;
  for (std::size_t i = pending_begin_; i < pending_.size() && !is_found; ++i) {
    const Entry& entry = pending_[i];
    if (entry.state == Entry::State::kDone || !entry.part) continue;
    const PartRun& part = *entry.part;
    const std::size_t args = part.plan->part->blocks.size(), outputs = args + part.args.size();
    for (std::uint32_t gang = entry.gang; gang < entry.last && !is_found; ++gang) {
      for (const std::uint32_t table : part.plan->gangs[gang].tables) {
        if (table < args || table >= part.plan->nothing) continue;
        is_found |=
            array == (table < outputs ? part.args[table - args] : part.outputs[table - outputs]);
      }
    }
  }
  return is_found;
}

void HostCore::launch(Stamp stamp, RunId run, PlanId plan_id, TenantId tenant, bool acknowledge,
                      const std::function<ArrayId(std::uint32_t)>& id_at) {
  if (const Status status = check_launch(stamp, plan_id, id_at); !status.ok()) {
    return refuse(actor::Role::kController, 0, status.message());
  }
  const auto found = plans_.find(plan_id);
  std::unique_ptr<PartRun> part;
  if (spare_parts_.empty()) {
    part = std::make_unique<PartRun>();
  } else {
    part = std::move(spare_parts_.back());
    spare_parts_.pop_back();
  }
  const HostPlan& plan = *found->second;
  const program::PartPlan& shape = *plan.part;
  part->plan = &plan;
  ++plan.parts;
  part->stamp = stamp;
  part->run = run;
  part->tenant = tenant;
  part->acknowledge = acknowledge;
  part->tables.resize(plan.tables);
  part->tables[plan.nothing] = {};
  part->is_bound.assign(plan.tables, 0);
  if (annexes_.any()) part->rooms.assign(plan.tables, nullptr);
  part->blocks.clear();
  part->blocks.resize(shape.blocks.size());
  part->block_bytes.assign(shape.blocks.size(), 0);
  part->block_needs.clear();
  for (const program::Block& block : shape.blocks) {
    part->block_needs.push_back(block.steps.front().bytes);
  }
  if (has_sums()) part->sums.assign(shape.values.size(), {});
  part->sends.clear();
  part->sends.resize(shape.sends.size());
  part->receives.assign(shape.receives.size(), {});
  part->edges_open = static_cast<std::uint32_t>(shape.sends.size() + shape.receives.size());
  std::uint32_t next = 0;
  part->args.resize(shape.args.size());
  ArrayId newest = 0;
  for (ArrayId& id : part->args) {
    id = id_at(next++);
    newest = std::max(newest, id);
    if (spilled_.tiers) spilled_.tiers->read_by(id, stamp);
  }
  part->outputs.resize(shape.outputs.size());
  for (std::size_t i = 0; i < part->outputs.size(); ++i) {
    part->outputs[i] = id_at(next++);
    ArrayRecord& record = arrays_[part->outputs[i]];
    record.desc = plan.outputs[i];
  }
  if (const auto held = held_causes_.find(stamp); held != held_causes_.end()) {
    part->cancel_cause = std::move(held->second);
    held_causes_.erase(held);
  }
  last_launch_ = stamp;
  parts_.emplace(stamp, std::move(part));
  // With it whoever reads the events later knows which plan the gangs of this stamp belong to.
  events_.record({.time_ns = turn_clock_.now_ns(),
                  .stamp = stamp,
                  .object = plan_id,
                  .value = newest,
                  .tenant = tenant,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = events::EventKind::kPrepare});
  // Whatever overtook this launch is applied now.
  for (std::uint32_t s = 0; !held_edges_.empty() && s < shape.sends.size(); ++s) {
    const auto held = held_edges_.find(edge_key(stamp, shape.sends[s].edge));
    if (held == held_edges_.end()) continue;
    const HeldEdge edge_held = held->second;
    held_edges_.erase(held);
    edge(edge_held.kind, stamp, shape.sends[s].edge, edge_held.from, edge_held.status,
         edge_held.is_near);
  }
  follow_held_orders();
}

void HostCore::follow_held_orders() {
  while (!held_orders_.empty() && !spilling_) {
    const HeldOrder held = held_orders_.front();
    if (is_early(held.kind, held.id)) break;
    held_orders_.pop_front();
    apply_order(held.kind, held.id, held.first, held.last);
  }
}

void HostCore::order(OrderKind kind, std::uint64_t id, std::uint32_t first, std::uint32_t last) {
  if (!held_orders_.empty() || spilling_ || is_early(kind, id)) {
    held_orders_.push_back({kind, id, first, last});
    return;
  }
  apply_order(kind, id, first, last);
}

bool HostCore::is_early(OrderKind kind, std::uint64_t id) const {
  // Launches come in stamp order.
  return kind != OrderKind::kFree && kind != OrderKind::kSpill && id > last_launch_;
}

void HostCore::apply_order(OrderKind kind, std::uint64_t id, std::uint32_t first,
                           std::uint32_t last) {
  if (kind == OrderKind::kFree) {
    if (pending_begin_ == pending_.size()) {
      free_array(id);
    } else {
      pending_.push_back({nullptr, 0, 0, Entry::State::kWaiting, id});
    }
    return;
  }
  if (kind == OrderKind::kSpill) {
    spill(id);
    return;
  }
  PartRun* part = find(id);
  if (!part) {
    // A cancel or a move crossed the part's last word to the scheduler: there is nothing left.
    if (kind != OrderKind::kCancel && kind != OrderKind::kMoveSends) {
      return refuse_order("there is no part of stamp " + std::to_string(id) + " for order " +
                          std::to_string(static_cast<int>(kind)));
    }
    outbox_.dones.push_back({kind == OrderKind::kCancel ? HostOutbox::Done::Kind::kFenced
                                                        : HostOutbox::Done::Kind::kMoved,
                             id, 0, 0});
    return;
  }
  switch (kind) {
    case OrderKind::kAdmit:
      if (part->is_admitted) {
        return refuse_order("the part of stamp " + std::to_string(id) + " is admitted already");
      }
      part->is_admitted = true;
      part->has_overtaken = first != 0;
      part->beside = last == 0 ? 0 : id - last;
      part->room_mark = pending_base_ + pending_.size();
      if (!part->receives.empty() && !part->is_armed) arming_.push_back(part);
      break;
    case OrderKind::kPlace:
      if (const Status status = check_place(*part, first, last); !status.ok()) {
        return refuse_order(status.message());
      }
      if (part->plan->is_uniform) {
        if (first < last) pending_.push_back({part, first, last, Entry::State::kWaiting, 0});
      } else {
        for (std::uint32_t gang = first; gang < last; ++gang) {
          pending_.push_back({part, gang, gang + 1, Entry::State::kWaiting, 0});
        }
      }
      part->gangs_placed += last - first;
      if (part->acknowledge && part->gangs_placed == part->plan->gangs.size()) {
        outbox_.enqueued.push_back(part->stamp);
        part->acknowledge = false;
      }
      break;
    case OrderKind::kCancel:
      cancel(*part);
      break;
    case OrderKind::kMoveSends:
      move_sends(*part);
      break;
    case OrderKind::kFree:
    case OrderKind::kSpill:
      break;
  }
}

void HostCore::explain_cancel(Stamp stamp, Status cause) {
  if (PartRun* part = find(stamp)) {
    part->cancel_cause = std::move(cause);
  } else if (stamp > last_launch_) {
    held_causes_[stamp] = std::move(cause);
  }
}

void HostCore::cancel(PartRun& part) {
  if (part.is_cancelled) {
    if (!options_.is_process) return;
    // A new scheduler asks again.
    part.is_fencing = true;
    return report_fenced(part);
  }
  part.is_cancelled = true;
  if (!part.has_failed()) {
    // The controller knows why, and has told whoever asked: nothing to report upwards.
    part.is_reported = true;
    part.failure = !part.cancel_cause.ok()
                       ? part.cancel_cause
                       : cancelled("run " + std::to_string(part.run) + " was cancelled");
  }
  if (!part.is_armed) decline(part);
  // Gangs that will never be placed make nothing: their values are poison from now on.
  for (std::uint32_t s = 0; s < part.sends.size(); ++s) {
    part.sends[s].is_made = true;
    try_send(part, s);
  }
  for (std::uint32_t i = 0; i < part.outputs.size(); ++i) {
    if (part.plan->part->outputs[i].gang < part.gangs_placed) continue;
    poison_array(part.outputs[i], part.failure);
  }
  part.is_fencing = true;
  shrink_blocks(part);
  report_fenced(part);
  end_part_if_over(part);
}

/// Once a cancelled part's last transfer is over, nobody reads or writes its room but its gangs.
void HostCore::report_fenced(PartRun& part) {
  if (!part.is_fencing) return;
  if (part.edges_open > 0 && !SEAWAY_MUTANT("a fence comes before the last transfer")) return;
  part.is_fencing = false;
  outbox_.dones.push_back({HostOutbox::Done::Kind::kFenced, part.stamp, 0, 0});
}

void HostCore::fail(PartRun& part, Status status) {
  if (part.has_failed()) return;
  part.failure = std::move(status);
  if (!part.is_reported && !SEAWAY_MUTANT("nobody hears that a part failed")) {
    part.is_reported = true;
    outbox_.failures.push_back({part.stamp, part.failure});
  }
}

void HostCore::end_part_if_over(PartRun& part) {
  const bool all_done = part.gangs_done == part.plan->gangs.size() ||
                        (part.is_cancelled && part.gangs_done == part.gangs_placed);
  if (!all_done) return;
  if (!part.is_ended) {
    part.is_ended = true;
    if (!part.is_armed) decline(part);
    // A donation that was placed has been paid for, though no gang took the buffer over. What was
    // not placed may still be read by earlier runs: the scheduler says when it goes.
    for (std::size_t a = 0; part.has_failed() && a < part.args.size(); ++a) {
      const std::uint32_t output = part.plan->part->args[a].donated_to;
      if (output == kNone || part.plan->part->outputs[output].gang >= part.gangs_placed) continue;
      free_array(part.args[a]);
    }
    for (std::uint32_t i = 0; i < part.outputs.size(); ++i) {
      if (part.has_failed()) poison_array(part.outputs[i], part.failure);
      settle(part.outputs[i]);
    }
  }
  if (part.edges_open == 0) erase_part(part);
}

void HostCore::erase_part(PartRun& part) {
  if (options_.is_process && part.has_failed()) ended_failures_[part.stamp] = part.failure;
  if (part.gangs_ran > 0) count_on_devices(part.plan->gangs[0], part.gangs_ran, part.busy_ns);
  for (std::size_t b = 0; b < part.blocks.size(); ++b) {
    if (part.block_bytes[b] > 0) {
      const auto& group = part.plan->part->groups[part.plan->part->blocks[b].group];
      uncharge(group.devices, part.block_bytes[b]);
    }
  }
  for (const ArrayId id : part.args) {
    if (spilled_.tiers) spilled_.tiers->let_go(id, part.stamp);
  }
  std::erase(arming_, &part);
  --part.plan->parts;
  for (std::uint32_t r = 0; r < part.receives.size(); ++r) {
    if (part.receives[r].kept) give_back(part, r);
  }
  const auto found = parts_.find(part.stamp);
  std::unique_ptr<PartRun> spare = std::move(found->second);
  parts_.erase(found);
  spare->blocks.clear();
  spare->donors.clear();
  spare->sends.clear();
  spare->failure = spare->cancel_cause = Status();
  spare->room_mark = 0;
  spare->busy_ns = 0;
  spare->gangs_placed = spare->gangs_done = spare->gangs_ran = 0;
  spare->is_admitted = spare->is_armed = spare->is_cancelled = false;
  spare->has_overtaken = spare->has_moved = false;
  spare->is_reported = spare->is_ended = spare->is_moving = spare->is_fencing = false;
  if (spare_parts_.size() < 256) spare_parts_.push_back(std::move(spare));
}

std::string HostCore::why(Stamp stamp) const {
  const auto found = parts_.find(stamp);
  if (found == parts_.end()) return "";
  const PartRun& part = *found->second;
  const std::string name =
      "run " + std::to_string(part.run) + " on island " + std::to_string(options_.island) + ": ";
  std::string text;
  for (std::size_t i = pending_begin_; i < pending_.size(); ++i) {
    const Entry& entry = pending_[i];
    if (entry.part != &part || entry.state == Entry::State::kDone) continue;
    text += name + "gang " + std::to_string(entry.gang);
    if (entry.state == Entry::State::kRunning) {
      text += " runs now\n";
      continue;
    }
    std::size_t ahead = 0;
    for (std::size_t j = pending_begin_; j < i; ++j) {
      ahead += pending_[j].state != Entry::State::kDone;
    }
    text += " waits behind " + std::to_string(ahead) + " entries of the order";
    look_at_arrays(part, entry.gang, [this, &text](ArrayId id) {
      if (!is_away(id)) return;
      text += ", for array " + std::to_string(sequence_of(id)) + ", which is read from the file";
    });
    for (const std::uint32_t r : part.plan->gangs[entry.gang].receives) {
      if (part.receives[r].has_value) continue;
      const program::Receive& receive = part.plan->part->receives[r];
      text += ", for edge " + std::to_string(receive.edge) + " from island " +
              std::to_string(receive.peer);
    }
    text += "\n";
  }
  if (text.empty() && part.edges_open > 0) {
    text = name + std::to_string(part.edges_open) + " edges to or from other islands are open\n";
  }
  return text;
}

}  // namespace seaway::device
