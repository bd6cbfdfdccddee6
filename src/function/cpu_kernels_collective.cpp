// Steps that hand a whole gang to the collectives, and the shard's own coordinate.

#include <algorithm>

#include "base/check.hpp"
#include "function/cpu_kernels.hpp"

namespace seaway::function::cpu {
namespace {

struct CollectiveDetails final : Details {
  const Collectives* collectives = nullptr;
};
struct AxisDetails final : Details {
  CollectiveGroups groups;
};

WorkShare share_of(const Step& step, const Work& work) {
  return {work.piece_begin, work.piece_end, step.pieces};
}

void run_collective(const Step& step, const Tables& tables, const Work& work) {
  const Collectives& all = *static_cast<const CollectiveDetails&>(*step.details).collectives;
  const Collective& c = *step.collective;
  const ShardedBuffer in = tables.at(step.in[0]), out = tables.at(step.out[0]);
  const WorkShare share = share_of(step, work);
  switch (c.kind) {
    case Collective::Kind::kAllReduce:
      return all.all_reduce(c.groups, c.reduce, c.dtype, c.run_elements, in, out, share);
    case Collective::Kind::kAllGather:
      return all.all_gather(c.groups, c.rows, c.run_bytes, in, out, share);
    case Collective::Kind::kReduceScatter:
      return all.reduce_scatter(c.groups, c.dtype, c.rows, c.run_elements, in, out, share);
    case Collective::Kind::kPermute:
      return all.permute(c.groups, c.sources, c.run_bytes, in, out, share);
  }
}

void run_axis_index(const Step& step, const Tables& tables, const Work& work) {
  const auto& groups = static_cast<const AxisDetails&>(*step.details).groups;
  const ShardedBuffer out = tables.at(step.out[0]);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    *reinterpret_cast<std::int32_t*>(out.shard(s)) =
        static_cast<std::int32_t>(s / groups.inner % groups.size);
  }
}

}  // namespace

Step make_collective(const Instruction& instruction, const TensorType& operand,
                     const CollectiveGroups& groups, const Collectives& collectives) {
  auto collective = std::make_shared<Collective>();
  collective->groups = groups;
  collective->reduce = instruction.reduce;
  collective->dtype = operand.dtype;
  Step step;
  step.kernel = &run_collective;
  step.elements = static_cast<std::size_t>(operand.elements());
  step.element_bytes = size_of(operand.dtype);
  const std::size_t dim =
      instruction.dims.empty() ? 0 : static_cast<std::size_t>(instruction.dims[0]);
  std::size_t before = 1, from = 1;
  for (std::size_t d = 0; d < operand.shape.size(); ++d) {
    (d < dim ? before : from) *= static_cast<std::size_t>(operand.shape[d]);
  }
  collective->run_elements = step.elements;
  switch (instruction.op) {
    case Op::kAllReduce:
      step.in_place.emplace_back(0, 0);
      break;
    case Op::kAllGather:
      collective->kind = Collective::Kind::kAllGather;
      collective->rows = before;
      collective->run_elements = from;
      break;
    case Op::kReduceScatter:
      collective->kind = Collective::Kind::kReduceScatter;
      collective->rows = before;
      collective->run_elements = from / groups.size;
      break;
    default:
      SEAWAY_CHECK(instruction.op == Op::kPermute, static_cast<int>(instruction.op));
      collective->kind = Collective::Kind::kPermute;
      collective->sources.assign(groups.size, -1);
      for (const auto& [source, target] : instruction.pairs) {
        collective->sources[static_cast<std::size_t>(target)] = source;
      }
  }
  collective->run_bytes = collective->run_elements * step.element_bytes;
  const std::size_t moved = operand.bytes() + instruction.type.bytes();
  step.cost_ns = cost_of(moved);
  // The pieces of a collective are shares of the work of all shards together.
  step.pieces = pieces_for(step.cost_ns * groups.size * groups.groups, 64);
  auto details = std::make_shared<CollectiveDetails>();
  details->collectives = &collectives;
  step.collective = std::move(collective);
  step.details = std::move(details);
  return step;
}

Step make_axis_index(const CollectiveGroups& groups) {
  auto details = std::make_shared<AxisDetails>();
  details->groups = groups;
  Step step;
  step.kernel = &run_axis_index;
  step.elements = 1;
  step.cost_ns = cost_of(4);
  step.details = std::move(details);
  return step;
}

}  // namespace seaway::function::cpu
