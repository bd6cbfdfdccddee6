// Functions, plans and specs that launches and puts refer to, until they are forgotten.

#include <algorithm>

#include "base/check.hpp"
#include "device/host_core.hpp"

namespace seaway::device {
namespace {

/// Gangs of a part that take no longer than this share readings of the clock, and one event.
constexpr std::uint64_t kShortGangNs = 500;

}  // namespace

void HostCore::add_function(FunctionId id, std::shared_ptr<const function::Executable> executable) {
  functions_[id] = annexes_.share(id, std::move(executable));
}

PlanMaker HostCore::plan_maker() const {
  return [functions = functions_, devices = options_.devices, reads_loans = keeps_loans(),
          bytes_min = data_ ? data_->bytes_min() : UINT64_MAX](program::PartPlanPtr part) {
    const auto compiled = [&functions](FunctionId function) {
      const auto found = functions.find(function);
      return found == functions.end() ? nullptr : found->second;
    };
    return make_host_plan(std::move(part), devices, compiled, reads_loans, bytes_min);
  };
}

void HostCore::define_plan(program::PartPlanPtr part) {
  const auto compiled = [this](FunctionId function) {
    const auto found = functions_.find(function);
    return found == functions_.end() ? nullptr : found->second;
  };
  auto plan = make_host_plan(std::move(part), options_.devices, compiled, keeps_loans(),
                             data_ ? data_->bytes_min() : UINT64_MAX);
  if (!plan.ok()) return refuse(actor::Role::kController, 0, plan.status().message());
  add_plan(std::move(plan).value());
}

void HostCore::add_plan(std::unique_ptr<HostPlan> plan) {
  for (GangPlan& gang : plan->gangs) {
    // A plan has the estimate of the host that compiled the function last. One that is too low
    // would run a long gang on this control thread.
    if (gang.executable) gang.cost_ns = std::max(gang.cost_ns, gang.executable->cost_ns());
    gang.is_spread = annexes_.has_some_of(gang.mask);
    gang.is_simple =
        gang.executable && !gang.is_spread && backend_.runs_inline(gang.cost_ns * gang.shards);
    gang.may_replay = gang.executable && replay_bytes(*gang.executable) > 0;
    gang.is_short = gang.is_simple && !gang.may_replay && !has_sums() &&
                    gang.cost_ns * gang.shards <= kShortGangNs;
  }
  const PlanId id = plan->part->id;
  plans_[id] = std::move(plan);
}

void HostCore::define_spec(std::uint64_t spec, ArraySpec array) { specs_[spec] = std::move(array); }

void HostCore::forget_client(ClientId client) {
  if (options_.is_process) {
    lose_client(client);
    const auto is_reader = [client](const auto& read) { return read.first == client; };
    std::erase_if(late_reads_, is_reader);
  }
  const auto is_its = [client](const auto& entry) { return client_of(entry.first) == client; };
  std::erase_if(functions_, is_its);
  std::erase_if(specs_, is_its);
  std::erase_if(upload_descs_, is_its);
}

void HostCore::forget_definition(std::uint64_t id) {
  functions_.erase(id);
  specs_.erase(id);
  upload_descs_.erase(id);
}

void HostCore::forget_plan(PlanId plan) {
  if (plans_.contains(plan)) forgotten_plans_.push_back(plan);
}

/// The edges of a part that was cancelled before it got room may be open when the controller hears
/// of its end.
void HostCore::drop_forgotten_plans() {
  std::erase_if(forgotten_plans_, [this](PlanId id) {
    const auto found = plans_.find(id);
    if (found == plans_.end()) return true;
    if (found->second->parts > 0) return false;
    keep_old_plan(found->second->part);
    plans_.erase(found);
    return true;
  });
}

/// Plans get their ids in turn: the one with the smallest is the oldest.
void HostCore::keep_old_plan(program::PartPlanPtr part) {
  old_gangs_ += part->gangs.size();
  const PlanId id = part->id;
  old_plans_[id] = std::move(part);
  while (!old_plans_.empty() && old_gangs_ > options_.old_gangs_max) {
    old_gangs_ -= old_plans_.begin()->second->gangs.size();
    old_plans_.erase(old_plans_.begin());
  }
}

std::uint32_t HostCore::parameter_count(PlanId plan) const {
  const auto found = plans_.find(plan);
  return found == plans_.end() ? 0 : static_cast<std::uint32_t>(found->second->part->args.size());
}

const program::PartPlan* HostCore::find_plan(PlanId plan) const {
  if (const auto found = plans_.find(plan); found != plans_.end()) return found->second->part.get();
  const auto old = old_plans_.find(plan);
  return old == old_plans_.end() ? nullptr : old->second.get();
}

}  // namespace seaway::device
