// Members: schedulers, hosts and clients that begin new lives, are lost, or cannot talk to each
// other; what of everybody's work goes with them, and what they are told again.

#include <algorithm>
#include <set>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/printable.hpp"
#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

using events::EventKind;

bool ControllerCore::has_host(IslandId island) const {
  return members_.empty() || members_[island].host_epoch != 0;
}

bool ControllerCore::has_scheduler(IslandId island) const {
  return members_.empty() || members_[island].scheduler_epoch != 0;
}

Stamp ControllerCore::born_stamp(IslandId island) const { return members_[island].born_stamp; }

std::uint32_t ControllerCore::host_life(IslandId island) const {
  return members_[island].host_epoch;
}

/// The scheduler and the host agree on what is so, from here on.
void ControllerCore::begin_view(IslandId island) {
  if (!SEAWAY_MUTANT("a view has the number of the one before")) ++members_[island].view;
  outbox_.islands[island].has_new_view = true;
}

void ControllerCore::await(Function& function, IslandId island) {
  if (function.awaits[island]) return;
  function.awaits[island] = true;
  ++function.hosts_awaited;
}

void ControllerCore::host_joined(IslandId island, std::uint32_t epoch) {
  Member& member = members_[island];
  if (member.host_epoch == epoch) return;
  host_lost(island, "it has begun a new life");
  if (member.failed_until_ns != 0) {
    member.waiting_host_epoch = epoch;
    return;
  }
  member.host_epoch = epoch;
  member.born_stamp = last_stamp_;
  if (member.drain == Drain::kUntilJoined) member.drain.reset();
  for (DeviceId device = 0; device < options_.devices; ++device) {
    lost_devices_.erase({island, device});
    if (!member.drain) binder_.find_again(island, device);
  }
  ControllerOutbox::Island& outbox = outbox_.islands[island];
  for (auto& [id, function] : functions_) {
    outbox.definitions.push_back(function->definition);
    await(*function, island);
  }
  for (const auto& [id, spec] : specs_) outbox.definitions.push_back(spec->definition);
  for (auto& [id, slice] : slices_) {
    if (slice->binding.island != island || slice->is_gone) continue;
    if (slice->moves_in_flight > 0)
      continue;  // It leaves, and what comes new is elsewhere already.
    slice->failure = Status();
    slice->is_displaced = false;
    slice->is_renewed = true;
  }
  events_.record({.time_ns = clock_.now_ns(),
                  .value = epoch,
                  .island = static_cast<std::uint16_t>(island),
                  .kind = EventKind::kHostJoined});
  begin_view(island);
  // Others may have waited for a place to go to.
  for (const auto& [id, slice] : slices_) displace(*slice);
}

void ControllerCore::host_lost(IslandId island, const std::string& why) {
  Member& member = members_[island];
  if (std::exchange(member.waiting_host_epoch, 0) != 0) {
    SEAWAY_PROBE("a host that waits for its failed island is lost");
    return count_loss(island, "host", member.host_losses);
  }
  if (member.host_epoch == 0) return;
  member.host_epoch = 0;
  const Status cause(StatusCode::kHostLost,
                     "the host of island " + std::to_string(island) + " is lost: " + why);
  events_.record({.time_ns = clock_.now_ns(),
                  .island = static_cast<std::uint16_t>(island),
                  .kind = EventKind::kHostLost});
  for (DeviceId device = 0; device < options_.devices; ++device) {
    lost_devices_.insert_or_assign({island, device}, cause);
    binder_.lose(island, device);
  }
  fail_parts_on(island, cause);
  fail_runs_that_left_on(island, cause);
  fail_arrays_on(island, cause);
  fail_reads_on(island, cause);
  for (auto& [id, function] : functions_) {
    SEAWAY_PROBE_IF(function->awaits[island], "a host is lost while it compiles");
    if (!function->awaits[island]) continue;
    function->awaits[island] = false;
    --function->hosts_awaited;
    answer_foreign(*function);
    if (function->is_released) unused_.push_back(id);
  }
  for (const auto& [id, slice] : slices_) displace(*slice);
  answer_questions();
  // What was not said yet would be said to somebody who knows nothing of it.
  ControllerOutbox::Island& outbox = outbox_.islands[island];
  outbox = ControllerOutbox::Island();
  for (IslandId peer = 0; peer < options_.islands; ++peer) {
    if (peer == island || !has_host(peer)) continue;
    if (SEAWAY_MUTANT("edges of a lost host are not cut")) continue;
    outbox_.islands[peer].cuts.push_back({island, last_stamp_, cause});
  }
  count_loss(island, "host", member.host_losses);
}

