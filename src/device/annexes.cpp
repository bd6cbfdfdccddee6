// Splitting what is asked for by host, and putting the answers together.

#include "device/annexes.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "device/annex_codec.hpp"

namespace seaway::device {

Room::~Room() { annexes_.drop(*this); }

Annexes::Annexes(std::uint32_t hosts, std::uint32_t devices, NearAnnexes near)
    : hosts_(hosts),
      devices_per_host_(devices / hosts),
      near_(std::move(near)),
      annex_devices_((devices + 63) / 64) {
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

std::uint32_t Annexes::laggard(std::uint64_t gang) const {
  const auto found = std::ranges::find_if(
      of_gangs_, [gang](const auto& entry) { return entry.first.second == gang; });
  return found == of_gangs_.end() ? 1 : found->first.first;
}

std::unique_ptr<Room> Annexes::make(const std::vector<DeviceId>& devices, std::uint64_t shard_bytes,
                                    store::SlabOwner owner) {
  if (!any() || shard_bytes == 0) return nullptr;
  std::vector<HostShare> shares = shares_of(devices);
  std::erase_if(shares, [](const HostShare& share) { return share.host == 0; });
  if (shares.empty()) return nullptr;
  const RoomId id = ++last_room_;
  for (const HostShare& share : shares) {
    outbox_[share.host].emplace_back(
        MakeRoom{id, share.begin, share.end - share.begin, shard_bytes, owner});
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

Annexes::Lending& Annexes::lending(std::uint32_t host) {
  return lendings_.try_emplace(host, Lending{LoanQueue(near_.memory)}).first->second;
}

bool Annexes::is_worth_lending(const RoomRange& range) const {
  return near_.memory && range.shards * range.bytes > near_.bytes_min;
}

void Annexes::write(const Room& room, std::uint64_t offset, std::uint64_t bytes,
                    function::ShardedBuffer from, std::shared_ptr<const void> owner) {
  for_each_range(room, offset, bytes, [&](std::uint32_t host, const RoomRange& range) {
    const function::ShardedBuffer first{from.shard(range.first) + (range.offset - offset),
                                        from.stride};
    if (owner && is_worth_lending(range) && lending(host).reads) {
      const auto lent = lending(host).lent.lend(first, range.shards, range.bytes, owner);
      if (lent) {
        SEAWAY_PROBE("what an annex is to have is lent to it");
        outbox_[host].emplace_back(WriteRoom{range, {}, *lent});
        return;
      }
    }
    WriteRoom order{range, std::vector<std::byte>(range.shards * range.bytes)};
    for (std::uint32_t s = 0; s < range.shards; ++s) {
      std::memcpy(order.data.data() + s * range.bytes, first.shard(s), range.bytes);
    }
    outbox_[host].emplace_back(std::move(order));
  });
}

std::uint64_t Annexes::ask(const std::shared_ptr<Errand>& errand, Question question) {
  ++errand->open;
  if (question.gang != 0) ++of_gangs_[{question.host, question.gang}];
  question.errand = errand;
  questions_[++last_ticket_] = std::move(question);
  return last_ticket_;
}

/// `to`: where the range's first byte of shard 0 belongs.
ReadRoom Annexes::ask_for(const std::shared_ptr<Errand>& errand, std::uint32_t host,
                          const RoomRange& range, function::ShardedBuffer to, bool is_steady,
                          std::uint64_t gang) {
  const bool may_be_lent =
      is_steady && is_worth_lending(range) && near_.memory->reads(near_.peer(host));
  return {ask(errand, {nullptr, host, range, to, gang}), range, may_be_lent};
}

void Annexes::read(const Room& room, std::uint64_t offset, std::uint64_t bytes,
                   function::ShardedBuffer to, bool is_steady, Done done) {
  SEAWAY_CHECK(bytes > 0, room.id());
  const auto errand = std::make_shared<Errand>();
  errand->done = std::move(done);
  for_each_range(room, offset, bytes, [&](std::uint32_t host, const RoomRange& range) {
    const function::ShardedBuffer behind{to.base + (range.offset - offset), to.stride};
    outbox_[host].emplace_back(ask_for(errand, host, range, behind, is_steady));
  });
}

void Annexes::run(RunGang run, const std::vector<Wanted>& wanted, Done done) {
  const auto errand = std::make_shared<Errand>();
  errand->done = std::move(done);
  std::map<std::uint32_t, std::vector<ReadRoom>> reads;
  for (const Wanted& one : wanted) {
    for_each_range(*one.room, one.offset, one.bytes,
                   [&](std::uint32_t host, const RoomRange& range) {
                     const function::ShardedBuffer behind{one.to.base + (range.offset - one.offset),
                                                          one.to.stride};
                     reads[host].push_back(ask_for(errand, host, range, behind, true, run.gang));
                   });
  }
  for (const HostShare& share : run.hosts) {
    if (share.host == 0) continue;
    run.ticket = ask(errand, {nullptr, share.host, {}, {}, run.gang, true, run.behind});
    run.reads = std::move(reads[share.host]);
    outbox_[share.host].emplace_back(run);
  }
  if (errand->open == 0) errand->done({});
}

std::map<std::uint32_t, std::vector<AnnexOrder>>& Annexes::outbox() {
  // It goes along with other orders, and alone when nothing is waited for.
  for (auto& [host, its] : lendings_) {
    if (its.said == its.taken) continue;
    std::vector<AnnexOrder>& orders = outbox_[host];
    if (orders.empty() && !is_quiet()) continue;
    orders.emplace_back(TakenLoans{its.taken});
    its.said = its.taken;
  }
  return outbox_;
}

std::shared_ptr<const function::Executable> Annexes::share(
    FunctionId id, std::shared_ptr<const function::Executable> executable) {
  if (!any()) return executable;
  const function::Executable* const known = executable.get();
  return {known, [this, here = std::weak_ptr(is_here_), id, executable](const auto*) {
            if (here.expired()) return;
            for (std::uint32_t host = 1; host < hosts_; ++host) {
              outbox_[host].emplace_back(ForgetFunction{id});
            }
          }};
}

Status Annexes::take_news(const AnnexAnswer::News& news) {
  if (news.host == 0 || news.host >= hosts_) {
    return protocol_error("host " + std::to_string(news.host) + " is no annex");
  }
  Lending& its = lending(news.host);
  its.reads = news.reads;
  return its.lent.taken(news.taken);
}

Status Annexes::answer(AnnexAnswer answer) {
  if (answer.ticket == 0) return take_news(answer.news);
  const auto found = questions_.find(answer.ticket);
  if (found == questions_.end()) {
    return protocol_error("ticket " + std::to_string(answer.ticket) + " is of no question");
  }
  const Question& question = found->second;
  if (Status status = check_order(question); !status.ok()) return status;
  if (answer.status.ok()) {
    Status status = take_data(question, answer);
    if (status.code() == StatusCode::kProtocolError) return status;
    answer.status = std::move(status);
  }
  const std::shared_ptr<Errand> errand = question.errand;
  const auto of_gang = of_gangs_.find({question.host, question.gang});
  if (of_gang != of_gangs_.end() && --of_gang->second == 0) of_gangs_.erase(of_gang);
  questions_.erase(found);
  if (errand->status.ok()) errand->status = std::move(answer.status);
  if (--errand->open == 0) errand->done(errand->status);
  return {};
}

/// Gangs that run behind each other are over in this order on each host.
Status Annexes::check_order(const Question& question) const {
  if (!question.is_end) return {};
  const std::string gang = "host " + std::to_string(question.host) + " ends gang " +
                           std::to_string(question.gang) + " before ";
  if (const std::size_t open = of_gangs_.at({question.host, question.gang}); open > 1) {
    return protocol_error(gang + std::to_string(open - 1) + " reads of what it has made");
  }
  if (question.behind != 0 && of_gangs_.contains({question.host, question.behind})) {
    return protocol_error(gang + "gang " + std::to_string(question.behind) +
                          ", behind which it runs");
  }
  return {};
}

/// Errors: kProtocolError for what was not asked for; kInputLost when it is not there any more.
Status Annexes::take_data(const Question& question, const AnnexAnswer& answer) {
  const RoomRange& range = question.range;
  const function::ShardedBuffer to{question.to.shard(range.first), question.to.stride};
  if (answer.lent.any()) {
    SEAWAY_PROBE("what an annex has made is read in its memory");
    ++lending(question.host).taken;
    return copy_lent(near_.memory, near_.peer ? near_.peer(question.host) : 0, answer.lent,
                     range.shards, range.bytes, to);
  }
  const std::uint64_t wanted = range.shards * range.bytes;
  if (answer.data.size() != wanted) {
    return protocol_error("an answer of " + std::to_string(answer.data.size()) + " bytes, where " +
                          std::to_string(wanted) + " were asked for");
  }
  for (std::uint32_t s = 0; s < range.shards; ++s) {
    std::memcpy(to.shard(s), answer.data.data() + s * range.bytes, range.bytes);
  }
  return {};
}

}  // namespace seaway::device
