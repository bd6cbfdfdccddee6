// HandlerScope: whose handler runs in this thread, so that a call which would block it can say so.

#include "actor/handler_scope.hpp"

#include "base/check.hpp"

namespace seaway::actor {
namespace {

constinit thread_local const Handling* innermost = nullptr;

}  // namespace

HandlerScope::HandlerScope(const Handling& handling) : handling_(handling), previous_(innermost) {
  innermost = &handling;
}

HandlerScope::~HandlerScope() {
  SEAWAY_CHECK(innermost == &handling_, handling_.describe());
  innermost = previous_;
}

const Handling* current_handling() { return innermost; }

Status check_may_block(std::string_view call, std::string_view instead) {
  if (!innermost) return {};
  return invalid_argument(std::string(call) + " would block " + innermost->describe() +
                          ", and with it every actor of its worker; " + std::string(instead));
}

}  // namespace seaway::actor
