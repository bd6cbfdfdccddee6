// SocketDataPlane: the data plane of a process: threads of its own, and sockets.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "transport/data_lane.hpp"
#include "transport/data_plane.hpp"

namespace seaway::transport {

/// Each lane has a thread, and a connection to each process that something is fetched from: large
/// values are dealt to all lanes. Control thread only.
class SocketDataPlane final : public DataPlane {
 public:
  struct Options {
    std::uint32_t lanes = 1;
    std::uint64_t bytes_min = std::uint64_t{64} << 10;
    DataLane::Options lane = {};
  };
  struct Calls {
    /// Runs `work` on the control thread, soon; or drops it, when that has ended. Any thread.
    std::function<void(std::function<void()> work)> post;
    /// Makes a connection to `peer`; `done` is called once, on the control thread, or never when
    /// that ends first.
    using Dialed = std::function<void(Result<std::unique_ptr<DataSocket>> socket)>;
    std::function<void(DataPeer peer, Dialed done)> dial;
    /// Behind each fetch that has ended: whoever was told may go on.
    std::function<void()> on_progress;
  };
  /// Errors: kResourceExhausted when the system has no descriptors or no threads for its lanes.
  static Result<std::unique_ptr<SocketDataPlane>> make(const Clock& clock, Options options,
                                                       Calls calls);
  ~SocketDataPlane() override;

  /// Nothing is read or written from here on, and nobody is told of anything, whatever is called.
  /// Waits for what is moved just now.
  void close();

  /// `peer` has connected.
  void accept(DataPeer peer, std::unique_ptr<DataSocket> socket);

  std::uint64_t bytes_min() const override { return options_.bytes_min; }
  void offer(DataPeer reader, DataKey key, DataSource source) override;
  void withdraw(DataPeer reader, DataKey key) override;
  void fetch(DataPeer from, DataKey key, DataTarget target,
             std::function<void(Status)> done) override;
  void cancel(DataPeer from, DataKey key) override;
  void set_weight(std::uint32_t tenant, std::uint32_t weight) override;
  void meet(DataPeer peer) override;
  void forget(DataPeer peer) override;
  std::size_t open() const override { return offers_ + fetches_.size(); }
  Counts counts() const override;

 private:
  /// Of one value; a piece for each lane that it was dealt to.
  struct Fetching {
    std::uint64_t ticket = 0;
    std::uint32_t lanes = 0;  // That have not ended.
    Status status;            // The first error.
    std::function<void(Status)> done;
  };
  /// What no lane needs any more, on its way to the control thread.
  struct Returns {
    std::mutex mutex;
    std::vector<std::unique_ptr<const DataSource>> sources;
    void give_up();
  };
  using Name = std::pair<DataPeer, DataKey>;
  SocketDataPlane(Options options, Calls calls);
  Status add_lane(const Clock& clock);
  void ended(std::uint64_t ticket, Status status);
  void dial(DataPeer peer, std::size_t lane);

  const Options options_;
  const Calls calls_;
  const std::shared_ptr<Returns> returns_ = std::make_shared<Returns>();
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);  // Of the control thread.
  std::map<Name, Fetching> fetches_;
  std::map<std::uint64_t, Name> names_;  // Of tickets.
  std::uint64_t last_ticket_ = 0;
  std::size_t offers_ = 0;
  std::size_t accepted_ = 0, dealt_ = 0;
  std::vector<std::unique_ptr<DataLane>> lanes_;  // End first. None: it is closed.
};

}  // namespace seaway::transport
