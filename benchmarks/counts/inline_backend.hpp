// Devices that do everything within the call.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "actor/engine.hpp"
#include "collective/local_collectives.hpp"
#include "device/backend.hpp"
#include "function/executable.hpp"

namespace seaway::benchmarks {

/// The built-in devices as they are for small gangs, without threads: what a gang costs is counted
/// as a whole.
class InlineBackend final : public device::Backend {
 public:
  InlineBackend(actor::Engine& engine, std::function<void()> on_progress)
      : engine_(engine), on_progress_(std::move(on_progress)) {}

  void watch(device::DeviceLost) override {}
  void compile(function::Graph graph, function::AxisSizes axes, device::CompileDone done) override {
    engine_.post([this, done = std::move(done),
                  executable = function::compile_cpu(graph, axes, collectives_)] {
      done(executable);
      on_progress_();
    });
  }
  bool runs_inline(std::uint64_t) const override { return true; }
  Status run(const device::GangWork& work, std::optional<DeviceId>&) override {
    return work.executable->run(work.operands, work.outputs, work.scratch, work.shards, nullptr);
  }
  void start(const device::GangWork& work, std::uint64_t, device::GangDone done) override {
    done({.status = work.executable->run(work.operands, work.outputs, work.scratch, work.shards,
                                         nullptr)});
  }
  std::optional<DeviceId> give_up(std::span<const DeviceId>) override { return {}; }
  void copy(std::uint64_t, std::function<void()> body, std::function<void()> done) override {
    body();
    done();
  }

 private:
  actor::Engine& engine_;
  const std::function<void()> on_progress_;
  collective::LocalCollectives collectives_;
};

}  // namespace seaway::benchmarks
