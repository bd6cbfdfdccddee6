// HandlerScope: whose handler runs in this thread, so that a call which would block it can say so.

#pragma once

#include <string>
#include <string_view>

#include "seaway/status.hpp"

namespace seaway::actor {

/// Whoever handles a message now. Asked only when something is wrong.
class Handling {
 public:
  virtual ~Handling() = default;
  /// For messages, for example: actor "counter" 17 in its handler of Add.
  virtual std::string describe() const = 0;
};

/// While it lives, `handling` handles a message in this thread. Scopes nest: a handler may run
/// another, and the innermost counts. Made and ended by the same thread in the manner of a stack:
/// a handler that suspends ends its scope first, and opens a new one where it goes on. Costs a few
/// nanoseconds.
class [[nodiscard]] HandlerScope {
 public:
  /// Borrows `handling` until the scope ends.
  explicit HandlerScope(const Handling& handling);
  ~HandlerScope();
  HandlerScope(const HandlerScope&) = delete;
  HandlerScope& operator=(const HandlerScope&) = delete;

 private:
  const Handling& handling_;
  const Handling* previous_;
};

/// Whose handler this thread runs; null outside of handlers.
const Handling* current_handling();

/// OK outside of handlers. In one: kInvalidArgument, as whatever blocks a handler blocks its whole
/// worker, also when another engine makes the outcome. `call` is what was called; `instead`, what
/// to do rather.
Status check_may_block(std::string_view call, std::string_view instead);

}  // namespace seaway::actor
