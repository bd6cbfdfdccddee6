// How futures block on an engine, which they may outlive.

#include "actor/engine_waiter.hpp"

#include <atomic>

namespace seaway::actor {
namespace {

class EngineWaiter final : public internal::Waiter {
 public:
  explicit EngineWaiter(Engine& engine) : engine_(&engine) {}

  void detach() override { engine_.store(nullptr, std::memory_order_release); }
  bool wait(const std::function<bool()>& ready, std::uint64_t timeout_ns) override {
    Engine* engine = engine_.load(std::memory_order_acquire);
    if (!engine) return ready();
    const std::uint64_t deadline_ns = timeout_ns ? engine->clock().now_ns() + timeout_ns : 0;
    return engine->wait(ready, deadline_ns);
  }
  void help(const std::function<bool()>& ready) override {
    if (Engine* engine = engine_.load(std::memory_order_acquire)) engine->help(ready);
  }
  void notify() override {
    if (Engine* engine = engine_.load(std::memory_order_acquire)) engine->notify();
  }
  bool on_control_thread() const override {
    const Engine* engine = engine_.load(std::memory_order_acquire);
    return engine && engine->on_control_thread();
  }

 private:
  std::atomic<Engine*> engine_;
};

}  // namespace

std::shared_ptr<internal::Waiter> make_engine_waiter(Engine& engine) {
  return std::make_shared<EngineWaiter>(engine);
}

}  // namespace seaway::actor
