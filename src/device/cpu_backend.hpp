// CpuBackend: the built-in devices: kernels on this machine's cores.

#pragma once

#include <memory>

#include "actor/engine.hpp"
#include "collective/local_collectives.hpp"
#include "device/backend.hpp"
#include "function/tbb_parallelism.hpp"

namespace seaway::device {

/// Small gangs run inside the control thread, where a hand-off would cost more than the kernel;
/// large ones on an arena of `threads` threads, which all hosts of the process may share.
/// Each piece of finished work ends with a call of `on_progress` on the control thread.
class CpuBackend final : public Backend {
 public:
  CpuBackend(actor::Engine& engine, function::TbbParallelism& arena,
             std::function<void()> on_progress);

  void compile(function::Graph graph, function::AxisSizes axes, CompileDone done) override;
  bool runs_inline(std::uint64_t cost_ns) const override;
  Status run(const GangWork& work) override;
  void start(const GangWork& work, std::uint64_t cost_ns, GangDone done) override;
  void copy(std::uint64_t bytes, std::function<void()> body, std::function<void()> done) override;

 private:
  actor::Engine& engine_;
  function::TbbParallelism& arena_;
  std::function<void()> on_progress_;
  collective::LocalCollectives collectives_;
};

}  // namespace seaway::device
