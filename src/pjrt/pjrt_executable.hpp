// PjrtExecutable: a function of Seaway's that a plugin has compiled.

#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "function/executable.hpp"
#include "pjrt/client.hpp"
#include "pjrt/executable_cache.hpp"
#include "pjrt/ledger.hpp"
#include "pjrt/pace.hpp"
#include "transport/bulk.hpp"

namespace seaway::pjrt {

/// How operands reach the devices.
enum class InputWay : std::uint8_t {
  kLent,      // The plugin reads them where they lie. Only devices in host memory can.
  kPromised,  // Programs are enqueued on promises, which are kept while they are under way. The
              // copies are the plugin's, so that outputs may be made in them: they are donated.
};

/// What functions are compiled for. All of it outlives its executables.
struct Target {
  std::shared_ptr<Client> client;
  std::shared_ptr<Ledger> ledger;
  std::shared_ptr<ExecutableCache> cache;  // May be null: nothing is kept.
  InputWay way = InputWay::kLent;
  /// The same devices with threads for one core; may be null. Short programs run there: to share
  /// one out among cores takes longer than to run it.
  std::shared_ptr<Client> narrow = nullptr;
};

/// Which shard of a launch is waited for; any thread.
using WaitsFor = std::atomic<std::uint32_t>;

/// The end of a launch. Nothing of it is under way any more.
struct LaunchEnd {
  Status status = {};
  /// The shard whose device refused it: nothing was written to any output.
  std::optional<std::size_t> refused = {};
  /// The shard whose device is gone.
  std::optional<std::size_t> lost = {};
  /// Outputs that stay with the plugin: see device::GangEnd::made.
  std::vector<transport::Payload> made = {};
  /// Operands that stay lent: see device::GangEnd::held.
  std::vector<std::shared_ptr<void>> held = {};
};

/// What of a launch on one device may stay with the plugin, where it can be read by the host.
struct MayStay {
  bool outputs = false, operands = false;
};

/// Thread-safe, as all executables. Calls block while the plugin works: on a control
/// thread only where expected_ns() is short.
class PjrtExecutable final : public function::Executable,
                             public std::enable_shared_from_this<PjrtExecutable> {
 public:
  struct Limits {
    /// Lists of devices for which a function with collectives is compiled at once; when there are
    /// more, one that is not being used is forgotten.
    std::size_t device_lists_max = 64;
  };

  /// Compiles for the first devices of the target. Errors: kInvalidArgument for a graph that does
  /// not validate, or that spans more devices than there are; those of the plugin, with the
  /// function's name; kProtocolError when the plugin has made something else of it.
  static Result<std::shared_ptr<const PjrtExecutable>> compile(Target target,
                                                               const function::Graph& graph,
                                                               const function::AxisSizes& axes) {
    return compile(std::move(target), graph, axes, Limits());
  }
  static Result<std::shared_ptr<const PjrtExecutable>> compile(Target target,
                                                               const function::Graph& graph,
                                                               const function::AxisSizes& axes,
                                                               Limits limits);

  /// The same of a program that only the plugin reads, with the types that it says. Errors, too:
  /// kInvalidArgument for options of another number of shards; kUnimplemented for types that no
  /// array has, and for plugins that do not say what a program takes.
  static Result<std::shared_ptr<const PjrtExecutable>> compile(Target target,
                                                               function::ForeignProgram program) {
    return compile(std::move(target), std::move(program), Limits());
  }
  static Result<std::shared_ptr<const PjrtExecutable>> compile(Target target,
                                                               function::ForeignProgram program,
                                                               Limits limits);

  const std::vector<TensorType>& parameter_types() const override { return all_parameters_; }
  const std::vector<TensorType>& output_types() const override { return all_outputs_; }
  const function::ForeignTraits* foreign() const override {
    return foreign_ ? &*foreign_ : nullptr;
  }
  /// What the plugin takes for one shard beside Seaway's values. Nothing of ours lies there: room
  /// that is reserved as work space is room that the plugin may have.
  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  std::uint64_t cost_ns() const override { return cost_ns_; }
  /// Outputs are written when all shards are done.
  function::OutputOperandPairs in_place() const override;
  /// On the first devices.
  Status run(std::span<const function::ShardedBuffer> operands,
             std::span<const function::ShardedBuffer> outputs, function::ShardedBuffer scratch,
             std::size_t shards, function::Parallelism* parallelism) const override;

  /// Runs shard s on device `devices[s]` of the client. Blocks until nothing of it is under way.
  LaunchEnd launch(std::span<const function::ShardedBuffer> operands,
                   std::span<const function::ShardedBuffer> outputs,
                   std::span<const std::uint32_t> devices, WaitsFor& waits_for,
                   MayStay may_stay = {}) const;

  /// What one launch has in the plugin.
  struct Launch;
  /// An operand that is output `output` of a launch that has not been finished; null: it is there.
  struct Made {
    const Launch* by = nullptr;
    std::uint32_t output = 0;
  };

  /// The first half of launch(), for operands that are lent and one device: nothing of it blocks.
  /// `made`, which may be empty: of operand i, what launch on that device makes it. Lists stay
  /// valid until this returns, and what is read until it is finished or abandoned. Null: it did not
  /// go, and leaves nothing behind; launch() tells why.
  std::shared_ptr<Launch> enqueue(std::span<const function::ShardedBuffer> operands,
                                  std::span<const std::uint32_t> devices,
                                  std::span<const Made> made) const;
  /// The other half. `operands` lie where enqueue() was told, and those that were still to be made
  /// where they are now.
  LaunchEnd finish(Launch& launch, std::span<const function::ShardedBuffer> operands,
                   std::span<const function::ShardedBuffer> outputs, WaitsFor& waits_for,
                   MayStay may_stay = {}) const;
  /// Instead of finish(): blocks until nothing of it is under way, and nobody gets what it made.
  void abandon(Launch& launch) const;

  /// How long a launch on one device takes, if that is about the same each time and nobody else is
  /// waited for; else Pace::kUnknown.
  std::uint64_t expected_ns() const { return is_even_ ? pace_.expected_ns() : Pace::kUnknown; }

  /// Whose devices it runs on: one of its target's.
  Client& client() const { return *client_; }

  /// A launch on one device took so long.
  void took(std::uint64_t time_ns) const { pace_.took(time_ns); }

  /// Device lists that are compiled now.
  std::size_t device_lists() const;

 private:
  PjrtExecutable(Target target, const function::Graph& graph, const function::AxisSizes& axes,
                 Limits limits);
  PjrtExecutable(Target target, function::ForeignProgram program, Limits limits);
  /// Whether its code is for a list of devices, and not for any. On an only device that saves a
  /// call 2 us: told to run portable code, XLA copies all compile options first.
  bool is_placed() const { return spans_ > 0 || client_->devices().size() == 1; }
  Status find_devices(std::vector<std::uint32_t>& first) const;
  Result<HloProgram> take_types(const Code& code);
  void find_room(const Code& code);
  bool looks_short() const;
  void choose_client(const std::vector<std::uint32_t>& devices, const HloProgram& program);
  const std::byte* operand_at(const Launch& launch, std::size_t operand, std::size_t shard) const;
  std::byte* output_at(const Launch& launch, std::size_t output, std::size_t shard) const;
  Status wrong(const std::string& what) const;
  Status check_operands(std::span<const function::ShardedBuffer> operands,
                        std::span<const std::uint32_t> devices, std::span<const Made> made) const;
  Status check_outputs(std::span<const function::ShardedBuffer> outputs) const;
  Result<std::shared_ptr<const Code>> code_for(std::span<const std::uint32_t> devices) const;
  Result<Code> make_code(const std::string& options) const;
  Status check(const Code& code) const;
  void begin(Launch& launch, std::span<const Made> made, WaitsFor& waits_for) const;
  Status give_operands(Launch& launch) const;
  Status execute(Launch& launch, WaitsFor& waits_for) const;
  Status keep_promises(Launch& launch) const;
  void break_promises(Launch& launch, std::size_t first, const Status& cause) const;
  Status wait_for_shards(Launch& launch, WaitsFor& waits_for) const;
  void find_made(Launch& launch, std::span<const Made> made) const;
  bool keep_output(Launch& launch, std::size_t output, std::byte* bytes) const;
  Status copy_outputs(Launch& launch, MayStay may_stay) const;
  bool is_written(const Launch& launch, const std::byte* address) const;
  Status give_back(Launch& launch, MayStay may_stay) const;

  const Target target_;
  std::shared_ptr<Client> client_;  // One of its target's; as it is once this is compiled.
  const std::string name_;
  const std::string text_;     // Its program, as StableHLO.
  const std::string options_;  // Of a foreign program: how it is to be compiled,
  const std::string format_;   // and what it is.
  const std::size_t spans_;    // So many shards at once; 0: any number, each on its own.
  const Limits limits_;
  // What does not change any more once it is compiled:
  std::vector<TensorType> parameters_, outputs_;  // Of one shard,
  std::vector<TensorType> all_parameters_,
      all_outputs_;                                 // and, of a foreign one that spans, of all
  std::optional<function::ForeignTraits> foreign_;  // shards: each value is one shard's.
  /// outputs_ and parameters_, for what outlives this.
  std::shared_ptr<const std::vector<TensorType>> kept_types_, held_types_;
  std::vector<std::int64_t> not_donated_;  // Of those of one shard that it gives up.
  std::uint64_t cost_ns_ = 0;
  std::size_t scratch_bytes_ = 0;
  bool is_even_ = false;  // Each launch takes about as long as the others.
  mutable Pace pace_;     // Of launches on one device.
  mutable std::mutex mutex_;
  /// By device list; portable code has one entry, of an empty list. Guarded by mutex_.
  mutable std::map<std::vector<std::uint32_t>, std::shared_ptr<const Code>> codes_;
};

}  // namespace seaway::pjrt
