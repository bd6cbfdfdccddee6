// Views: what a new scheduler is told, and what is cut off from hosts that are gone.

#include <algorithm>

#include "actor/router.hpp"
#include "base/check.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {
namespace {

/// Of a part's gangs, those before `placed` that are not among `open`, as ranges.
std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_without(
    std::uint32_t placed, const std::vector<std::uint32_t>& open) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  std::uint32_t first = 0;
  for (const std::uint32_t gang : open) {
    if (first < gang) ranges.emplace_back(first, gang);
    first = gang + 1;
  }
  if (first < placed) ranges.emplace_back(first, placed);
  return ranges;
}

}  // namespace

HostArray::Place HostCore::place_of(const ArrayRecord& record) {
  switch (record.state) {
    case ArrayRecord::State::kPending:  // An upload on its way has its room already.
      return record.is_upload ? HostArray::Place::kUploadRoom : HostArray::Place::kNowhere;
    case ArrayRecord::State::kReady:
      return HostArray::Place::kDevice;
    case ArrayRecord::State::kOnHost:
      return record.is_spilled ? HostArray::Place::kSpillRoom : HostArray::Place::kUploadRoom;
    case ArrayRecord::State::kPoisoned:
      break;
  }
  return record.memory.has_value() ? HostArray::Place::kDevice : HostArray::Place::kNowhere;
}

HostState HostCore::state() const {
  HostState state;
  state.last_stamp = last_launch_;
  std::map<Stamp, std::vector<std::uint32_t>> open;
  for (std::size_t i = pending_begin_; i < pending_.size(); ++i) {
    const Entry& entry = pending_[i];
    if (entry.state == Entry::State::kDone) continue;
    if (!entry.part) continue;
    auto& gangs = open[entry.part->stamp];
    for (std::uint32_t gang = entry.gang; gang < entry.last; ++gang) gangs.push_back(gang);
  }
  for (const auto& [stamp, part] : parts_) {
    HostPart& seen = state.parts.emplace_back();
    seen.stamp = stamp;
    seen.is_admitted = part->is_admitted;
    seen.has_overtaken = part->has_overtaken;
    seen.beside = part->beside;
    seen.is_cancelled = part->is_cancelled;
    seen.is_fencing = part->is_fencing;
    seen.placed = part->gangs_placed;
    auto& gangs = open[stamp];
    std::sort(gangs.begin(), gangs.end());
    seen.done = ranges_without(part->gangs_placed, gangs);
    const program::PartPlan& plan = *part->plan->part;
    for (std::size_t r = 0; r < part->receives.size(); ++r) {
      if (part->receives[r].has_value) seen.received.push_back(plan.receives[r].edge);
    }
    seen.is_moving = part->has_moved;
    seen.is_moved = part->has_moved && !part->is_moving;
    for (std::size_t s = 0; s < part->sends.size(); ++s) {
      if (part->sends[s].state == SendState::State::kClosed) {
        seen.delivered.push_back(plan.sends[s].edge);
      }
    }
    if (part->has_failed()) state.failures.emplace_back(stamp, part->failure);
  }
  for (const auto& [id, record] : arrays_) {
    if (record.is_dropped) continue;
    state.arrays.push_back({id, place_of(record), record.state == ArrayRecord::State::kPoisoned,
                            &record.desc->group.devices, record.desc->shard_bytes});
  }
  for (const auto& [stamp, failure] : ended_failures_) state.failures.emplace_back(stamp, failure);
  std::ranges::sort(state.parts, {}, &HostPart::stamp);
  std::ranges::sort(state.arrays, {}, &HostArray::array);
  std::ranges::sort(state.failures, {}, [](const auto& failure) { return failure.first; });
  return state;
}

/// What was said for launches that have not come was said by somebody else.
void HostCore::begin_view() {
  held_orders_.clear();
  spilling_.reset();        // It stays where it is.
  spilled_.unsaid.clear();  // The view says where they are.
  ++spill_view_;
  held_causes_.clear();
}

void HostCore::lose_client(ClientId client) {
  end_reads(client);
  std::vector<ArrayId> missing;
  for (const auto& [id, record] : arrays_) {
    const bool is_arriving = record.is_upload && record.state == ArrayRecord::State::kPending;
    if (is_arriving && client_of(id) == client) missing.push_back(id);
  }
  std::sort(missing.begin(), missing.end());
  SEAWAY_PROBE_IF(!missing.empty(), "uploads do not arrive before their client is lost");
  for (const ArrayId id : missing) {
    poison_array(id, {StatusCode::kHostLost,
                      "array " + std::to_string(sequence_of(id)) + " did not arrive on island " +
                          std::to_string(options_.island) + " before its client was lost"});
    settle(id);
  }
  if (data_) data_->forget(actor::data_peer_of_client(client));
}

void HostCore::forget_failures(Stamp oldest) {
  ended_failures_.erase(ended_failures_.begin(), ended_failures_.lower_bound(oldest));
}

void HostCore::cut_edges(HostId peer, Stamp last, const Status& cause) {
  Stamp& cut = cut_[peer];
  cut = std::max(cut, last);
  std::erase_if(held_edges_, [peer, last](const auto& held) {
    return held.second.from == peer && (held.first >> 24) <= last;
  });
  cut_loans(peer, last);
  std::vector<Stamp> stamps;
  for (const auto& [stamp, part] : parts_) {
    if (stamp <= last && part->edges_open > 0) stamps.push_back(stamp);
  }
  std::sort(stamps.begin(), stamps.end());
  for (const Stamp stamp : stamps) cut_part(*find(stamp), peer, cause);
}

Stamp HostCore::cut_until(HostId peer) const {
  const auto found = cut_.find(peer);
  return found == cut_.end() ? 0 : found->second;
}

void HostCore::cut_part(PartRun& part, HostId peer, const Status& cause) {
  const program::PartPlan& plan = *part.plan->part;
  for (std::uint32_t r = 0; r < part.receives.size(); ++r) {
    ReceiveState& receive = part.receives[r];
    if (plan.receives[r].peer == peer && receive.is_fetched) cut_fetch(part, r, cause);
    // What is being copied is here already, and ends by itself.
    const bool is_open =
        receive.state == ReceiveState::State::kIdle || receive.state == ReceiveState::State::kArmed;
    if (plan.receives[r].peer != peer || !is_open) continue;
    fail(part, input_lost("edge " + std::to_string(plan.receives[r].edge) + " from island " +
                          std::to_string(peer) + ": " + cause.to_string()));
    SEAWAY_PROBE("a receive is cut off");
    receive.has_value = true;
    bulk_.take_edge(part.stamp, plan.receives[r].edge);  // Its bytes may have come before its word.
    close_receive(part, r);
  }
  for (std::uint32_t s = 0; s < part.sends.size(); ++s) {
    const bool is_open = part.sends[s].state != SendState::State::kClosed;
    SEAWAY_PROBE_IF(plan.sends[s].peer == peer && is_open, "a send is cut off");
    if (plan.sends[s].peer == peer && is_open) close_send(part, s);
  }
  end_part_if_over(part);
}

/// Nothing that `from` says of `stamp` counts any more.
bool HostCore::is_cut(Stamp stamp, HostId from) const {
  if (stamp <= born_stamp_) return true;
  return stamp <= cut_until(from);
}

}  // namespace seaway::device
