// Dispatch: when a run may be stamped, and what its islands are told then.

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "base/fault_point.hpp"
#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

using events::EventKind;
using program::SegmentArray;

/// The client has given them away, whatever becomes of the run.
void ControllerCore::give_up_donated(ClientId client, const program::ProgramGraph& graph,
                                     const RunRequest& request) {
  for (std::size_t i = 0; i < request.args.size() && i < graph.donated.size(); ++i) {
    if (graph.donated[i]) release(client, request.args[i]);
  }
}

/// Ids rise, and what is remembered of them is one place for each from the oldest open run on.
Status ControllerCore::check_run_id(Client& client, RunId id) const {
  const std::uint64_t sequence = sequence_of(id);
  if (sequence <= client.last_sequence) {
    return invalid_argument("run " + std::to_string(sequence) + " comes after run " +
                            std::to_string(client.last_sequence) +
                            "; a client's ids rise, and are used once");
  }
  const std::uint64_t oldest = client.runs.empty() ? sequence : client.first_sequence;
  if (sequence - oldest >= options_.limits.ids_open_max) {
    return resource_exhausted("run " + std::to_string(sequence) + " is named while run " +
                              std::to_string(oldest) + " is unfinished; ids may be " +
                              std::to_string(options_.limits.ids_open_max) +
                              " apart at most: wait for the oldest runs");
  }
  client.last_sequence = sequence;
  return {};
}

/// Nothing has the names that a run gives to its outputs.
Status ControllerCore::check_outputs(const Client& client, ArrayId first, std::size_t count) const {
  if (client.tenant->arrays + count > options_.limits.arrays_max) return no_arrays(client);
  if (count > 0 && client_of(first + count - 1) != client.id) {
    return invalid_argument("outputs from " + std::to_string(sequence_of(first)) +
                            " on are not this client's to name");
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!arrays_.contains(first + i)) continue;
    return invalid_argument("array " + std::to_string(sequence_of(first + i)) +
                            " exists already; ids are used once");
  }
  return {};
}

Status ControllerCore::no_arrays(const Client& client) const {
  return resource_exhausted("tenant " + client.tenant->name + " has " +
                            std::to_string(client.tenant->arrays) + " of " +
                            std::to_string(options_.limits.arrays_max) +
                            " live arrays; drop handles of arrays that are no longer needed");
}

