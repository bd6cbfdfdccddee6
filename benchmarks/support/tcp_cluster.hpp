// TcpCluster: a cluster whose hosts talk over TCP, as those of several machines do over TLS.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/support/command.hpp"

namespace seaway::benchmarks {

/// Controller, schedulers and hosts as `seaway` starts them, one by one: nobody reads anybody's
/// memory. They end with it. One thread.
class TcpCluster {
 public:
  /// Returns when all are there. Errors: those of the first that is not.
  static Result<std::unique_ptr<TcpCluster>> start(std::uint32_t islands, std::uint32_t devices);

  std::string address() const { return "unix:" + directory_.path() + "/ctl.sock"; }
  pid_t host(std::uint32_t island) const { return hosts_[island]; }

 private:
  TcpCluster() = default;
  Status begin(std::uint32_t islands, std::uint32_t devices);

  const ScratchDirectory directory_;
  std::vector<Command> commands_;
  std::vector<pid_t> hosts_;
};

}  // namespace seaway::benchmarks
