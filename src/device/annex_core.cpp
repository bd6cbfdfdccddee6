// Rooms, and stages that run in them.

#include "device/annex_core.hpp"

#include <cstring>
#include <string>
#include <utility>

namespace seaway::device {
namespace {

std::string text(std::uint64_t number) { return std::to_string(number); }

Status no_such(const char* what, std::uint64_t id) {
  return protocol_error(std::string("there is no ") + what + " " + text(id) + " here");
}

/// Addresses of shards from `first` on, by their numbers among all.
function::ShardedBuffer shifted(std::byte* base, std::size_t stride, std::uint32_t first) {
  const auto address = reinterpret_cast<std::uintptr_t>(base) - std::uintptr_t{first} * stride;
  return {reinterpret_cast<std::byte*>(address), stride};
}

}  // namespace

Status AnnexCore::follow(AnnexOrder order) {
  if (const auto* one = std::get_if<MakeRoom>(&order)) return make(*one);
  if (const auto* one = std::get_if<DropRoom>(&order)) return drop(*one);
  if (const auto* one = std::get_if<WriteRoom>(&order)) return write(*one);
  if (const auto* one = std::get_if<ReadRoom>(&order)) return read(*one);
  if (const auto* one = std::get_if<RunStage>(&order)) return run(*one);
  functions_.erase(std::get<ForgetFunction>(order).function);
  return {};
}

void AnnexCore::begin_anew() {
  rooms_.clear();
  functions_.clear();
  answers_.clear();
  for (auto& [number, running] : running_) running.is_wanted = false;
}

Status AnnexCore::make(const MakeRoom& order) {
  if (rooms_.contains(order.room)) {
    return protocol_error("room " + text(order.room) + " is there already");
  }
  auto slab = slabs_.make(order.shards, order.shard_bytes);
  if (!slab.ok()) return slab.status();
  rooms_[order.room] = std::make_shared<Memory>(
      Memory{std::move(slab).value(), order.first, order.shards, order.shard_bytes});
  return {};
}

Status AnnexCore::drop(const DropRoom& order) {
  return rooms_.erase(order.room) == 1 ? Status() : no_such("room", order.room);
}

Result<std::shared_ptr<AnnexCore::Memory>> AnnexCore::find(RoomId room) const {
  const auto found = rooms_.find(room);
  if (found == rooms_.end()) return no_such("room", room);
  return found->second;
}

Result<std::shared_ptr<AnnexCore::Memory>> AnnexCore::find(const RoomRange& range) const {
  auto memory = find(range.room);
  if (!memory.ok()) return memory;
  const Memory& room = **memory;
  const std::uint64_t end = std::uint64_t{range.first} + range.shards;
  const bool is_within = range.first >= room.first && end <= room.first + room.shards &&
                         range.offset <= room.shard_bytes &&
                         range.bytes <= room.shard_bytes - range.offset;
  if (is_within) return memory;
  return protocol_error("room " + text(range.room) + " has shards " + text(room.first) + " to " +
                        text(room.first + room.shards) + " of " + text(room.shard_bytes) +
                        " bytes, and not bytes " + text(range.offset) + " to " +
                        text(range.offset + range.bytes) + " of shards " + text(range.first) +
                        " to " + text(end));
}

Status AnnexCore::write(const WriteRoom& order) {
  const auto found = find(order.range);
  if (!found.ok()) return found.status();
  const RoomRange& range = order.range;
  if (order.data.size() != range.shards * range.bytes) {
    return protocol_error(text(order.data.size()) + " bytes for " + text(range.shards) +
                          " shards of " + text(range.bytes));
  }
  const Memory& room = **found;
  for (std::uint32_t s = 0; s < range.shards && range.bytes > 0; ++s) {
    std::memcpy(room.slab.shard(range.first - room.first + s) + range.offset,
                order.data.data() + s * range.bytes, range.bytes);
  }
  return {};
}

Status AnnexCore::read(const ReadRoom& order) {
  const auto found = find(order.range);
  if (!found.ok()) return found.status();
  const Memory& room = **found;
  const RoomRange& range = order.range;
  AnnexAnswer answer{order.ticket, {}, std::vector<std::byte>(range.shards * range.bytes)};
  for (std::uint32_t s = 0; s < range.shards && range.bytes > 0; ++s) {
    std::memcpy(answer.data.data() + s * range.bytes,
                room.slab.shard(range.first - room.first + s) + range.offset, range.bytes);
  }
  answers_.push_back(std::move(answer));
  return {};
}

Result<function::ShardedBuffer> AnnexCore::place(const RoomPlace& place, std::uint64_t bytes,
                                                 const function::ShardRange& shards,
                                                 Running& kept) const {
  if (bytes == 0) return function::ShardedBuffer();
  const auto found =
      find(RoomRange{place.room, static_cast<std::uint32_t>(shards.begin),
                     static_cast<std::uint32_t>(shards.end - shards.begin), place.offset, bytes});
  if (!found.ok()) return found.status();
  kept.rooms.push_back(*found);
  const Memory& room = **found;
  return shifted(room.slab.base() + place.offset, room.slab.stride(), room.first);
}

Status AnnexCore::run(const RunStage& order) {
  const auto found = functions_.find(order.function);
  if (found == functions_.end()) return no_such("function", order.function);
  Running kept{.rooms = {}, .executable = found->second, .ticket = order.ticket};
  const function::Executable& executable = *found->second;
  const auto& parameters = executable.parameter_types();
  const auto& results = executable.output_types();
  const bool is_sound =
      order.operands.size() == parameters.size() && order.outputs.size() == results.size() &&
      order.shards.begin < order.shards.end && order.shards.end <= order.shards.count &&
      order.stage < executable.stages(order.has_conflict) &&
      !executable.exchange_at(order.stage, order.has_conflict);
  if (!is_sound) {
    return protocol_error("stage " + text(order.stage) + " of function " + text(order.function) +
                          " does not run with " + text(order.operands.size()) + " operands and " +
                          text(order.outputs.size()) + " outputs on shards " +
                          text(order.shards.begin) + " to " + text(order.shards.end) + " of " +
                          text(order.shards.count));
  }
  std::vector<function::ShardedBuffer> operands, outputs;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto buffer = place(order.operands[i], parameters[i].bytes(), order.shards, kept);
    if (!buffer.ok()) return buffer.status();
    operands.push_back(*buffer);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto buffer = place(order.outputs[i], results[i].bytes(), order.shards, kept);
    if (!buffer.ok()) return buffer.status();
    outputs.push_back(*buffer);
  }
  const auto scratch = place(order.scratch, executable.scratch_bytes(), order.shards, kept);
  if (!scratch.ok()) return scratch.status();
  const std::uint64_t number = ++last_run_;
  running_[number] = std::move(kept);
  backend_.start_stage({.executable = &executable,
                        .stage = order.stage,
                        .has_conflict = order.has_conflict,
                        .operands = operands,
                        .outputs = outputs,
                        .scratch = *scratch,
                        .shards = order.shards},
                       order.cost_ns * (order.shards.end - order.shards.begin),
                       [this, number](GangEnd end) { this->end(number, std::move(end.status)); });
  return {};
}

void AnnexCore::end(std::uint64_t number, Status status) {
  const auto found = running_.find(number);
  if (found->second.is_wanted) answers_.push_back({found->second.ticket, std::move(status), {}});
  running_.erase(found);
}

}  // namespace seaway::device
