// Replays: gangs that run a second time, beside what they made, to see whether it is the same.

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "base/random.hpp"
#include "device/host_core.hpp"

namespace seaway::device {
namespace {

/// As in blocks, each output begins on a boundary that kernels want.
std::size_t room_of(const TensorType& type) { return (type.bytes() + 63) / 64 * 64; }

}  // namespace

std::size_t HostCore::replay_bytes(const function::Executable& executable) const {
  if (options_.integrity.replay_per_mille == 0 || !executable.is_repeatable()) return 0;
  std::size_t bytes = 0;
  for (const TensorType& type : executable.output_types()) bytes += room_of(type);
  return bytes;
}

/// Chosen by the names of the gang alone: the same gangs in each execution of the same events.
bool HostCore::is_sampled(const PartRun& part, std::uint32_t gang) const {
  const GangPlan& plan = part.plan->gangs[gang];
  if (!plan.may_replay) return false;
  const std::uint32_t position = part.plan->part->gangs[gang].position;
  if (mix64(mix64(part.stamp) ^ position) % 1000 >= options_.integrity.replay_per_mille) {
    return false;
  }
  // What was overwritten cannot be read again.
  return std::none_of(plan.operands.begin(), plan.operands.end(), [&](const ValueSlot& operand) {
    const std::byte* const base = buffer_at(part, operand).base;
    return base != nullptr &&
           std::any_of(plan.results.begin(), plan.results.end(), [&](const ValueSlot& result) {
             return buffer_at(part, result).base == base;
           });
  });
}

/// Where the second run of `gang` writes: behind the work space that it has itself.
std::vector<function::ShardedBuffer> HostCore::replay_room(const PartRun& part,
                                                           std::uint32_t gang) const {
  const GangPlan& plan = part.plan->gangs[gang];
  SEAWAY_CHECK(plan.scratch_block != program::kNone, part.stamp, gang);
  function::ShardedBuffer room = buffer_at(part, plan.scratch);
  room.base += plan.executable->scratch_bytes();
  std::vector<function::ShardedBuffer> outputs;
  for (const TensorType& type : plan.executable->output_types()) {
    outputs.push_back(room);
    room.base += room_of(type);
  }
  return outputs;
}

void HostCore::replay_in_line(PartRun& part, std::uint32_t gang, const GangWork& work) {
  if (part.has_failed() || !is_sampled(part, gang)) return;
  const std::vector<function::ShardedBuffer> outputs = replay_room(part, gang);
  SEAWAY_PROBE("a gang in line runs a second time");
  GangWork again = work;
  again.outputs = outputs;
  Status status = backend_.run(again, unlaunched_on_);
  if (!status.ok() || losses_ > 0) end_in_line(part, gang, again, std::move(status));
  if (part.has_failed()) return;
  if (Status difference = compare_replay(part, gang); !difference.ok()) {
    fail_gang(part, gang, difference);
  }
}

/// A device that has computed two different results of one gang is lost. Nobody knows which of them
/// is right: neither is used.
Status HostCore::compare_replay(const PartRun& part, std::uint32_t gang) {
  const GangPlan& plan = part.plan->gangs[gang];
  const program::Gang& shape = part.plan->part->gangs[gang];
  const auto& devices = part.plan->part->groups[shape.group].devices;
  const auto& types = plan.executable->output_types();
  const std::vector<function::ShardedBuffer> again = replay_room(part, gang);
  Status first;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::size_t bytes = types[i].bytes();
    const function::ShardedBuffer made = buffer_at(part, plan.results[i]);
    const std::size_t first_shard = plan.executable->first_shard_of(i, types.size());
    const std::size_t shards = plan.executable->shards_of_value(plan.shards);
    for (std::size_t s = 0; s < shards && bytes > 0; ++s) {
      if (std::memcmp(made.shard(s), again[i].shard(s), bytes) == 0) continue;
      const std::size_t shard = first_shard + s;
      const DeviceId device = devices[shard];
      if (loss_of(device)) continue;
      events::Event event = gang_event(events::EventKind::kMiscompute, part, gang);
      event.place = device;
      event.code = StatusCode::kDataCorruption;
      events_.record(event);
      SEAWAY_PROBE("a gang has two results");
      lose_device(device, "DATA_CORRUPTION: gang " + std::to_string(shape.position) + " of run " +
                              std::to_string(sequence_of(part.run)) +
                              " ran twice there and gave two results for shard " +
                              std::to_string(shard) + " of output " + std::to_string(i) +
                              "; nothing runs on it any more: have it tested");
      if (first.ok()) first = *loss_of(device);
    }
  }
  return first;
}

}  // namespace seaway::device
