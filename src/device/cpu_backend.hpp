// CpuBackend: the built-in devices: kernels on this machine's cores.

#pragma once

#include <functional>
#include <memory>

#include "actor/background.hpp"
#include "actor/engine.hpp"
#include "collective/local_collectives.hpp"
#include "device/backend.hpp"
#include "function/tbb_parallelism.hpp"

namespace seaway::device {

/// Makes executables of graphs, as function::compile_cpu does. Called on threads of the background.
using Compiler = std::function<Result<std::shared_ptr<const function::Executable>>(
    const function::Graph& graph, const function::AxisSizes& axes,
    const function::Collectives& collectives)>;

/// Small gangs run inside the control thread, where a hand-off would cost more than the kernel;
/// large ones on an arena of `threads` threads, which all hosts of the process may share.
/// Compilations have threads of their own, so that a long one holds up neither gangs nor the next
/// compilations. Each piece of finished work ends with a call of `on_progress` on the control
/// thread.
class CpuBackend final : public Backend {
 public:
  CpuBackend(actor::Engine& engine, function::TbbParallelism& arena,
             std::function<void()> on_progress, Compiler compiler = function::compile_cpu);

  /// These devices live as long as their process: none of them is ever lost.
  void watch(DeviceLost) override {}
  void compile(function::Graph graph, function::AxisSizes axes, CompileDone done) override;
  bool runs_inline(std::uint64_t cost_ns) const override;
  Status run(const GangWork& work, std::optional<DeviceId>& unlaunched_on) override;
  void start(const GangWork& work, std::uint64_t cost_ns, GangDone done) override;
  void start_stage(const StageWork& work, std::uint64_t cost_ns, GangDone done) override;
  /// None: these devices are threads of this process, and a gang that takes long is a function that
  /// takes long.
  std::optional<DeviceId> give_up(std::span<const DeviceId>) override { return {}; }
  void copy(std::uint64_t bytes, std::function<void()> body, std::function<void()> done) override;

 private:
  actor::Engine& engine_;
  function::TbbParallelism& arena_;
  std::function<void()> on_progress_;
  const Compiler compiler_;
  collective::LocalCollectives collectives_;
  actor::Background compilations_{{}};  // Ends first: it uses the others.
};

}  // namespace seaway::device
