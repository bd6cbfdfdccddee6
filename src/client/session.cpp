// The session's hot path: runs go out, outcomes come in; and how a session ends.

#include "client/session.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "actor/engine_waiter.hpp"
#include "actor/handler_scope.hpp"
#include "base/check.hpp"
#include "base/mutant.hpp"
#include "client/debug.hpp"
#include "client/frames.hpp"
#include "client/session_actor.hpp"

namespace seaway::client {
namespace {

// Of Said::first of a fetch, as in the schema.
constexpr std::uint64_t kIsAgain = 1, kMayBeOffered = 2;

std::string milliseconds(std::uint64_t ns) { return std::to_string(ns / 1'000'000) + " ms"; }

}  // namespace

Session::Session(Wiring wiring, ClientOptions options)
    : wiring_(std::move(wiring)),
      options_(std::move(options)),
      poke_(frames::poke()),
      next_request_(wiring_.first_request) {
  if (wiring_.engine) {
    waiter_ = actor::make_engine_waiter(*wiring_.engine);
    gate_ = actor::gate_of(*wiring_.engine);
  } else {
    is_debug_ = true;
  }
}

Session::~Session() { SEAWAY_CHECK(in_flight_.size() == 0, in_flight_.size()); }

std::shared_ptr<Session> make_session(Wiring wiring, ClientOptions options) {
  auto session = std::make_shared<Session>(std::move(wiring), std::move(options));
  if (actor::Engine* engine = session->wiring().engine) {
    session->set_actor(engine->spawn("client" + std::to_string(session->id()),
                                     std::make_unique<SessionActor>(session)));
  }
  return session;
}

bool Session::say_frame(Frame frame) {
  return say([&frame](Outbox& outbox) {
    outbox.said.push_back({.kind = Said::Kind::kFrame, .object = outbox.frames.size()});
    outbox.frames.push_back(std::move(frame));
  });
}

void Session::take_outbox(Outbox& outbox) {
  std::lock_guard guard(mutex_);
  std::swap(outbox, outbox_);
}

Status Session::closed_status() {
  std::lock_guard guard(mutex_);
  return end_;
}

// Runs.

Status Session::check_arguments(const ProgramRecord& program,
                                std::span<const Array> arguments) const {
  const auto refused = [&program](std::size_t i, const std::string& why) {
    return invalid_argument("argument " + std::to_string(i) + " of program \"" + program.name +
                            "\" " + why);
  };
  if (arguments.size() != program.parameter_specs.size()) {
    return invalid_argument("program \"" + program.name + "\" takes " +
                            std::to_string(program.parameter_specs.size()) + " arguments, not " +
                            std::to_string(arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ArrayCell* cell = arguments[i].cell();
    if (!cell) return refused(i, "is an empty Array; put or compute one");
    const Record& record = cell->record();
    const Origin& origin = *record.origin;
    if (record.first == 0) {
      const Status cause = record.error();
      return {cause.code(), refused(i, "was refused: " + cause.message()).message()};
    }
    if (origin.session.get() != this) {
      return refused(i, "is array " + name_of(record.array_id(cell->index)) +
                            " of another client or cluster; put it through this one");
    }
    if (origin.output_specs[cell->index] != program.parameter_specs[i]) {
      return refused(
          i, "is " + seaway::to_string(origin.outputs[cell->index]) + ", but the parameter is " +
                 seaway::to_string(program.graph.parameters[i]) + "; reshard() changes a sharding");
    }
    if (record.is_local != debug()) {
      return refused(i, "was made with debug mode " + std::string(debug() ? "off" : "on") +
                            "; put or compute it again");
    }
  }
  for (const auto& slice : program.slices) {
    if (slice->is_released.load(std::memory_order_relaxed)) {
      return invalid_argument("program \"" + program.name + "\" runs on slice " +
                              name_of(slice->mesh.slice()) +
                              ", which was released; acquire another and capture it again");
    }
  }
  return {};
}

Status Session::take_donated(const ProgramRecord& program, std::span<const Array> arguments,
                             Site site) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!program.graph.donated[i]) continue;
    ArrayCell& cell = *arguments[i].cell();
    Gone expected = Gone::kNo;
    if (!cell.gone.compare_exchange_strong(expected, Gone::kDonated)) {
      const Status status = check_usable(cell);
      give_back_donated(program, arguments.first(i));
      return status;
    }
    cell.parameter = static_cast<std::uint16_t>(i);
    cell.site = site;
  }
  return {};
}

