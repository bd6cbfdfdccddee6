// IoEngine: the engine of a process that talks with others: its control thread waits for sockets,
// too.

#pragma once

#include <functional>
#include <memory>

#include "actor/engine.hpp"
#include "seaway/status.hpp"
#include "transport/io_loop.hpp"

namespace seaway::actor {

/// An engine whose control thread waits in an IoLoop: a message from another process wakes this one
/// thread, which reads it, runs the actors that it is for, and writes what they answer. A client
/// that calls and waits in turns takes its place, loop and all: it writes its call, and the answer
/// wakes nobody else. In between the control thread looks at the sockets each 100 us.
class IoEngine : public Engine {
 public:
  /// Begins and ends on the control thread, and lives as long as the actors do. What uses it is
  /// made and ended there, before stop(): see run_on_control_thread().
  virtual transport::IoLoop& loop() = 0;
};

/// As make_control_engine(). Errors: kResourceExhausted when the system has no descriptors or no
/// thread for it.
Result<std::unique_ptr<IoEngine>> make_io_engine(const Clock& clock);

/// Runs `work` on the control thread and waits until it is done. Not from that thread, and not
/// after stop().
void run_on_control_thread(Engine& engine, const std::function<void()>& work);

}  // namespace seaway::actor
