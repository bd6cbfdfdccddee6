// BackendWorld and ConformingGang: a backend in the hands of a test, and what it is given to run.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "actor/engine.hpp"
#include "actor/io_engine.hpp"
#include "device/backend.hpp"
#include "unit/function/cpu_testing.hpp"

namespace seaway::device {

/// A backend with four devices, and the engine that it works for.
class BackendWorld {
 public:
  virtual ~BackendWorld() = default;
  virtual actor::Engine& engine() = 0;
  virtual Backend& backend() = 0;
  /// Of a function that will be compiled.
  virtual void know(const function::Graph&, const function::AxisSizes&) {}
  /// How often it has said that work has ended.
  std::atomic<int> progress = 0;

  /// Runs `work` on the control thread.
  virtual void on_control(const std::function<void()>& work) {
    actor::run_on_control_thread(engine(), work);
  }
  /// Until `ready`, which is looked at after each piece of work.
  bool wait(const std::function<bool()>& ready) { return engine().wait(ready, 0); }

  Result<std::shared_ptr<const function::Executable>> compile(const function::Graph& graph,
                                                              const function::AxisSizes& axes) {
    know(graph, axes);
    Result<std::shared_ptr<const function::Executable>> result = Status();
    std::atomic<bool> is_done = false;
    on_control([&] {
      backend().compile(graph, axes, [&](const auto& executable) {
        result = executable;
        is_done = true;
        engine().notify();
      });
    });
    wait([&] { return is_done.load(); });
    return result;
  }
};

/// One gang with its buffers.
class ConformingGang {
 public:
  ConformingGang(std::shared_ptr<const function::Executable> executable,
                 std::vector<DeviceId> devices)
      : executable_(std::move(executable)), shards_(devices.size()), run_(executable_, shards_) {
    plan_.groups.push_back({.devices = std::move(devices), .axes = {}});
    plan_.gangs.push_back({});
    for (std::size_t i = 0; i < executable_->parameter_types().size(); ++i) {
      operands_.push_back(run_.operand(i).view());
    }
    for (std::size_t i = 0; i < executable_->output_types().size(); ++i) {
      outputs_.push_back(run_.output(i).view());
    }
    scratch_ = function::TestBuffer(executable_->scratch_bytes(), shards_);
  }

  function::TestRun& buffers() { return run_; }
  /// Has output `output` written over operand `operand`.
  void overwrite(std::size_t output, std::size_t operand) { outputs_[output] = operands_[operand]; }
  GangWork work() {
    return {.executable = executable_.get(),
            .operands = operands_,
            .outputs = outputs_,
            .scratch = scratch_.view(),
            .shards = shards_,
            .plan = &plan_};
  }

  /// Runs it as a host would.
  GangEnd run(BackendWorld& world) {
    GangEnd end;
    std::atomic<bool> is_done = false;
    world.on_control([&] {
      if (world.backend().runs_inline(executable_->cost_ns())) {
        end.status = world.backend().run(work(), end.unlaunched_on);
        is_done = true;
        return;
      }
      world.backend().start(work(), executable_->cost_ns(), [&](GangEnd ended) {
        end = std::move(ended);
        is_done = true;
        world.engine().notify();
      });
    });
    world.wait([&] { return is_done.load(); });
    return end;
  }

 private:
  std::shared_ptr<const function::Executable> executable_;
  std::size_t shards_;
  function::TestRun run_;
  std::vector<function::ShardedBuffer> operands_, outputs_;
  function::TestBuffer scratch_;
  program::PartPlan plan_;
};

}  // namespace seaway::device
