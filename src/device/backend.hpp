// Backend: what makes devices compute: the built-in CPU, or a cost model in the simulator.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "function/executable.hpp"
#include "program/part_plan.hpp"
#include "seaway/status.hpp"
#include "transport/bulk.hpp"

namespace seaway::device {

struct ForeseenGang;

/// One gang ready to run on this host: all its inputs are there, all its room is reserved.
struct GangWork {
  const function::Executable* executable = nullptr;
  std::span<const function::ShardedBuffer> operands, outputs;
  function::ShardedBuffer scratch;
  std::size_t shards = 0;
  const program::PartPlan* plan = nullptr;  // Of its part; valid until it is done.
  std::uint32_t gang = 0;                   // Which one of it this is.
  Stamp stamp = 0;                          // Of its run.
  /// Nothing else of this host runs now, or could run beside it before long.
  bool is_alone = false;
  /// Its outputs are arrays, and may stay where the backend makes them: see GangEnd::made.
  bool may_keep_outputs = false;
  /// What the backend has made of an operand to read it may stay: see GangEnd::held.
  bool may_hold_operands = false;
  /// Of work that looks_ahead(), the first gang behind it that the backend was not told of before;
  /// that one names the next. Null: there is none.
  const ForeseenGang* next = nullptr;

  /// Where its shards run.
  std::span<const DeviceId> devices() const {
    return plan->groups[plan->gangs[gang].group].devices;
  }
  /// Its place in its program.
  std::uint32_t position() const { return plan->gangs[gang].position; }
};

/// A gang that will be started on its device behind one that starts now, when that and those
/// between them have ended well. It is no order: a backend may begin it, but whatever comes of that
/// is seen by nobody before it is started.
struct ForeseenGang {
  struct Source {
    std::uint32_t places_ahead = 0;  // Of the gang that makes it; 0: it is there.
    std::uint32_t output = 0;        // Of that gang.
    friend bool operator==(const Source&, const Source&) = default;
  };

  GangWork work;  // Without outputs and scratch. What operands lie in does not change meanwhile.
  std::uint32_t place = 1;  // Behind the gang that starts; 1: it comes next.
  /// Of each operand. What is still to be made has no address.
  std::span<const Source> sources;
};

/// A stage of a gang whose shards are on several hosts: see Executable::stages().
struct StageWork {
  const function::Executable* executable = nullptr;
  std::size_t stage = 0;
  bool has_conflict = false;
  std::span<const function::ShardedBuffer> operands, outputs;
  function::ShardedBuffer scratch;
  function::ShardRange shards;  // Those that are here; in an exchange all.
};

/// How often a device is asked anew to launch a gang that it did not launch, before it counts as
/// lost.
inline constexpr std::uint32_t kRelaunchesMax = 3;

/// The end of a gang that did not run in the caller's thread.
struct GangEnd {
  Status status = {};
  std::uint64_t begin_ns = 0, end_ns = 0;
  /// This device did not launch it, for now: nothing of it was executed anywhere, and no operand,
  /// output or scratch was touched, so that it may be started again even where outputs overwrite
  /// operands. `status` says why. With kResourceExhausted there was no memory, although the gang
  /// has all that it was promised: memory is in pieces, or somebody else uses the device. The gang
  /// fails with this status on all its devices, and the device, of which that is no fault, goes on;
  /// with any other code the gang is started again.
  std::optional<DeviceId> unlaunched_on = {};
  /// The device that ended last, and how long it worked on when all others were done. 0: it has no
  /// others, or the backend does not know.
  DeviceId last = 0;
  std::uint64_t waited_ns = 0;
  /// Of a gang whose outputs may stay, and that has ended well, one for each output, or none at
  /// all. One with an owner is where that output lies for as long as the owner is kept: anybody
  /// reads it there, nobody writes, and nothing is in the room that the gang was given for it.
  std::vector<transport::Payload> made = {};
  /// Of a gang whose operands may be held, and that has ended well, one for each operand, or none
  /// at all. What is not null saves the next gang that reads this operand the way to it. It is kept
  /// while the operand lies where it is, as it is, and dropped before.
  std::vector<std::shared_ptr<void>> held = {};
};

/// Called on the control thread.
using GangDone = std::function<void(GangEnd end)>;

using CompileDone =
    std::function<void(Result<std::shared_ptr<const function::Executable>> executable)>;

/// A device runs nothing any more and its memory is gone, for good; `cause` is for people. Called
/// on the control thread.
using DeviceLost = std::function<void(DeviceId device, const std::string& cause)>;

/// Executes gangs and large copies. Owned by one host; control thread only. Everything that work
/// refers to stays valid until it is done.
class Backend {
 public:
  virtual ~Backend() = default;

