// A graph over n shards takes n times its operands, each of one shard.

#include "sim/foreign_reference.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "function/interpreter.hpp"
#include "program/codec.hpp"

namespace seaway::sim {
namespace {

/// One value on all shards.
struct Room {
  Room(std::size_t bytes, std::size_t shards)
      : stride((bytes + 63) / 64 * 64), values(stride * shards) {}
  function::ShardedBuffer view() { return {values.data(), stride}; }

  std::size_t stride;
  std::vector<std::byte> values;
};

class ForeignReference final : public function::Executable {
 public:
  ForeignReference(std::shared_ptr<const function::Executable> one, std::uint32_t shards,
                   bool gives_up)
      : one_(std::move(one)),
        traits_{.shards = shards, .donated = {}, .format = "graph", .description = {}} {
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      const auto first = static_cast<std::uint32_t>(parameters_.size());
      if (gives_up) traits_.donated.push_back(first);
      const auto& parameters = one_->parameter_types();
      const auto& outputs = one_->output_types();
      if (gives_up && parameters[0].bytes() == outputs[0].bytes() && parameters[0].bytes() > 0) {
        in_place_.emplace_back(static_cast<std::uint32_t>(outputs_.size()), first);
      }
      parameters_.insert(parameters_.end(), parameters.begin(), parameters.end());
      outputs_.insert(outputs_.end(), outputs.begin(), outputs.end());
    }
  }

  const std::vector<TensorType>& parameter_types() const override { return parameters_; }
  const std::vector<TensorType>& output_types() const override { return outputs_; }
  std::size_t scratch_bytes() const override { return 0; }
  std::uint64_t cost_ns() const override { return one_->cost_ns(); }
  function::OutputOperandPairs in_place() const override { return in_place_; }
  const function::ForeignTraits* foreign() const override { return &traits_; }

  /// What is given up is read before anything is written.
  Status run(std::span<const function::ShardedBuffer> operands,
             std::span<const function::ShardedBuffer> outputs, function::ShardedBuffer, std::size_t,
             function::Parallelism*) const override {
    const std::size_t shards = traits_.shards;
    const auto& in_types = one_->parameter_types();
    const auto& out_types = one_->output_types();
    std::vector<Room> in, out;
    std::vector<function::ShardedBuffer> in_views, out_views;
    for (const TensorType& type : in_types) in.emplace_back(type.bytes(), shards);
    for (const TensorType& type : out_types) out.emplace_back(type.bytes(), shards);
    for (Room& room : in) in_views.push_back(room.view());
    for (Room& room : out) out_views.push_back(room.view());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::size_t bytes = parameters_[i].bytes();
      std::byte* const to = in_views[i % in_types.size()].shard(i / in_types.size());
      if (bytes > 0) std::memcpy(to, operands[i].base, bytes);
    }
    Room scratch(one_->scratch_bytes(), shards);
    const Status status = one_->run(in_views, out_views, scratch.view(), shards, nullptr);
    for (std::size_t i = 0; status.ok() && i < outputs.size(); ++i) {
      const std::size_t bytes = outputs_[i].bytes();
      const std::byte* const from = out_views[i % out_types.size()].shard(i / out_types.size());
      if (bytes > 0) std::memcpy(outputs[i].base, from, bytes);
    }
    return status;
  }

 private:
  const std::shared_ptr<const function::Executable> one_;
  function::ForeignTraits traits_;
  std::vector<TensorType> parameters_, outputs_;
  function::OutputOperandPairs in_place_;
};

}  // namespace

std::string foreign_code(const function::Graph& graph) {
  const Frame frame = program::encode_frame(graph);
  return {reinterpret_cast<const char*>(frame.words().data()), frame.size_bytes()};
}

Result<std::shared_ptr<const function::Executable>> compile_foreign(
    const function::ForeignProgram& program) {
  if (program.format != kGraphFormat) {
    return invalid_argument("function " + program.name + " is a program of format \"" +
                            program.format + "\", and simulated devices read \"graph\" alone");
  }
  const Frame frame =
      Frame::make(program.code.size() / sizeof(std::uint64_t), [&program](auto words) {
        if (!words.empty()) std::memcpy(words.data(), program.code.data(), words.size_bytes());
      });
  auto graph = program::decode_function_graph(frame);
  if (!graph.ok()) return graph.status();
  function::AxisSizes axes;
  if (program.shards > 1) axes = {{"shard", program.shards}};
  auto one = function::compile_reference(*graph, axes);
  if (!one.ok()) return one.status();
  const bool gives_up = graph->name.ends_with(kGivesUp) && !graph->parameters.empty();
  return std::shared_ptr<const function::Executable>(
      std::make_shared<ForeignReference>(std::move(*one), program.shards, gives_up));
}

}  // namespace seaway::sim
