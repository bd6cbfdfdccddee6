// How futures block on an engine, which they may outlive.

#include "actor/engine_waiter.hpp"

#include <atomic>

#include "actor/engine_gate.hpp"

namespace seaway::actor {
namespace {

class EngineWaiter final : public internal::Waiter {
 public:
  explicit EngineWaiter(Engine& engine) : gate_(gate_of(engine)), engine_(&engine) {}

  void detach() override {
    if (!gate_) engine_.store(nullptr, std::memory_order_release);
  }
  bool wait(const std::function<bool()>& ready, std::uint64_t timeout_ns) override {
    const Visit engine(*this);
    if (!engine) return ready();
    const std::uint64_t deadline_ns = timeout_ns ? engine->clock().now_ns() + timeout_ns : 0;
    return engine->wait(ready, deadline_ns);
  }
  void help(const std::function<bool()>& ready) override {
    if (const Visit engine(*this); engine) engine->help(ready);
  }
  void notify() override {
    if (const Visit engine(*this); engine) engine->notify();
  }
  bool on_control_thread() const override {
    const Visit engine(*this);
    return engine && engine->on_control_thread();
  }

 private:
  /// The engine, which does not end meanwhile; false: it has ended.
  class Visit {
   public:
    explicit Visit(const EngineWaiter& waiter) : stay_(waiter.gate_.get()) {
      if (stay_) engine_ = waiter.engine_.load(std::memory_order_acquire);
    }
    explicit operator bool() const { return engine_ != nullptr; }
    Engine* operator->() const { return engine_; }

   private:
    EngineStay stay_;
    Engine* engine_ = nullptr;
  };

  const std::shared_ptr<EngineGate> gate_;
  std::atomic<Engine*> engine_;  // Null: detached.
};

}  // namespace

std::shared_ptr<EngineGate> gate_of(const Engine& engine) {
  const auto* const gated = dynamic_cast<const Gated*>(&engine);
  return gated ? gated->gate() : nullptr;
}

std::shared_ptr<internal::Waiter> make_engine_waiter(Engine& engine) {
  return std::make_shared<EngineWaiter>(engine);
}

}  // namespace seaway::actor
