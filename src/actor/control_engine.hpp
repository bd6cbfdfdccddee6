// ControlEngine: the real engine: one thread of its own runs all role actors and their timers.

#pragma once

#include <memory>

#include "actor/engine.hpp"

namespace seaway::actor {

/// Starts the control thread at once; the destructor ends all actors and joins it. `clock` outlives
/// the engine.
std::unique_ptr<Engine> make_control_engine(const Clock& clock);

}  // namespace seaway::actor
