// The caller's side of calls: routes, credit, deadlines, retries, and the one outcome of each.

#include <algorithm>
#include <utility>

#include "app/mesh_request.hpp"
#include "app/silo.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"

namespace seaway::app {
namespace {

std::string call_name(const Call& call) {
  return std::string(call.request_name) + " to " +
         internal::member_name(call.mesh.get(), call.member.index);
}

std::string seconds(std::uint64_t ns) {
  if (ns % 1'000'000'000 == 0) return std::to_string(ns / 1'000'000'000) + " s";
  return std::to_string(ns / 1'000'000) + " ms";
}

/// Whether `silo` may answer: only a silo that was asked does.
bool is_callee(const Call& call, SiloId silo) {
  return call.silo == silo ||
         std::find(call.tree.begin(), call.tree.end(), silo) != call.tree.end();
}

bool may_try_again(StatusCode code) {
  return code == StatusCode::kActorLost || code == StatusCode::kHostLost ||
         code == StatusCode::kResourceExhausted;
}

}  // namespace

Route& Silo::route_to(const std::shared_ptr<const internal::MeshInfo>& mesh) {
  if (last_route_ && last_route_->mesh->id == mesh->id &&
      last_route_->places.size() == mesh->hosts.size()) {
    return *last_route_;
  }
  const auto found = routes_.find(mesh->id);
  // Another process may have said something else of the same mesh: it only leads itself astray.
  if (found != routes_.end() && found->second.places.size() == mesh->hosts.size()) {
    return *(last_route_ = &found->second);
  }
  if (routes_.size() >= routes_max_) trim_routes();
  Route& route = routes_[mesh->id];
  last_route_ = nullptr;
  route = Route();
  route.mesh = mesh;
  route.places.resize(mesh->hosts.size());
  for (std::size_t i = 0; i < route.places.size(); ++i) {
    route.places[i].silo = silo_of_host(mesh->hosts[i]);
  }
  for (auto at = moved_.lower_bound({mesh->id, 0});
       at != moved_.end() && at->first.mesh == mesh->id; ++at) {
    if (at->first.index < route.places.size()) route.places[at->first.index].silo = at->second;
  }
  return route;
}

/// Forgets routes on which nothing is under way; they are made again when they are needed.
void Silo::trim_routes() {
  std::erase_if(routes_, [](const auto& entry) { return entry.second.in_flight == 0; });
  last_route_ = nullptr;
  // Not again before as many have come, so that each route pays for one look.
  routes_max_ = std::max<std::size_t>(wiring_.limits.routes_max, 2 * routes_.size());
}

Status Silo::check_target(const internal::MeshInfo* mesh, std::uint32_t index,
                          std::string_view what) {
  if (mesh && index < mesh->hosts.size()) return {};
  return not_found(std::string(what) + " to " + internal::member_name(mesh, index) +
                   ": there is no such member" +
                   (mesh ? ", for the mesh has " + std::to_string(mesh->hosts.size())
                         : "; the reference is empty"));
}

void Silo::fail_unsent(const internal::CallOrder& order, const Status& status) {
  if (order.one) order.one->answer(status);
  for (std::uint32_t i = 0; i < order.many.size(); ++i) {
    order.many[i]->answer(status);
    if (order.sink) order.sink->on_end(i, status);
  }
}

void Silo::start_call(Member* caller, std::uint32_t client, internal::CallOrder& order) {
  if (!order.to.mesh || order.to.count == 0) {
    return fail_unsent(order, check_target(order.to.mesh.get(), UINT32_MAX, order.request_name));
  }
  if (order.options.deadline.count() < 0) {
    return fail_unsent(order, deadline_exceeded(std::string(order.request_name) +
                                                ": its deadline has passed already; nothing was "
                                                "sent"));
  }
  Envelope shape;
  shape.kind = Kind::kCall;
  shape.request_type = order.request_type;
  shape.reply_type = order.reply_type;
  shape.is_stream = order.sink != nullptr;
  shape.number = order.sink ? std::max(1u, order.options.credit) : 0;
  if (caller) shape.sender = caller->member_name();
  shape.client = client;
  shape.tenant = tenant_of(caller, client);
  shape.payload = std::move(order.request);
  if (order.argument) {
    if (order.argument->ready()) {
      auto outcome =
          order.argument_call ? order.argument_call->outcome() : order.argument_outcome();
      if (!outcome.ok()) {
        return fail_unsent(order,
                           input_lost(std::string(order.request_name) +
                                      ": its argument failed: " + outcome.status().to_string()));
      }
      shape.payload = std::move(outcome).value();
      order.argument.reset();
    } else {
      shape.awaits_argument = true;
    }
  } else if (order.argument_outcome) {
    return fail_unsent(order, order.argument_outcome().status());
  }
  if (!order.one) {
    for (std::uint32_t i = 0; i + 1 < order.to.count; ++i) {
      open_call(caller, client, order, i, order.to.at(i), order.many[i], shape);
    }
    const std::uint32_t last = order.to.count - 1;
    open_call(caller, client, order, last, order.to.at(last), order.many[last], std::move(shape));
    return;
  }
  std::uint32_t position = 0;
  if (order.is_choice) {
    const Route& route = route_to(order.to.mesh);
    std::uint32_t least = UINT32_MAX;
    // From another place each time, so that equals take turns.
    const auto begin = static_cast<std::uint32_t>(++last_request_ % order.to.count);
    for (std::uint32_t i = 0; i < order.to.count; ++i) {
      const std::uint32_t at = (begin + i) % order.to.count;
      const std::uint32_t index = order.to.at(at);
      if (index >= route.places.size() || !wiring_.network->is_up(route.places[index].silo)) {
        continue;
      }
      if (route.places[index].in_flight < least) {
        least = route.places[index].in_flight;
        position = at;
      }
    }
  }
  open_call(caller, client, order, position, order.to.at(position), order.one, std::move(shape));
}

/// Before whatever needs an entry in the call table.
Status Silo::check_room(std::string_view request_name) const {
  if (calls_.size() < wiring_.limits.calls_max) return {};
  return resource_exhausted(std::string(request_name) + ": " + std::to_string(calls_.size()) +
                            " of " + std::to_string(wiring_.limits.calls_max) +
                            " calls of this host are under way; wait for some of them");
}

/// A call with an outcome to come, in the name of a member or of a client; its timer is not set.
Call& Silo::begin_call(Member* caller, std::uint32_t client,
                       std::shared_ptr<internal::CallBase> state, std::string_view request_name,
                       SiloId silo, std::uint64_t deadline_ns) {
  Call& call = calls_.open();
  call.state = std::move(state);
  call.state->call_id = call.id;
  call.request_name = request_name;
  call.silo = silo;
  call.begun_ns = now_ns_;
  call.deadline_ns = deadline_ns;
  call.limit_ns = deadline_ns - now_ns_;
  call.client = client;
  link_call(caller, call);
  return call;
}

std::uint64_t Silo::tenant_of(const Member* caller, std::uint32_t client) const {
  if (caller) return caller->mesh()->tenant;
  const auto found = client_tenants_.find(client);
  return found == client_tenants_.end() ? 0 : found->second;
}

/// When a call is due that is made now.
std::uint64_t Silo::due_ns(const CallOptions& options) const {
  const auto limit = options.deadline.count() > 0 ? options.deadline : kCallDeadline;
  return now_ns_ + static_cast<std::uint64_t>(limit.count());
}

void Silo::open_call(Member* caller, std::uint32_t client, const internal::CallOrder& order,
                     std::uint32_t position, std::uint32_t index,
                     std::shared_ptr<internal::CallBase> state, Envelope envelope) {
  const auto refuse = [&](const Status& status) {
    state->answer(status);
    if (order.sink) order.sink->on_end(position, status);
  };
  if (Status status = check_target(order.to.mesh.get(), index, order.request_name); !status.ok()) {
    return refuse(status);
  }
  // The handle was dropped or given up before the call has begun.
  if (state->core().ready()) return refuse(cancelled("it was given up before it had begun"));
  if (Status status = check_room(order.request_name); !status.ok()) return refuse(status);
  // Where its member is now, send_call() finds out.
  Call& call =
      begin_call(caller, client, std::move(state), order.request_name, kHub, due_ns(order.options));
  call.sink = order.sink;
  call.position = position;
  call.member = {order.to.mesh->id, index};
  call.mesh = order.to.mesh;
  call.items_open = envelope.number;
  call.retries = order.options.retries;
  call.is_once = order.options.once;
  envelope.member = call.member;
  envelope.call = call.id;
  envelope.deadline_ns = call.deadline_ns;
  if (call.is_once) {
    envelope.is_once = true;
    envelope.request_id = (std::uint64_t{wiring_.id} << 40) | ++last_request_;
  }
  // An argument that is still to come is passed on once.
  const bool awaits_argument = envelope.awaits_argument;
  if (awaits_argument) call.retries = 0;
  if (call.retries > 0) call.again = std::make_unique<Envelope>(envelope);
  const std::uint64_t id = call.id;
  if (send_call(call, std::move(envelope)) && awaits_argument) {
    if (Call* open = calls_.find(id)) pass_argument(order, *open);
  }
}

/// To wherever its member is now, for the first time or again; false when it was not sent.
bool Silo::send_call(Call& call, Envelope&& envelope) {
  Route& route = route_to(call.mesh);
  Route::Place& place = route.places[call.member.index];
  call.silo = place.silo;
  Status status;
  if (place.in_flight >= call.mesh->type->mailbox_max) {
    status = resource_exhausted(
        call_name(call) + ": " + std::to_string(call.mesh->type->mailbox_max) +
        " messages from here wait there already (mailbox_max); wait for some of them");
  } else if (!wiring_.network->is_up(call.silo)) {
    status = {StatusCode::kHostLost,
              call_name(call) + ": " + silo_text(call.silo) + " was lost; nothing was sent"};
  }
  if (!status.ok()) {
    if (!try_again(call)) close_call(call, std::move(status), 0);
    return false;
  }
  call.is_resting = false;
  call.has_credit = true;
  ++place.in_flight;
  ++route.in_flight;
  wheel_.add(call, call.deadline_ns);
  post(call.silo, std::move(envelope));
  return true;
}

/// Has the future that is this call's request sent to its member when it is there: by whoever makes
/// it if that is a call of this silo, else from here.
void Silo::pass_argument(const internal::CallOrder& order, Call& call) {
  Call* source = order.argument_call ? calls_.find(order.argument_call->call_id) : nullptr;
  if (source && source->state.get() == order.argument_call && !source->is_resting) {
    source->dependents.push_back({call.silo, call.id});
    // What fails may be tried again: then only its last outcome is an argument.
    if (source->again) return;
    Envelope envelope;
    envelope.kind = Kind::kForward;
    envelope.member = source->member;
    envelope.call = source->id;
    envelope.sender = call.member;
    envelope.number = call.silo;
    envelope.epoch = wiring_.network->epoch(call.silo);
    envelope.request_id = call.id;
    post(source->silo, std::move(envelope));
    return;
  }
  const auto outcome =
      order.argument_call
          ? std::function<Result<internal::RawMessage>()>(
                [state = order.argument, from = order.argument_call] { return from->outcome(); })
          : order.argument_outcome;
  order.argument->then(inline_executor(), [this, outcome, id = call.id, member = call.member,
                                           silo = call.silo, door = wiring_.door] {
    door->post([this, outcome, id, member, silo] {
      Envelope envelope;
      envelope.kind = Kind::kArgument;
      envelope.from = wiring_.id;
      envelope.member = member;
      envelope.call = id;
      auto result = outcome();
      if (result.ok()) {
        envelope.payload = std::move(result).value();
      } else {
        envelope.status = result.status();
      }
      post(silo, std::move(envelope));
    });
  });
}

Status Silo::start_send(Member* caller, std::uint32_t client, internal::CallOrder& order) {
  Envelope shape;
  shape.kind = Kind::kCall;
  shape.request_type = order.request_type;
  shape.reply_type = order.reply_type;
  if (caller) shape.sender = caller->member_name();
  shape.client = client;
  shape.tenant = tenant_of(caller, client);
  shape.payload = std::move(order.request);
  if (order.argument || order.argument_outcome) {
    return invalid_argument(std::string(order.request_name) +
                            ": an unresolved argument needs a call; nobody would hear of its "
                            "failure");
  }
  std::uint32_t refused = 0;
  Status why;
  for (std::uint32_t i = 0; i < order.to.count; ++i) {
    const std::uint32_t index = order.to.at(i);
    Status status = check_target(order.to.mesh.get(), index, order.request_name);
    if (status.ok()) {
      Route& route = route_to(order.to.mesh);
      Route::Place& place = route.places[index];
      if (!wiring_.network->is_up(place.silo)) {
        status = {StatusCode::kHostLost, std::string(order.request_name) + " to " +
                                             internal::member_name(order.to.mesh.get(), index) +
                                             ": " + silo_text(place.silo) + " was lost"};
      } else if (place.in_flight >= order.to.mesh->type->mailbox_max) {
        status = resource_exhausted(
            std::string(order.request_name) + " to " +
            internal::member_name(order.to.mesh.get(), index) + ": " +
            std::to_string(order.to.mesh->type->mailbox_max) +
            " messages from here wait there already (mailbox_max); send later, or call");
      } else {
        ++place.in_flight;
        ++route.in_flight;
        shape.member = {order.to.mesh->id, index};
        if (i + 1 == order.to.count) {
          post(place.silo, std::move(shape));
        } else {
          post(place.silo, Envelope(shape));
        }
        continue;
      }
    }
    ++refused;
    if (why.ok()) why = std::move(status);
  }
  if (refused > 1) {
    return {why.code(), std::to_string(refused) + " of " + std::to_string(order.to.count) +
                            " members were not sent it; the first: " + why.message()};
  }
  return why;
}

void Silo::return_credit(MemberName member) {
  if (!last_route_ || last_route_->mesh->id != member.mesh) {
    const auto found = routes_.find(member.mesh);
    if (found == routes_.end()) return;
    last_route_ = &found->second;
  }
  if (member.index >= last_route_->places.size()) return;
  Route::Place& place = last_route_->places[member.index];
  if (place.in_flight == 0) return;
  --place.in_flight;
  --last_route_->in_flight;
}

void Silo::on_credit(const Envelope& envelope) {
  // Never more than were sent, whatever another process says.
  const std::uint64_t most = std::min<std::uint64_t>(envelope.number, wiring_.limits.calls_max);
  for (std::uint64_t i = 0; i < most; ++i) return_credit(envelope.member);
}

void Silo::on_reply(Envelope& envelope) {
  Call* call = calls_.find(envelope.call);
  SEAWAY_PROBE_IF(!call, "an answer comes too late");
  if (!call) return;  // It was given up, or was late.
  if (call->is_resting || !is_callee(*call, envelope.from)) return;
  if (envelope.kind == Kind::kFound && envelope.status.ok()) {
    auto* const request = dynamic_cast<MeshRequest*>(call->state.get());
    if (!request) return;  // It was asked something else.
    request->found(envelope.parcel->mesh);
  }
  if (!envelope.status.ok()) {
    if (may_try_again(envelope.status.code()) && try_again(*call)) return;
    // A part of a reduction says that the rest waits in vain.
    if (!call->tree.empty() && envelope.from != call->silo) withdraw(*call);
    close_call(*call, std::move(envelope.status), envelope.number);
    return;
  }
  if (call->sink && !envelope.is_stream) call->sink->on_item(call->position, envelope.payload);
  close_call(*call, std::move(envelope.payload), envelope.number);
}

void Silo::on_item(Envelope& envelope) {
  Call* call = calls_.find(envelope.call);
  if (!call || !call->sink || !is_callee(*call, envelope.from)) return;
  call->has_items = true;
  if (call->items_open > 0) --call->items_open;
  // Its timer looks at this when it comes.
  call->deadline_ns = now_ns_ + call->limit_ns;
  call->sink->on_item(call->position, std::move(envelope.payload));
}

/// False when the call's tries are used up, or its deadline would come first.
bool Silo::try_again(Call& call) {
  // A stream that has begun is not begun again.
  if (call.tries >= call.retries || !call.again || call.has_items) return false;
  const std::uint64_t pause = wiring_.limits.restart_pause_ns << std::min(call.tries, 10u);
  SEAWAY_PROBE_IF(now_ns_ + pause >= call.deadline_ns, "a call has no time to be tried again");
  if (now_ns_ + pause >= call.deadline_ns) return false;
  SEAWAY_PROBE("a call is tried again");
  ++call.tries;
  call.is_resting = true;
  if (std::exchange(call.has_credit, false)) return_credit(call.member);
  wheel_.remove(call);
  wheel_.add(call, now_ns_ + pause);
  return true;
}

void Silo::on_call_due(Call& call) {
  if (call.is_resting) {
    send_call(call, Envelope(*call.again));
    return;
  }
  // A stream's time runs from its last answer, and not while its reader is the one who is slow.
  if (call.sink && call.items_open == 0) call.deadline_ns = now_ns_ + call.limit_ns;
  if (call.deadline_ns > now_ns_) return wheel_.add(call, call.deadline_ns);
  SEAWAY_PROBE("a call is due");
  withdraw(call);
  const std::string who = call_name(call) + " on " + silo_text(call.silo);
  close_call(call,
             deadline_exceeded(call.has_items
                                   ? who + ": no further answer within " + seconds(call.limit_ns)
                                   : who + ": no answer within " +
                                         seconds(call.deadline_ns - call.begun_ns) +
                                         "; whether it was handled is not known"),
             0);
}

/// Tells the callee that nobody wants its answer any more. What was sent there still is there: it
/// is the callee who gives the credit back, when it is not.
void Silo::withdraw(Call& call) {
  if (call.is_resting) return;
  Envelope envelope;
  envelope.kind = Kind::kCancel;
  envelope.member = call.member;
  envelope.call = call.id;
  envelope.number = std::exchange(call.has_credit, false) ? 1 : 0;
  for (const SiloId silo : call.tree) {
    if (silo != call.silo) post(silo, Envelope(envelope));
  }
  post(call.silo, std::move(envelope));
}

/// The one outcome of a call. `forwarded`: to how many dependents its callee has passed it on.
void Silo::close_call(Call& call, Result<internal::RawMessage> outcome, std::uint64_t forwarded) {
  wheel_.remove(call);
  if (std::exchange(call.has_credit, false) &&
      !SEAWAY_MUTANT("a call keeps its place in a mailbox"))
    return_credit(call.member);
  if (call.caller) {
    (call.previous ? call.previous->next : call.caller->calls) = call.next;
    if (call.next) call.next->previous = call.previous;
  }
  const std::shared_ptr<internal::CallBase> state = std::move(call.state);
  const std::shared_ptr<internal::StreamSink> sink = std::move(call.sink);
  const std::vector<Dependent> dependents = std::move(call.dependents);
  const std::uint32_t position = call.position;
  for (std::size_t i = 0; i < dependents.size(); ++i) {
    Call* const dependent = calls_.find(dependents[i].call);
    if (!dependent) continue;
    if (i < forwarded) {
      SEAWAY_PROBE("an answer was passed on by its callee");
      dependent->argument = std::make_unique<Result<internal::RawMessage>>(outcome);
      dependent->argument_from = call.silo;
    } else {
      SEAWAY_PROBE("an answer is passed on by its caller");
      send_argument(*dependent, outcome);
    }
  }
  calls_.close(call);
  state->call_id = 0;
  internal::Invocation* const waiting = std::exchange(state->resumes, nullptr);
  if (sink) sink->on_end(position, outcome.ok() ? Status() : outcome.status());
  // Of an answer that was passed on, and that nobody else has asked for, nobody needs to hear.
  if (state->is_proxy || state.use_count() > 1 || state->core().has_continuation()) {
    state->answer(std::move(outcome));
  }
  if (waiting) resume_later(static_cast<Delivery&>(*waiting));
}

void Silo::send_argument(const Call& call, const Result<internal::RawMessage>& outcome) {
  Envelope envelope;
  envelope.kind = Kind::kArgument;
  envelope.from = wiring_.id;
  envelope.member = call.member;
  envelope.call = call.id;
  if (outcome.ok()) {
    envelope.payload = *outcome;
  } else {
    envelope.status = outcome.status();
  }
  post(call.silo, std::move(envelope));
}

void Silo::cancel_call(internal::CallBase& state) {
  Call* call = calls_.find(state.call_id);
  if (!call || call->state.get() != &state) return;
  withdraw(*call);
  close_call(*call, cancelled(call_name(*call) + " was given up by its caller"), 0);
}

void Silo::grant(internal::CallBase& state, std::uint32_t count) {
  Call* const call = calls_.find(state.call_id);
  if (!call) return;
  if (call->items_open == 0) call->deadline_ns = now_ns_ + call->limit_ns;
  call->items_open += count;
  Envelope envelope;
  envelope.kind = Kind::kMore;
  envelope.member = call->member;
  envelope.call = call->id;
  envelope.number = count;
  post(call->silo, std::move(envelope));
}

/// A member's calls end with it.
void Silo::link_call(Member* caller, Call& call) {
  if (!caller) return;
  call.state->caller_member = caller;
  call.caller = caller;
  call.previous = nullptr;
  call.next = caller->calls;
  if (caller->calls) caller->calls->previous = &call;
  caller->calls = &call;
}

void Silo::abandon_calls(Member& member) {
  while (member.calls) {
    Call& call = *member.calls;
    withdraw(call);
    close_call(call, cancelled(member.to_string() + ", who asked, has ended"), 0);
  }
}

}  // namespace seaway::app
