// What the tests of engines share: frames that carry one number, and an actor made of callbacks.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "actor/actor.hpp"

namespace seaway::actor {

inline Frame number_frame(std::uint64_t number) {
  return Frame::make(1, [number](std::span<std::uint64_t> words) { words[0] = number; });
}
inline std::uint64_t number_of(const Frame& frame) { return frame.words()[0]; }

class CallbackActor final : public Actor {
 public:
  explicit CallbackActor(std::function<void(std::uint64_t)> on_number,
                         std::function<void()> on_idle = {})
      : on_number_(std::move(on_number)), on_idle_(std::move(on_idle)) {}

  void receive(const Frame& frame) override { on_number_(number_of(frame)); }
  void idle() override {
    if (on_idle_) on_idle_();
  }

 private:
  std::function<void(std::uint64_t)> on_number_;
  std::function<void()> on_idle_;
};

}  // namespace seaway::actor
