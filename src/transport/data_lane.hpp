// DataLane: a thread with connections for data.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "transport/data_link.hpp"

namespace seaway::transport {

/// Moves bytes of its links, so that who plays a role does not wait for them. What it is told is
/// done in the order of telling. All calls: any one thread; what it calls, its own thread calls.
class DataLane {
 public:
  struct Options {
    /// When nothing has come from a peer for so long, what is fetched from it is given up,
    std::uint64_t give_up_ns = 10'000'000'000;
    std::uint64_t again_ns = 2'000'000'000;     // and asked for over another connection before.
    std::uint64_t dial_ns_max = 1'000'000'000;  // Between attempts to connect.
    std::size_t links_max = 4;                  // Of one peer: its oldest one goes for a fifth.
  };
  struct Calls {
    /// A connection to `peer` is wanted; connected() or unreachable() answers.
    std::function<void(DataPeer peer)> dial;
    /// A fetch is over; nothing is written there any more.
    std::function<void(std::uint64_t ticket, Status status)> ended;
  };
  /// Errors: kResourceExhausted when the system has no descriptors or no thread for it.
  static Result<std::unique_ptr<DataLane>> make(const Clock& clock, Options options, Calls calls);
  /// Ends its thread and all connections; what has not ended never does.
  ~DataLane();

  void connected(DataPeer peer, std::unique_ptr<DataSocket> socket);
  void unreachable(DataPeer peer, Status why);

  void offer(DataPeer reader, DataKey key, std::shared_ptr<const DataSource> source);
  void withdraw(DataPeer reader, DataKey key);
  /// Bytes [begin, end) of a value. `ticket`: a name for it, once.
  void fetch(DataPeer from, std::uint64_t ticket, DataFetch fetch);
  void cancel(DataPeer from, std::uint64_t ticket);
  void set_weight(std::uint32_t tenant, std::uint32_t weight);
  /// See DataPlane.
  void meet(DataPeer peer);
  void forget(DataPeer peer);

  DataPlane::Counts counts() const;

 private:
  struct Fetch {
    DataFetch fetch;
    DataLink* link = nullptr;  // It was asked for there; null: it waits for one.
    std::uint64_t begin_ns = 0;
    std::uint64_t again_ns = 0;  // It is not asked for before.
  };
  struct Peer {
    std::list<DataLink> links;
    std::uint64_t heard_ns = 0;     // When the last byte of a fetch came,
    std::uint64_t replaced_ns = 0;  // and a connection was replaced for want of them.
    std::map<DataKey, std::shared_ptr<const DataSource>> offers;
    std::map<std::uint64_t, Fetch> fetches;  // By ticket.
    bool is_dialing = false, had_link = false;
    std::uint64_t dial_ns = 0;   // Not before.
    std::uint64_t pause_ns = 0;  // The last one between attempts.
    Status failure;
  };

  DataLane(const Clock& clock, Options options, Calls calls, Descriptor bell, Descriptor poll);
  void tell(std::function<void()> what);
  void run();
  bool take_told();
  void move();
  void wait();
  void reap(DataPeer id, Peer& peer, std::uint64_t now_ns);
  void drop(DataPeer id, Peer& peer, std::list<DataLink>::iterator link);
  void look_after(DataPeer id, Peer& peer, std::uint64_t now_ns);
  void give_up(DataPeer id, Peer& peer, std::uint64_t now_ns);
  void end(Peer& peer, std::uint64_t ticket, Status status);
  void count();

  const Clock& clock_;
  const Options options_;
  const Calls calls_;
  Descriptor bell_, poll_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::deque<std::function<void()>> told_;
  bool is_closed_ = false;
  DataPlane::Counts counts_;
  // Of the thread:
  std::map<DataPeer, Peer> peers_;
  std::map<std::uint32_t, std::uint32_t> weights_;
  DataPlane::Counts counting_;
  std::uint64_t looked_ns_ = 0;
  bool is_busy_ = false;    // Some link has something to do at once,
  bool has_moved_ = false;  // or has moved bytes of a value and not all of them.
  std::thread thread_;
};

}  // namespace seaway::transport
