// Rooms, and stages that run in them.

#include "device/annex_core.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "transport/memory_file.hpp"

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

AnnexCore::AnnexCore(std::uint32_t host, Backend& backend, transport::NearMemory* near,
                     transport::DataPlane* data,
                     std::function<transport::DataPeer(std::uint32_t host)> peer,
                     const ExchangeOptions& options)
    : host_(host),
      arena_(near ? near->lendable() : std::span<std::byte>(), heap_, transport::scrub),
      slabs_(arena_, {}),
      near_(near),
      peer_(peer),
      lent_(near),
      news_{.host = host},
      said_(news_),
      exchanges_(host, {backend, slabs_, near, data, std::move(peer), options}),
      stages_(backend, exchanges_) {}

AnnexCore::~AnnexCore() {
  arena_.scrub_no_more();
  slabs_.retire();
}

Status AnnexCore::follow(AnnexOrder order) {
  if (const auto* one = std::get_if<MakeRoom>(&order)) return make(*one);
  if (const auto* one = std::get_if<DropRoom>(&order)) return drop(*one);
  if (const auto* one = std::get_if<WriteRoom>(&order)) return write(*one);
  if (const auto* one = std::get_if<ReadRoom>(&order)) return read(*one);
  if (const auto* one = std::get_if<RunGang>(&order)) return run(*one);
  if (const auto* one = std::get_if<TakenLoans>(&order)) return lent_.taken(one->count);
  functions_.erase(std::get<ForgetFunction>(order).function);
  return {};
}

void AnnexCore::begin_anew(std::uint32_t life) {
  ++generation_;
  exchanges_.begin_anew(life);
  stages_.begin_anew();
  rooms_.clear();
  functions_.clear();
  answers_.clear();
  lent_.take_back_all();
  said_ = news_ = {.host = host_};
  running_ = 0;
}

std::vector<AnnexAnswer>& AnnexCore::answers() {
  news_.reads = near_ && peer_ && near_->reads(peer_(0));
  // That something was copied goes along with other answers, and alone when none are to come.
  const bool is_due = news_.reads != said_.reads || !answers_.empty() || running_ == 0;
  if (news_ != said_ && is_due) {
    answers_.push_back({.ticket = 0, .news = news_});
    said_ = news_;
  }
  return answers_;
}

Status AnnexCore::make(const MakeRoom& order) {
  if (rooms_.contains(order.room)) {
    return protocol_error("room " + text(order.room) + " is there already");
  }
  auto slab = slabs_.make(order.shards, order.shard_bytes, order.owner);
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
  if (order.lent.any()) {
    ++news_.taken;
    const Memory& room = **found;
    Status status =
        copy_lent(near_, peer_ ? peer_(0) : 0, order.lent, range.shards, range.bytes,
                  {room.slab.shard(range.first - room.first) + range.offset, room.slab.stride()});
    // Its host has ended, and nobody wants to know any more what comes of it.
    return status.code() == StatusCode::kInputLost ? Status() : status;
  }
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
  answer_read(order, *found);
  return {};
}

void AnnexCore::answer_read(const ReadRoom& order, const std::shared_ptr<Memory>& memory) {
  const Memory& room = *memory;
  const RoomRange& range = order.range;
  AnnexAnswer answer{.ticket = order.ticket};
  if (order.may_be_lent && range.shards > 0) {
    const auto lent =
        lent_.lend({room.slab.shard(range.first - room.first) + range.offset, room.slab.stride()},
                   range.shards, range.bytes, memory);
    if (lent) {
      answer.lent = *lent;
      answers_.push_back(std::move(answer));
      return;
    }
  }
  answer.data.resize(range.shards * range.bytes);
  for (std::uint32_t s = 0; s < range.shards && range.bytes > 0; ++s) {
    std::memcpy(answer.data.data() + s * range.bytes,
                room.slab.shard(range.first - room.first + s) + range.offset, range.bytes);
  }
  answers_.push_back(std::move(answer));
}