void Session::give_back_donated(const ProgramRecord& program, std::span<const Array> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (program.graph.donated[i]) arguments[i].cell()->gone.store(Gone::kNo);
  }
}

Status Session::wait_for_room(const std::function<bool()>& has_room, const std::string& refusal) {
  if (has_room()) return {};
  if (options_.when_full == WhenFull::kRefuse) return resource_exhausted(refusal);
  if (const actor::Handling* handling = actor::current_handling()) {
    return resource_exhausted(refusal + " (waiting would block " + handling->describe() +
                              ", and with it every actor of its worker)");
  }
  if (waiter_->on_control_thread()) {
    return resource_exhausted(refusal + " (the control thread cannot wait)");
  }
  const auto is_over = [this, &has_room] { return has_room() || is_closed(); };
  // Only an engine that ends lets somebody go for whom nothing has changed.
  if (!waiter_->wait(is_over, 0)) return cancelled(refusal + " (the cluster has ended)");
  return is_closed() ? closed_status() : Status();
}

/// Takes a place among the runs in flight; waits for one if it may.
Status Session::reserve_run(const ProgramRecord& program) {
  const std::uint32_t runs_max = options_.runs_in_flight_max;
  while (runs_in_flight_.fetch_add(1, std::memory_order_relaxed) >= runs_max) {
    runs_in_flight_.fetch_sub(1, std::memory_order_relaxed);
    // Who waits is woken once for several places.
    const auto has_room = [this, enough = runs_max - runs_max / 8] {
      return runs_in_flight_ < enough;
    };
    const Status status = wait_for_room(
        has_room, "program \"" + program.name + "\" refused: " + std::to_string(runs_max) + " of " +
                      std::to_string(runs_max) +
                      " runs are in flight; wait for one, use WhenFull::kWait, or raise "
                      "ClientOptions::runs_in_flight_max");
    if (!status.ok()) return status;
  }
  return {};
}

/// With a place that was reserved, and is given back when it fails.
Status Session::enqueue(Record& record, const ProgramRecord& program,
                        std::span<const Array> arguments, const ExecuteOptions& options) {
  const bool is_said = say([&](Outbox& outbox) {
    record.id = next_id(1 + record.size);
    if (record.id == 0) [[unlikely]]
      return;
    record.first = record.id + 1;
    if (keeps(record.first)) outbox.made.push_back({record.id, record.first, record.size});
    outbox.said.push_back({.kind = Said::Kind::kRun,
                           .argument_count = static_cast<std::uint32_t>(arguments.size()),
                           .id = record.id,
                           .object = program.graph.id,
                           .first = record.first});
    for (const Array& argument : arguments) {
      ArrayCell* cell = argument.cell();
      outbox.arguments.push_back(cell->record().first + cell->index);
    }
    if (options.deadline) {
      const auto timeout_ns = static_cast<std::uint64_t>(options.deadline->count());
      outbox.limits.push_back({.is_run = true, .id = record.id, .timeout_ns = timeout_ns});
    }
    in_flight_.insert(record.id, &record);
  });
  if (is_said && record.id != 0) return {};
  runs_in_flight_.fetch_sub(1, std::memory_order_relaxed);
  return is_said ? no_ids() : closed_status();
}

