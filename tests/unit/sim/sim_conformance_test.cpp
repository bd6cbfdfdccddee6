// Simulated devices keep what all backends promise.

#include "actor/seeded_engine.hpp"
#include "sim/sim_backend.hpp"
#include "unit/device/backend_conformance.hpp"

namespace seaway::device {
namespace {

class SimWorld final : public BackendWorld {
 public:
  explicit SimWorld(unsigned inline_percent)
      : backend_(
            *engine_, 1, 0, {.inline_percent = inline_percent}, [this] { ++progress; },
            [](const std::string& what) { ADD_FAILURE() << what; }) {}
  actor::Engine& engine() override { return *engine_; }
  Backend& backend() override { return backend_; }
  /// There is one thread, which steps.
  void on_control(const std::function<void()>& work) override {
    bool is_done = false;
    engine_->post([&] {
      work();
      is_done = true;
    });
    engine_->wait([&] { return is_done; }, 0);
  }

 private:
  std::unique_ptr<actor::SeededEngine> engine_ = actor::make_seeded_engine(1);
  sim::SimBackend backend_;
};

INSTANTIATE_TEST_SUITE_P(
    Sim, BackendConformance,
    ::testing::Values(NamedBackend{"beside", [] { return std::make_unique<SimWorld>(0); }},
                      NamedBackend{"inline", [] { return std::make_unique<SimWorld>(100); }}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace seaway::device