  /// `lost` is called once for each device that is lost, at any time: of its own accord, or before
  /// the end of the work that found it out. Nothing is started there any more. What runs there ends
  /// all the same, `done` is called, and neither its status nor what it wrote means anything; so
  /// it is with copies from and to such a device. At most one call, before any work.
  virtual void watch(DeviceLost lost) = 0;

  /// Compiles in the background; `done` is called once, on the control thread.
  virtual void compile(function::Graph graph, function::AxisSizes axes, CompileDone done) = 0;

  /// Compiles a program that Seaway does not read; `done` as above. What is here is for backends
  /// that have no compiler of their own.
  virtual void compile_foreign(function::ForeignProgram program, CompileDone done) {
    done(unimplemented("function " + program.name + " is a foreign program of format " +
                       program.format +
                       ", which the built-in devices do not read; start hosts with --backend "
                       "pjrt:/path/plugin.so, or take the option backend=pjrt:/path/plugin.so"));
  }

  /// True when a gang that takes about `cost_ns` in all runs in the calling thread at once.
  virtual bool runs_inline(std::uint64_t cost_ns) const = 0;
  /// Runs `work` now. Requires runs_inline(). When a device did not launch it, `unlaunched_on`,
  /// which comes empty, names the device, and the status says why: see GangEnd.
  virtual Status run(const GangWork& work, std::optional<DeviceId>& unlaunched_on) = 0;
  /// Starts `work`; `done` is called once, on the control thread: later, or before the call returns
  /// if the work is known to be short.
  virtual void start(const GangWork& work, std::uint64_t cost_ns, GangDone done) = 0;
  /// Whether start() makes something of GangWork::next. Only where it ends before start() returns:
  /// then the gangs behind it are started before anything else is on their device, in their order,
  /// or are forgotten. Other work of the control thread may come before that.
  virtual bool looks_ahead(const GangWork&) const { return false; }
  /// None of the gangs that start() was told of will be started, or not now. Returns when nothing
  /// reads what they work with.
  virtual void forget_next() {}
  /// Runs one stage, about `cost_ns` in all, on the devices of this host that its shards are on;
  /// `done` is called once, on the control thread, and before the call returns if the stage is
  /// short; here always.
  virtual void start_stage(const StageWork& work, std::uint64_t, GangDone done) {
    done({.status = work.executable->run_stage(work.stage, work.has_conflict, work.operands,
                                               work.outputs, work.scratch, work.shards, nullptr)});
  }
  /// The gang that was started on `devices` is far over its time. Either ends it on all of them but
  /// one, which does not answer and which it names: the gang has failed, the others are free for
  /// the next gang, and `done` comes late or never; whatever the work refers to, but for memory
  /// that a user lent, stays valid until then. Or names none: the gang is known to go on, and is
  /// waited for without a limit. Does not call `done`.
  virtual std::optional<DeviceId> give_up(std::span<const DeviceId> devices) = 0;
  /// Starts a copy of `bytes` bytes; small ones are done before the call returns.
  virtual void copy(std::uint64_t bytes, std::function<void()> body,
                    std::function<void()> done) = 0;
  /// From here on no work begins, whenever it was or is given. Returns when what has begun touches
  /// nothing that work refers to, but for what was given up. Not on the control thread.
  virtual void close() {}
};

}  // namespace seaway::device
