// Reruns: runs that failed of a loss and can be run again, and what they and their readers need.

#include <algorithm>
#include <string>

#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

using events::EventKind;

namespace {

/// Devices or hosts that went are the cause, and not what the run does.
bool is_of_loss(const Status& status) {
  switch (status.code()) {
    case StatusCode::kDeviceLost:
    case StatusCode::kHostLost:
      return true;
    case StatusCode::kInputLost:
      // The root cause stands behind the path.
      return status.message().find("DEVICE_LOST: ") != std::string::npos ||
             status.message().find("HOST_LOST: ") != std::string::npos;
    default:
      return false;
  }
}

}  // namespace

/// All its functions may be executed more than once.
bool ControllerCore::is_repeatable(const Program& program) const {
  return std::all_of(program.graph.nodes.begin(), program.graph.nodes.end(),
                     [this](const program::Node& node) {
                       const auto function = functions_.find(node.function);
                       return function == functions_.end() || function->second->info.idempotent;
                     });
}

/// No slice of `program` has lost a device that nothing will take the place of.
bool ControllerCore::keeps_devices(const Program& program) const {
  return std::all_of(program.generations.begin(), program.generations.end(),
                     [this](const auto& entry) {
                       const auto slice = slices_.find(entry.first);
                       if (slice == slices_.end() || slice->second->is_gone) return false;
                       return !slice->second->is_released || !loss_of(slice->second->binding);
                     });
}

/// Each argument is still there, or is being made again by a run that failed as well.
bool ControllerCore::has_arguments(const Run& run) const {
  return std::all_of(run.args.begin(), run.args.end(), [](const Run::Use& arg) {
    const Array& array = *arg.array;
    if (array.state == Array::State::kFailed) return false;
    return !array.is_freed && !array.is_taken;
  });
}

/// A run that has failed of a loss is run again, if it can be: its outputs are to be made anew,
/// and whatever reads them waits for that from now on.
void ControllerCore::try_return(Run& run) {
  if (run.is_returning || !run.client || run.client->is_gone || run.is_cancelled) return;
  SEAWAY_PROBE_IF(run.reruns >= options_.limits.reruns_max && is_of_loss(run.failure),
                  "a run has been run again too often");
  if (run.reruns >= options_.limits.reruns_max || !is_of_loss(run.failure)) return;
  SEAWAY_PROBE_IF(!is_repeatable(*run.program), "a run with effects is not run again");
  SEAWAY_PROBE_IF(!has_arguments(run), "a run is not run again, for its arguments are gone");
  if (!is_repeatable(*run.program) || !keeps_devices(*run.program) || !has_arguments(run)) return;
  SEAWAY_PROBE("a run is to be run again");
  run.is_returning = true;
  begin_reading(run);
  take_back_outputs(run);
  recall_readers(run);
}

/// Under new names: what has been launched already names the old ones, and reads what is there, or
/// poison. Their room ends behind it, and is counted until the run is over.
void ControllerCore::take_back_outputs(Run& run) {
  for (Array* array : run.outputs) {
    if (array->is_counted) {
      SEAWAY_PROBE_IF(array->is_freed, "an output that is made again was freed before");
      if (!array->is_freed && !SEAWAY_MUTANT("what a first try made stays"))
        outbox_.islands[array->island].frees.push_back(array->physical);
      run.held[array->island] += array->kept_bytes;
      array->kept_bytes = 0;
    }
    array->is_counted = array->is_freed = array->is_stamped = array->is_taken = false;
    array->physical = ++last_internal_array_;
  }
}

/// Runs in flight that read what `maker` makes again may fail of it, and will then need all their
/// arguments once more. One with segments to come cannot go on, for their inputs have new names.
void ControllerCore::recall_readers(const Run& maker) {
  for (Run* reader : by_stamp_) {
    if (!reader || reader == &maker || !reader->client) continue;
    for (std::size_t i = 0; i < reader->args.size(); ++i) {
      const Array* const array = reader->args[i].array;
      if (std::count(maker.outputs.begin(), maker.outputs.end(), array) == 0) continue;
      if (!reader->is_fully_stamped) {
        SEAWAY_PROBE("a reader with segments to come fails with its maker");
        fail_launched(*reader, maker.failure.code() == StatusCode::kInputLost
                                   ? maker.failure
                                   : input_lost("argument " + std::to_string(i) + " of program " +
                                                reader->program->graph.name +
                                                " failed: " + maker.failure.to_string()));
      }
      begin_reading(*reader);
      break;
    }
  }
}

/// All its parts are over. It waits for a new stamp where it was among its client's runs.
void ControllerCore::put_back(Run& run) {
  events_.record({.time_ns = clock_.now_ns(),
                  .object = run.id,
                  .value = run.stamp,
                  .tenant = run.client->tenant->id,
                  .kind = EventKind::kRerun,
                  .code = run.failure.code()});
  SEAWAY_PROBE("a run is put back");
  ++run.reruns;
  run.is_returning = run.is_started = run.is_fully_stamped = false;
  run.segment = 0;
  run.stamp = 0;
  run.to_enqueue = 0;
  run.failure = Status();
  std::deque<Run*>& queue = run.client->queue;
  const auto is_before = [](const Run* left, const Run* right) { return left->id < right->id; };
  queue.insert(std::upper_bound(queue.begin(), queue.end(), &run, is_before), &run);
  ++run.client->tenant->runs_queued;
}

/// What the client of a run that has failed is told.
Status ControllerCore::final_failure(const Run& run) const {
  if (run.reruns == 0 || !is_of_loss(run.failure)) return run.failure;
  return {run.failure.code(),
          run.failure.message() + "; it was tried " + std::to_string(run.reruns + 1) + " times"};
}

}  // namespace seaway::controller
