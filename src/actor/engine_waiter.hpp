// How futures block on an engine, which they may outlive.

#pragma once

#include <memory>

#include "actor/engine.hpp"
#include "actor/engine_gate.hpp"
#include "seaway/future.hpp"

namespace seaway::actor {

/// What the futures that `engine` completes wait on. They may outlive the engine. The end of one
/// with threads of its own completes what is pending, ends the waits, and returns when no thread is
/// inside the engine through a waiter; then a wait returns at once. For an engine without threads
/// detach() comes before its end. Thread-safe.
std::shared_ptr<internal::Waiter> make_engine_waiter(Engine& engine);

/// Keeps `engine` from ending while a thread of others sends to an actor of it. Null: the engine
/// has no threads.
std::shared_ptr<EngineGate> gate_of(const Engine& engine);

}  // namespace seaway::actor
