// Values from and to other islands: armed, delivered, consumed; or declined, or poison.

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using Edge = HostOutbox::Edge;
using events::EventKind;

namespace {

std::uint64_t edge_key(Stamp stamp, std::uint32_t edge) { return (stamp << 24) | edge; }

template <class Edges>
std::uint32_t index_of(const Edges& edges, std::uint32_t edge) {
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    if (edges[i].edge == edge) return i;
  }
  return program::kNone;
}

}  // namespace

void HostCore::edge(Edge::Kind kind, Stamp stamp, std::uint32_t edge, HostId from, Status status,
                    bool is_near, bool keeps) {
  if (kind == Edge::Kind::kReturned) return on_returned(stamp, edge, from);
  PartRun* part = find(stamp);
  const bool to_sender =
      kind == Edge::Kind::kArmed || kind == Edge::Kind::kDeclined || kind == Edge::Kind::kConsumed;
  if (is_cut(stamp, from)) {
    SEAWAY_PROBE("word of an edge comes from behind a cut");
    if (kind == Edge::Kind::kDelivered) bulk_.take_edge(stamp, edge);
    return;
  }
  if (!part) {
    // Only the receiver's first word can overtake the launch; all else answers something.
    if (kind != Edge::Kind::kArmed && kind != Edge::Kind::kDeclined) {
      return refuse_edge(from, stamp, edge, "there is no such part");
    }
    SEAWAY_PROBE("a receiver is faster than the launch");
    held_edges_[edge_key(stamp, edge)] = {kind, from, std::move(status), is_near};
    return;
  }
  if (!to_sender) {
    const std::uint32_t receive = index_of(part->plan->part->receives, edge);
    const bool is_awaited = receive != program::kNone &&
                            part->receives[receive].state == ReceiveState::State::kArmed &&
                            part->plan->part->receives[receive].peer == from;
    if (!is_awaited) return refuse_edge(from, stamp, edge, "no value is awaited");
    on_delivered(*part, receive, from, std::move(status));
    return;
  }
  const std::uint32_t send = index_of(part->plan->part->sends, edge);
  if (send == program::kNone || part->plan->part->sends[send].peer != from) {
    return refuse_edge(from, stamp, edge, "no value is sent there");
  }
  const SendState& state = part->sends[send];
  const bool is_awaited = kind == Edge::Kind::kConsumed
                              ? state.state == SendState::State::kSent
                              : state.state == SendState::State::kWaiting &&
                                    !(kind == Edge::Kind::kArmed && state.is_armed);
  if (!is_awaited) return refuse_edge(from, stamp, edge, "its value is elsewhere by now");
  if (kind == Edge::Kind::kArmed) {
    part->sends[send].is_armed = true;
    part->sends[send].is_near = is_near;
    part->sends[send].receiver = from;
    try_send(*part, send);
  } else {
    if (keeps) keep_lent(*part, send);
    close_send(*part, send);
    end_part_if_over(*part);
  }
}

void HostCore::refuse_edge(HostId from, Stamp stamp, std::uint32_t edge, const std::string& why) {
  refuse(actor::Role::kHost, from,
         "edge " + std::to_string(edge) + " of stamp " + std::to_string(stamp) + ": " + why);
}

std::optional<HostId> HostCore::awaits_edge(Stamp stamp, std::uint32_t edge) const {
  const auto found = parts_.find(stamp);
  if (found == parts_.end()) return std::nullopt;
  const PartRun& part = *found->second;
  const std::uint32_t receive = index_of(part.plan->part->receives, edge);
  const bool is_awaited =
      receive != program::kNone && part.receives[receive].state == ReceiveState::State::kArmed;
  return is_awaited ? std::optional<HostId>(part.plan->part->receives[receive].peer) : std::nullopt;
}

Status HostCore::check_edge(Stamp stamp, std::uint32_t edge, std::uint64_t bytes,
                            std::uint64_t stride) const {
  const PartRun& part = *parts_.at(stamp);
  const std::uint32_t receive = index_of(part.plan->part->receives, edge);
  const transfer::ReshardPlan& plan = *part.plan->receive_plans[receive];
  const std::uint64_t shards = plan.source_shards(), each = plan.source_shard_bytes();
  const bool is_apart = shards < 2 || (stride >= each && stride <= bytes / (shards - 1));
  const std::uint64_t last = shards < 2 || !is_apart ? 0 : stride * (shards - 1);
  if (is_apart && last <= bytes && each <= bytes - last) return {};
  return protocol_error("edge " + std::to_string(edge) + " of run " + std::to_string(stamp) +
                        " has come as " + std::to_string(bytes) + " bytes, each shard " +
                        std::to_string(stride) + " behind the last; it has " +
                        std::to_string(shards) + " shards of " + std::to_string(each));
}

