// Any bytes as a function's graph: an error, or code that reads and writes nothing but its buffers,
// on every shard of the mesh that it is compiled for.

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "collective/local_collectives.hpp"
#include "function/executable.hpp"
#include "program/codec.hpp"
#include "target.hpp"

namespace seaway::fuzz {
namespace {

constexpr std::size_t kBytesMax = 1 << 14;  // Of all buffers of a function that is run.
constexpr std::uint64_t kCostMaxNs = 50'000;

/// Buffers with nothing behind them that the sanitizer would not see.
class Buffers {
 public:
  Buffers(std::span<const TensorType> types, std::size_t shards) {
    for (const TensorType& type : types) {
      const std::size_t stride = (type.bytes() + 63) / 64 * 64;
      const std::size_t size = std::max<std::size_t>(64, stride * shards);
      blocks_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(64, size)), &std::free);
      std::memset(blocks_.back().get(), 0, size);
      shards_.push_back({blocks_.back().get(), stride});
    }
  }
  std::span<const function::ShardedBuffer> all() const { return shards_; }

 private:
  std::vector<std::unique_ptr<std::byte, decltype(&std::free)>> blocks_;
  std::vector<function::ShardedBuffer> shards_;
};

std::size_t bytes_of(std::span<const TensorType> types) {
  std::size_t bytes = 0;
  for (const TensorType& type : types) bytes += std::min(type.bytes(), kBytesMax + 1);
  return bytes;
}

}  // namespace

void functions(std::span<const std::uint8_t> input) {
  if (input.size() < Sayings::kHead) return;
  const auto graph = program::decode_function_graph(frame_of(input.subspan(Sayings::kHead)));
  if (!graph.ok()) {
    SEAWAY_CHECK(graph.status().code() == StatusCode::kProtocolError);
    return;
  }
  // Its names are those of the seeds.
  const function::AxisSizes axes = {{"x", 1 + input[0] % 3}, {"data", 1 + input[1] % 2}};
  const collective::LocalCollectives collectives;
  const auto compiled = function::compile_cpu(*graph, axes, collectives);
  if (!compiled.ok()) {
    SEAWAY_CHECK(compiled.status().code() == StatusCode::kInvalidArgument ||
                     compiled.status().code() == StatusCode::kResourceExhausted,
                 compiled.status().to_string());
    return;
  }
  const function::Executable& executable = **compiled;
  const std::size_t shards = static_cast<std::size_t>(axes[0].second * axes[1].second);
  const std::size_t bytes = bytes_of(executable.parameter_types()) +
                            bytes_of(executable.output_types()) + executable.scratch_bytes();
  if (bytes > kBytesMax || executable.cost_ns() > kCostMaxNs) return;
  const Buffers operands(executable.parameter_types(), shards);
  const Buffers outputs(executable.output_types(), shards);
  const std::size_t stride = executable.scratch_bytes();
  SEAWAY_CHECK(stride % 64 == 0, stride);
  std::unique_ptr<std::byte, decltype(&std::free)> scratch(
      static_cast<std::byte*>(std::aligned_alloc(64, std::max<std::size_t>(64, stride * shards))),
      &std::free);
  const Status status =
      executable.run(operands.all(), outputs.all(), {scratch.get(), stride}, shards, nullptr);
  SEAWAY_CHECK(status.ok(), status.to_string());
}

}  // namespace seaway::fuzz
