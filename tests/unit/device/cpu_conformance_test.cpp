// The built-in devices keep what all backends promise.

#include "actor/control_engine.hpp"
#include "base/clock.hpp"
#include "device/cpu_backend.hpp"
#include "unit/device/backend_conformance.hpp"

namespace seaway::device {
namespace {

class CpuWorld final : public BackendWorld {
 public:
  ~CpuWorld() override { engine_->stop(); }
  actor::Engine& engine() override { return *engine_; }
  Backend& backend() override { return backend_; }

 private:
  RealClock clock_;
  std::unique_ptr<actor::Engine> engine_ = actor::make_control_engine(clock_);
  function::TbbParallelism arena_{2};
  CpuBackend backend_{*engine_, arena_, [this] { ++progress; }};
};

TEST(CpuBackend, CopiesWhatIsSmallBeforeItReturns) {
  CpuWorld world;
  int copies = 0, ends = 0;
  world.on_control([&] {
    world.backend().copy(
        64, [&] { ++copies; }, [&] { ++ends; });
    EXPECT_EQ(copies, 1);
    EXPECT_EQ(ends, 1);
  });
}

INSTANTIATE_TEST_SUITE_P(Cpu, BackendConformance,
                         ::testing::Values(NamedBackend{
                             "cpu", [] { return std::make_unique<CpuWorld>(); }}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace seaway::device