Status HostCore::check_offer(Stamp stamp, std::uint32_t edge, std::uint64_t bytes) const {
  const PartRun& part = *parts_.at(stamp);
  const auto& target = part.plan->receive_targets[index_of(part.plan->part->receives, edge)];
  if (target && target->stream().bytes() == bytes) return {};
  return protocol_error("edge " + std::to_string(edge) + " of run " + std::to_string(stamp) +
                        " is offered as " + std::to_string(bytes) + " bytes; it has " +
                        std::to_string(target ? target->stream().bytes() : 0) +
                        " that are fetched");
}

bool HostCore::has_room(const PartRun& part) const {
  for (std::size_t i = pending_begin_; i < pending_.size(); ++i) {
    if (pending_base_ + i >= part.room_mark) return true;
    const Entry& entry = pending_[i];
    if (entry.state == Entry::State::kDone) continue;
    const DeviceMask* mask = mask_of_entry(entry);
    if (mask && intersects(*mask, part.plan->mask)) return false;
  }
  return true;
}

void HostCore::arm_ready_parts() {
  for (std::size_t i = 0; i < arming_.size();) {
    PartRun& part = *arming_[i];
    if (part.is_armed || has_room(part)) {
      arming_.erase(arming_.begin() + static_cast<std::ptrdiff_t>(i));
      if (!part.is_armed) arm(part);
    } else {
      ++i;
    }
  }
}

void HostCore::arm(PartRun& part) {
  part.is_armed = true;
  const program::PartPlan& plan = *part.plan->part;
  for (std::uint32_t r = 0; r < part.receives.size(); ++r) {
    const program::Value& value = plan.values[plan.receives[r].value];
    const std::uint32_t block = part.plan->block_of_group[value.group];
    if (block != program::kNone && !part.is_bound[block]) bind_table(part, block);
    SEAWAY_PROBE_IF(part.receives[r].state == ReceiveState::State::kClosed,
                    "a part is armed with an edge that was cut");
    if (part.receives[r].state == ReceiveState::State::kClosed) continue;  // Cut off.
    const std::uint32_t table = part.plan->receive_tables[r];
    if (table != program::kNone && !part.is_bound[table]) bind_table(part, table);
    part.receives[r].state = ReceiveState::State::kArmed;
    // One host serves an island: hosts and islands have the same numbers.
    outbox_.edges.push_back(
        {Edge::Kind::kArmed, plan.receives[r].peer, part.stamp, plan.receives[r].edge, {}});
  }
}

void HostCore::decline(PartRun& part) {
  part.is_armed = true;
  const program::PartPlan& plan = *part.plan->part;
  for (std::uint32_t r = 0; r < part.receives.size(); ++r) {
    if (part.receives[r].state == ReceiveState::State::kClosed) continue;
    outbox_.edges.push_back(
        {Edge::Kind::kDeclined, plan.receives[r].peer, part.stamp, plan.receives[r].edge, {}});
    close_receive(part, r);
  }
}

void HostCore::close_receive(PartRun& part, std::uint32_t receive) {
  SEAWAY_CHECK(part.receives[receive].state != ReceiveState::State::kClosed, part.stamp, receive);
  part.receives[receive].state = ReceiveState::State::kClosed;
  --part.edges_open;
  if (part.is_cancelled) shrink_blocks(part);
  report_fenced(part);
}

