// What the CPU back end costs: per shard for tiny functions, per training step for a small network.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "collective/local_collectives.hpp"
#include "function/executable.hpp"
#include "function/tbb_parallelism.hpp"

namespace seaway::function {
namespace {

/// Zeroed, aligned buffers for one executable.
class Buffers {
 public:
  Buffers(const Executable& executable, std::size_t shards) : shards_(shards) {
    for (const TensorType& type : executable.parameter_types()) in_.push_back(make(type.bytes()));
    for (const TensorType& type : executable.output_types()) out_.push_back(make(type.bytes()));
    scratch_ = make(executable.scratch_bytes());
  }
  ~Buffers() {
    for (std::byte* block : blocks_) std::free(block);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  void run(const Executable& executable, Parallelism* parallelism = nullptr) {
    const Status status = executable.run(in_, out_, scratch_, shards_, parallelism);
    benchmark::DoNotOptimize(status.ok());
  }

 private:
  ShardedBuffer make(std::size_t bytes) {
    const std::size_t stride = (bytes + 63) / 64 * 64;
    const std::size_t size = std::max<std::size_t>(64, stride * shards_);
    auto* block = static_cast<std::byte*>(std::aligned_alloc(64, size));
    std::fill_n(block, size, std::byte{0});
    blocks_.push_back(block);
    return {block, stride};
  }

  std::size_t shards_;
  std::vector<std::byte*> blocks_;
  std::vector<ShardedBuffer> in_, out_;
  ShardedBuffer scratch_;
};

ValueId add(Graph& graph, Instruction instruction) {
  graph.instructions.push_back(std::move(instruction));
  return static_cast<ValueId>(graph.instructions.size() - 1);
}
ValueId parameter(Graph& graph, TensorType type) {
  Instruction instruction{.op = Op::kParameter, .type = std::move(type)};
  instruction.parameter = static_cast<std::uint32_t>(graph.parameters.size());
  const ValueId value = add(graph, std::move(instruction));
  graph.parameters.push_back(value);
  return value;
}
ValueId dot(Graph& graph, ValueId lhs, ValueId rhs, std::int64_t lhs_dim, std::int64_t rhs_dim) {
  const Shape& a = graph.instructions[lhs].type.shape;
  const Shape& b = graph.instructions[rhs].type.shape;
  Instruction instruction{.op = Op::kDotGeneral,
                          .type = f32({a[static_cast<std::size_t>(1 - lhs_dim)],
                                       b[static_cast<std::size_t>(1 - rhs_dim)]}),
                          .operands = {lhs, rhs}};
  instruction.dot = {{}, {}, {lhs_dim}, {rhs_dim}};
  return add(graph, std::move(instruction));
}

std::shared_ptr<const Executable> compile(const Graph& graph, std::int64_t shards) {
  static const collective::LocalCollectives collectives;
  return compile_cpu(graph, {{"x", shards}}, collectives).value();
}

/// y = all_reduce(x) + 1 on a scalar.
void BM_ReduceAndAdd(benchmark::State& state) {
  Graph graph;
  const ValueId x = parameter(graph, f32({}));
  const ValueId sum =
      add(graph, {.op = Op::kAllReduce, .type = f32({}), .operands = {x}, .axis = "x"});
  const ValueId one = add(graph, {.op = Op::kConstant, .type = f32({}), .number = 1});
  graph.outputs = {add(graph, {.op = Op::kAdd, .type = f32({}), .operands = {sum, one}})};
  const auto shards = static_cast<std::size_t>(state.range(0));
  const auto executable = compile(graph, state.range(0));
  Buffers buffers(*executable, shards);

  for (auto _ : state) buffers.run(*executable);

  state.counters["per_shard_op"] =
      benchmark::Counter(static_cast<double>(shards) * 2 * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_ReduceAndAdd)->Arg(1)->Arg(8)->Arg(64)->Arg(512);

/// One step of a network 64 -> 128 -> 10 on 128 rows: two layers, tanh, derivative, update.
void BM_TrainingStep(benchmark::State& state) {
  constexpr std::int64_t kRows = 128, kIn = 64, kHidden = 128, kOut = 10;
  Graph g;
  const ValueId x = parameter(g, f32({kRows, kIn})), target = parameter(g, f32({kRows, kOut}));
  const ValueId w1 = parameter(g, f32({kIn, kHidden})), b1 = parameter(g, f32({kHidden}));
  const ValueId w2 = parameter(g, f32({kHidden, kOut}));
  const auto op = [&g](Op op, std::vector<ValueId> operands) {
    TensorType type = g.instructions[operands[0]].type;
    return add(g, {.op = op, .type = std::move(type), .operands = std::move(operands)});
  };
  const auto scalar = [&g](ValueId like, double number) {
    return add(g, {.op = Op::kConstant, .type = g.instructions[like].type, .number = number});
  };
  const ValueId product = dot(g, x, w1, 1, 0);
  const ValueId bias = add(
      g, {.op = Op::kBroadcastInDim, .type = f32({kRows, kHidden}), .operands = {b1}, .dims = {1}});
  const ValueId hidden = op(Op::kTanh, {op(Op::kAdd, {product, bias})});
  const ValueId y = dot(g, hidden, w2, 1, 0);
  const ValueId error = op(Op::kSubtract, {y, target});
  const ValueId w2_gradient = dot(g, hidden, error, 0, 0);
  const ValueId back = dot(g, error, w2, 1, 1);
  const ValueId slope = op(Op::kSubtract, {scalar(hidden, 1), op(Op::kMultiply, {hidden, hidden})});
  const ValueId inner = op(Op::kMultiply, {back, slope});
  const ValueId w1_gradient = dot(g, x, inner, 0, 0);
  const auto update = [&](ValueId weight, ValueId gradient) {
    return op(Op::kSubtract, {weight, op(Op::kMultiply, {gradient, scalar(gradient, 0.01)})});
  };
  g.outputs = {update(w1, w1_gradient), update(w2, w2_gradient)};
  const auto shards = static_cast<std::size_t>(state.range(0));
  const auto executable = compile(g, state.range(0));
  Buffers buffers(*executable, shards);
  TbbParallelism parallelism(static_cast<std::size_t>(state.range(1)));

  for (auto _ : state) {
    buffers.run(*executable, state.range(1) > 1 ? &parallelism : nullptr);
  }

  state.counters["model_us"] = static_cast<double>(executable->cost_ns()) / 1000;
}
BENCHMARK(BM_TrainingStep)->Args({1, 1})->Args({8, 1})->Args({8, 2})->UseRealTime();

void BM_MatrixProduct(benchmark::State& state) {
  Graph g;
  const ValueId x = parameter(g, f32({state.range(0), 64}));
  const ValueId w = parameter(g, f32({64, 128}));
  g.outputs = {dot(g, x, w, 1, 0)};
  const auto executable = compile(g, 1);
  Buffers buffers(*executable, 1);

  for (auto _ : state) buffers.run(*executable);

  state.counters["flops"] = benchmark::Counter(
      static_cast<double>(2 * state.range(0) * 64 * 128) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}
BENCHMARK(BM_MatrixProduct)->Arg(1)->Arg(8)->Arg(128)->Arg(1024);

/// A chain of eight elementwise operations.
void BM_ElementwiseChain(benchmark::State& state) {
  Graph g;
  const TensorType type = f32({state.range(0)});
  const ValueId x = parameter(g, type), y = parameter(g, type);
  ValueId value = x;
  for (int i = 0; i < 4; ++i) {
    value = add(g, {.op = Op::kMultiply, .type = type, .operands = {value, y}});
    value = add(g, {.op = Op::kAdd, .type = type, .operands = {value, x}});
  }
  g.outputs = {value};
  const auto executable = compile(g, 1);
  Buffers buffers(*executable, 1);

  for (auto _ : state) buffers.run(*executable);

  state.SetItemsProcessed(state.iterations() * state.range(0) * 8);
}
BENCHMARK(BM_ElementwiseChain)->Arg(64)->Arg(16384)->Arg(1 << 20);

void BM_Unary(benchmark::State& state) {
  Graph g;
  const TensorType type = f32({16384});
  const ValueId x = parameter(g, type);
  g.outputs = {add(g, {.op = static_cast<Op>(state.range(0)), .type = type, .operands = {x}})};
  const auto executable = compile(g, 1);
  Buffers buffers(*executable, 1);

  for (auto _ : state) buffers.run(*executable);

  state.SetItemsProcessed(state.iterations() * 16384);
}
BENCHMARK(BM_Unary)
    ->Arg(static_cast<int>(Op::kExponential))
    ->Arg(static_cast<int>(Op::kLog))
    ->Arg(static_cast<int>(Op::kTanh))
    ->Arg(static_cast<int>(Op::kSqrt));

}  // namespace
}  // namespace seaway::function

BENCHMARK_MAIN();