bool ControllerCore::has_open_part(const Run& run, std::size_t open, IslandId island) const {
  const auto& plans = run.program->plans[run.open_segments[open]];
  const bool is_there = std::any_of(plans.begin(), plans.end(),
                                    [island](const auto& plan) { return plan->island == island; });
  const std::pair part(run.open_stamps[open], island);
  return is_there && std::count(run.finished.begin(), run.finished.end(), part) == 0;
}

std::vector<Stamp> ControllerCore::stamps_open_on(IslandId island) const {
  std::vector<Stamp> stamps;
  for (const Run* run : by_stamp_) {
    for (std::size_t i = 0; run && i < run->open_stamps.size(); ++i) {
      // A run is in the ring once for each of its stamps.
      if (by_stamp_[run->open_stamps[i] % by_stamp_.size()] != run) continue;
      if (has_open_part(*run, i, island)) stamps.push_back(run->open_stamps[i]);
    }
  }
  std::sort(stamps.begin(), stamps.end());
  stamps.erase(std::unique(stamps.begin(), stamps.end()), stamps.end());
  return stamps;
}

/// Of those that are over there, and not elsewhere. What a scheduler has said to others of their
/// edges may have been lost with it; only those of the host's life, for others are cut off.
std::vector<Stamp> ControllerCore::stamps_over_on(IslandId island) const {
  std::vector<Stamp> stamps;
  for (const Run* run : by_stamp_) {
    if (!run) continue;
    for (const auto& [stamp, at] : run->finished) {
      if (at == island && stamp > members_[island].born_stamp) stamps.push_back(stamp);
    }
  }
  return stamps;
}

/// Nothing that was launched there ends any more: it has ended now.
void ControllerCore::fail_parts_on(IslandId island, const Status& cause) {
  const std::vector<Stamp> stamps = stamps_open_on(island);
  const auto fail = [&](Run& run, Stamp stamp, bool is_final) {
    const auto at = std::find(run.open_stamps.begin(), run.open_stamps.end(), stamp);
    const auto open = static_cast<std::size_t>(at - run.open_stamps.begin());
    Status loss = loss_of_run(run, open, island, cause);
    if (is_final == (loss.code() == StatusCode::kMaybeExecuted)) {
      fail_launched(run, std::move(loss));
    }
  };
  // Those first: what one of the others takes with it must not hide what may have been done.
  for (const bool is_final : {true, false}) {
    for (const Stamp stamp : stamps) {
      if (Run* run = run_at(stamp)) fail(*run, stamp, is_final);
    }
  }
  for (const Stamp stamp : stamps) part_finished(stamp, island);
}

/// Its record may be gone afterwards.
void ControllerCore::fail_array(ArrayId id, Array& array, const Status& status) {
  array.state = Array::State::kFailed;
  array.is_stamped = true;
  array.failure = new Status(status);
  SEAWAY_PROBE_IF(array.is_arriving, "a put is lost on its way");
  if (!array.is_arriving) return;
  end_arrival(array);
  fail_reads_of(id, array.island, status);
  const Client& client = owner(id);
  if (!client.is_gone) outbox_.client(client.id).resolved.push_back({id, status});
  drop_reference(id, array);
}

/// Those that its host keeps until a value arrives that never will.
void ControllerCore::fail_reads_of(ArrayId id, IslandId island, const Status& cause) {
  for (auto& [client, fetches] : members_[island].fetches) {
    for (auto read = fetches.begin(); read != fetches.end();) {
      if (read->second != id) {
        ++read;
        continue;
      }
      SEAWAY_PROBE("a fetch waits for an array that never comes");
      if (is_here(client)) outbox_.client(client).fetched.push_back({read->first, cause});
      read = fetches.erase(read);
    }
  }
}

