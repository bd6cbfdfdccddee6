// The operations whose costs are counted, each in a world of one thread.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "seaway/status.hpp"

namespace seaway::benchmarks {

/// Messages between roles so far, and the steps of the engine: messages, posted work and timers.
struct Traffic {
  std::uint64_t frames = 0, frame_bytes = 0, steps = 0;
};

/// One operation in a world that is warm. One thread; equal in each process that makes it.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Does it `count` times. Nothing is in flight when it returns.
  virtual Status run(std::uint32_t count) = 0;
  virtual Traffic traffic() const = 0;
};

struct OperationKind {
  std::string name;
  std::function<Result<std::unique_ptr<Operation>>()> make;
  std::uint32_t count;  // Of a measurement.
};

/// All of them, in the order in which they are printed.
std::span<const OperationKind> operation_kinds();

}  // namespace seaway::benchmarks
