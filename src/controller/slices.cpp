// Slices: who holds them, how they end, and moving what lies on one that is bound anew.

#include <algorithm>

#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/printable.hpp"
#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {
ControllerCore::ControllerCore(ControllerOptions options, program::SliceBinder& binder,
                               const Clock& clock, events::EventStream& events)
    : options_(options),
      binder_(binder),
      clock_(clock),
      events_(events),
      array_pool_(std::pmr::pool_options{.max_blocks_per_chunk = 1024}),
      arrays_(&array_pool_) {
  outbox_.islands.resize(options_.islands);
  kept_bytes_.assign(options_.islands, 0);
  in_flight_.resize(options_.islands);
  if (!options_.has_members) return;
  members_.resize(options_.islands);
  // No number of a view means two of them, whoever has not noticed yet that a controller is gone.
  for (Member& member : members_) member.view = options_.life << 16;
  for (IslandId island = 0; island < options_.islands; ++island) {
    const Status absent(StatusCode::kIslandUnavailable,
                        "island " + std::to_string(island) + " has no host yet");
    for (DeviceId device = 0; device < options_.devices; ++device) {
      lost_devices_.insert_or_assign({island, device}, absent);
      binder_.lose(island, device);
    }
  }
}

ControllerCore::~ControllerCore() {
  for (auto& [id, array] : arrays_) delete array.failure;
}

void ControllerCore::reply(ClientId client, std::uint64_t request, Status status,
                           std::string text) {
  outbox_.client(client).replies.push_back({request, std::move(status), std::move(text)});
}

/// What the answers to acquire and rebind say: the island, and then the devices on it.
std::string ControllerCore::binding_text(const program::Binding& binding) {
  std::string text = std::to_string(binding.island);
  for (const DeviceId device : binding.devices) text += " " + std::to_string(device);
  return text;
}

/// No devices may be a matter of time.
Status ControllerCore::explain_unbound(const Status& refused) const {
  if (refused.code() != StatusCode::kDeviceLost) return refused;
  std::string absent, draining;
  for (IslandId island = 0; island < options_.islands; ++island) {
    std::string& text = has_host(island) ? draining : absent;
    if (has_host(island) && !is_draining(island)) continue;
    text += (text.empty() ? "island " : ", ") + std::to_string(island);
  }
  SEAWAY_PROBE_IF(!absent.empty(), "a slice is asked for while a host is away");
  SEAWAY_PROBE_IF(!draining.empty(), "a slice is asked for while an island is drained");
  if (absent.empty() && draining.empty()) return refused;
  std::string text = refused.message();
  if (!absent.empty()) text += "; there is no host now of " + absent;
  if (!draining.empty()) text += "; nothing new goes to " + draining;
  return {StatusCode::kIslandUnavailable, text + ": try again"};
}

void ControllerCore::acquire_slice(ClientId client, std::uint64_t request, SliceId id,
                                   program::SliceRequest wanted) {
  if (client_of(id) != client || slices_.contains(id) || !is_here(client)) {
    reply(client, request,
          invalid_argument("slice " + std::to_string(id) + " is not yours to name"));
    return;
  }
  Status status = limits::check_mesh(Mesh(id, wanted.axes));
  if (status.ok()) status = limits::check_name(wanted.kind, "kind of a slice's devices");
  if (status.ok()) status = count_definition(client, 0);
  if (!status.ok()) return reply(client, request, std::move(status));
  auto binding = binder_.acquire(client, id, wanted);
  if (!binding.ok()) {
    --clients_.find(client)->second->definitions;
    return reply(client, request, explain_unbound(binding.status()));
  }
  auto slice = std::make_unique<Slice>();
  slice->client = client;
  slice->id = id;
  slice->binding = std::move(binding).value();
  std::string text = binding_text(slice->binding);
  slices_[id] = std::move(slice);
  reply(client, request, {}, std::move(text));
}

void ControllerCore::release_slice(ClientId client, std::uint64_t request, SliceId id) {
  const auto found = slices_.find(id);
  if (found == slices_.end() || found->second->client != client || found->second->is_released) {
    reply(client, request,
          invalid_argument("slice " + std::to_string(sequence_of(id)) + " is not held"));
    return;
  }
  // Its arrays stay readable until their handles go.
  close(*found->second);
  --clients_.find(client)->second->definitions;
  reply(client, request, {});
}

bool ControllerCore::uses(const Program& program, SliceId slice) {
  for (const ArraySpec& parameter : program.graph.parameters) {
    if (parameter.sharding.mesh().slice() == slice) return true;
  }
  for (const program::Node& node : program.graph.nodes) {
    if (node.mesh.slice() == slice) return true;
  }
  return false;
}