void ControllerCore::run(ClientId client_id, const RunRequest& request) {
  const auto found = clients_.find(client_id);
  if (found == clients_.end() || found->second->is_gone) return;
  Client& client = *found->second;
  if (client_of(request.run) != client_id || client_of(request.first_output) != client_id) {
    outbox_.client(client_id).resolved.push_back(
        {request.run, invalid_argument("run " + std::to_string(request.run) +
                                       " or its outputs are not this client's to name")});
    return;
  }
  if (Status status = check_run_id(client, request.run); !status.ok()) {
    outbox_.client(client_id).resolved.push_back({request.run, std::move(status)});
    return;
  }
  Run& run = *new_run();
  run.id = request.run;
  run.client = &client;
  run.first_output = request.first_output;
  ++runs_unfinished_;
  ++client.unfinished;
  const std::uint64_t sequence = sequence_of(run.id);
  if (client.runs.empty()) client.first_sequence = sequence;
  while (client.first_sequence + client.runs.size() <= sequence) client.runs.push_back(nullptr);
  client.runs[sequence - client.first_sequence] = &run;
  events_.record({.time_ns = clock_.now_ns(),
                  .object = run.id,
                  .tenant = client.tenant->id,
                  .kind = EventKind::kSubmit});
  const auto program = programs_.find(request.program);
  if (program == programs_.end() || program->second->is_released ||
      program->second->client != client_id) {
    resolve(run, undefined(client_id, request.program,
                           invalid_argument("program " + std::to_string(request.program) +
                                            " is not one of this client's")));
    return;
  }
  run.program = program->second.get();
  ++run.program->runs_unfinished;
  ++run.program->uses;
  const program::ProgramGraph& graph = run.program->graph;
  if (request.args.size() != graph.parameters.size()) {
    const std::size_t given = request.args.size();
    resolve(run, invalid_argument("program " + graph.name + " takes " +
                                  std::to_string(graph.parameters.size()) + " arguments, not " +
                                  std::to_string(given)));
    return;
  }
  for (std::size_t i = 0; i < request.args.size(); ++i) {
    Array* array = find_array(request.args[i]);
    if (array && array->has_handle && array->tenant == client.tenant->id &&
        (array->spec == &graph.parameters[i] || *array->spec == graph.parameters[i])) {
      ++array->references;
      run.args.push_back({request.args[i], array});
      continue;
    }
    const std::string which = "argument " + std::to_string(i) + " of program " + graph.name + ": ";
    const std::string name = "array " + std::to_string(sequence_of(request.args[i]));
    Status wrong;
    if (!array || array->tenant != client.tenant->id) {
      wrong = unknown_array(which, request.args[i]);
    } else if (array->is_donated) {
      wrong = invalid_argument(which + name +
                               " was donated to an earlier run; put or compute it again");
    } else if (!array->has_handle) {
      // Its island may have freed it, and takes no launch that names it.
      wrong = invalid_argument(which + name +
                               " was released before; release it behind the runs that read it");
    } else {
      wrong = invalid_argument(which + name + " is " + to_string(*array->spec) + ", wanted " +
                               to_string(graph.parameters[i]) + "; reshard it first");
    }
    give_up_donated(client_id, graph, request);
    resolve(run, std::move(wrong));
    return;
  }
  if (Status status = check_outputs(client, request.first_output, graph.outputs.size());
      !status.ok()) {
    give_up_donated(client_id, graph, request);
    return resolve(run, std::move(status));
  }
  run.output_count = static_cast<std::uint32_t>(graph.outputs.size());
  begin_reading(run);
  for (std::size_t i = 0; i < run.args.size(); ++i) {
    if (i >= graph.donated.size() || !graph.donated[i]) continue;
    Array& array = *run.args[i].array;
    array.is_donated = true;
    // The client has given its handle away with it, and will not release it.
    if (array.has_handle) --array.references;
    array.has_handle = false;
  }
  for (std::uint32_t i = 0; i < run.output_count; ++i) {
    Array& array = arrays_[run.first_output + i];
    array.tenant = static_cast<std::uint16_t>(client.tenant->id);
    array.references = 2;  // The handle and this run.
    array.physical = run.first_output + i;
    array.run = run.id;
    array.source = run.program;
    ++array.source->uses;
    array.spec = &graph.spec_of(graph.outputs[i]);
    run.outputs.push_back(&array);
    ++client.tenant->arrays;
    ++client.arrays;
  }
  if (const SliceId released = run.program->released_slice; released != 0) {
    resolve(run, invalid_argument("program " + graph.name + " uses slice " +
                                  std::to_string(sequence_of(released)) +
                                  ", which was released; acquire another and capture the program "
                                  "anew"));
    return;
  }
  if (client.tenant->runs_queued >= options_.limits.runs_queued_max) {
    resolve(run, resource_exhausted(std::to_string(client.tenant->runs_queued) + " of " +
                                    std::to_string(options_.limits.runs_queued_max) +
                                    " runs of tenant " + client.tenant->name +
                                    " wait; wait for some of them and try again"));
    return;
  }
  Tenant& tenant = *client.tenant;
  if (tenant.runs_queued == 0) ++tenant.idles;
  client.queue.push_back(&run);
  ++tenant.runs_queued;
}

/// What a tenant may keep on an island: seven eighths of what others leave, so that there is always
/// room for another one, however much the first ones keep.
std::uint64_t ControllerCore::quota(const Tenant& tenant, IslandId island) const {
  const std::uint64_t others = kept_bytes_[island] - tenant.kept_bytes[island];
  const std::uint64_t share = (options_.kept_bytes_max - others) / 8 * 7;
  if (tenant.limit_bytes == 0) return share;
  const std::uint64_t kept =
      std::accumulate(tenant.kept_bytes.begin(), tenant.kept_bytes.end(), std::uint64_t{0});
  const std::uint64_t elsewhere = kept - tenant.kept_bytes[island];
  return std::min(share, tenant.limit_bytes - std::min(tenant.limit_bytes, elsewhere));
}

