// Collectives of the reference interpreter: what one shard gets, from the values of its group.

#include <algorithm>

#include "function/axes.hpp"
#include "function/interpreter_ops.hpp"

namespace seaway::function {
namespace {

Literal combine(Reduce kind, const Literal& left, const Literal& right) {
  Literal result(left.type());
  const auto combine_all = [kind](auto a, auto b, auto out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = kind == Reduce::kMax ? maximum(a[i], b[i]) : add(a[i], b[i]);
    }
  };
  if (left.type().dtype == DType::kF32) {
    combine_all(left.as<float>(), right.as<float>(), result.as<float>());
  } else {
    combine_all(left.as<std::int32_t>(), right.as<std::int32_t>(), result.as<std::int32_t>());
  }
  return result;
}

/// The balanced tree: neighbours pairwise, an odd one out passes up, until one is left.
Literal combine_tree(Reduce kind, std::vector<Literal> level) {
  while (level.size() > 1) {
    std::vector<Literal> above;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      above.push_back(combine(kind, level[i], level[i + 1]));
    }
    if (level.size() % 2 == 1) above.push_back(level.back());
    level = std::move(above);
  }
  return level.front();
}

/// What the shard at `coordinate` gets, when `group` holds its group's values by coordinate.
Literal evaluate_for(const Instruction& instruction, const std::vector<Literal>& group,
                     std::int64_t coordinate) {
  const Literal& own = group[static_cast<std::size_t>(coordinate)];
  switch (instruction.op) {
    case Op::kAllReduce:
      return combine_tree(instruction.reduce, group);
    case Op::kAllGather: {
      Operands parts;
      for (const Literal& part : group) parts.push_back(&part);
      return evaluate_movement(
          {.op = Op::kConcatenate, .type = instruction.type, .dims = instruction.dims}, parts);
    }
    case Op::kReduceScatter: {
      const Literal sum = combine_tree(Reduce::kSum, group);
      const auto dim = static_cast<std::size_t>(instruction.dims[0]);
      Instruction piece{.op = Op::kSlice,
                        .type = instruction.type,
                        .starts = Index(sum.shape().size(), 0),
                        .limits = sum.shape(),
                        .strides = Index(sum.shape().size(), 1)};
      piece.starts[dim] = coordinate * instruction.type.shape[dim];
      piece.limits[dim] = piece.starts[dim] + instruction.type.shape[dim];
      return evaluate_movement(piece, {&sum});
    }
    default:
      for (const auto& [source, target] : instruction.pairs) {
        if (target == coordinate) return group[static_cast<std::size_t>(source)];
      }
      return Literal(own.type());
  }
}

}  // namespace

ShardLiterals evaluate_collective(const Instruction& instruction, const AxisSizes& axes,
                                  const ShardLiterals& operand, std::size_t shards) {
  const AxisGroups groups = groups_of(axes, instruction.axis);
  ShardLiterals results;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const auto self = static_cast<std::int64_t>(shard);
    const std::int64_t coordinate = groups.coordinate(self);
    if (instruction.op == Op::kAxisIndex) {
      results.push_back(Literal::of<std::int32_t>({}, {static_cast<std::int32_t>(coordinate)}));
      continue;
    }
    std::vector<Literal> group;
    for (std::int64_t at = 0; at < groups.size; ++at) {
      group.push_back(operand[static_cast<std::size_t>(groups.member(self, at))]);
    }
    results.push_back(evaluate_for(instruction, group, coordinate));
  }
  return results;
}

}  // namespace seaway::function
