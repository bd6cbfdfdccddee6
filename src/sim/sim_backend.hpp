// SimBackend: devices that take the time a cost model says and give the reference's values.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "actor/engine.hpp"
#include "base/random.hpp"
#include "collective/local_collectives.hpp"
#include "device/backend.hpp"
#include "sim/device_faults.hpp"
#include "sim/foresight_check.hpp"

namespace seaway::sim {

/// How long things take. Times are modelled: they say nothing about real devices.
struct CostModel {
  double kernel_factor = 1;               // Of what the executable itself estimates.
  std::uint64_t kernel_jitter_ns = 2000;  // Added to each kernel, uniform from 0.
  std::uint64_t copy_ns = 500;            // Of each copy, beside 1 ns a byte.
  std::uint64_t compile_ns = 100'000;     // Of each function, jittered from 0 to twice that.
  /// Kernels and copies of so many of 100 run in the calling handler, as the CPU's small ones do.
  unsigned inline_percent = 0;
  /// Gangs of so many of 100, where others stand behind them on their device, end in the calling
  /// handler, and those are foreseen: see device::Backend::looks_ahead().
  unsigned ahead_percent = 0;
  /// Gangs of so many of 100, of those that may, leave their outputs in memory of the device, or
  /// leave something there of their operands: see device::GangEnd::made and held.
  unsigned kept_percent = 0;
  /// Functions run stage by stage, as where islands have several hosts: compiled, not interpreted.
  bool in_stages = false;
};

/// Reports what no device may see: memory that changed under a kernel's hands.
using Complain = std::function<void(std::string)>;

/// Hears of what a device does wrong, at the moment when it does.
using TellMischief = std::function<void(const Mischief& mischief)>;

/// Nothing that a gang works on may change while it runs: what it reads is copied when it starts,
/// and compared when it ends; what it writes is filled with rubbish first. So a gang that starts
/// too early, or whose memory is given away too soon, gives a wrong value or a complaint.
class SimBackend final : public device::Backend {
 public:
  /// `name` tells the devices of one world apart. Functions whose name begins with
  /// kUncompilable do not compile. `faults` are those of its island.
  SimBackend(actor::Engine& engine, std::uint64_t seed, std::uint64_t name, CostModel cost,
             std::function<void()> on_progress, Complain complain, DeviceFaults faults = {},
             TellMischief tell = {});

  void watch(device::DeviceLost lost) override;
  void compile(function::Graph graph, function::AxisSizes axes, device::CompileDone done) override;
  void compile_foreign(function::ForeignProgram program, device::CompileDone done) override;
  bool runs_inline(std::uint64_t cost_ns) const override;
  Status run(const device::GangWork& work, std::optional<DeviceId>& unlaunched_on) override;
  void start(const device::GangWork& work, std::uint64_t cost_ns, device::GangDone done) override;
  /// Of some gangs, as plugins do with short ones.
  bool looks_ahead(const device::GangWork& work) const override;
  void forget_next() override { foresight_.forget(); }
  void start_stage(const device::StageWork& work, std::uint64_t cost_ns,
                   device::GangDone done) override;
  std::optional<DeviceId> give_up(std::span<const DeviceId> devices) override;
  void copy(std::uint64_t bytes, std::function<void()> body, std::function<void()> done) override;
  /// A gang that `is_excused` may read what has changed: it fails for that reason.
  void excuse(std::function<bool(const device::GangWork&)> is_excused) {
    is_excused_ = std::move(is_excused);
  }
  /// From now on nothing goes wrong. What is lost stays so, and what hangs.
  void heal() { is_healed_ = true; }

  static constexpr std::string_view kUncompilable = "uncompilable";

 private:
  struct Job;
  struct Kept;
  struct Held;
  void after(std::uint64_t delay_ns, std::function<void()> work);
  bool is_any_lost(std::span<const DeviceId> devices) const;
  struct Slowness {  // Of a gang: how many times as long it takes,
    std::uint64_t factor = 1;
    std::uint64_t others = 1;  // how many times as long it would take without
    DeviceId slowest = 0;      // this device.
  };
  Slowness slowness(std::span<const DeviceId> devices) const;
  /// Who of `devices` does not launch a gang now. It is one launch nearer to its recovery then.
  std::optional<DeviceId> stutter(std::span<const DeviceId> devices);
  /// Who of them has no memory for it. It is one launch nearer to its recovery then.
  std::optional<DeviceId> shortage(const device::GangWork& work);
  /// Changes a bit of what a gang has made, where one of its devices does so now.
  void flip(const Job& job);
  Status refusal(const device::GangWork& work, std::optional<DeviceId>& unlaunched_on);
  /// The hang that begins with a gang that starts on `devices` now.
  const DeviceHang* hang(std::span<const DeviceId> devices);
  void finish(const std::shared_ptr<Job>& job);

  actor::Engine& engine_;
  const collective::LocalCollectives collectives_;
  const CostModel cost_;
  mutable RandomStream random_;
  RandomStream keeping_;  // Worlds in which something is kept are else as they were.
  const std::function<void()> on_progress_;
  const Complain complain_;
  const DeviceFaults faults_;
  const TellMischief tell_;
  std::function<bool(const device::GangWork&)> is_excused_;
  ForesightCheck foresight_;
  bool is_healed_ = false;
  std::set<DeviceId> lost_;                       // By now.
  std::map<DeviceId, std::uint32_t> unlaunched_;  // Gangs, by now.
  std::map<DeviceId, std::uint32_t> refused_;     // The same, for lack of memory.
  std::map<DeviceId, std::uint32_t> flippable_;   // Gangs that began when it could flip bits.
  std::set<DeviceId> hung_;                       // Now, or once.
  std::vector<std::shared_ptr<Job>> hanging_;     // Gangs that have not been given up.
};

}  // namespace seaway::sim
