// Steps that hand a whole gang to the collectives, and the shard's own coordinate.

#include <algorithm>

#include "base/check.hpp"
#include "function/cpu_kernels.hpp"

namespace seaway::function::cpu {
namespace {

struct CollectiveDetails final : Details {
  const Collectives* collectives = nullptr;
  CollectiveGroups groups;
  Reduce reduce = Reduce::kSum;
  DType dtype = DType::kF32;
  std::size_t rows = 1, run = 1;  // `run` in elements or bytes, as the operation wants it.
  std::vector<std::int64_t> sources;
};

WorkShare share_of(const Step& step, const Work& work) {
  return {work.piece_begin, work.piece_end, step.pieces};
}

void run_all_reduce(const Step& step, const Tables& tables, const Work& work) {
  const auto& d = static_cast<const CollectiveDetails&>(*step.details);
  d.collectives->all_reduce(d.groups, d.reduce, d.dtype, step.elements, tables.at(step.in[0]),
                            tables.at(step.out[0]), share_of(step, work));
}

void run_all_gather(const Step& step, const Tables& tables, const Work& work) {
  const auto& d = static_cast<const CollectiveDetails&>(*step.details);
  d.collectives->all_gather(d.groups, d.rows, d.run, tables.at(step.in[0]), tables.at(step.out[0]),
                            share_of(step, work));
}

void run_reduce_scatter(const Step& step, const Tables& tables, const Work& work) {
  const auto& d = static_cast<const CollectiveDetails&>(*step.details);
  d.collectives->reduce_scatter(d.groups, d.dtype, d.rows, d.run, tables.at(step.in[0]),
                                tables.at(step.out[0]), share_of(step, work));
}

void run_permute(const Step& step, const Tables& tables, const Work& work) {
  const auto& d = static_cast<const CollectiveDetails&>(*step.details);
  d.collectives->permute(d.groups, d.sources, d.run, tables.at(step.in[0]), tables.at(step.out[0]),
                         share_of(step, work));
}

void run_axis_index(const Step& step, const Tables& tables, const Work& work) {
  const auto& groups = static_cast<const CollectiveDetails&>(*step.details).groups;
  const ShardedBuffer out = tables.at(step.out[0]);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    *reinterpret_cast<std::int32_t*>(out.shard(s)) =
        static_cast<std::int32_t>(s / groups.inner % groups.size);
  }
}

}  // namespace

Step make_collective(const Instruction& instruction, const TensorType& operand,
                     const CollectiveGroups& groups, const Collectives& collectives) {
  auto details = std::make_shared<CollectiveDetails>();
  details->collectives = &collectives;
  details->groups = groups;
  details->reduce = instruction.reduce;
  details->dtype = operand.dtype;
  Step step;
  step.is_collective = true;
  step.in_bytes = operand.bytes();
  step.out_bytes = instruction.type.bytes();
  step.elements = static_cast<std::size_t>(operand.elements());
  step.element_bytes = size_of(operand.dtype);
  const std::size_t dim =
      instruction.dims.empty() ? 0 : static_cast<std::size_t>(instruction.dims[0]);
  std::size_t before = 1, from = 1;
  for (std::size_t d = 0; d < operand.shape.size(); ++d) {
    (d < dim ? before : from) *= static_cast<std::size_t>(operand.shape[d]);
  }
  switch (instruction.op) {
    case Op::kAllReduce:
      step.kernel = &run_all_reduce;
      step.in_place.emplace_back(0, 0);
      break;
    case Op::kAllGather:
      step.kernel = &run_all_gather;
      details->rows = before;
      details->run = from * step.element_bytes;
      break;
    case Op::kReduceScatter:
      step.kernel = &run_reduce_scatter;
      details->rows = before;
      details->run = from / groups.size;
      break;
    default:
      SEAWAY_CHECK(instruction.op == Op::kPermute, static_cast<int>(instruction.op));
      step.kernel = &run_permute;
      details->run = operand.bytes();
      details->sources.assign(groups.size, -1);
      for (const auto& [source, target] : instruction.pairs) {
        details->sources[static_cast<std::size_t>(target)] = source;
      }
  }
  const std::size_t moved = operand.bytes() + instruction.type.bytes();
  step.cost_ns = cost_of(moved);
  // The pieces of a collective are shares of the work of all shards together.
  step.pieces = pieces_for(step.cost_ns * groups.size * groups.groups, 64);
  step.details = std::move(details);
  return step;
}

Step make_axis_index(const CollectiveGroups& groups) {
  auto details = std::make_shared<CollectiveDetails>();
  details->groups = groups;
  Step step;
  step.kernel = &run_axis_index;
  step.elements = 1;
  step.cost_ns = cost_of(4);
  step.details = std::move(details);
  return step;
}

}  // namespace seaway::function::cpu