void HostCore::on_delivered(PartRun& part, std::uint32_t receive, HostId from, Status status) {
  const program::Receive& shape = part.plan->part->receives[receive];
  const Stamp stamp = part.stamp;
  const auto finish = [this, stamp, receive, from, edge = shape.edge](bool keeps = false) {
    PartRun* found = find(stamp);
    SEAWAY_CHECK(found != nullptr, stamp, edge);
    found->receives[receive].has_value = true;
    if (has_sums() && !found->has_failed()) {
      take_sums(*found, found->plan->part->receives[receive].value);
    }
    close_receive(*found, receive);
    outbox_.edges.push_back({Edge::Kind::kConsumed, from, stamp, edge, {}});
    outbox_.edges.back().keeps = keeps;
    end_part_if_over(*found);
  };
  if (!status.ok()) {
    SEAWAY_PROBE("an edge brings poison");
    fail(part, input_lost("edge " + std::to_string(shape.edge) + " from island " +
                          std::to_string(shape.peer) + ": " + status.to_string()));
    finish();
    return;
  }
  auto payload = bulk_.take_edge(stamp, shape.edge);
  if (!payload) return refuse_edge(from, stamp, shape.edge, "its bytes have not come");
  const transfer::ReshardPlan& plan = *part.plan->receive_plans[receive];
  events_.record({.time_ns = clock_.now_ns(),
                  .stamp = stamp,
                  .value = plan.bytes_total(),
                  .position = shape.edge,
                  .place = shape.peer,
                  .tenant = part.tenant,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = EventKind::kReceive});
  if (part.has_failed()) {
    SEAWAY_PROBE("a value arrives for a part that has failed");
    finish();
    return;
  }
  if (payload->offered_bytes > 0) return fetch_value(part, receive, from, [finish] { finish(); });
  if (take_over(part, receive, *payload)) return finish(true);
  part.receives[receive].state = ReceiveState::State::kCopying;
  const function::ShardedBuffer target = buffer_at(part, part.plan->slots[shape.value]);
  backend_.copy(
      plan.bytes_total(),
      [&plan, source = *payload, target] {
        for (std::size_t shard = 0; shard < plan.target_shards(); ++shard) {
          for (const transfer::Copy& copy : plan.copies(shard)) {
            transfer::copy_region(source.base + copy.source_shard * source.stride,
                                  target.shard(shard), copy);
          }
        }
      },
      [this, stamp, shape, loan = payload->loan, finish] {
        PartRun& found = *find(stamp);
        // Its sender has given this host up, and what it lent may have been anything by then.
        if (loan && !loan->holds()) {
          fail(found, input_lost("edge " + std::to_string(shape.edge) + " from island " +
                                 std::to_string(shape.peer) + " was taken back by its sender"));
        } else {
          write_out(found, shape.value);
        }
        finish();
      });
}

void HostCore::try_send(PartRun& part, std::uint32_t send) {
  SendState& state = part.sends[send];
  if (state.state != SendState::State::kWaiting || !state.is_armed || !state.is_made) return;
  if (!part.has_failed() && read_send(part, send)) return;
  state.state = SendState::State::kSent;
  const program::Send& shape = part.plan->part->sends[send];
  // What is on its way has left the device; what is in host room never needs it again.
  if (losses_ > 0 && !part.has_failed() && !state.moved.has_value()) {
    if (Status loss = lost_value(part, shape.value); !loss.ok()) fail(part, std::move(loss));
  }
  if (!file_arrays_.empty() && !part.has_failed()) copy_from_file(part, send);
  const auto bytes = [&part, &state, &shape] {
    return state.moved.has_value() ? state.moved.buffer()
                                   : buffer_at(part, part.plan->slots[shape.value]);
  };
  if (has_sums() && !part.has_failed()) {
    if (Status damage = check_value(part, shape.value, bytes()); !damage.ok()) fail(part, damage);
  }
  Edge message{Edge::Kind::kDelivered, state.receiver, part.stamp, shape.edge, part.failure};
  if (!part.has_failed()) {
    const program::Value& value = part.plan->part->values[shape.value];
    const function::ShardedBuffer source = bytes();
    message.shards =
        static_cast<std::uint32_t>(part.plan->part->groups[value.group].devices.size());
    message.bytes = value.shard_bytes * message.shards;
    if (options_.is_process) {
      const NamedSharding sharding(Mesh(0, part.plan->part->groups[value.group].axes), value.spec);
      message.shard_bytes = sharding.shard_type(value.type).bytes();
    }
    lend(part, send, source, message);
    if (!message.place) offer(part, send, source, message);
    if (!message.place && message.streams == 0) {
      bulk_.offer_edge(part.stamp, shape.edge, {source.base, source.stride, nullptr});
    }
  }
  events_.record({.time_ns = clock_.now_ns(),
                  .stamp = part.stamp,
                  .value = message.bytes,
                  .position = shape.edge,
                  .place = shape.peer,
                  .tenant = part.tenant,
                  .island = static_cast<std::uint16_t>(options_.island),
                  .kind = EventKind::kSend,
                  .code = part.failure.code()});
  outbox_.edges.push_back(std::move(message));
}