Result<function::ShardedBuffer> AnnexCore::place(const RoomPlace& place, std::uint64_t bytes,
                                                 const HostShare& own, Running& kept) const {
  if (bytes == 0) return function::ShardedBuffer();
  const auto found =
      find(RoomRange{place.room, own.begin, own.end - own.begin, place.offset, bytes});
  if (!found.ok()) return found.status();
  kept.rooms.push_back(*found);
  const Memory& room = **found;
  return shifted(room.slab.base() + place.offset, room.slab.stride(), room.first);
}

Status AnnexCore::run(const RunGang& order) {
  const auto found = functions_.find(order.function);
  if (found == functions_.end()) return no_such("function", order.function);
  const auto kept = std::make_shared<Running>();
  kept->executable = found->second;
  const function::Executable& executable = *found->second;
  const auto& parameters = executable.parameter_types();
  const auto& results = executable.output_types();
  HostShare own;
  std::uint32_t shards = 0, last = 0;  // Each host once, in the order of its shards.
  if (order.behind >= order.gang) {
    return protocol_error("gang " + text(order.gang) + " cannot wait for gang " +
                          text(order.behind) + ": a gang waits for an earlier one");
  }
  bool is_sound = order.operands.size() == parameters.size() &&
                  order.outputs.size() == results.size() && !order.hosts.empty();
  for (const HostShare& share : order.hosts) {
    const bool is_next = shards == 0 || share.host > last;
    is_sound = is_sound && is_next && share.begin == shards && share.end > share.begin;
    last = share.host;
    shards = share.end;
    if (share.host == host_) own = share;
  }
  const std::size_t stages = executable.stages(order.has_conflict);
  for (std::size_t stage = 0; stage < stages && is_sound; ++stage) {
    const function::Exchange* const exchange = executable.exchange_at(stage, order.has_conflict);
    if (!exchange) continue;
    const function::CollectiveGroups& groups = exchange->collective.groups;
    is_sound = groups.groups * groups.size == shards;
  }
  if (!is_sound || own.end == 0 || !exchanges_.is_next(order.gang)) {
    return protocol_error("gang " + text(order.gang) + " of function " + text(order.function) +
                          " does not run with " + text(order.operands.size()) + " operands and " +
                          text(order.outputs.size()) + " outputs on " + text(shards) +
                          " shards of " + text(order.hosts.size()) + " hosts");
  }
  GangStages::Work work{.gang = order.gang,
                        .behind = order.behind,
                        .executable = &executable,
                        .has_conflict = order.has_conflict,
                        .operands = {},
                        .outputs = {},
                        .scratch = {},
                        .hosts = order.hosts,
                        .own = own,
                        .tenant = order.tenant,
                        .owner = kept};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto buffer = place(order.operands[i], parameters[i].bytes(), own, *kept);
    if (!buffer.ok()) return buffer.status();
    work.operands.push_back(*buffer);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto buffer = place(order.outputs[i], results[i].bytes(), own, *kept);
    if (!buffer.ok()) return buffer.status();
    work.outputs.push_back(*buffer);
  }
  const auto scratch = place(order.scratch, executable.scratch_bytes(), own, *kept);
  if (!scratch.ok()) return scratch.status();
  work.scratch = *scratch;
  std::vector<std::pair<ReadRoom, std::shared_ptr<Memory>>> reads;
  for (const ReadRoom& wanted : order.reads) {
    const auto room = find(wanted.range);
    if (!room.ok()) return room.status();
    reads.emplace_back(wanted, *room);
  }
  ++running_;
  stages_.start(std::move(work), [this, ticket = order.ticket, reads = std::move(reads),
                                  generation = generation_](Status status) {
    if (generation != generation_) return;
    --running_;
    for (const auto& [wanted, room] : reads) {
      if (status.ok()) {
        answer_read(wanted, room);
      } else {
        answers_.push_back({.ticket = wanted.ticket, .status = status});
      }
    }
    answers_.push_back({.ticket = ticket, .status = std::move(status)});
  });
  return {};
}

}  // namespace seaway::device
