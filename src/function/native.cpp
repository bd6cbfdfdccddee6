// Functions in the user's own C++: whatever they do wrong is a Status of their own run.

#include <exception>
#include <string>
#include <utility>

#include "function/executable.hpp"

namespace seaway::function {
namespace {

constexpr std::size_t kAlignment = 64;

class NativeExecutable final : public Executable {
 public:
  explicit NativeExecutable(NativeFunction native) : native_(std::move(native)) {}

  const std::vector<TensorType>& parameter_types() const override { return native_.parameters; }
  const std::vector<TensorType>& output_types() const override { return native_.outputs; }
  std::size_t scratch_bytes() const override {
    return (native_.scratch_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  std::uint64_t cost_ns() const override { return native_.cost_ns == 0 ? 1 : native_.cost_ns; }

  bool is_repeatable() const override { return false; }

  /// Shards one after the other: the user's code is not asked to be thread-safe.
  Status run(std::span<const ShardedBuffer> operands, std::span<const ShardedBuffer> outputs,
             ShardedBuffer scratch, std::size_t shards, Parallelism*) const override {
    return run_shards(operands, outputs, scratch, {0, shards, shards});
  }
  Status run_stage(std::size_t, bool, std::span<const ShardedBuffer> operands,
                   std::span<const ShardedBuffer> outputs, ShardedBuffer scratch, ShardRange shards,
                   Parallelism*) const override {
    return run_shards(operands, outputs, scratch, shards);
  }

 private:
  Status run_shards(std::span<const ShardedBuffer> operands, std::span<const ShardedBuffer> outputs,
                    ShardedBuffer scratch, ShardRange shards) const {
    if (operands.size() != native_.parameters.size() || outputs.size() != native_.outputs.size()) {
      return invalid_argument("native function '" + native_.name + "' takes " +
                              std::to_string(native_.parameters.size()) + " operands and gives " +
                              std::to_string(native_.outputs.size()) + " outputs, not " +
                              std::to_string(operands.size()) + " and " +
                              std::to_string(outputs.size()));
    }
    std::vector<const std::byte*> from(operands.size());
    std::vector<std::byte*> to(outputs.size());
    for (std::size_t shard = shards.begin; shard < shards.end; ++shard) {
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = operands[i].shard(shard);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = outputs[i].shard(shard);
      std::byte* room = native_.scratch_bytes == 0 ? nullptr : scratch.shard(shard);
      if (Status status = run_shard(from, to, room, shard); !status.ok()) return status;
    }
    return {};
  }

  Status failed(std::size_t shard, const std::string& why) const {
    return user_function_error("native function '" + native_.name + "' on shard " +
                               std::to_string(shard) + " " + why);
  }

  Status run_shard(std::span<const std::byte* const> operands, std::span<std::byte* const> outputs,
                   std::byte* scratch, std::size_t shard) const {
    if (!native_.body) return failed(shard, "has no body");
    try {
      const Status status = native_.body(operands, outputs, scratch);
      return status.ok() ? status : failed(shard, "failed: " + status.to_string());
    } catch (const std::exception& error) {
      return failed(shard, "threw: " + std::string(error.what()));
    } catch (...) {
      return failed(shard, "threw something that is no std::exception");
    }
  }

  NativeFunction native_;
};

}  // namespace

std::shared_ptr<const Executable> make_native(NativeFunction native) {
  return std::make_shared<NativeExecutable>(std::move(native));
}

}  // namespace seaway::function
