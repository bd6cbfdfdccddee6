// Annexes: the memory and the devices of an island's other hosts, as its first host sees them.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device/annex_order.hpp"
#include "device/host_plan.hpp"
#include "function/executable.hpp"

namespace seaway::device {

class Annexes;

/// Which shards of a value are on which host. The devices of an island are dealt to its hosts in
/// order, and those of a group go up: the shards of a host are neighbours.
using HostShare = collective::HostShards;

/// The part of one allocation that lies on annexes; the part of this host, and room for copies of
/// the rest, is a slab. It ends everywhere with this object. Neither copied nor moved.
class Room {
 public:
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  RoomId id() const { return id_; }
  /// Of annexes alone.
  const std::vector<HostShare>& shares() const { return shares_; }

 private:
  friend class Annexes;
  Room(Annexes& annexes, RoomId id, std::vector<HostShare> shares)
      : annexes_(annexes), id_(id), shares_(std::move(shares)) {}

  Annexes& annexes_;
  const RoomId id_;
  const std::vector<HostShare> shares_;
};

/// How hosts of one machine spare themselves copies.
struct NearAnnexes {
  transport::NearMemory* memory = nullptr;  // Null: all goes within words. It outlives them.
  std::function<HostId(std::uint32_t host)> peer = {};  // What it calls a host of this island.
  std::uint64_t bytes_min = 0;                          // More than this is lent.
};

/// Asks the annexes of an island for memory and work. Whatever is asked of one is done in the order
/// of asking, so that nobody waits for a write, and what is read is what was there when it was
/// asked for. Answers come later, by answer(). What is copied goes through this host.
///
/// A pure core; not thread-safe. Rooms and executables that it has given out end before it.
class Annexes {
 public:
  /// With one host there are none. Requires `hosts` to divide `devices`, or `hosts` = 1.
  Annexes(std::uint32_t hosts, std::uint32_t devices, NearAnnexes near = {});

  bool any() const { return hosts_ > 1; }
  /// Some of these devices are an annex's.
  bool has_some_of(const DeviceMask& devices) const {
    return any() && intersects(devices, annex_devices_);
  }
  /// Of a group's devices, in order of hosts; this host's is first, if it has any.
  std::vector<HostShare> shares_of(const std::vector<DeviceId>& devices) const;

  /// Null when none of the devices is an annex's, or there are no bytes.
  std::unique_ptr<Room> make(const std::vector<DeviceId>& devices, std::uint64_t shard_bytes,
                             store::SlabOwner owner = 0);

  using Done = std::function<void(const Status& status)>;

  /// Copies bytes [offset, offset + bytes) of each shard of the annexes from `from`, which is a
  /// buffer of all shards, at offset 0. `owner`: as long as that is kept, `from` stays as it is
  /// until the next gang of these annexes has ended, and annexes may copy as late; null: it may
  /// change at once.
  void write(const Room& room, std::uint64_t offset, std::uint64_t bytes,
             function::ShardedBuffer from, std::shared_ptr<const void> owner = nullptr);
  /// The other way. `to` stays valid until `done` is called, once, later. `is_steady`: nothing that
  /// is asked for before then writes there.
  void read(const Room& room, std::uint64_t offset, std::uint64_t bytes, function::ShardedBuffer to,
            bool is_steady, Done done);
  /// What is read at the end of a gang, as by read(): it is steady.
  struct Wanted {
    const Room* room = nullptr;
    std::uint64_t offset = 0, bytes = 0;
    function::ShardedBuffer to;
  };
  /// Runs a gang on each annex that has some of its shards; `run.ticket` is set for each. `done` is
  /// called once, later, with the first error, when `wanted` is there too; at once if there is none
  /// among them.
  void run(RunGang run, const std::vector<Wanted>& wanted, Done done);
  /// `executable`, which annexes know too until the last copy of what this returns has ended.
  std::shared_ptr<const function::Executable> share(
      FunctionId id, std::shared_ptr<const function::Executable> executable);

  /// What an annex has answered. Errors: kProtocolError when nothing was asked with that ticket, or
  /// it is not as many bytes as were asked for, or more was copied than was lent, or a gang ends
  /// before what it has made was read or before the gang that it runs behind.
  Status answer(AnnexAnswer answer);

  /// What is to be said, to hosts 1, 2, ..; the caller takes it.
  std::map<std::uint32_t, std::vector<AnnexOrder>>& outbox();
  /// Nothing is waited for.
  bool is_quiet() const { return questions_.empty(); }
  std::uint32_t hosts() const { return hosts_; }
  /// The first one that has not answered what it was asked about `gang`; 1 if all have.
  std::uint32_t laggard(std::uint64_t gang) const;

 private:
  friend class Room;

  /// One of which the parts are answered one by one.
  struct Errand {
    std::size_t open = 0;
    Status status = {};
    Done done;
  };
  struct Question {
    std::shared_ptr<Errand> errand;
    std::uint32_t host = 0;      // Whose answer it is.
    RoomRange range;             // Of a read,
    function::ShardedBuffer to;  // at the range's offset.
    std::uint64_t gang = 0;      // Of the end of a gang, and of what is read at it; else 0.
    bool is_end = false;         // Of `gang`,
    std::uint64_t behind = 0;    // which runs behind this one; 0: behind none.
  };

  std::uint32_t host_of(DeviceId device) const { return device / devices_per_host_; }
  /// What one annex and this host lend each other.
  struct Lending {
    LoanQueue lent;
    bool reads = false;  // It reads this host's memory.
    std::uint64_t taken = 0,
                  said = 0;  // Copied of what it lends, in all; and what it knows of that.
  };

  std::uint64_t ask(const std::shared_ptr<Errand>& errand, Question question);
  ReadRoom ask_for(const std::shared_ptr<Errand>& errand, std::uint32_t host,
                   const RoomRange& range, function::ShardedBuffer to, bool is_steady,
                   std::uint64_t gang = 0);
  Status check_order(const Question& question) const;
  bool is_worth_lending(const RoomRange& range) const;
  Lending& lending(std::uint32_t host);
  Status take_news(const AnnexAnswer::News& news);
  Status take_data(const Question& question, const AnnexAnswer& answer);
  /// Calls `use` for each part of the annexes' shards that is small enough for one order.
  void for_each_range(const Room& room, std::uint64_t offset, std::uint64_t bytes,
                      const std::function<void(std::uint32_t host, const RoomRange& range)>& use);
  void drop(const Room& room);

  const std::uint32_t hosts_;
  const std::uint32_t devices_per_host_;
  const NearAnnexes near_;
  DeviceMask annex_devices_;
  RoomId last_room_ = 0;
  std::uint64_t last_ticket_ = 0;
  std::map<std::uint64_t, Question> questions_;  // By ticket.
  /// By host and gang: how many of the questions are about it.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> of_gangs_;
  std::map<std::uint32_t, Lending> lendings_;  // By host.
  std::map<std::uint32_t, std::vector<AnnexOrder>> outbox_;
  /// Functions may be let go of when this has ended.
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace seaway::device