/// What a run has left there already, with a part that is over, and still needs; or will have
/// there.
void ControllerCore::fail_runs_that_left_on(IslandId island, const Status& cause) {
  std::vector<Stamp> stamps;
  for (const Run* run : by_stamp_) {
    if (!run || !run->failure.ok()) continue;
    bool has_left = false;
    for (std::uint32_t segment = 0; segment < run->program->plans.size(); ++segment) {
      for (const program::PartPlanPtr& plan : run->program->plans[segment]) {
        // What is to come names plans that the next life does not know.
        const bool is_to_come = segment > run->segment;
        has_left |= plan->island == island && (is_to_come || !plan->outputs.empty());
      }
    }
    if (has_left) stamps.push_back(run->open_stamps.front());
  }
  std::sort(stamps.begin(), stamps.end());
  for (const Stamp stamp : stamps) {
    SEAWAY_PROBE("a run fails for what it left on a lost host");
    if (Run* run = run_at(stamp)) fail_launched(*run, cause);
  }
}

void ControllerCore::end_arrival(Array& array) {
  array.is_arriving = false;
  const auto slice = slices_.find(array.spec->sharding.mesh().slice());
  if (slice != slices_.end()) --slice->second->puts_arriving;
}

void ControllerCore::fail_arrays_on(IslandId island, const Status& cause) {
  std::vector<ArrayId> lost;
  for (const auto& [id, array] : arrays_) {
    if (array.is_counted && array.island == island) lost.push_back(id);
  }
  std::sort(lost.begin(), lost.end());  // The order of the table must not be seen.
  for (const ArrayId id : lost) {
    Array& array = *find_array(id);
    array.is_freed = true;  // There is nobody to be told.
    if (array.state == Array::State::kReady || array.is_arriving) {
      fail_array(id, array,
                 input_lost("array " + std::to_string(sequence_of(id)) + " lay on island " +
                            std::to_string(island) + ": " + cause.to_string()));
    }
  }
}

void ControllerCore::fail_reads_on(IslandId island, const Status& cause) {
  for (const auto& [client, fetches] : members_[island].fetches) {
    if (!is_here(client)) continue;
    for (const auto& [request, array] : fetches) {
      outbox_.client(client).fetched.push_back({request, cause});
    }
  }
  members_[island].fetches.clear();
}

/// Whoever asks why hears what is known; some of those who know more are gone.
void ControllerCore::answer_questions() {
  for (auto& [number, question] : questions_) {
    reply(question->client, question->request, {},
          question->text + "a scheduler or host that would know more is lost\n");
  }
  questions_.clear();
}

void ControllerCore::scheduler_joined(IslandId island, std::uint32_t epoch) {
  Member& member = members_[island];
  if (member.scheduler_epoch == epoch) return;
  scheduler_lost(island);
  if (member.failed_until_ns != 0) {
    member.waiting_scheduler_epoch = epoch;
    return;
  }
  member.scheduler_epoch = epoch;
  begin_view(island);
}

/// Its work goes on: what is placed runs, and what is launched meanwhile waits for the next one.
void ControllerCore::scheduler_lost(IslandId island) {
  Member& member = members_[island];
  if (std::exchange(member.waiting_scheduler_epoch, 0) != 0) {
    SEAWAY_PROBE("a scheduler that waits for its failed island is lost");
    return count_loss(island, "scheduler", member.scheduler_losses);
  }
  if (member.scheduler_epoch == 0) return;
  member.scheduler_epoch = 0;
  events_.record({.time_ns = clock_.now_ns(),
                  .island = static_cast<std::uint16_t>(island),
                  .kind = EventKind::kSchedulerLost});
  answer_questions();
  count_loss(island, "scheduler", member.scheduler_losses);
}

void ControllerCore::client_lost(ClientId client) {
  // It may live, and learn of it from hosts before it finds out by itself.
  leave(client,
        {StatusCode::kControllerRestarted,
         "client " + std::to_string(client) +
             " and its controller lost each other, and what it had is gone; connect again"});
  for (Member& member : members_) member.fetches.erase(client);
}

/// Whichever life of the other one it was: what a host said of its state may have been said to one
/// that was dead already.
void ControllerCore::complain_of_pair(IslandId island) {
  const Member& member = members_[island];
  SEAWAY_PROBE_IF(member.scheduler_epoch != 0 && member.host_epoch != 0,
                  "a scheduler and its host lose each other");
  if (member.scheduler_epoch != 0 && member.host_epoch != 0 &&
      !SEAWAY_MUTANT("host and scheduler that lost words go on"))
    begin_view(island);
}