Record* Session::execute(const std::shared_ptr<ProgramRecord>& given,
                         std::span<const Array> arguments, const ExecuteOptions& options,
                         Site site) {
  std::shared_ptr<ProgramRecord> program = given;
  const auto refuse = [&program](Status status) {
    return Record::make_failed(program, program->outputs.size(), std::move(status));
  };
  if (options.deadline && options.deadline->count() <= 0) {
    return refuse(deadline_exceeded("program \"" + program->name +
                                    "\" refused: its deadline has passed already"));
  }
  if (options.donate.size() > 0) {
    auto variant = donating_variant(given, options);
    if (!variant.ok()) return refuse(variant.status());
    program = *variant;
  }
  if (Status status = check_arguments(*program, arguments); !status.ok()) return refuse(status);
  if (program->donates) {
    if (Status status = take_donated(*program, arguments, site); !status.ok()) {
      return refuse(status);
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (program->graph.donated[i]) continue;
    if (Status status = check_usable(*arguments[i].cell()); !status.ok()) {
      if (program->donates) give_back_donated(*program, arguments);
      return refuse(status);
    }
  }
  if (debug()) {
    return execute_locally(*program, arguments, Record::make(program, program->outputs.size()));
  }
  // There is no record yet while it waits: whoever waits may end.
  if (Status status = reserve_run(*program); !status.ok()) {
    if (program->donates && !SEAWAY_MUTANT("a refused run keeps its donations"))
      give_back_donated(*program, arguments);
    return refuse(std::move(status));
  }
  Record* record = Record::make(program, program->outputs.size());
  if (Status status = enqueue(*record, *program, arguments, options); !status.ok()) {
    if (program->donates) give_back_donated(*program, arguments);
    record->complete(std::move(status), internal::Wake::kLater);
    record->unreference();
  }
  return record;
}

Record* Session::execute_locally(const ProgramRecord& program, std::span<const Array> arguments,
                                 Record* record) {
  record->id = next_id(1 + record->size);
  record->first = record->id + 1;
  record->is_local = true;
  evaluate(program, arguments, *record);
  record->unreference();
  return record;
}

void Session::cancel_run(Record& record) {
  if (!record.is_pending() || record.is_local) return;
  say([&record](Outbox& outbox) {
    outbox.said.push_back({.kind = Said::Kind::kCancel, .id = record.id});
  });
}

void Session::release_array(ArrayId array, bool is_kept) {
  if (!wiring_.engine) return;
  say([array, is_kept](Outbox& outbox) {
    outbox.said.push_back({.kind = Said::Kind::kRelease, .id = array});
    if (is_kept) outbox.said.back().kind = Said::Kind::kDrop;
  });
}

// Fetches.

void Session::fetch(Record& record, std::uint32_t index, std::shared_ptr<internal::FetchSink> sink,
                    std::span<std::byte> target) {
  if (record.is_local) {
    const Status error = record.error();
    if (error.ok()) std::ranges::copy(record.details->values[index], target.begin());
    sink->fetched(error, internal::Wake::kNow);
    return;
  }
  const std::uint64_t request = next_request_.fetch_add(1, std::memory_order_relaxed);
  sink->session = weak_from_this();
  sink->request = request;
  // Before the record that tells a host of it.
  wiring_.bulk->offer_target(id(), request, target);
  const bool is_said = say([&](Outbox& outbox) {
    PendingFetch& fetch = fetches_[request];
    fetch = {.sink = sink, .array = record.array_id(index)};
    if (wiring_.data) fetch.origin = record.origin, fetch.index = index;
    outbox.said.push_back({.kind = Said::Kind::kFetch,
                           .id = record.array_id(index),
                           .object = request,
                           .first = wiring_.data ? kMayBeOffered : 0});
  });
  if (is_said) return;
  wiring_.bulk->take_target(id(), request);
  sink->fetched(closed_status(), internal::Wake::kNow);
}

void Session::cancel_fetch(std::uint64_t request) {
  // Once a host has taken the target it writes into it: then the outcome is near, and waited for.
  if (!wiring_.bulk->take_target(id(), request)) return;
  PendingFetch fetch;  // What it holds goes without the lock.
  {
    std::lock_guard guard(mutex_);
    const auto found = fetches_.find(request);
    if (found == fetches_.end()) return;
    fetch = std::move(found->second);
    fetches_.erase(found);
  }
  fetch.sink->fetched(cancelled("the fetch was given up with cancel()"), internal::Wake::kNow);
}

// What comes back.

void Session::finish(Record& record, Status status) {
  if (record.is_run) {
    if (status.ok() || !SEAWAY_MUTANT("a run that failed keeps its place"))
      runs_in_flight_.fetch_sub(1, std::memory_order_relaxed);
  } else {
    upload_bytes_.fetch_sub(record.origin->outputs[0].type.bytes(), std::memory_order_relaxed);
    // No host hears of an upload that was refused.
    if (!status.ok() && wiring_.bulk) wiring_.bulk->take_upload(record.id);
  }
  record.complete(std::move(status), internal::Wake::kLater);
  record.unreference();
}

void Session::on_resolved(std::vector<Outcome>& outcomes) {
  constexpr std::size_t kBatch = 64;
  Record* found[kBatch];
  for (std::size_t begin = 0; begin < outcomes.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, outcomes.size() - begin);
    {
      std::lock_guard guard(mutex_);
      for (std::size_t i = 0; i < count; ++i) found[i] = in_flight_.take(outcomes[begin + i].id);
    }
    for (std::size_t i = 0; i < count; ++i) {
      stop_timer(true, outcomes[begin + i].id);
      if (!found[i]) continue;
      Status& outcome = outcomes[begin + i].status;
      if (!found[i]->is_run) outcome = end_offer(found[i]->id, std::move(outcome));
      finish(*found[i], std::move(outcome));
    }
  }
  waiter_->notify();
}

