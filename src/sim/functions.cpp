// Random functions over shards of [rows, kColumns].

#include "sim/functions.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "sim/sim_backend.hpp"

namespace seaway::sim {
namespace {

constexpr double kValueMax = 100;

Tensor clamp(const Tensor& x) { return minimum(maximum(x, -kValueMax), kValueMax); }

/// Rows of one shard when dimension 0 is split as `spec` says.
std::int64_t shard_rows(const Mesh& mesh, const PartitionSpec& spec, std::int64_t rows) {
  if (spec.dims().empty()) return rows;
  for (const std::string& axis : spec.dims()[0]) {
    rows /= mesh.axes()[static_cast<std::size_t>(mesh.axis_index(axis))].second;
  }
  return rows;
}

DimAxes row_axes(const PartitionSpec& spec) {
  return spec.dims().empty() ? DimAxes{} : spec.dims()[0];
}
PartitionSpec by_rows(DimAxes axes) { return PartitionSpec::from({std::move(axes)}); }

/// What the body of a captured function does with its shards.
enum class Body {
  kScale,
  kCompareSelect,
  kAdd,
  kMultiply,
  kMatmul,
  kReduce,
  kArgmax,
  kRotate,
  kAllReduce,
  kAllReduceMax,
  kPermute,
  kAxisIndex,
  kAllGather,
  kReduceScatter,
};
constexpr std::uint64_t kLocalBodies = 8;
constexpr std::uint64_t kBodies = 14;

Tensor local_body(Body body, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  switch (body) {
    case Body::kScale:
      return clamp(x * 2 - 1);
    case Body::kCompareSelect:
      return select(less(x, 3), x + 1, -x);
    case Body::kAdd:
      return clamp(x + in[1]);
    case Body::kMultiply:
      return clamp(x * in[1]);
    case Body::kMatmul:
      return clamp(matmul(matmul(x, transpose(x)), x));
    case Body::kReduce:
      return clamp(x - broadcast_to(reduce_sum(x, {1}, KeepDims::kYes), x.shape()));
    case Body::kArgmax:
      return clamp(
          x + convert(broadcast_to(reshape(argmax(x, 1), {x.dim(0), 1}), x.shape()), x.dtype()));
    default:
      return transpose(concatenate({transpose(slice(x, {0, 1}, {x.dim(0), kColumns})),
                                    transpose(slice(x, {0, 0}, {x.dim(0), 1}))},
                                   0));
  }
}

Tensor collective_body(Body body, std::span<const Tensor> in, const std::string& axis) {
  const Tensor& x = in[0];
  switch (body) {
    case Body::kAllReduce:
      return clamp(all_reduce(x, axis));
    case Body::kAllReduceMax: {
      // Two exchanges, and something that needs neither and may go on beside them.
      const Tensor most = all_reduce(x, axis, Reduction::kMax), total = all_reduce(x * 2, axis);
      const Tensor own = matmul(matmul(x, transpose(x)), x);
      return clamp(clamp(own) + total - most);
    }
    case Body::kPermute: {
      std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
      const std::int64_t size = axis_size(axis);
      for (std::int64_t i = 0; i < size; ++i) pairs.emplace_back(i, (i + 1) % size);
      return permute(x, axis, pairs);
    }
    case Body::kAxisIndex:
      return clamp(x + convert(broadcast_to(axis_index(axis), x.shape()), x.dtype()));
    case Body::kAllGather:
      return all_gather(x, axis, 0);
    default:
      return clamp(reduce_scatter(x, axis, 0));
  }
}

/// A native function: shifts every element by one, and by choice fails where it sees `bad`.
seaway::NativeFunction make_native(const TensorType& type, bool fails, bool throws, bool irregular,
                                   int bad, std::function<void()> on_effect) {
  seaway::NativeFunction native;
  native.parameters = {type};
  native.outputs = {type};
  native.irregular = irregular;
  native.cost_ns = 2'000;
  native.body = [type, fails, throws, bad, on_effect = std::move(on_effect)](
                    std::span<const std::byte* const> operands, std::span<std::byte* const> outputs,
                    std::byte*) -> Status {
    if (on_effect) on_effect();
    for (std::int64_t i = 0; i < type.elements(); ++i) {
      const auto at = static_cast<std::size_t>(i) * 4;
      double value = 0;
      float real = 0;
      std::int32_t whole = 0;
      if (type.dtype == DType::kF32) {
        std::memcpy(&real, operands[0] + at, 4);
        value = real;
      } else {
        std::memcpy(&whole, operands[0] + at, 4);
        value = whole;
      }
      if (fails && i == 0 && static_cast<int>(value) % 4 == bad) {
        if (throws) throw std::runtime_error("thrown by the user's function");
        return user_function_error("refused by the user's function");
      }
      const double shifted = value >= kValueMax ? -kValueMax : value + 1;
      real = static_cast<float>(shifted);
      whole = static_cast<std::int32_t>(shifted);
      std::memcpy(outputs[0] + at, type.dtype == DType::kF32 ? static_cast<void*>(&real) : &whole,
                  4);
    }
    return {};
  };
  return native;
}

/// Draws what the body does and, for a collective, over which axis; adjusts the shardings.
Body choose_body(const Mesh& mesh, FunctionPlan& plan, std::string& axis, RandomStream& random) {
  Body body = static_cast<Body>(random.below(kBodies));
  if (static_cast<std::uint64_t>(body) < kLocalBodies) return body;
  if (mesh.axes().empty()) return static_cast<Body>(random.below(kLocalBodies));
  const auto& chosen = mesh.axes()[random.below(mesh.axes().size())];
  axis = chosen.first;
  DimAxes axes = row_axes(plan.in);
  const auto found = std::find(axes.begin(), axes.end(), axis);
  const bool is_split = found != axes.end();
  if (body == Body::kAxisIndex && !is_split) body = Body::kAllReduce;
  if (body == Body::kAllGather) {
    if (is_split) axes.erase(found);
    plan.out = by_rows(axes);
    axes.push_back(axis);
    plan.in = by_rows(axes);
  } else if (body == Body::kReduceScatter) {
    if (is_split) axes.erase(found);
    plan.in = by_rows(axes);
    axes.push_back(axis);
    plan.out = by_rows(axes);
  }
  return body;
}

}  // namespace

PartitionSpec make_spec(const Mesh& mesh, RandomStream& random) {
  DimAxes axes;
  for (const auto& [name, size] : mesh.axes()) {
    if (random.chance(60)) axes.push_back(name);
  }
  if (axes.size() > 1 && random.chance(50)) std::swap(axes[0], axes[1]);
  // Some arrays are split along their columns instead.
  if (axes.size() == 1 && random.chance(20)) return PartitionSpec::from({DimAxes{}, axes});
  return by_rows(std::move(axes));
}

Result<FunctionPlan> make_function(const Client& client, const Slice& slice,
                                   std::size_t slice_index, const World& world,
                                   RandomStream& random, const std::string& number,
                                   std::function<void()> on_effect) {
  const Mesh& mesh = slice.mesh();
  FunctionPlan plan;
  plan.slice = slice_index;
  plan.dtype = random.chance(60) ? DType::kF32 : DType::kI32;
  plan.rows = random.chance(50) ? world.rows : world.rows_large;
  do {
    plan.in = make_spec(mesh, random);
  } while (plan.in.dims().size() > 1);  // Bodies see whole rows.
  plan.out = plan.in;
  const bool is_native = random.chance(15);
  const bool fails = world.has_failures && is_native && random.chance(60);
  const bool is_irregular = world.has_irregular && is_native && random.chance(60);
  std::string axis;
  const Body body = is_native ? Body::kScale : choose_body(mesh, plan, axis, random);
  plan.operands = body == Body::kAdd || body == Body::kMultiply ? 2 : 1;
  const TensorType type{plan.dtype, {shard_rows(mesh, plan.in, plan.rows), kColumns}};
  const std::vector<PartitionSpec> in(plan.operands, plan.in);
  Result<Function> made = invalid_argument("not made");
  if (is_native) {
    const int bad = static_cast<int>(random.below(4));
    const bool throws = random.chance(50);
    plan.has_effects = random.chance(40);
    auto native = make_native(type, fails, throws, is_irregular, bad,
                              plan.has_effects ? std::move(on_effect) : nullptr);
    native.in = in;
    native.out = {plan.out};
    native.idempotent = !plan.has_effects;
    made = client.native((plan.has_effects ? std::string(kOnce) : "native") + number,
                         std::move(native));
  } else {
    plan.is_uncompilable = world.has_failures && random.chance(5);
    const std::string name =
        (plan.is_uncompilable ? std::string(SimBackend::kUncompilable) : std::string("function")) +
        number;
    made = client.function(
        name,
        [body, axis](std::span<const Tensor> operands) {
          return axis.empty() ? local_body(body, operands) : collective_body(body, operands, axis);
        },
        std::vector<TensorType>(plan.operands, type), {.mesh = mesh, .in = in, .out = {plan.out}});
  }
  if (!made.ok()) return made.status();
  plan.is_irregular = is_irregular;
  plan.may_fail = fails || plan.is_uncompilable;
  plan.executions = static_cast<std::uint64_t>(mesh.device_count());
  plan.function = made->on(slice);
  return plan;
}

}  // namespace seaway::sim