/// Nothing new uses `slice` from here on; what is enqueued already is done first.
void ControllerCore::close(Slice& slice) {
  slice.is_released = true;
  slice.is_displaced = false;  // What is moving already arrives; nothing else is worth a move.
  ++slices_closing_;
  const auto end = programs_.lower_bound(make_id(slice.client + 1, 0));
  for (auto it = programs_.lower_bound(make_id(slice.client, 0)); it != end; ++it) {
    if (!uses(*it->second, slice.id)) continue;
    it->second->released_slice = slice.id;
    slice.users.push_back(it->second.get());
  }
}

void ControllerCore::give_back_slices() {
  for (auto next = slices_.begin(); next != slices_.end();) {
    const auto at = next++;
    const auto& [id, slice] = *at;
    if (!slice->is_released || slice->is_gone) continue;
    if (slice->is_suspended() || slice->moves_in_flight > 0) continue;
    if (slice->puts_waiting > 0) continue;
    const bool is_in_use =
        std::any_of(slice->users.begin(), slice->users.end(),
                    [](const Program* program) { return program->runs_unfinished > 0; });
    if (is_in_use) continue;
    slice->is_gone = true;
    for (Program* program : slice->users) forget_plans(*program);  // They have no new runs.
    slice->users.clear();
    --slices_closing_;
    const Status released = binder_.release(id);
    SEAWAY_CHECK(released.ok(), id, released.to_string());
    if (slice->names == 0) slices_.erase(at);
  }
}

/// The slices of a client that a program or a spec names: each once, and their records stay.
std::vector<SliceId> ControllerCore::name_slices(ClientId client, std::vector<SliceId> slices) {
  std::sort(slices.begin(), slices.end());
  slices.erase(std::unique(slices.begin(), slices.end()), slices.end());
  std::erase_if(slices, [this, client](SliceId id) {
    const auto found = slices_.find(id);
    return found == slices_.end() || found->second->client != client;
  });
  for (const SliceId id : slices) ++slices_.at(id)->names;
  return slices;
}

void ControllerCore::unname_slices(const std::vector<SliceId>& slices) {
  for (const SliceId id : slices) {
    const auto found = slices_.find(id);
    if (--found->second->names == 0 && found->second->is_gone) slices_.erase(found);
  }
}

void ControllerCore::rebind_slice(ClientId client, std::uint64_t request, SliceId id) {
  const auto found = slices_.find(id);
  if (found == slices_.end() || found->second->client != client || found->second->is_released) {
    reply(client, request,
          invalid_argument("slice " + std::to_string(sequence_of(id)) + " is not held"));
    return;
  }
  if (found->second->rebind_request != 0) {
    reply(client, request,
          invalid_argument("slice " + std::to_string(sequence_of(id)) +
                           " is being bound anew; wait for that first"));
    return;
  }
  found->second->rebind_request = request;
}

void ControllerCore::try_rebind(Slice& slice) {
  if (slice.is_renewed && slice.runs_in_flight == 0) {
    SEAWAY_PROBE("a slice has a new host on its own island");
    // Programs are lowered anew, for their old plans are not known there; and not before, for what
    // is in flight elsewhere has them.
    slice.is_renewed = false;
    ++slice.generation;
  }
  if (!slice.is_suspended()) return;
  SEAWAY_PROBE_IF(slice.runs_in_flight > 0, "a slice is bound anew behind its runs");
  SEAWAY_PROBE_IF(slice.puts_arriving > 0, "a slice is bound anew behind its puts");
  if (slice.moves_in_flight > 0 || slice.puts_arriving > 0) return;
  if (slice.runs_in_flight > 0) return;
  const Client& client = *clients_.find(slice.client)->second;
  const std::uint64_t bytes = bytes_to_move(slice);
  auto target =
      binder_.rebind(slice.id, [&](IslandId island) { return has_room(client, island, bytes); });
  // Rather lose arrays that have no room anywhere than the slice; but nothing is lost by a drain.
  const bool must_go = slice.rebind_request != 0 || loss_of(slice.binding);
  SEAWAY_PROBE_IF(!target.ok(), "no island has room for what a slice holds");
  SEAWAY_PROBE_IF(!target.ok() && !must_go, "a slice stays on an island that is drained");
  if (!target.ok() && must_go) target = binder_.rebind(slice.id, [](IslandId) { return true; });
  SEAWAY_PROBE_IF(!target.ok() && must_go, "a rebind finds no devices");
  if (!target.ok()) return end_rebind(slice, explain_unbound(target.status()));
  slice.target = *target;
  migrate(slice, *target);
  SEAWAY_PROBE_IF(slice.moves_in_flight == 0, "a slice moves with nothing on it");
  if (slice.moves_in_flight == 0) end_rebind(slice, {});
}

