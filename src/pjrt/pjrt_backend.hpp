// PjrtBackend: the devices of a plugin, for one island.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actor/background.hpp"
#include "actor/engine.hpp"
#include "device/cpu_backend.hpp"
#include "function/tbb_parallelism.hpp"
#include "pjrt/pjrt_executable.hpp"

namespace seaway::pjrt {

/// Gangs run beside the control thread, but for short ones (Limits::here_ns), at most
/// Limits::gangs_max at once, each in a thread that waits for the plugin; so does compiling. Device
/// d of the island is device d of the client. Users' own C++, and copies, are the host's work and
/// stay there, on the arena.
class PjrtBackend final : public device::Backend {
 public:
  struct Limits {
    /// More unfinished gangs with collectives than 32 have made plugins stand still for ever.
    std::size_t gangs_max = 16;
    std::size_t compilations_max = 8;  // At once; further ones wait.
    /// A gang of one device that is known to take no longer runs on the control thread: handing it
    /// over to another thread and back costs as much (two wake-ups, 30 us each across cores).
    std::uint64_t here_ns = 50'000;
    /// And one of so long where nothing else could run meanwhile.
    std::uint64_t here_alone_ns = 500'000;
    /// Where others stand behind a gang of at least so long on the control thread, they are
    /// enqueued before it has ended, and begin without a word in between.
    std::uint64_t ahead_ns = 40'000;
  };

  PjrtBackend(actor::Engine& engine, function::TbbParallelism& arena,
              std::function<void()> on_progress, Target target)
      : PjrtBackend(engine, arena, std::move(on_progress), std::move(target), Limits()) {}
  PjrtBackend(actor::Engine& engine, function::TbbParallelism& arena,
              std::function<void()> on_progress, Target target, Limits limits);
  /// Closes it. There is no other control thread any more.
  ~PjrtBackend() override;

  /// A device is lost when the plugin says that it is not available, after it has taken a gang.
  void watch(device::DeviceLost lost) override;
  void compile(function::Graph graph, function::AxisSizes axes, device::CompileDone done) override;
  void compile_foreign(function::ForeignProgram program, device::CompileDone done) override;
  /// Never: how long a program takes is known when it has run, and start() looks at that.
  bool runs_inline(std::uint64_t) const override { return false; }
  Status run(const device::GangWork& work, std::optional<DeviceId>& unlaunched_on) override;
  void start(const device::GangWork& work, std::uint64_t cost_ns, device::GangDone done) override;
  bool looks_ahead(const device::GangWork& work) const override;
  void forget_next() override;
  void start_stage(const device::StageWork& work, std::uint64_t cost_ns,
                   device::GangDone done) override;
  /// The device that is waited for. One that a plugin's call hangs on has no other way to end. None
  /// for a foreign program: how long it takes nobody here knows.
  std::optional<DeviceId> give_up(std::span<const DeviceId> devices) override;
  void copy(std::uint64_t bytes, std::function<void()> body, std::function<void()> done) override;
  /// What was given up may go on in the plugin for ever: it is left behind, with the plugin's
  /// client, until the process ends.
  void close() override;

 private:
  struct Job;
  struct Shared;
  using Made = Result<std::shared_ptr<const PjrtExecutable>>;
  void compile_by(std::function<Made()> make, device::CompileDone done);
  static std::shared_ptr<Job> make_job(const device::GangWork& work,
                                       const PjrtExecutable& executable, device::GangDone done);
  void run_here(const device::GangWork& work, const PjrtExecutable& executable,
                device::GangDone done);
  /// A gang that is enqueued before it is started, behind the one that runs here and those between.
  struct Ahead {
    Stamp stamp = 0;
    std::uint32_t gang = 0;
    std::shared_ptr<const PjrtExecutable> executable;
    std::shared_ptr<PjrtExecutable::Launch> launch;
  };
  bool is_ahead(const device::GangWork& work) const;
  bool end_here();
  std::shared_ptr<PjrtExecutable::Launch> take_ahead(const device::GangWork& work);
  bool enqueue(const device::ForeseenGang& next, const PjrtExecutable::Launch& running);
  static void end(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Job>& job,
                  LaunchEnd launched, std::uint64_t begin_ns);

  const Target target_;
  const Limits limits_;
  device::CpuBackend host_;
  const std::shared_ptr<Shared> shared_;
  std::unique_ptr<actor::Background> gangs_, compilations_;  // None after close().
  std::deque<Ahead> ahead_;                 // While there are any, Shared::runs_here is set.
  std::vector<PjrtExecutable::Made> made_;  // Scratch of enqueue().
  std::uint64_t last_end_ns_ = 0;           // Of what ran here.
};

}  // namespace seaway::pjrt
