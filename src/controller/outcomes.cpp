// Outcomes: how a run ends, and what its end sets free.

#include <algorithm>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

using events::EventKind;

ControllerCore::Run* ControllerCore::new_run() {
  if (spare_runs_.empty()) {
    run_pool_.push_back(std::make_unique<Run>());
    return run_pool_.back().get();
  }
  Run* run = spare_runs_.back();
  spare_runs_.pop_back();
  return run;
}

void ControllerCore::recycle(Run& run) {
  run.program = nullptr;
  run.output_count = 0;
  run.args.clear();
  run.outputs.clear();
  run.places.clear();
  run.intermediates.clear();
  run.segment = 0;
  run.stamp = 0;
  run.open_stamps.clear();
  run.open_parts.clear();
  run.open_segments.clear();
  run.finished.clear();
  run.launched.clear();
  run.to_enqueue = 0;
  run.failure = Status();
  run.is_started = run.is_fully_stamped = run.is_cancelled = run.is_reading = false;
  run.is_returning = false;
  run.reruns = 0;
  run.fetches.clear();
  run.migration = nullptr;
  spare_runs_.push_back(&run);
}

ControllerCore::Run* ControllerCore::run_of(RunId id) {
  const auto found = clients_.find(client_of(id));
  if (found == clients_.end()) return nullptr;
  Client& client = *found->second;
  const std::uint64_t sequence = sequence_of(id);
  if (sequence < client.first_sequence) return nullptr;
  const std::uint64_t index = sequence - client.first_sequence;
  return index < client.runs.size() ? client.runs[index] : nullptr;
}

bool ControllerCore::has_part(Stamp stamp, IslandId island) {
  const Run* run = run_at(stamp);
  if (!run) return false;
  const auto at = std::find(run->open_stamps.begin(), run->open_stamps.end(), stamp);
  return has_open_part(*run, static_cast<std::size_t>(at - run->open_stamps.begin()), island);
}

void ControllerCore::part_failed(Stamp stamp, Status status) {
  Run* run = run_at(stamp);
  if (!run) return;
  if (status.code() == StatusCode::kDeviceLost) {
    const auto at = std::find(run->open_stamps.begin(), run->open_stamps.end(), stamp);
    const auto open = static_cast<std::size_t>(at - run->open_stamps.begin());
    if (open < run->open_stamps.size()) status = loss_of_run(*run, open, std::nullopt, status);
  }
  fail_launched(*run, std::move(status));
}

void ControllerCore::fail_launched(Run& run, Status status) {
  SEAWAY_PROBE_IF(!run.failure.ok(), "a run fails a second time");
  if (!run.failure.ok()) return;
  run.failure = std::move(status);
  for (std::size_t i = 0; i < run.open_stamps.size(); ++i) {
    for (const program::PartPlanPtr& plan : run.program->plans[run.open_segments[i]]) {
      outbox_.islands[plan->island].cancels.push_back({run.open_stamps[i], run.failure});
    }
  }
  try_return(run);
}

void ControllerCore::part_finished(Stamp stamp, IslandId island) {
  Run* run = run_at(stamp);
  if (!run) return;
  const auto at = std::find(run->open_stamps.begin(), run->open_stamps.end(), stamp);
  const auto index = at - run->open_stamps.begin();
  SEAWAY_CHECK(run->open_parts[static_cast<std::size_t>(index)] > 0, stamp);
  if (!members_.empty()) {
    // What was finished for it already, when its host was lost, may still be reported.
    if (!has_open_part(*run, static_cast<std::size_t>(index), island)) return;
    run->finished.emplace_back(stamp, island);
  }
  if (--run->open_parts[static_cast<std::size_t>(index)] > 0) return;
  if (stamp == run->stamp) run->to_enqueue = 0;
  run->open_stamps.erase(at);
  run->open_parts.erase(run->open_parts.begin() + index);
  run->open_segments.erase(run->open_segments.begin() + index);
  if (!members_.empty()) {
    std::erase_if(run->launched,
                  [stamp](const auto& launched) { return launched.launch.stamp == stamp; });
    std::erase_if(run->finished, [stamp](const auto& part) { return part.first == stamp; });
  }
  forget(stamp);
  advance_segments(*run);
  if (!run->open_stamps.empty()) return;
  if (run->is_fully_stamped || !run->failure.ok()) end_run(*run);
}

