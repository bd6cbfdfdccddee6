// The CPU back end's Executable: runs a plan over all shards of a gang.

#include <algorithm>
#include <optional>
#include <set>

#include "base/check.hpp"
#include "function/collectives.hpp"
#include "function/cpu_overlap.hpp"
#include "function/cpu_plan.hpp"
#include "function/cpu_schedule.hpp"
#include "function/executable.hpp"

namespace seaway::function {
namespace cpu {
namespace {

// A hand-off to other threads pays from here on.
constexpr std::uint64_t kParallelNs = 20000;
// Above this a shard's values are better used while they are in the cache: shard by shard.
constexpr std::uint64_t kShardByShardNs = 1000;
// With fewer shards than this, single steps are split as well.
constexpr std::size_t kShardsForSplitMax = 8;

/// Steps [begin, end): either one collective, or some that each shard runs on its own.
struct Segment {
  std::size_t begin = 0, end = 0;
  std::uint64_t cost_ns = 0;  // Of one shard.
  bool is_collective = false;
  bool can_split = false;  // Some step has several pieces.
  std::optional<Exchange> exchange = {};
};

ValuePlace place_of(const Location& location) {
  return {static_cast<ValuePlace::Table>(location.table), location.index, location.offset};
}

std::vector<Segment> segments_of(const std::vector<Step>& steps) {
  std::vector<Segment> segments;
  std::set<std::size_t> waits;  // Steps that wait for exchanges.
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const Step& step = steps[t];
    const bool is_collective = step.collective != nullptr;
    if (is_collective) waits.insert(step.needed_at);
    if (segments.empty() || is_collective || segments.back().is_collective || waits.contains(t)) {
      segments.push_back({t, t, 0, is_collective, false});
    }
    if (is_collective) {
      segments.back().exchange = {place_of(step.in[0]), place_of(step.out[0]), *step.collective};
    }
    Segment& segment = segments.back();
    segment.end = t + 1;
    segment.cost_ns += step.cost_ns;
    segment.can_split |= step.pieces > 1;
  }
  for (Segment& segment : segments) {
    if (!segment.is_collective) continue;
    const auto needed = std::partition_point(
        segments.begin(), segments.end(),
        [at = steps[segment.begin].needed_at](const auto& one) { return one.begin < at; });
    segment.exchange->needed_at = static_cast<std::size_t>(needed - segments.begin());
  }
  return segments;
}

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(const Graph& graph, const AxisSizes& axes, const Schedule& schedule)
      : plan_(make_plan(schedule, {})) {
    for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
      parameter_types_.push_back(graph.parameter_type(i));
    }
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      output_types_.push_back(graph.output_type(i));
    }
    for (const auto& [name, size] : axes) mesh_shards_ *= static_cast<std::size_t>(size);
    constants_ = schedule.constants;
    scratch_bytes_ = plan_.scratch_bytes;
    segments_ = segments_of(plan_.steps);
    if (!plan_.hazards.empty()) {
      donation_plan_ = make_plan_for_donation(schedule);
      donation_segments_ = segments_of(donation_plan_.steps);
      scratch_bytes_ = std::max(scratch_bytes_, donation_plan_.scratch_bytes);
    }
    for (const Segment& segment : segments_) {
      cost_ns_ += segment.cost_ns;
      needs_whole_mesh_ |= segment.is_collective;
    }
    total_ns_ = cost_ns_;
    cost_ns_ = std::max<std::uint64_t>(cost_ns_, 20);
  }

  const std::vector<TensorType>& parameter_types() const override { return parameter_types_; }
  const std::vector<TensorType>& output_types() const override { return output_types_; }
  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  std::uint64_t cost_ns() const override { return cost_ns_; }
  OutputOperandPairs in_place() const override {
    OutputOperandPairs pairs = pairs_of_one_size(parameter_types_, output_types_);
    std::erase_if(pairs, [this](const auto& pair) {
      return std::find(plan_.hazards.begin(), plan_.hazards.end(), pair) != plan_.hazards.end();
    });
    return pairs;
  }

  Status run(std::span<const ShardedBuffer> operands, std::span<const ShardedBuffer> outputs,
             ShardedBuffer scratch, std::size_t shards, Parallelism* parallelism) const override {
    SEAWAY_CHECK(operands.size() == parameter_types_.size(), operands.size());
    SEAWAY_CHECK(outputs.size() == output_types_.size(), outputs.size());
    SEAWAY_CHECK(!needs_whole_mesh_ || shards == mesh_shards_, shards, mesh_shards_);
    const ShardedBuffer held = constant_buffer();
    const Tables tables{{operands.data(), outputs.data(), &scratch, &held}};
    const bool is_early = has_conflict([&](std::uint32_t output, std::uint32_t operand) {
      return outputs[output].base == operands[operand].base;
    });
    const std::vector<Step>& steps = steps_of(is_early);
    if (total_ns_ <= kShardByShardNs) {
      if (parallelism == nullptr || total_ns_ * shards < kParallelNs) {
        for (const Step& step : steps) step.kernel(step, tables, {0, shards, 0, step.pieces});
        return {};
      }
    }
    for (const Segment& segment : segments(is_early)) {
      const std::span<const Step> part(steps.data() + segment.begin, segment.end - segment.begin);
      if (parallelism != nullptr && segment.cost_ns * shards >= kParallelNs) {
        run_parallel(segment, part, tables, {0, shards, shards}, *parallelism);
      } else {
        run_serial(segment, part, tables, 0, shards);
      }
    }
    return {};
  }

  bool has_conflict(
      const std::function<bool(std::uint32_t, std::uint32_t)>& is_same) const override {
    for (const auto& [output, operand] : plan_.hazards) {
      if (is_same(output, operand)) return true;
    }
    return false;
  }
  std::size_t stages(bool has_conflict) const override { return segments(has_conflict).size(); }
  const Exchange* exchange_at(std::size_t stage, bool has_conflict) const override {
    const std::optional<Exchange>& exchange = segments(has_conflict)[stage].exchange;
    return exchange ? &*exchange : nullptr;
  }

  std::uint64_t stage_cost_ns(std::size_t stage, bool has_conflict) const override {
    return segments(has_conflict)[stage].cost_ns;
  }

  ShardedBuffer constants() const override { return constant_buffer(); }

  Status run_stage(std::size_t stage, bool has_conflict, std::span<const ShardedBuffer> operands,
                   std::span<const ShardedBuffer> outputs, ShardedBuffer scratch, ShardRange shards,
                   Parallelism* parallelism) const override {
    const Segment& segment = segments(has_conflict)[stage];
    const bool is_whole = shards.begin == 0 && shards.end == mesh_shards_;
    SEAWAY_CHECK(!segment.is_collective || is_whole, stage, shards.begin, shards.end);
    const ShardedBuffer held = constant_buffer();
    const Tables tables{{operands.data(), outputs.data(), &scratch, &held}};
    const std::span<const Step> part(steps_of(has_conflict).data() + segment.begin,
                                     segment.end - segment.begin);
    const std::uint64_t cost_ns = segment.cost_ns * (shards.end - shards.begin);
    if (parallelism != nullptr && cost_ns >= kParallelNs) {
      run_parallel(segment, part, tables, shards, *parallelism);
    } else {
      run_serial(segment, part, tables, shards.begin, shards.end);
    }
    return {};
  }

 private:
  const std::vector<Step>& steps_of(bool has_conflict) const {
    return has_conflict ? donation_plan_.steps : plan_.steps;
  }
  const std::vector<Segment>& segments(bool has_conflict) const {
    return has_conflict ? donation_segments_ : segments_;
  }
  /// Constants are only read; one copy serves all shards.
  ShardedBuffer constant_buffer() const {
    return {const_cast<std::byte*>(reinterpret_cast<const std::byte*>(constants_.data())), 0};
  }

  static void run_serial(const Segment& segment, std::span<const Step> steps, const Tables& tables,
                         std::size_t begin, std::size_t end) {
    const bool is_gang_wide = segment.is_collective || segment.cost_ns <= kShardByShardNs;
    const std::size_t stride = is_gang_wide ? end - begin : 1;
    for (std::size_t s = begin; s < end; s += stride) {
      for (const Step& step : steps) step.kernel(step, tables, {s, s + stride, 0, step.pieces});
    }
  }

  static void run_parallel(const Segment& segment, std::span<const Step> steps,
                           const Tables& tables, ShardRange range, Parallelism& parallelism) {
    const std::size_t shards = range.end - range.begin;
    if (segment.is_collective) {
      const Step& step = steps[0];
      parallelism.parallel_for(step.pieces, [&](std::size_t piece) {
        step.kernel(step, tables, {0, shards, piece, piece + 1});
      });
      return;
    }
    if (shards > kShardsForSplitMax || !segment.can_split) {
      // Several small shards make one task.
      const std::size_t group =
          1 +
          static_cast<std::size_t>(kParallelNs / 2 / std::max<std::uint64_t>(1, segment.cost_ns));
      parallelism.parallel_for((shards + group - 1) / group, [&](std::size_t task) {
        const std::size_t begin = range.begin + task * group;
        run_serial(segment, steps, tables, begin, std::min(range.end, begin + group));
      });
      return;
    }
    for (const Step& step : steps) {
      if (step.cost_ns * shards < kParallelNs) {
        step.kernel(step, tables, {range.begin, range.end, 0, step.pieces});
        continue;
      }
      parallelism.parallel_for(shards * step.pieces, [&](std::size_t task) {
        const std::size_t shard = range.begin + task / step.pieces, piece = task % step.pieces;
        step.kernel(step, tables, {shard, shard + 1, piece, piece + 1});
      });
    }
  }

  std::vector<TensorType> parameter_types_, output_types_;
  std::vector<std::uint32_t> constants_;
  Plan plan_, donation_plan_;
  std::vector<Segment> segments_, donation_segments_;
  std::size_t scratch_bytes_ = 0;
  std::size_t mesh_shards_ = 1;
  std::uint64_t cost_ns_ = 0, total_ns_ = 0;
  bool needs_whole_mesh_ = false;
};

}  // namespace
}  // namespace cpu

Result<std::shared_ptr<const Executable>> compile_cpu(const Graph& graph, const AxisSizes& axes,
                                                      const Collectives& collectives) {
  if (Status status = validate(graph, axes); !status.ok()) return status;
  const cpu::Schedule schedule = cpu::make_schedule(graph, axes, collectives);
  return std::shared_ptr<const Executable>(
      std::make_shared<cpu::CpuExecutable>(graph, axes, schedule));
}

Result<std::shared_ptr<const Executable>> compile_cpu_overlapping(const Graph& graph,
                                                                  const AxisSizes& axes,
                                                                  const Collectives& collectives) {
  if (Status status = validate(graph, axes); !status.ok()) return status;
  const cpu::Schedule schedule = cpu::overlap(cpu::make_schedule(graph, axes, collectives));
  return std::shared_ptr<const Executable>(
      std::make_shared<cpu::CpuExecutable>(graph, axes, schedule));
}

}  // namespace seaway::function
