// Values that hosts of one machine read where they lie: lent, kept, given back.

#include <string>
#include <utility>

#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using Edge = HostOutbox::Edge;

namespace {

/// Later runs may write into an array, but nobody into what the part or nobody owns.
bool is_own(const PartRun& part, std::uint32_t send) {
  const program::Value& value = part.plan->part->values[part.plan->part->sends[send].value];
  return part.sends[send].moved.has_value() || value.place == program::Value::Place::kBlock;
}

}  // namespace

// ---- The sender's end ----

/// Sets where the receiver of `message` reads the value; without, its bytes are sent.
void HostCore::lend(PartRun& part, std::uint32_t send, const function::ShardedBuffer& source,
                    Edge& message) {
  SendState& state = part.sends[send];
  // What is looked at when it leaves is not to change before it is read.
  if (!near_ || !state.is_near || has_sums() || message.bytes == 0) return;
  const std::size_t extent = source.stride * (message.shards - 1) + message.shard_bytes;
  state.lent = message.place = near_->lend(source.base, extent);
  if (!message.place) return;
  SEAWAY_PROBE("a value is lent");
  message.stride = source.stride;
  // There is memory of its own for as much as the devices have.
  message.keeps =
      is_own(part, send) && lent_bytes_ + extent <= options_.devices * options_.device_bytes;
}

/// The receiver goes on reading what has been received: its memory outlives the part, but counts
/// for the receiver, who has room for it that he does not use.
void HostCore::keep_lent(PartRun& part, std::uint32_t send) {
  SendState& state = part.sends[send];
  // The receiver may keep what it was not offered to keep: then it reads what others write.
  if (!state.lent || !is_own(part, send)) return;
  const program::Send& shape = part.plan->part->sends[send];
  const std::uint32_t group = part.plan->part->values[shape.value].group;
  ShardMemory& memory =
      state.moved.has_value() ? state.moved : part.blocks[part.plan->block_of_group[group]];
  lent_bytes_ += state.lent->bytes;
  lent_[{part.stamp, shape.edge}] = {state.receiver, *std::exchange(state.lent, std::nullopt),
                                     memory.share()};
}

void HostCore::on_returned(Stamp stamp, std::uint32_t edge, HostId from) {
  const auto found = lent_.find({stamp, edge});
  if (found == lent_.end() || found->second.reader != from) return;  // It was taken back before.
  near_->take_back(found->second.place);
  lent_bytes_ -= found->second.place.bytes;
  lent_.erase(found);
}

void HostCore::cut_loans(HostId peer, Stamp last) {
  std::erase_if(lent_, [this, peer, last](const auto& entry) {
    if (entry.second.reader != peer || entry.first.first > last) return false;
    near_->take_back(entry.second.place);
    lent_bytes_ -= entry.second.place.bytes;
    return true;
  });
}

// ---- The receiver's end ----

/// Whether gangs read the value where its sender made it: then nothing is copied.
bool HostCore::take_over(PartRun& part, std::uint32_t receive, const transport::Payload& payload) {
  constexpr std::uintptr_t kLine = 64;
  const std::uint32_t table = part.plan->receive_tables[receive];
  const std::uint32_t readers = part.plan->receive_gangs[receive];
  if (!payload.loan || !payload.may_be_kept || table == program::kNone || readers == 0 ||
      !part.plan->receive_plans[receive]->is_identity()) {
    return false;
  }
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(payload.base) % kLine == 0 && payload.stride % kLine == 0;
  if (!is_aligned) return false;
  SEAWAY_PROBE("a value is used where its sender made it");
  part.tables[table] = {payload.base, payload.stride};
  part.receives[receive].kept = payload.loan;
  part.receives[receive].readers = readers;
  return true;
}

/// What `gang` has read may have been anything, if its sender has taken it back meanwhile.
void HostCore::check_loans(PartRun& part, std::uint32_t gang) {
  for (const std::uint32_t receive : part.plan->gangs[gang].receives) {
    const auto& kept = part.receives[receive].kept;
    if (!kept || kept->holds()) continue;
    const program::Receive& shape = part.plan->part->receives[receive];
    fail_gang(part, gang,
              input_lost("edge " + std::to_string(shape.edge) + " from island " +
                         std::to_string(shape.peer) + " was taken back by its sender"));
  }
}

void HostCore::end_reads(PartRun& part, std::uint32_t gang) {
  for (const std::uint32_t receive : part.plan->gangs[gang].receives) {
    ReceiveState& state = part.receives[receive];
    if (state.kept && --state.readers == 0) give_back(part, receive);
  }
}

void HostCore::give_back(PartRun& part, std::uint32_t receive) {
  const program::Receive& shape = part.plan->part->receives[receive];
  part.receives[receive].kept = nullptr;
  outbox_.edges.push_back({Edge::Kind::kReturned, shape.peer, part.stamp, shape.edge, {}});
}

}  // namespace seaway::device