std::string ControllerCore::quota_text(const Tenant& tenant, IslandId island) const {
  return "live arrays of tenant " + tenant.name + " already keep " +
         std::to_string(tenant.kept_bytes[island]) + " of the " +
         std::to_string(quota(tenant, island)) + " bytes that it may keep on island " +
         std::to_string(island);
}

bool ControllerCore::has_quota(const Run& run) const {
  const Tenant& tenant = *run.client->tenant;
  if (tenant.limit_bytes > 0 && over_limit(tenant, run) > 0) return false;
  for (IslandId i = 0; i < options_.islands; ++i) {
    const std::uint64_t wanted = run.program->kept_by_island[i] + run.program->held_by_island[i];
    if (wanted > 0 && tenant.kept_bytes[i] + wanted > quota(tenant, i)) return false;
  }
  return true;
}

/// By how much a run that spans islands would go beyond what its tenant may keep on all of them.
std::uint64_t ControllerCore::over_limit(const Tenant& tenant, const Run& run) const {
  std::uint64_t kept = 0;
  for (IslandId i = 0; i < options_.islands; ++i) {
    kept += tenant.kept_bytes[i] + run.program->kept_by_island[i] + run.program->held_by_island[i];
  }
  return kept - std::min(kept, tenant.limit_bytes);
}

Status ControllerCore::no_quota(const Run& run) const {
  const Tenant& tenant = *run.client->tenant;
  const std::uint64_t over = tenant.limit_bytes > 0 ? over_limit(tenant, run) : 0;
  if (over > 0) {
    return resource_exhausted("run of program " + run.program->graph.name + " would keep " +
                              std::to_string(over) + " bytes more than the " +
                              std::to_string(tenant.limit_bytes) + " that the tokens of tenant " +
                              tenant.name +
                              " allow; drop handles of arrays that are no longer needed, or get "
                              "a token with a larger quota");
  }
  for (IslandId i = 0; i < options_.islands; ++i) {
    const std::uint64_t wanted = run.program->kept_by_island[i] + run.program->held_by_island[i];
    if (wanted == 0 || tenant.kept_bytes[i] + wanted <= quota(tenant, i)) continue;
    return resource_exhausted(
        "run of program " + run.program->graph.name + " would keep " + std::to_string(wanted) +
        " bytes; " + quota_text(tenant, i) +
        "; drop handles of arrays that are no longer needed, donate them, or raise host_memory");
  }
  return {};
}

Status ControllerCore::arg_failure(const Run& run) const {
  for (std::size_t i = 0; i < run.args.size(); ++i) {
    const Array& array = *run.args[i].array;
    if (array.state != Array::State::kFailed) continue;
    // Down a chain of runs the root cause is passed on as it is.
    SEAWAY_PROBE_IF(array.failure->code() == StatusCode::kInputLost, "a root cause is passed on");
    if (array.failure->code() == StatusCode::kInputLost) return *array.failure;
    return input_lost("argument " + std::to_string(i) + " of program " + run.program->graph.name +
                      " failed: " + array.failure->to_string());
  }
  return {};
}

void ControllerCore::begin_reading(Run& run) {
  if (run.is_reading) return;
  run.is_reading = true;
  for (const Run::Use& arg : run.args) ++arg.array->open_readers;
}

void ControllerCore::end_reading(Run& run) {
  if (!run.is_reading) return;
  run.is_reading = false;
  for (const Run::Use& arg : run.args) {
    --arg.array->open_readers;
    free_early(arg.id, *arg.array);
  }
}

/// An argument that `taker` uses up is to be read first: by a run in a segment that has no stamp
/// yet, or by a client, once the run that makes it has finished on all its islands.
bool ControllerCore::is_awaited(const Run& taker) {
  const std::vector<bool>& donated = taker.program->graph.donated;
  for (std::size_t i = 0; i < taker.args.size() && i < donated.size(); ++i) {
    if (!donated[i]) continue;
    const Array& array = *taker.args[i].array;
    const auto own = std::count_if(taker.args.begin(), taker.args.end(),
                                   [&array](const Run::Use& arg) { return arg.array == &array; });
    SEAWAY_PROBE_IF(array.open_readers > static_cast<std::uint32_t>(own),
                    "a donation waits for a reader");
    if (array.open_readers > static_cast<std::uint32_t>(own)) return true;
    SEAWAY_PROBE_IF(is_fetch_held(taker.args[i].id, array), "a donation waits for a fetch");
    if (is_fetch_held(taker.args[i].id, array)) return true;
  }
  return false;
}

