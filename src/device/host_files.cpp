// Arrays that lie in files: gangs read them there, everybody else a copy.

#include <cstring>
#include <string>

#include "base/probe.hpp"
#include "device/host_core.hpp"

namespace seaway::device {

namespace {

Status torn(ArrayId array) {
  return input_lost("array " + std::to_string(sequence_of(array)) +
                    " lies in a file that has become shorter; put it again from one that stays");
}

}  // namespace

/// Who is the array that `value` is, if it lies in a file; 0: it does not.
ArrayId HostCore::file_array(const PartRun& part, std::uint32_t value) const {
  const program::Value& shape = part.plan->part->values[value];
  if (shape.place != program::Value::Place::kArg) return 0;
  const ArrayId id = part.args[shape.index];
  return file_arrays_.contains(id) ? id : 0;
}

/// Fails `array` if its file has become shorter; what was read of it may have been zeros.
Status HostCore::check_file(ArrayId array) {
  const auto found = arrays_.find(array);
  if (found == arrays_.end() || !found->second.memory.is_torn()) return {};
  Status cause = torn(array);
  poison_array(array, cause);
  return cause;
}

void HostCore::check_files(PartRun& part, std::uint32_t gang) {
  for (const std::uint32_t value : part.plan->part->gangs[gang].operands) {
    const ArrayId array = file_array(part, value);
    if (array == 0) continue;
    if (Status status = check_file(array); !status.ok()) fail_gang(part, gang, status);
  }
}

/// What goes to another island is read at any time, by anybody.
void HostCore::copy_from_file(PartRun& part, std::uint32_t send) {
  const program::Send& shape = part.plan->part->sends[send];
  const ArrayId array = file_array(part, shape.value);
  if (array == 0 || part.sends[send].moved.has_value()) return;
  const program::Value& value = part.plan->part->values[shape.value];
  const std::size_t shards = part.plan->part->groups[value.group].devices.size();
  part.sends[send].moved =
      copy_of(buffer_at(part, part.plan->slots[shape.value]), shards, value.shard_bytes);
  if (Status status = check_file(array); !status.ok()) fail(part, status);
}

/// For whom a client waits; an error: the file has become shorter.
Result<ShardMemory> HostCore::copy_from_file(ArrayId array, const ArrayRecord& record) {
  ShardMemory copy =
      copy_of(record.memory.buffer(), record.desc->group.devices.size(), record.desc->data_bytes);
  if (Status status = check_file(array); !status.ok()) return status;
  return copy;
}

ShardMemory HostCore::copy_of(function::ShardedBuffer source, std::size_t shards,
                              std::uint64_t bytes) {
  ShardMemory copy = make_memory(shards, bytes);
  const function::ShardedBuffer target = copy.buffer();
  for (std::size_t shard = 0; shard < shards && bytes > 0; ++shard) {
    std::memcpy(target.shard(shard), source.shard(shard), bytes);
  }
  return copy;
}

}  // namespace seaway::device
