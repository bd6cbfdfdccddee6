// Splitting what is asked for by host, and putting the answers together.

#include "device/annexes.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/check.hpp"
#include "device/annex_codec.hpp"

namespace seaway::device {

Room::~Room() { annexes_.drop(*this); }

Annexes::Annexes(std::uint32_t hosts, std::uint32_t devices)
    : hosts_(hosts), devices_per_host_(devices / hosts), annex_devices_((devices + 63) / 64) {
  SEAWAY_CHECK(hosts == 1 || devices % hosts == 0, hosts, devices);
  for (DeviceId device = devices_per_host_; device < devices; ++device) {
    annex_devices_[device / 64] |= std::uint64_t{1} << (device % 64);
  }
}

std::vector<HostShare> Annexes::shares_of(const std::vector<DeviceId>& devices) const {
  std::vector<HostShare> shares;
  for (std::uint32_t shard = 0; shard < devices.size(); ++shard) {
    const std::uint32_t host = host_of(devices[shard]);
    SEAWAY_CHECK(shares.empty() || shares.back().host <= host, devices[shard], host);
    if (shares.empty() || shares.back().host != host) shares.push_back({host, shard, shard});
    shares.back().end = shard + 1;
  }
  return shares;
}

std::unique_ptr<Room> Annexes::make(const std::vector<DeviceId>& devices,
                                    std::uint64_t shard_bytes) {
  if (!any() || shard_bytes == 0) return nullptr;
  std::vector<HostShare> shares = shares_of(devices);
  std::erase_if(shares, [](const HostShare& share) { return share.host == 0; });
  if (shares.empty()) return nullptr;
  const RoomId id = ++last_room_;
  for (const HostShare& share : shares) {
    outbox_[share.host].emplace_back(
        MakeRoom{id, share.begin, share.end - share.begin, shard_bytes});
  }
  return std::unique_ptr<Room>(new Room(*this, id, std::move(shares)));
}

void Annexes::drop(const Room& room) {
  for (const HostShare& share : room.shares()) {
    outbox_[share.host].emplace_back(DropRoom{room.id()});
  }
}

void Annexes::for_each_range(
    const Room& room, std::uint64_t offset, std::uint64_t bytes,
    const std::function<void(std::uint32_t host, const RoomRange& range)>& use) {
  if (bytes == 0) return;
  const std::uint64_t shards_at_once = std::max<std::uint64_t>(1, kAnnexFrameBytes / bytes);
  const std::uint64_t bytes_at_once = std::min(bytes, kAnnexFrameBytes);
  for (const HostShare& share : room.shares()) {
    for (std::uint64_t first = share.begin; first < share.end; first += shards_at_once) {
      const std::uint64_t shards = std::min<std::uint64_t>(shards_at_once, share.end - first);
      for (std::uint64_t begin = 0; begin < bytes; begin += bytes_at_once) {
        use(share.host,
            {room.id(), static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(shards),
             offset + begin, std::min(bytes_at_once, bytes - begin)});
      }
    }
  }
}

void Annexes::write(const Room& room, std::uint64_t offset, std::uint64_t bytes,
                    function::ShardedBuffer from) {
  for_each_range(room, offset, bytes, [&](std::uint32_t host, const RoomRange& range) {
    WriteRoom order{range, std::vector<std::byte>(range.shards * range.bytes)};
    for (std::uint32_t s = 0; s < range.shards; ++s) {
      std::memcpy(order.data.data() + s * range.bytes,
                  from.shard(range.first + s) + (range.offset - offset), range.bytes);
    }
    outbox_[host].emplace_back(std::move(order));
  });
}

std::uint64_t Annexes::ask(const std::shared_ptr<Errand>& errand, Question question) {
  ++errand->open;
  question.errand = errand;
  questions_[++last_ticket_] = std::move(question);
  return last_ticket_;
}

void Annexes::read(const Room& room, std::uint64_t offset, std::uint64_t bytes,
                   function::ShardedBuffer to, Done done) {
  SEAWAY_CHECK(bytes > 0, room.id());
  const auto errand = std::make_shared<Errand>();
  errand->done = std::move(done);
  for_each_range(room, offset, bytes, [&](std::uint32_t host, const RoomRange& range) {
    const function::ShardedBuffer behind{to.base + (range.offset - offset), to.stride};
    outbox_[host].emplace_back(ReadRoom{ask(errand, {nullptr, range, behind}), range});
  });
}

void Annexes::run(RunStage run, const std::vector<HostShare>& shares, Done done) {
  const auto errand = std::make_shared<Errand>();
  errand->done = std::move(done);
  for (const HostShare& share : shares) {
    if (share.host == 0) continue;
    run.ticket = ask(errand, {});
    run.shards.begin = share.begin;
    run.shards.end = share.end;
    outbox_[share.host].emplace_back(run);
  }
  if (errand->open == 0) errand->done({});
}

std::shared_ptr<const function::Executable> Annexes::share(
    FunctionId id, std::shared_ptr<const function::Executable> executable) {
  if (!any()) return executable;
  const function::Executable* const known = executable.get();
  return {known, [this, id, executable](const function::Executable*) {
            for (std::uint32_t host = 1; host < hosts_; ++host) {
              outbox_[host].emplace_back(ForgetFunction{id});
            }
          }};
}

Status Annexes::answer(AnnexAnswer answer) {
  const auto found = questions_.find(answer.ticket);
  if (found == questions_.end()) {
    return protocol_error("ticket " + std::to_string(answer.ticket) + " is of no question");
  }
  const Question& question = found->second;
  const std::uint64_t wanted = question.range.shards * question.range.bytes;
  if (answer.status.ok() && answer.data.size() != wanted) {
    return protocol_error("an answer of " + std::to_string(answer.data.size()) + " bytes, where " +
                          std::to_string(wanted) + " were asked for");
  }
  if (answer.status.ok()) {
    for (std::uint32_t s = 0; s < question.range.shards; ++s) {
      std::memcpy(question.to.shard(question.range.first + s),
                  answer.data.data() + s * question.range.bytes, question.range.bytes);
    }
  }
  const std::shared_ptr<Errand> errand = question.errand;
  questions_.erase(found);
  if (errand->status.ok()) errand->status = std::move(answer.status);
  if (--errand->open == 0) errand->done(errand->status);
  return {};
}

}  // namespace seaway::device