void ControllerCore::end_run(Run& run) {
  if (run.migration) {
    finish_migration(run);
    return;
  }
  // What made its arguments fail may have been heard of only now.
  if (!run.failure.ok()) try_return(run);
  Tenant& tenant = *run.client->tenant;
  --tenant.runs_in_flight;
  leave_windows(run);
  for (const auto& [id, generation] : run.program->generations) {
    const auto slice = slices_.find(id);
    if (slice != slices_.end()) --slice->second->runs_in_flight;
  }
  for (IslandId i = 0; i < options_.islands; ++i) {
    give_back(*run.client, i, run.held[i]);
  }
  // What segments left behind because one of them failed, or because nobody could say in time who
  // is the last to read it.
  for (std::size_t s = 0; s <= run.segment && !run.intermediates.empty(); ++s) {
    for (const program::PartPlanPtr& plan : run.program->plans[s]) {
      for (const program::Output& output : plan->outputs) {
        const auto& array = run.program->lowered.segments[s].outputs[output.output];
        if (array.kind != program::SegmentArray::Kind::kIntermediate) continue;
        if (run.intermediates[array.index] == 0) continue;
        SEAWAY_PROBE("an intermediate is left behind by its run");
        outbox_.islands[plan->island].frees.push_back(run.intermediates[array.index]);
        run.intermediates[array.index] = 0;
      }
    }
  }
  if (run.is_returning) {
    put_back(run);
  } else {
    resolve(run, run.failure.ok() ? Status() : final_failure(run));
  }
}

void ControllerCore::resolve(Run& run, Status status) {
  Client& client = *run.client;
  const StatusCode code = status.code();
  for (Array* array : run.outputs) {
    // A run that never started keeps nothing: there is no room to give back.
    array->state = status.ok() ? Array::State::kReady : Array::State::kFailed;
    array->is_stamped = true;
    if (!status.ok()) array->failure = new Status(status);
  }
  for (const ControllerOutbox::Fetch& waiting : run.fetches) {
    forward_fetch(waiting);
  }
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    drop_reference(run.first_output + i, *run.outputs[i]);
  }
  end_reading(run);
  for (const Run::Use& arg : run.args) drop_reference(arg.id, *arg.array);
  events_.record({.time_ns = clock_.now_ns(),
                  .object = run.id,
                  .tenant = client.tenant->id,
                  .kind = EventKind::kResolve,
                  .code = code});
  if (!client.is_gone) outbox_.client(client.id).resolved.push_back({run.id, std::move(status)});
  const std::uint64_t index = sequence_of(run.id) - client.first_sequence;
  client.runs[index] = nullptr;
  while (!client.runs.empty() && !client.runs.front()) {
    client.runs.pop_front();
    ++client.first_sequence;
  }
  --runs_unfinished_;
  --client.unfinished;
  if (run.program) {
    --run.program->runs_unfinished;
    unuse(*run.program);
  }
  recycle(run);
  if (client.unfinished > 0) return;
  for (const std::uint64_t request : client.drains) reply(client.id, request, {});
  client.drains.clear();
}

void ControllerCore::unqueue(Run& run) {
  std::deque<Run*>& queue = run.client->queue;
  queue.erase(std::find(queue.begin(), queue.end(), &run));
  --run.client->tenant->runs_queued;
}

void ControllerCore::cancel(ClientId client, RunId id) {
  if (client_of(id) != client) return;
  if (Array* array = find_array(id); array && array->is_arriving) {
    SEAWAY_PROBE("a put is given up on its way");
    fail_array(id, *array,
               deadline_exceeded("array " + std::to_string(sequence_of(id)) +
                                 " had not arrived at the host of island " +
                                 std::to_string(array->island) + " when its time was up"));
    return;
  }
  if (const Array* array = find_array(id); array && array->is_waiting) {
    Client& waiting = owner(id);
    SEAWAY_PROBE("a put is given up while it waits for room");
    const WaitingPut put = take_put(waiting, find_put(waiting, id));
    fail(put, no_room(waiting, put, *array->spec, " found no room in its time: it"));
    return;
  }
  if (Run* run = run_of(id)) {
    cancel(*run,
           cancelled("run " + std::to_string(sequence_of(id)) + " was cancelled by its client"));
  }
}

void ControllerCore::cancel(Run& run, Status why) {
  if (run.is_cancelled) return;
  run.is_cancelled = true;
  if (run.is_returning) {
    SEAWAY_PROBE("a run is cancelled while it is to be run again");
    run.is_returning = false;
    run.failure = std::move(why);
  } else if (run.is_started) {
    fail_launched(run, std::move(why));
  } else {
    SEAWAY_PROBE("a run is cancelled before it has a stamp");
    unqueue(run);
    resolve(run, std::move(why));
  }
}

}  // namespace seaway::controller
