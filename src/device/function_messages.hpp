// Functions between hosts: how they come in, and what is said about them.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "actor/offload.hpp"
#include "base/frame.hpp"
#include "base/ids.hpp"
#include "device/backend.hpp"
#include "function/native_registry.hpp"
#include "program/program_graph.hpp"

namespace seaway::device {

using Defined = std::function<void(
    FunctionId function, const Result<std::shared_ptr<const function::Executable>>& executable)>;

/// Compiles the graph of a `compile` message, or finds the native function of its name. `done` is
/// called once: at once, or later on the control thread, with kInvalidArgument for a native
/// function that is not registered here or is another one. A large graph is decoded on another
/// thread by `offload`. Errors: kProtocolError for a frame that is none; `done` is not called then.
Status make_executable(const Frame& frame, const function::NativeRegistry& natives,
                       Backend& backend, const actor::OffloadOptions& offload, Defined done);

/// What `host` says of it. Of one that is compiled: how much room it wants on a device, with
/// `more_bytes` of the host's own, how long it takes, and what may overwrite what.
struct Compiled {
  FunctionId function = 0;
  std::uint32_t host = 0;
  Status status = {};
  std::uint64_t scratch_bytes = 0, cost_ns = 0;
  function::OutputOperandPairs in_place = {};
  std::optional<program::ForeignCompiled> foreign = {};
};
Compiled compiled(FunctionId function, std::uint32_t host, const Status& status,
                  const function::Executable* executable, std::uint64_t more_bytes);
Frame compiled_frame(const Compiled& compiled);

/// Which functions are being compiled on all hosts of an island: done when all have said so.
class Compilations {
 public:
  struct Ended {
    Status status = {};                                      // The first error.
    std::shared_ptr<const function::Executable> executable;  // Of this host; null with an error.
  };

  void begin(FunctionId function, std::uint32_t hosts) { open_[function] = {hosts, {}}; }
  /// A host is done, which is this one if it has an executable. Nothing: others are not, or nobody
  /// compiles it.
  std::optional<Ended> end(FunctionId function, const Status& status,
                           std::shared_ptr<const function::Executable> executable = nullptr);

 private:
  struct Open {
    std::uint32_t hosts = 0;  // That are not done.
    Ended so_far;
  };
  std::map<FunctionId, Open> open_;
};

}  // namespace seaway::device