namespace {

/// What a host says of a value that went with a device, or cannot say any more.
bool is_of_loss(StatusCode code) {
  return code == StatusCode::kDeviceLost || code == StatusCode::kHostLost ||
         code == StatusCode::kInputLost;
}

}  // namespace

/// The run that makes the value may be run again: the controller knows, and its host does not.
bool Session::ask_again(const Outcome& outcome) {
  if (!is_of_loss(outcome.status.code())) return false;
  bool is_first = false;
  const bool is_said = say([&](Outbox& outbox) {
    const auto found = fetches_.find(outcome.id);
    is_first = found != fetches_.end() && found->second.loss.ok();
    if (!is_first) return;
    found->second.loss = outcome.status;
    if (wiring_.is_process) outbox.said.push_back({.kind = Said::Kind::kGot, .id = outcome.id});
    outbox.said.push_back({.kind = Said::Kind::kFetch,
                           .id = found->second.array,
                           .object = outcome.id,
                           .first = kIsAgain | (wiring_.data ? kMayBeOffered : 0)});
  });
  return is_said && is_first;
}

void Session::on_fetched(std::vector<Outcome>& outcomes) {
  for (Outcome& outcome : outcomes) {
    // It is written now: the outcome counts when that is over.
    if (const auto stream = streams_.find(outcome.id); stream != streams_.end()) {
      const Offered& from = stream->second.from;
      stream->second.outcome = std::move(outcome);
      // The later message counts: the host of an earlier offer may be lost.
      if (stream->second.next) say_taken(*std::exchange(stream->second.next, std::nullopt));
      wiring_.data->cancel(from.host, {from.request, from.offer});
      continue;
    }
    if (ask_again(outcome)) continue;
    PendingFetch fetch;  // What it holds goes without the lock.
    {
      std::lock_guard guard(mutex_);
      const auto found = fetches_.find(outcome.id);
      if (found == fetches_.end()) continue;
      fetch = std::move(found->second);
      fetches_.erase(found);
    }
    // An array that is gone by now is not what went wrong.
    if (!outcome.status.ok() && !fetch.loss.ok() && !is_of_loss(outcome.status.code())) {
      outcome.status = std::move(fetch.loss);
    }
    if (wiring_.is_process) {
      say([&outcome](Outbox& outbox) {
        outbox.said.push_back({.kind = Said::Kind::kGot, .id = outcome.id});
      });
    }
    // The sink owns the target's memory: a later value must not be written there.
    if (wiring_.is_process || !outcome.status.ok()) {
      const auto unwritten = wiring_.bulk->take_target(id(), outcome.id);
      if (unwritten && outcome.status.ok()) {
        outcome.status = protocol_error("fetch: request " + std::to_string(outcome.id) +
                                        " was answered without its value of " +
                                        std::to_string(unwritten->size()) + " bytes; fetch again");
      }
    }
    fetch.sink->fetched(std::move(outcome.status), internal::Wake::kLater);
  }
  waiter_->notify();
}

/// Ahead of the word that the fetch has its outcome.
void Session::on_value(std::uint64_t request, std::span<const std::byte> value) {
  const auto target = wiring_.bulk->take_target(id(), request);
  if (!target) return;
  if (target->size() != value.size()) return wiring_.bulk->offer_target(id(), request, *target);
  std::ranges::copy(value, target->begin());
}

void Session::on_run_timeout(RunId run, std::uint64_t timeout_ns) {
  Record* record = nullptr;
  bool is_put = false;
  {
    std::lock_guard guard(mutex_);
    record = in_flight_.take(run);
    // A put waits for room no longer; the controller, which knows the numbers, says why.
    is_put = record && !record->is_run;
    if (is_put) in_flight_.insert(run, record);
  }
  if (!record) return;
  say([run](Outbox& outbox) { outbox.said.push_back({.kind = Said::Kind::kCancel, .id = run}); });
  if (is_put) return;
  finish(*record, deadline_exceeded("run " + name_of(run) + " of program \"" +
                                    record->origin->name + "\" had no outcome after " +
                                    milliseconds(timeout_ns) + " and was cancelled"));
  waiter_->notify();
}

