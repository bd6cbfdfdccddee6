// Backend: what makes devices compute: the built-in CPU, or a cost model in the simulator.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/ids.hpp"
#include "function/executable.hpp"
#include "seaway/status.hpp"

namespace seaway::device {

/// One gang ready to run on this host: all its inputs are there, all its room is reserved.
struct GangWork {
  const function::Executable* executable = nullptr;
  std::span<const function::ShardedBuffer> operands, outputs;
  function::ShardedBuffer scratch;
  std::size_t shards = 0;
  std::span<const DeviceId> devices;  // Where its shards run; valid until it is done.
};

/// Result of a gang that did not run in the caller's thread. Called on the control thread.
using GangDone = std::function<void(Status, std::uint64_t begin_ns, std::uint64_t end_ns)>;

using CompileDone =
    std::function<void(Result<std::shared_ptr<const function::Executable>> executable)>;

/// A device runs nothing any more and its memory is gone, for good; `cause` is for people. Called
/// on the control thread.
using DeviceLost = std::function<void(DeviceId device, const std::string& cause)>;

/// Executes gangs and large copies. Owned by one host; control thread only. Everything that work
/// refers to stays valid until it is done.
class Backend {
 public:
  virtual ~Backend() = default;

  /// `lost` is called once for each device that is lost, at any time: of its own accord, or before
  /// the end of the work that found it out. Nothing is started there any more. What runs there ends
  /// all the same, `done` is called, and neither its status nor what it wrote means anything; so
  /// it is with copies from and to such a device. At most one call, before any work.
  virtual void watch(DeviceLost lost) = 0;

  /// Compiles in the background; `done` is called once, on the control thread.
  virtual void compile(function::Graph graph, function::AxisSizes axes, CompileDone done) = 0;

  /// True when a gang that takes about `cost_ns` in all runs in the calling thread at once.
  virtual bool runs_inline(std::uint64_t cost_ns) const = 0;
  /// Runs `work` now. Requires runs_inline().
  virtual Status run(const GangWork& work) = 0;
  /// Starts `work`; `done` is called once, later, on the control thread.
  virtual void start(const GangWork& work, std::uint64_t cost_ns, GangDone done) = 0;
  /// Starts a copy of `bytes` bytes; small ones are done before the call returns.
  virtual void copy(std::uint64_t bytes, std::function<void()> body,
                    std::function<void()> done) = 0;
};

}  // namespace seaway::device