void ControllerCore::complain_of_peer(IslandId host, IslandId peer, std::uint32_t epoch) {
  // Who never heard the other one (0) means whoever is there.
  SEAWAY_PROBE_IF(epoch != 0 && members_[peer].host_epoch != epoch,
                  "a complaint is of a life that is over");
  if (epoch != 0 && members_[peer].host_epoch != epoch) return;
  if (!has_host(peer) || !has_host(host)) return;
  const Status cause(StatusCode::kHostLost, "the hosts of islands " + std::to_string(host) +
                                                " and " + std::to_string(peer) +
                                                " could not reach each other");
  for (const Stamp stamp : stamps_open_on(host)) {
    Run* run = run_at(stamp);
    if (!run) continue;
    const auto at = std::find(run->open_stamps.begin(), run->open_stamps.end(), stamp);
    const auto open = static_cast<std::size_t>(at - run->open_stamps.begin());
    const auto& plans = run->program->plans[run->open_segments[open]];
    const bool is_on_both = std::any_of(plans.begin(), plans.end(),
                                        [peer](const auto& plan) { return plan->island == peer; });
    SEAWAY_PROBE_IF(is_on_both, "a run fails, for its hosts cannot reach each other");
    if (is_on_both) fail_launched(*run, loss_of_run(*run, open, host, cause));
  }
  outbox_.islands[host].cuts.push_back({peer, last_stamp_, cause});
  outbox_.islands[peer].cuts.push_back({host, last_stamp_, cause});
}

void ControllerCore::complain_of_reader(ClientId client, IslandId host) {
  const Status cause(StatusCode::kHostLost, "client " + std::to_string(client) +
                                                " and the host of island " + std::to_string(host) +
                                                " could not reach each other; try again");
  auto& fetches = members_[host].fetches;
  const auto found = fetches.find(client);
  if (found != fetches.end() && is_here(client)) {
    for (const auto& [request, array] : found->second) {
      outbox_.client(client).fetched.push_back({request, cause});
    }
  }
  SEAWAY_PROBE_IF(found != fetches.end(), "a client and a host lose each other with a fetch open");
  if (found != fetches.end()) fetches.erase(found);
  std::vector<ArrayId> arriving;
  for (const auto& [id, array] : arrays_) {
    if (array.is_arriving && array.island == host && client_of(id) == client) {
      arriving.push_back(id);
    }
  }
  SEAWAY_PROBE_IF(!arriving.empty(), "a client and a host lose each other with a put on its way");
  std::sort(arriving.begin(), arriving.end());
  for (const ArrayId id : arriving) fail_array(id, *find_array(id), cause);
}

void ControllerCore::fetched(ClientId client, std::uint64_t request) {
  for (Member& member : members_) {
    const auto found = member.fetches.find(client);
    if (found == member.fetches.end()) continue;
    found->second.erase(request);
    if (found->second.empty()) member.fetches.erase(found);
  }
}

void ControllerCore::arrived(ArrayId id) {
  Array* array = find_array(id);
  SEAWAY_PROBE_IF(!array || !array->is_arriving, "word of an upload comes too late");
  if (!array || !array->is_arriving) return;
  end_arrival(*array);
  array->state = Array::State::kReady;
  array->is_stamped = true;
  const Client& client = owner(id);
  if (!client.is_gone) outbox_.client(client.id).resolved.push_back({id, {}});
  free_early(id, *array);
  drop_reference(id, *array);
}