// Timers.

void Session::keep_timer(const TimeLimit& limit, actor::TimerId timer) {
  timers_[{limit.is_run, limit.id}] = timer;
}

void Session::on_time_limit(const TimeLimit& limit) {
  timers_.erase({limit.is_run, limit.id});
  if (limit.is_run) {
    on_run_timeout(limit.id, limit.timeout_ns);
  } else {
    on_request_timeout(limit.id, limit.timeout_ns);
  }
}

void Session::stop_timer(bool is_run, std::uint64_t id) {
  if (timers_.empty()) return;
  const auto found = timers_.find({is_run, id});
  if (found == timers_.end()) return;
  wiring_.engine->cancel(found->second);
  timers_.erase(found);
}

void Session::stop_all_timers() {
  for (const auto& [limit, timer] : timers_) wiring_.engine->cancel(timer);
  timers_.clear();
}

std::string Session::waiting() {
  std::lock_guard guard(mutex_);
  std::string text = std::to_string(in_flight_.size()) + " runs and puts";
  for (const auto& [request, fetch] : fetches_) text += ", fetch " + std::to_string(request);
  for (const auto& [request, pending] : requests_) text += ", \"" + pending.what + "\"";
  return text + ", " + std::to_string(runs_in_flight_) + " runs in flight, " +
         std::to_string(upload_bytes_) + " bytes on their way";
}

// The end.

void Session::close() { end(cancelled("client " + std::to_string(id()) + " has been closed")); }

void Session::close_caller() {
  std::lock_guard guard(caller_mutex_);
  if (caller_) caller_->close();
}

void Session::end(Status why) {
  close_caller();
  if (!wiring_.engine) {
    std::lock_guard guard(mutex_);
    end_ = why;
    is_closed_.store(true, std::memory_order_release);
  }
  std::vector<Record*> records;
  std::map<std::uint64_t, PendingFetch> fetches;
  std::map<std::uint64_t, PendingRequest> requests;
  std::map<std::uint64_t, Record*> asked;
  if (wiring_.engine) {
    bool was_empty = false;
    {
      std::lock_guard guard(mutex_);
      if (is_closed()) return;
      end_ = why;
      is_closed_.store(true, std::memory_order_release);
      was_empty = outbox_.empty();
      outbox_.said.push_back({.kind = Said::Kind::kFrame, .object = outbox_.frames.size()});
      outbox_.frames.push_back(frames::goodbye(id()));
      outbox_.is_last = true;
      records = in_flight_.take_all();
      fetches.swap(fetches_);
      // What is written now has its outcome when that is over.
      for (auto next = fetches.begin(); next != fetches.end();) {
        const auto fetch = next++;
        if (fetch->second.is_streaming) fetches_.insert(fetches.extract(fetch));
      }
      requests.swap(requests_);
      asked.swap(asked_);
    }
    if (was_empty) actor_.send(poke_);
    close_caller();  // One that was opened meanwhile.
  }
  std::ranges::sort(records, {}, [](const Record* record) { return record->id; });
  for (Record* record : records) finish(*record, why);
  for (auto& [request, fetch] : fetches) {
    wiring_.bulk->take_target(id(), request);
    fetch.sink->fetched(why, internal::Wake::kLater);
  }
  for (auto& [request, pending] : requests) {
    pending.state->complete(why, internal::Wake::kLater);
  }
  for (auto& [request, record] : asked) {
    record->complete(why, internal::Wake::kLater);
    record->unreference();
  }
  if (waiter_) {
    waiter_->notify();
    waiter_->detach();
  }

  std::map<SliceId, std::shared_ptr<SliceRecord>> slices;
  std::vector<std::shared_ptr<SpecRecord>> recent_specs;
  ProgramCache::Programs reshards;
  std::lock_guard guard(names_mutex_);
  // These name the session and would keep it alive for ever.
  slices.swap(slices_);
  recent_specs.swap(recent_specs_);
  reshards = reshards_.take_all();
}

}  // namespace seaway::client