bool ControllerCore::can_stamp(Run& run) {
  for (const Run::Use& arg : run.args) {
    if (!arg.array->is_stamped && arg.array->state == Array::State::kPending) return false;
  }
  Program& program = *run.program;
  if (!program.failure.ok()) return true;  // Resolved at once.
  if (is_awaited(run)) return false;
  if (!is_ready(program)) return false;
  for (const auto& [id, generation] : program.generations) {
    const auto slice = slices_.find(id);
    SEAWAY_PROBE_IF(slice != slices_.end() && slice->second->is_suspended(),
                    "a run waits for a slice that moves");
    if (slice != slices_.end() && slice->second->is_suspended()) return false;
  }
  return true;
}

void ControllerCore::pump() {
  if (!members_.empty()) take_in_islands();
  for (auto& [id, slice] : slices_) {
    if (!slice->is_suspended()) continue;
    // The end of any run looks again.
    if (runs_in_flight_ > 0 && SEAWAY_FAULT(kSlowRebind)) continue;
    try_rebind(*slice);
  }
  if (puts_waiting_ > 0) {
    for (const auto& [id, client] : clients_) pump_puts(*client);
  }
  fill_windows();
  if (slices_closing_ > 0) give_back_slices();
  if (!unused_.empty()) forget_definitions();
  if (!departing_.empty()) forget_clients();
}

void ControllerCore::start(Run& run) {
  enter_windows(run);
  run.is_started = true;
  run.held = run.program->held_by_island;
  for (IslandId i = 0; i < options_.islands; ++i) {
    keep(*run.client, i, run.program->kept_by_island[i] + run.held[i]);
  }
  for (const auto& [id, generation] : run.program->generations) {
    const auto slice = slices_.find(id);
    if (slice != slices_.end()) ++slice->second->runs_in_flight;
  }
  for (std::uint32_t i = 0; i < run.output_count; ++i) {
    Array& array = *run.outputs[i];
    const auto slice = slices_.find(array.spec->sharding.mesh().slice());
    if (slice == slices_.end()) continue;
    array.island = static_cast<std::uint16_t>(slice->second->binding.island);
    array.is_counted = true;
    array.kept_bytes = run.program->kept_by_output[i];
  }
  const std::vector<bool>& donated = run.program->graph.donated;
  for (std::size_t i = 0; i < run.args.size() && i < donated.size(); ++i) {
    if (donated[i]) run.args[i].array->is_taken = true;
  }
  run.intermediates.resize(run.program->lowered.intermediates);
  for (ArrayId& id : run.intermediates) id = ++last_internal_array_;
  run.segment = 0;
  launch_segment(run);
  // What a run on one island makes may be read as soon as it is made: its readers go along. They
  // have had a host's word of a loss already when it is run again, and wait for its outcome.
  if (run.reruns == 0 && run.program->plans.size() == 1 && run.program->plans[0].size() == 1) {
    for (const ControllerOutbox::Fetch& fetch : run.fetches) forward_fetch(fetch);
    run.fetches.clear();
  }
  advance_segments(run);
}

Stamp ControllerCore::next_stamp(Run& run) {
  const Stamp stamp = ++last_stamp_;
  if (by_stamp_.empty()) by_stamp_.resize(1024);
  while (by_stamp_[stamp % by_stamp_.size()]) {
    // A run with an older stamp is still open: make the ring twice as large.
    std::vector<Run*> larger(by_stamp_.size() * 2);
    for (Run* open : by_stamp_) {
      if (!open) continue;
      for (const Stamp old : open->open_stamps) larger[old % larger.size()] = open;
    }
    by_stamp_.swap(larger);
  }
  by_stamp_[stamp % by_stamp_.size()] = &run;
  return stamp;
}

ControllerCore::Run* ControllerCore::run_at(Stamp stamp) {
  if (by_stamp_.empty()) return nullptr;
  Run* run = by_stamp_[stamp % by_stamp_.size()];
  if (!run) return nullptr;
  const auto& open = run->open_stamps;
  return std::find(open.begin(), open.end(), stamp) == open.end() ? nullptr : run;
}

