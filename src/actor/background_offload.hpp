// Offload of a process: jobs of a Background whose ends are posted to an engine.

#pragma once

#include <utility>

#include "actor/background.hpp"
#include "actor/engine.hpp"
#include "actor/offload.hpp"

namespace seaway::actor {

/// `background` ends before `engine` does.
inline OffloadOptions offload_to(Background& background, Engine& engine) {
  return {
      .offload = [&background, &engine](std::function<void()> work, std::function<void()> then) {
        background.submit([&engine, work = std::move(work), then = std::move(then)] {
          work();
          engine.post(then);
        });
      }};
}

}  // namespace seaway::actor
