// One stage behind the other, beside the exchanges that nobody needs yet.

#include "device/gang_stages.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/probe.hpp"

namespace seaway::device {

using function::ShardedBuffer;
using function::ValuePlace;

struct GangStages::Gang {
  Work work;
  Done done;
  std::size_t stage = 0, stages = 0;  // The next one, of all.
  /// Exchanges that have begun, with the stages that wait for them.
  std::map<std::size_t, std::size_t> under_way;
  Status status;              // The first error of the stages so far,
  bool is_given_up = false;   // or of an exchange, behind which there is nothing to be done.
  bool is_dropped = false;    // Nobody wants to know how it ends.
  bool is_running = false;    // run() is at it.
  bool is_computing = false;  // A stage is.
  bool is_ended = false;
  std::vector<std::shared_ptr<Gang>> next;  // That are behind it.

  bool may_go_on() const {
    if (is_given_up || is_computing || stage == stages) return false;
    return std::all_of(under_way.begin(), under_way.end(),
                       [this](const auto& exchange) { return exchange.second > stage; });
  }
  bool holds_up(const Gang& other) const { return !is_ended && work.gang == other.work.behind; }
  bool is_over() const {
    return under_way.empty() && !is_computing && (is_given_up || stage == stages);
  }

  ShardedBuffer at(const ValuePlace& place) const {
    ShardedBuffer buffer;
    switch (place.table) {
      case ValuePlace::Table::kOperand:
        buffer = work.operands[place.index];
        break;
      case ValuePlace::Table::kOutput:
        buffer = work.outputs[place.index];
        break;
      case ValuePlace::Table::kScratch:
        buffer = work.scratch;
        break;
      case ValuePlace::Table::kConstant:
        buffer = work.executable->constants();
        break;
    }
    buffer.base += place.offset;
    return buffer;
  }
};

GangStages::~GangStages() {
  for (const std::weak_ptr<Gang>& one : gangs_) {
    const std::shared_ptr<Gang> gang = one.lock();
    if (!gang) continue;
    gang->work.owner.reset();
    gang->done = nullptr;  // Its captures hold memory to read at the gang's end.
  }
}

void GangStages::begin_anew() {
  for (const std::weak_ptr<Gang>& one : gangs_) {
    if (const std::shared_ptr<Gang> gang = one.lock()) gang->is_dropped = true;
  }
}

void GangStages::start(Work work, Done done) {
  exchanges_.enter(work.gang);
  std::erase_if(gangs_, [](const auto& one) { return one.expired(); });
  const auto gang = std::make_shared<Gang>();
  gangs_.push_back(gang);
  gang->stages = work.executable->stages(work.has_conflict);
  gang->work = std::move(work);
  gang->done = std::move(done);
  for (const std::weak_ptr<Gang>& one : gangs_) {
    const std::shared_ptr<Gang> ahead = one.lock();
    if (!ahead || !ahead->holds_up(*gang)) continue;
    ahead->next.push_back(gang);
    return;
  }
  run(gang);
}

void GangStages::run(const std::shared_ptr<Gang>& gang) {
  if (gang->is_dropped || std::exchange(gang->is_running, true)) return;
  while (gang->may_go_on()) {
    const std::size_t stage = gang->stage++;
    const function::Exchange* const wanted =
        gang->work.executable->exchange_at(stage, gang->work.has_conflict);
    wanted ? exchange(gang, stage, *wanted) : compute(gang, stage);
  }
  gang->is_running = false;
  if (!gang->is_over()) return;
  exchanges_.leave(gang->work.gang);
  gang->is_ended = true;
  const auto next = std::move(gang->next);
  gang->done(gang->status);
  for (const std::shared_ptr<Gang>& behind : next) run(behind);
}

void GangStages::exchange(const std::shared_ptr<Gang>& gang, std::size_t stage,
                          const function::Exchange& wanted) {
  const Work& work = gang->work;
  SEAWAY_PROBE_IF(!gang->under_way.empty(), "exchanges of a gang are under way beside each other");
  gang->under_way[stage] = std::max(wanted.needed_at, stage + 1);
  exchanges_.begin({.id = {work.gang, static_cast<std::uint32_t>(stage)},
                    .collective = wanted.collective,
                    .hosts = work.hosts,
                    .in = gang->at(wanted.in),
                    .out = gang->at(wanted.out),
                    .owner = gang,
                    .tenant = work.tenant},
                   [this, gang, stage](const Status& status) {
                     gang->under_way.erase(stage);
                     if (!status.ok()) gang->is_given_up = true;
                     if (gang->status.ok()) gang->status = status;
                     run(gang);
                   });
}

void GangStages::compute(const std::shared_ptr<Gang>& gang, std::size_t stage) {
  const Work& work = gang->work;
  SEAWAY_PROBE_IF(!gang->under_way.empty(), "a gang computes beside its exchanges");
  gang->is_computing = true;
  backend_.start_stage(
      {.executable = work.executable,
       .stage = stage,
       .has_conflict = work.has_conflict,
       .operands = work.operands,
       .outputs = work.outputs,
       .scratch = work.scratch,
       .shards = {work.own.begin, work.own.end, work.hosts.back().end}},
      work.executable->stage_cost_ns(stage, work.has_conflict) * (work.own.end - work.own.begin),
      [this, gang](const GangEnd& end) {
        gang->is_computing = false;
        if (gang->status.ok()) gang->status = end.status;
        run(gang);
      });
}

}  // namespace seaway::device
