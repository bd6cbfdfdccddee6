// PjrtWorld: a backend on four devices of the fake plugin, and the engine that it works for.

#pragma once

#include <memory>

#include "actor/control_engine.hpp"
#include "base/clock.hpp"
#include "pjrt/pjrt_backend.hpp"
#include "unit/device/backend_world.hpp"
#include "unit/pjrt/fake_fixture.hpp"

namespace seaway::pjrt {

/// Not a test of its own: the fixture with the fake plugin, as part of others.
class WithFake : public FakePluginTest {
 public:
  using FakePluginTest::fake;
  using FakePluginTest::known;
  using FakePluginTest::target;
  ~WithFake() override {
    if (thread_is_last) fake().wait_for_alive(0);
  }
  void TestBody() override {}
  bool thread_is_last = false;  // One that was left behind has the client.
};

class PjrtWorld final : public device::BackendWorld {
 public:
  explicit PjrtWorld(InputWay way, PjrtBackend::Limits limits = {})
      : backend_(
            *engine_, arena_, [this] { ++progress; }, WithFake::target(4, way), limits) {}
  ~PjrtWorld() override {
    backend_.close();
    engine_->stop();
  }
  actor::Engine& engine() override { return *engine_; }
  PjrtBackend& backend() override { return backend_; }
  void know(const function::Graph& graph, const function::AxisSizes& axes) override {
    fake_.known().add(graph, axes);
  }
  FakePlugin& fake() { return fake_.fake(); }
  void leave_thread_behind() { fake_.thread_is_last = true; }

 private:
  WithFake fake_;
  RealClock clock_;
  std::unique_ptr<actor::Engine> engine_ = actor::make_control_engine(clock_);
  function::TbbParallelism arena_{2};
  PjrtBackend backend_;
};

}  // namespace seaway::pjrt
