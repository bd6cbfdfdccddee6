// How futures block on an engine, which they may outlive.

#pragma once

#include <memory>

#include "actor/engine.hpp"
#include "seaway/future.hpp"

namespace seaway::actor {

/// What the futures that `engine` completes wait on. They may outlive the engine: detach() comes
/// before its end, and from then on nothing of it is touched and nothing is pending any more.
/// Thread-safe.
std::shared_ptr<internal::Waiter> make_engine_waiter(Engine& engine);

}  // namespace seaway::actor