std::string ControllerCore::waiting() {
  std::string text;
  for (IslandId island = 0; island < options_.islands; ++island) {
    text += windows_text({island});
    for (const Stamp stamp : stamps_open_on(island)) {
      text += "stamp " + std::to_string(stamp) + " is not over on island " +
              std::to_string(island) + "\n";
    }
  }
  std::set<ArrayId> uploads;
  for (const auto& [id, array] : arrays_) {
    if (array.state == Array::State::kPending && array.run == 0) uploads.insert(id);
  }
  for (const ArrayId id : uploads) {
    const Array& array = *find_array(id);
    text += "array " + std::to_string(sequence_of(id)) + " of client " +
            std::to_string(client_of(id)) +
            (array.is_arriving  ? " is on its way to island " + std::to_string(array.island)
             : array.is_waiting ? " waits for room"
                                : " is not there") +
            "\n";
  }
  for (const auto& [id, client] : clients_) {
    if (client->queue.empty()) continue;
    const Run& run = *client->queue.front();
    text += "client " + std::to_string(id) + ": run " + std::to_string(sequence_of(run.id)) +
            " of program " + printable(run.program->graph.name) + " has no stamp";
    for (const Run::Use& arg : run.args) {
      if (arg.array->is_stamped || arg.array->state != Array::State::kPending) continue;
      text += ", array " + std::to_string(sequence_of(arg.id)) + " is " +
              (arg.array->is_arriving ? "arriving" : "not made");
    }
    for (const program::Node& node : run.program->graph.nodes) {
      const auto function = functions_.find(node.function);
      if (function == functions_.end() || function->second->hosts_awaited == 0) continue;
      text += ", function " + printable(function->second->info.name) + " is being compiled";
    }
    for (const auto& [slice_id, slice] : slices_) {
      if (!uses(*run.program, slice_id) || !slice->is_suspended()) continue;
      text += ", slice " + std::to_string(sequence_of(slice_id)) +
              " moves: " + std::to_string(slice->runs_in_flight) + " runs and " +
              std::to_string(slice->moves_in_flight) + " moves are in flight";
    }
    text += "\n";
  }
  return text;
}

Stamp ControllerCore::oldest_stamp() {
  while (oldest_stamp_ <= last_stamp_ && !run_at(oldest_stamp_)) ++oldest_stamp_;
  return oldest_stamp_;
}

ControllerOutbox::View ControllerCore::view_of(IslandId island) const {
  ControllerOutbox::View view;
  view.number = members_[island].view;
  const auto add_plans = [this, &view, island](const Program& program) {
    for (const auto& segment : program.plans) {
      for (const program::PartPlanPtr& plan : segment) {
        if (plan->island == island) view.plans.emplace_back(plan->id, plan_frames_.at(plan->id));
      }
    }
  };
  for (const auto& [id, program] : programs_) add_plans(*program);
  for (const auto& [id, program] : migrations_) add_plans(*program);
  for (const auto& tenant : tenants_) {
    if (tenant->weight != 1) view.weights.push_back({tenant->id, tenant->weight});
  }
  std::set<ArrayId> named;
  std::set<Stamp> stamps;
  for (const Stamp stamp : stamps_open_on(island)) stamps.insert(stamp);
  for (const Stamp stamp : stamps_over_on(island)) stamps.insert(stamp);
  for (const Stamp stamp : stamps) {
    const Run& run = *by_stamp_[stamp % by_stamp_.size()];
    for (const Run::Launched& launched : run.launched) {
      if (launched.island != island || launched.launch.stamp != stamp) continue;
      ControllerOutbox::Launch launch = launched.launch;
      launch.begin = static_cast<std::uint32_t>(view.ids.size());
      view.ids.insert(view.ids.end(), launched.ids.begin(), launched.ids.end());
      view.launches.push_back(launch);
    }
    SEAWAY_PROBE_IF(!run.failure.ok(), "a new scheduler hears of a run that has failed");
    if (!run.failure.ok()) view.cancels.push_back({stamp, run.failure});
  }
  // What a run has left here with a part that is over, while it goes on elsewhere.
  for (const Run* run : by_stamp_) {
    if (!run) continue;
    // The array that moves is known under its new name as soon as all of the move is over.
    SEAWAY_PROBE_IF(run->migration, "a scheduler begins anew while an array moves");
    if (run->migration) named.insert(run->first_output);
    // Later segments may read them.
    for (const ArrayId intermediate : run->intermediates) {
      if (intermediate != 0) named.insert(intermediate);
    }
  }
  for (const auto& [id, array] : arrays_) {
    // Of a donated one nobody speaks any more when all of its taker has been stamped.
    const bool is_named = !array.is_freed && !(array.is_taken && array.open_readers == 0);
    if (array.is_counted && array.island == island && is_named) named.insert(array.physical);
  }
  view.named.assign(named.begin(), named.end());
  return view;
}

}  // namespace seaway::controller
