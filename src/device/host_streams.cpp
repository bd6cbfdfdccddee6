// Values that go from host to host over connections of their own: offered, fetched.

#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

using Edge = HostOutbox::Edge;
using transport::DataKey;

/// Whoever reads what is sent keeps its memory, even if nobody here does any more.
std::shared_ptr<const void> HostCore::share_send(PartRun& part, std::uint32_t send) {
  SendState& state = part.sends[send];
  if (state.moved.has_value()) return state.moved.share();
  const program::Value& value = part.plan->part->values[part.plan->part->sends[send].value];
  if (value.place == program::Value::Place::kBlock) {
    const std::uint32_t block = part.plan->block_of_group[value.group];
    return block == program::kNone ? nullptr : part.blocks[block].share();
  }
  const bool is_arg = value.place == program::Value::Place::kArg;
  const auto found = arrays_.find(is_arg ? part.args[value.index] : part.outputs[value.index]);
  return found == arrays_.end() ? nullptr : found->second.memory.share();
}

/// Sets that the receiver of `message` fetches the value; without, its bytes are sent.
void HostCore::offer(PartRun& part, std::uint32_t send, const function::ShardedBuffer& source,
                     Edge& message) {
  const auto& stream = part.plan->send_streams[send];
  if (!data_ || !stream) return;
  auto owner = share_send(part, send);
  if (!owner) return;
  SEAWAY_PROBE("a value is offered");
  message.streams = stream->bytes();
  part.sends[send].is_offered = true;
  data_->offer(message.peer, DataKey{part.stamp, message.edge},
               {stream->bytes(),
                [stream, source](std::uint64_t begin, std::uint64_t end, auto& pieces) {
                  stream->add_pieces(source.base, source.stride, begin, end, pieces);
                },
                std::move(owner), part.tenant});
}

void HostCore::end_offer(PartRun& part, std::uint32_t send) {
  SendState& state = part.sends[send];
  if (!std::exchange(state.is_offered, false)) return;
  data_->withdraw(state.receiver, DataKey{part.stamp, part.plan->part->sends[send].edge});
}

/// The bytes come right to where the part wants them; `finish` goes on behind them.
void HostCore::fetch_value(PartRun& part, std::uint32_t receive, HostId from,
                           std::function<void()> finish) {
  const program::Receive& shape = part.plan->part->receives[receive];
  const auto& target = part.plan->receive_targets[receive];
  const function::ShardedBuffer to = buffer_at(part, part.plan->slots[shape.value]);
  part.receives[receive].state = ReceiveState::State::kCopying;
  part.receives[receive].is_fetched = true;
  SEAWAY_PROBE("a value is fetched");
  data_->fetch(
      from, DataKey{part.stamp, shape.edge},
      {target->stream().bytes(),
       [target, to](std::uint64_t begin, std::uint64_t most) {
         return target->place(to.base, to.stride, begin, most);
       },
       [target, to](std::uint64_t begin, std::span<const std::byte> bytes) {
         target->scatter(to.base, to.stride, begin, bytes);
       }},
      [this, stamp = part.stamp, receive, shape, finish = std::move(finish)](const Status& status) {
        PartRun& found = *find(stamp);
        found.receives[receive].is_fetched = false;
        if (status.ok()) {
          write_out(found, shape.value);
        } else {
          SEAWAY_PROBE("a value is not to be fetched");
          fail(found, input_lost("edge " + std::to_string(shape.edge) + " from island " +
                                 std::to_string(shape.peer) + ": " + status.to_string()));
        }
        finish();
      });
}

/// Its sender is gone.
void HostCore::cut_fetch(PartRun& part, std::uint32_t receive, const Status& cause) {
  const program::Receive& shape = part.plan->part->receives[receive];
  SEAWAY_PROBE("a value is cut off while it is fetched");
  fail(part, input_lost("edge " + std::to_string(shape.edge) + " from island " +
                        std::to_string(shape.peer) + ": " + cause.to_string()));
  if (SEAWAY_MUTANT("what is fetched from a dead host is waited for")) return;
  data_->cancel(shape.peer, DataKey{part.stamp, shape.edge});
}

}  // namespace seaway::device