/// Nothing of `slice` moves any more: it is where it was to be, or it stays, for the reason given.
void ControllerCore::end_rebind(Slice& slice, const Status& status) {
  if (status.ok()) {
    slice.binding = slice.target;
    ++slice.generation;
  }
  if (slice.rebind_request != 0) {
    reply(slice.client, slice.rebind_request, status,
          status.ok() ? binding_text(slice.binding) : "");
  }
  slice.rebind_request = 0;
  slice.is_displaced = false;
  slice.failure = Status();
  SEAWAY_PROBE_IF(!status.ok() && loss_of(slice.binding),
                  "a rebind fails, and its slice has no devices");
  if (status.ok()) return displace(slice);  // Another device may have been lost meanwhile.
  if (const Status* loss = loss_of(slice.binding)) slice.failure = *loss;
}

ControllerCore::Run* ControllerCore::unstamped_producer(const Run& run) {
  for (const Run::Use& arg : run.args) {
    const Array& input = *arg.array;
    if (input.state == Array::State::kPending && !input.is_stamped) return run_of(input.run);
  }
  return nullptr;
}

void ControllerCore::why(ClientId client, std::uint64_t request, std::uint64_t id) {
  std::string text;
  Run* run = run_of(id);
  const Array* array = run ? nullptr : find_array(id);
  if (!run && array && array->run != 0) run = run_of(array->run);
  const bool may_ask = client == kOperator || client_of(id) == client;
  if (!may_ask || (!run && !array)) {
    reply(client, request, {}, "nothing waits: it has its outcome, or it does not exist\n");
    return;
  }
  if (!run) {
    reply(client, request, {},
          array->is_waiting ? why_waiting(id)
                            : "array " + std::to_string(sequence_of(id)) + " is ready\n");
    return;
  }
  const auto name_of = [](const Run& named) {
    return "run " + std::to_string(sequence_of(named.id)) + " of program " +
           printable(named.program->graph.name);
  };
  // Down the chain of producers to the run that keeps all the others waiting.
  std::size_t behind = 0;
  const Run* const asked_for = run;
  for (Run* maker = run; maker; maker = unstamped_producer(*run)) {
    behind += maker != run;
    run = maker;
  }
  if (behind > 0) {
    text = name_of(*asked_for) + " waits behind " + std::to_string(behind) +
           " runs that make its arguments, the first of which is " + name_of(*run) + "\n";
  }
  const std::string name = name_of(*run);
  if (!run->is_started) {
    text += name + " has no stamp yet: ";
    for (const Run::Use& arg : run->args) {
      if (!arg.array->is_waiting) continue;
      reply(client, request, {}, text + why_waiting(arg.id));
      return;
    }
    for (const program::Node& node : run->program->graph.nodes) {
      const auto function = functions_.find(node.function);
      if (function == functions_.end() || function->second->hosts_awaited == 0) continue;
      text += "function " + printable(function->second->info.name) + " is being compiled\n";
      reply(client, request, {}, std::move(text));
      return;
    }
    if (Run* const move = move_before(*run)) {
      text += "slice " + std::to_string(sequence_of(move->migration->id)) + " moves first, as " +
              move->program->graph.name + "\n";
      return ask_islands(client, request, *move, std::move(text));
    }
    text += windows_text(run->program->islands) + std::to_string(run->client->tenant->runs_queued) +
            " runs of tenant " + run->client->tenant->name + " wait\n";
    reply(client, request, {}, std::move(text));
    return;
  }
  ask_islands(client, request, *run,
              text + name + " has stamp " + std::to_string(run->stamp) + "\n");
}

/// Of a slice that `run` uses: an array that moves with it.
ControllerCore::Run* ControllerCore::move_before(const Run& run) const {
  for (Run* move : by_stamp_) {
    if (move && move->migration && uses(*run.program, move->migration->id)) return move;
  }
  return nullptr;
}

/// What its schedulers and hosts say of `run` is behind `text`.
void ControllerCore::ask_islands(ClientId client, std::uint64_t request, const Run& run,
                                 std::string text) {
  const std::uint64_t question = ++last_question_;
  auto asked = std::make_unique<WhyQuestion>();
  asked->client = client;
  asked->request = request;
  asked->text = std::move(text);
  for (const program::PartPlanPtr& plan : run.program->plans[run.segment]) {
    outbox_.islands[plan->island].questions.push_back({question, run.stamp});
    asked->awaited += 2;  // Its scheduler and its host.
  }
  questions_[question] = std::move(asked);
}

void ControllerCore::why_answer(std::uint64_t question, IslandId, const std::string& text) {
  const auto found = questions_.find(question);
  if (found == questions_.end()) return;
  found->second->text += text;
  if (--found->second->awaited > 0) return;
  reply(found->second->client, found->second->request, {}, std::move(found->second->text));
  questions_.erase(found);
}

}  // namespace seaway::controller
