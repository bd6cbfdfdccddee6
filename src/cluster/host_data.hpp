// HostData: how a process fetches large values from hosts, and hosts theirs from it.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actor/engine.hpp"
#include "base/ids.hpp"
#include "cluster/shape.hpp"
#include "transport/io_loop.hpp"
#include "transport/socket_data_plane.hpp"
#include "transport/socket_wires.hpp"

namespace seaway::cluster {

/// Connections for data between hosts, and of clients with hosts, which are introduced like all
/// others and then left to threads of their own. Clients call hosts, which cannot call them.
/// Control thread; engine and loop outlive it.
class HostData {
 public:
  struct Options {
    transport::ProcessId self = 0;
    std::uint32_t life = 0;
    std::uint64_t cluster = 0;
    Shape shape = Shape(1);
    std::string pass = {};
    transport::Credentials credentials = {};
    transport::SocketDataPlane::Options plane = {};
  };
  /// As SocketHandlers::find.
  using Find =
      std::function<void(transport::ProcessId peer, std::function<void(Result<std::string>)> done)>;

  struct Calls {
    Find find;
    std::function<void()> on_progress;
    /// A connection is wanted to a client, who is to make it. Of hosts.
    std::function<void(ClientId client)> call_back = {};
  };
  /// Errors: those of SocketDataPlane::make().
  static Result<std::unique_ptr<HostData>> make(actor::Engine& engine, transport::IoLoop& loop,
                                                Options options, Calls calls);

  transport::DataPlane& plane() { return *plane_; }
  void close() { plane_->close(); }
  /// `peer` may talk, and has connected. Of who is neither host nor client nothing is heard.
  void accept(transport::ProcessId peer, std::unique_ptr<transport::DataSocket> socket);

 private:
  HostData(transport::IoLoop& loop, Options options, Calls calls);
  void dial(transport::DataPeer peer, const transport::SocketDataPlane::Calls::Dialed& done);

  transport::IoLoop& loop_;
  const Options options_;
  const Calls calls_;
  std::unique_ptr<transport::SocketDataPlane> plane_;
};

}  // namespace seaway::cluster