void ControllerCore::forget(Stamp stamp) { by_stamp_[stamp % by_stamp_.size()] = nullptr; }

void ControllerCore::launch_segment(Run& run) {
  const program::Segment& segment = run.program->lowered.segments[run.segment];
  const auto& plans = run.program->plans[run.segment];
  const Stamp stamp = next_stamp(run);
  run.stamp = stamp;
  run.open_stamps.push_back(stamp);
  run.open_parts.push_back(static_cast<std::uint32_t>(plans.size()));
  run.open_segments.push_back(run.segment);
  const bool is_last = run.segment + 1 == run.program->lowered.segments.size();
  const bool acknowledge =
      !is_last && !run.program->lowered.segments[run.segment + 1].waits_for_finish;
  run.to_enqueue = acknowledge ? static_cast<std::uint32_t>(plans.size()) : 0;
  run.is_fully_stamped = is_last;
  const TenantId tenant = run.client ? run.client->tenant->id : 0;
  events_.record({.time_ns = clock_.now_ns(),
                  .stamp = stamp,
                  .object = run.id,
                  .tenant = tenant,
                  .kind = EventKind::kStamp});
  const auto physical = [this, &run](const SegmentArray& array, bool is_output) {
    if (array.kind == SegmentArray::Kind::kIntermediate) return run.intermediates[array.index];
    if (is_output || array.kind == SegmentArray::Kind::kProgramOutput)
      return run.outputs.empty() ? run.first_output : run.outputs[array.index]->physical;
    return run.args[array.index].array->physical;
  };
  for (const program::PartPlanPtr& plan : plans) {
    ControllerOutbox::Island& island = outbox_.islands[plan->island];
    island.launches.push_back({.stamp = stamp,
                               .run = run.id,
                               .plan = plan->id,
                               .tenant = tenant,
                               .begin = static_cast<std::uint32_t>(island.ids.size()),
                               .acknowledge = acknowledge,
                               .frees_before = static_cast<std::uint32_t>(island.frees.size())});
    for (const program::Arg& arg : plan->args) {
      island.ids.push_back(physical(segment.args[arg.parameter], false));
    }
    for (const program::Output& output : plan->outputs) {
      island.ids.push_back(physical(segment.outputs[output.output], true));
    }
    if (members_.empty()) continue;
    const ControllerOutbox::Launch& launch = island.launches.back();
    run.launched.push_back(
        {plan->island, launch,
         std::vector<ArrayId>(island.ids.begin() + launch.begin, island.ids.end())});
  }
  // Intermediates that no later segment reads go behind this part.
  for (std::size_t i = 0; i < segment.args.size(); ++i) {
    const SegmentArray& arg = segment.args[i];
    const bool is_last_use = arg.last_use;
    if (arg.kind != SegmentArray::Kind::kIntermediate || !is_last_use) continue;
    for (const program::PartPlanPtr& plan : plans) {
      for (const program::Arg& part_arg : plan->args) {
        if (part_arg.parameter == i && !part_arg.donated) {
          outbox_.islands[plan->island].frees.push_back(run.intermediates[arg.index]);
        }
      }
    }
    run.intermediates[arg.index] = 0;
  }
  if (run.is_fully_stamped) end_reading(run);
  for (std::size_t i = 0; run.is_fully_stamped && i < run.outputs.size(); ++i) {
    run.outputs[i]->is_stamped = true;
    free_early(run.first_output + i, *run.outputs[i]);
  }
}

void ControllerCore::advance_segments(Run& run) {
  while (!run.is_fully_stamped) {
    const program::Segment& next = run.program->lowered.segments[run.segment + 1];
    if (run.to_enqueue > 0) return;
    if (next.waits_for_finish && !run.open_stamps.empty()) return;
    if (!run.failure.ok()) return;
    ++run.segment;
    launch_segment(run);
  }
}

void ControllerCore::part_enqueued(Stamp stamp) {
  Run* run = run_at(stamp);
  if (!run || run->stamp != stamp || run->to_enqueue == 0) return;
  --run->to_enqueue;
  advance_segments(*run);
}

}  // namespace seaway::controller