void HostCore::close_send(PartRun& part, std::uint32_t send) {
  SendState& state = part.sends[send];
  SEAWAY_CHECK(state.state != SendState::State::kClosed, part.stamp, send);
  const auto lent = std::exchange(state.lent, std::nullopt);
  if (lent && !SEAWAY_MUTANT("a loan is not taken back")) near_->take_back(*lent);
  end_offer(part, send);
  state.state = SendState::State::kClosed;
  state.moved.reset();
  --part.edges_open;
  shrink_blocks(part);
  if (!SEAWAY_MUTANT("a sender is not told of arrivals"))
    outbox_.dones.push_back(
        {HostOutbox::Done::Kind::kReceived, part.stamp, part.plan->part->sends[send].edge, 0});
  report_moved(part);
  report_fenced(part);
}

void HostCore::move_sends(PartRun& part) {
  for (std::uint32_t s = 0; s < part.sends.size(); ++s) move_send(part, s);
  part.is_moving = part.has_moved = true;
  report_moved(part);
}

void HostCore::move_send(PartRun& part, std::uint32_t send) {
  SendState& state = part.sends[send];
  const program::Send& shape = part.plan->part->sends[send];
  if (state.state == SendState::State::kClosed || state.moved.has_value()) return;
  const bool is_waiting = state.state == SendState::State::kWaiting;
  if (is_waiting && losses_ > 0 && !part.has_failed()) {
    if (Status loss = lost_value(part, shape.value); !loss.ok()) fail(part, std::move(loss));
  }
  if (is_waiting && (part.has_failed() || read_send(part, send))) return;
  // What is on its way and not being copied yet is offered anew from host room.
  const bool is_offered = state.state == SendState::State::kSent;
  SEAWAY_PROBE_IF(is_offered, "a send is moved while it is on its way");
  if (is_offered && !bulk_.take_edge(part.stamp, shape.edge)) return;
  const program::Value& value = part.plan->part->values[shape.value];
  const std::size_t shards = part.plan->part->groups[value.group].devices.size();
  state.moved = make_memory(shards, value.shard_bytes);
  const function::ShardedBuffer source = buffer_at(part, part.plan->slots[shape.value]);
  const function::ShardedBuffer target = state.moved.buffer();
  const std::uint64_t bytes = part.plan->data_bytes[shape.value];
  for (std::size_t shard = 0; shard < shards && bytes > 0; ++shard) {
    std::memcpy(target.shard(shard), source.shard(shard), bytes);
  }
  if (is_offered) bulk_.offer_edge(part.stamp, shape.edge, {target.base, target.stride, nullptr});
  // What is on its way was looked at when it left.
  if (!has_sums() || is_offered) return;
  if (Status damage = check_value(part, shape.value, target); !damage.ok()) {
    fail(part, damage);
    state.moved.reset();
  }
}

/// Says that the sends are in host room, once no receiver copies from device memory any more.
void HostCore::report_moved(PartRun& part) {
  if (!part.is_moving) return;
  for (const SendState& state : part.sends) {
    if (state.state == SendState::State::kSent && !state.moved.has_value()) return;
    if (state.is_read) return;
  }
  SEAWAY_PROBE("a host has moved all sends of a part");
  part.is_moving = false;
  shrink_blocks(part);
  outbox_.dones.push_back({HostOutbox::Done::Kind::kMoved, part.stamp, 0, 0});
}

/// Bytes of the part's block on `group` that transfers still read or write.
std::uint64_t HostCore::held_bytes(const PartRun& part, std::uint32_t group) const {
  const program::PartPlan& plan = *part.plan->part;
  std::uint64_t held = 0;
  const auto hold = [&plan, &held, group](std::uint32_t index) {
    const program::Value& value = plan.values[index];
    if (value.place != program::Value::Place::kBlock || value.group != group) return;
    held = std::max(held, value.offset + value.shard_bytes);
  };
  for (std::size_t s = 0; s < part.sends.size(); ++s) {
    const SendState& send = part.sends[s];
    if (send.state == SendState::State::kClosed || send.moved.has_value()) continue;
    // Of a part that has failed only word of that is sent from here on.
    if (send.state == SendState::State::kWaiting && part.has_failed()) continue;
    hold(plan.sends[s].value);
  }
  for (std::size_t r = 0; r < part.receives.size(); ++r) {
    if (part.receives[r].state == ReceiveState::State::kCopying) hold(plan.receives[r].value);
  }
  return held;
}

}  // namespace seaway::device
