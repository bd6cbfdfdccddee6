// The callee's side of calls: mailboxes, handlers, and what they answer.

#include <algorithm>
#include <utility>

#include "app/silo.hpp"
#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "seaway/app/task.hpp"

namespace seaway::app {
namespace {

/// Whose handler runs in this thread.
thread_local Delivery* current = nullptr;

/// While a user's code runs in the name of a member.
class Entered {
 public:
  Entered(Delivery& delivery, std::uint32_t& depth)
      : scope_(*delivery.member), depth_(depth), previous_(std::exchange(current, &delivery)) {
    ++depth_;
  }
  ~Entered() {
    --depth_;
    current = previous_;
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  actor::HandlerScope scope_;
  std::uint32_t& depth_;
  Delivery* previous_;
};

std::string handlers_of(const internal::ActorTypeInfo& type) {
  std::string text;
  for (const internal::MethodInfo& method : type.methods) {
    text += (text.empty() ? "" : ", ") + method.name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

/// Answers what never came to its member.
void Silo::refuse(const Envelope& envelope, Status status) {
  if (envelope.call == 0) {
    credit_due_.push_back({envelope.from, envelope.member, 1});
    return;
  }
  Envelope reply;
  reply.kind = Kind::kReply;
  reply.member = envelope.member;
  reply.call = envelope.call;
  reply.is_stream = envelope.is_stream;
  reply.status = std::move(status);
  post(envelope.from, std::move(reply));
}

namespace {

/// A call's id: a place in its caller's table, and how often that was used.
std::uint32_t place_of(std::uint64_t call) { return static_cast<std::uint32_t>(call); }
std::uint32_t uses_of(std::uint64_t call) { return static_cast<std::uint32_t>(call >> 32); }

}  // namespace

void Silo::on_call(Envelope& envelope) {
  // Places of a table are few; another process can name any number.
  if (envelope.call != 0 && place_of(envelope.call) >= wiring_.limits.calls_max) {
    return refuse(envelope,
                  resource_exhausted("a call has place " + std::to_string(place_of(envelope.call)) +
                                     " among its caller's; the limit is " +
                                     std::to_string(wiring_.limits.calls_max)));
  }
  if (envelope.call != 0) give_up_place(envelope);
  if (!envelope.awaits_argument) return take_call(envelope);
  std::vector<std::uint32_t>& seen = seen_[envelope.from];
  const std::uint32_t place = place_of(envelope.call);
  if (place >= seen.size()) seen.resize(place + 1);
  seen[place] = uses_of(envelope.call);
  auto early = early_arguments_.extract({envelope.from, envelope.call});
  take_call(envelope);
  if (early.empty()) return;
  SEAWAY_PROBE("a call finds its argument there");
  wheel_.remove(*early.mapped());
  on_argument(early.mapped()->envelope);
}

/// Cancels an earlier call of the same place in its caller's table: the caller has given that up.
void Silo::give_up_place(const Envelope& call) {
  const std::vector<Delivery*>* const places = incoming_.find(call.from);
  const std::uint32_t place = place_of(call.call);
  if (!places || place >= places->size() || !(*places)[place]) return;
  Envelope cancel;
  cancel.kind = Kind::kCancel;
  cancel.from = call.from;
  cancel.call = (*places)[place]->call;
  on_cancel(cancel);
}

void Silo::take_call(Envelope& envelope) {
  LocalMesh* local = find_authorized(envelope);
  Member* member = local && envelope.member.index < local->members.size()
                       ? local->members[envelope.member.index].get()
                       : nullptr;
  if (!member || member->life != Member::Life::kLive) {
    std::string text = local ? internal::member_name(local->mesh.get(), envelope.member.index)
                             : "member " + std::to_string(envelope.member.index) + " of mesh " +
                                   std::to_string(envelope.member.mesh);
    if (member) {
      SEAWAY_PROBE("a member that stops is asked");
      text += " is stopping and takes nothing new";
    } else if (local && local->graves.contains(envelope.member.index)) {
      SEAWAY_PROBE("a dead member is asked");
      text += " has died: " + local->graves[envelope.member.index].to_string();
    } else {
      text += " does not live on " + silo_text(wiring_.id) + " any more";
    }
    return refuse(envelope, actor_lost(text + "; nothing was handled"));
  }
  const internal::ActorTypeInfo& type = *local->mesh->type;
  const internal::MethodInfo* method = type.find(envelope.request_type);
  if (!method) {
    return refuse(envelope, unimplemented(member->to_string() + " knows no message of type " +
                                          std::to_string(envelope.request_type) +
                                          "; it handles: " + handlers_of(type)));
  }
  if (envelope.call != 0 && method->reply != envelope.reply_type) {
    return refuse(envelope, invalid_argument(member->to_string() + " answers " + method->name +
                                             " with another type than its caller expects; are "
                                             "both built from one schema?"));
  }
  Delivery& delivery = make_delivery(*member, *method, envelope);
  delivery.call = envelope.call;
  delivery.is_stream = envelope.is_stream;
  delivery.is_once = envelope.is_once;
  delivery.request_id = envelope.request_id;
  delivery.credit = static_cast<std::uint32_t>(envelope.number);
  delivery.awaits_argument = envelope.awaits_argument;
  delivery.owes_credit = envelope.call == 0;
  delivery.request = std::move(envelope.payload);
  if (delivery.call != 0) {
    auto& places = incoming_[delivery.from];
    const auto place = static_cast<std::uint32_t>(delivery.call);
    if (place >= places.size()) places.resize(place + 1);
    places[place] = &delivery;
  }
  if (delivery.is_once && join_once(delivery)) return;
  enqueue(delivery);
}

/// A message for a handler of `member`, by whoever sent the envelope; it is in no list yet.
Delivery& Silo::make_delivery(Member& member, const internal::MethodInfo& method,
                              const Envelope& envelope) {
  Delivery& delivery = deliveries_.take();
  delivery.state = Delivery::State::kQueued;
  delivery.silo = this;
  delivery.member = &member;
  delivery.method = &method;
  delivery.from = envelope.from;
  delivery.sender = envelope.sender;
  delivery.client = envelope.client;
  return delivery;
}

/// True when the same request was answered before, or is being handled: then this one gets the same
/// answer and is not handled again.
bool Silo::join_once(Delivery& delivery) {
  Member::Extras& extras = delivery.member->extras();
  const auto [found, is_new] = extras.once.try_emplace(delivery.request_id);
  if (is_new || SEAWAY_MUTANT("a repeated request is handled again")) return false;
  OnceRecord& record = found->second;
  if (record.answer) {
    send_reply(delivery, *record.answer);
  } else {
    record.waiting.emplace_back(delivery.from, delivery.call);
  }
  release(delivery);
  return true;
}

namespace {

auto find_held(std::vector<Member::Held>& held, const Source& source) {
  return std::find_if(held.begin(), held.end(),
                      [&source](const Member::Held& one) { return one.source == source; });
}

}  // namespace

/// Behind what its sender sent before: also when that one still waits for its argument.
void Silo::enqueue(Delivery& delivery) {
  Member& member = *delivery.member;
  const bool holds = member.find_extras() && !member.find_extras()->held.empty();
  if (delivery.awaits_argument || holds) {
    auto& held = member.extras().held;
    const Source source = delivery.source();
    const auto found = find_held(held, source);
    SEAWAY_PROBE_IF(found != held.end(), "a message waits behind a late argument");
    const bool is_behind = found != held.end() && !SEAWAY_MUTANT("a message passes one that waits");
    if (is_behind || delivery.awaits_argument) {
      (found != held.end() ? *found : held.emplace_back(source)).list.push_back(delivery);
      return;
    }
  }
  member.mailbox.push_back(delivery);
  make_ready(member);
}

void Silo::on_argument(Envelope& envelope) {
  Delivery* delivery = find_incoming(envelope.from, envelope.call);
  if (!delivery) {
    // It comes from a third silo: it may be here before the call, or after its end.
    const std::vector<std::uint32_t>& seen = seen_[envelope.from];
    const std::uint32_t place = place_of(envelope.call);
    const bool is_early = place >= seen.size() || seen[place] < uses_of(envelope.call);
    const std::pair key(envelope.from, envelope.call);
    // The first argument of a call counts.
    if (is_early && !early_arguments_.contains(key) &&
        early_arguments_.size() < wiring_.limits.early_arguments_max) {
      auto early = std::make_unique<EarlyArgument>();
      early->envelope = std::move(envelope);
      wheel_.add(*early, now_ns_ + static_cast<std::uint64_t>(kCallDeadline.count()));
      SEAWAY_PROBE("an argument comes before its call");
      early_arguments_.emplace(key, std::move(early));
    }
    return;
  }
  if (!delivery->awaits_argument) return;
  const auto keeps = std::static_pointer_cast<Member>(delivery->member->shared_from_this());
  Member& member = *keeps;
  // One that ends answers what it holds, and this is among it.
  if (member.life == Member::Life::kDead) return;
  delivery->awaits_argument = false;
  auto& held = member.extras().held;
  const auto found = find_held(held, delivery->source());
  SEAWAY_CHECK(found != held.end());
  if (envelope.status.ok()) {
    delivery->request = std::move(envelope.payload);
  } else {
    SEAWAY_PROBE("a late argument has failed");
    found->list.remove(*delivery);
  }
  while (Delivery* first = found->list.first()) {
    if (first->awaits_argument) break;
    found->list.remove(*first);
    member.mailbox.push_back(*first);
  }
  if (found->list.empty()) held.erase(found);
  // Last, for its answer may be the argument of another one here.
  if (!envelope.status.ok()) {
    answer(*delivery, input_lost(delivery->method->name + " to " + member.to_string() +
                                 ": its argument failed: " + envelope.status.to_string()));
  }
  make_ready(member);
  if (member.life != Member::Life::kDead) end_if_due(member);
}

void Silo::on_forward(Envelope& envelope) {
  Delivery* delivery = find_incoming(envelope.from, envelope.call);
  // It was answered already: then its caller has that, and passes it on.
  SEAWAY_PROBE_IF(!delivery, "a forward comes after the answer");
  // The answer says how many forwards were followed; its caller follows the others.
  if (!delivery || delivery->forwards.size() >= wiring_.limits.forwards_max) return;
  delivery->forwards.push_back({envelope.from, envelope.request_id, envelope.sender,
                                static_cast<SiloId>(envelope.number), envelope.epoch});
}

void Silo::on_more(const Envelope& envelope) {
  Delivery* delivery = find_incoming(envelope.from, envelope.call);
  if (!delivery) return;
  if (SEAWAY_MUTANT("credit of a stream is lost")) return;
  delivery->credit += static_cast<std::uint32_t>(envelope.number);
  if (!delivery->blocked_write || delivery->credit == 0) return;
  --delivery->credit;
  Envelope item;
  item.kind = Kind::kItem;
  item.member = delivery->member->member_name();
  item.call = delivery->call;
  item.payload = std::move(delivery->blocked_item);
  post(delivery->from, std::move(item));
  std::exchange(delivery->blocked_write, nullptr)->complete({});
}

void Silo::on_cancel(const Envelope& envelope) {
  Delivery* delivery = find_incoming(envelope.from, envelope.call);
  if (!delivery) {
    if (envelope.number > 0) credit_due_.push_back({envelope.from, envelope.member, 1});
    SEAWAY_PROBE("what is cancelled is over already");
    return cancel_reduction(envelope.from, envelope.call);
  }
  delivery->owes_credit = envelope.number > 0;
  if (delivery->awaits_argument) {
    Envelope nothing;
    nothing.from = envelope.from;
    nothing.call = envelope.call;
    nothing.status = cancelled("its caller has given it up");
    return on_argument(nothing);
  }
  cancel_delivery(*delivery);
}

/// Nobody wants its answer any more: what was not begun is not, and what runs is told.
void Silo::cancel_delivery(Delivery& delivery) {
  if (delivery.state == Delivery::State::kRunning) {
    delivery.is_cancelled = true;
    if (delivery.blocked_write) {
      std::exchange(delivery.blocked_write, nullptr)
          ->complete(cancelled("the stream's reader has gone"));
    } else if (delivery.awaits) {
      SEAWAY_PROBE("a cancel reaches what a handler waits for");
      delivery.awaits->cancel();
    }
    return;
  }
  Member& member = *delivery.member;
  // It stands in the mailbox, or held behind another; only one of the lists has it.
  if (member.find_extras()) {
    for (auto& [source, list] : member.extras().held) {
      for (Delivery* at = list.first(); at; at = at->next) {
        if (at != &delivery) continue;
        list.remove(delivery);
        answer(delivery, cancelled("given up by its caller"));
        return end_if_due(member);
      }
    }
  }
  member.mailbox.remove(delivery);
  answer(delivery, cancelled("given up by its caller"));
  end_if_due(member);
}

Delivery* Silo::find_incoming(SiloId from, std::uint64_t call) {
  const auto place = static_cast<std::uint32_t>(call);
  const std::vector<Delivery*>* const places = incoming_.find(from);
  if (!places || place >= places->size()) return nullptr;
  Delivery* delivery = (*places)[place];
  return delivery && delivery->call == call && delivery->from == from ? delivery : nullptr;
}

void Silo::make_ready(Member& member) {
  if (member.is_ready || member.mailbox.empty() || member.life == Member::Life::kDead) return;
  const Delivery& first = *member.mailbox.first();
  if (member.waiting > 0 && !first.method->is_interleaved) return;
  member.is_ready = true;
  ready_.push_back(&member);
}

void Silo::run_next(Member& member) {
  member.is_ready = false;
  if (member.mailbox.empty() || member.life == Member::Life::kDead) return;
  Delivery& delivery = *member.mailbox.first();
  if (member.waiting > 0 && !delivery.method->is_interleaved) return;
  member.mailbox.remove(delivery);
  const std::shared_ptr<Member> keeps = std::static_pointer_cast<Member>(member.shared_from_this());
  run(delivery);
  make_ready(member);
}

void Silo::run(Delivery& delivery) {
  delivery.state = Delivery::State::kRunning;
  delivery.member->running.push_back(delivery);
  delivery.is_entered = true;
  ++delivery.member->entered;
  {
    Entered entered(delivery, entered_);
    delivery.method->invoke(delivery.member->object.get(), delivery);
  }
  --delivery.member->entered;
  delivery.is_entered = false;
  settle(delivery);
}

void Silo::resume(Delivery& delivery) {
  delivery.is_resuming = false;
  if (delivery.state != Delivery::State::kRunning || !delivery.resumes) return;
  const std::shared_ptr<Member> keeps =
      std::static_pointer_cast<Member>(delivery.member->shared_from_this());
  Member& member = *keeps;
  if (delivery.is_waiting) {
    delivery.is_waiting = false;
    --member.waiting;
  }
  delivery.is_entered = true;
  ++member.entered;
  {
    Entered entered(delivery, entered_);
    std::exchange(delivery.resumes, nullptr).resume();
  }
  --member.entered;
  delivery.is_entered = false;
  settle(delivery);
  make_ready(member);
}

void Silo::resume_later(Delivery& delivery) {
  if (delivery.is_resuming || !delivery.resumes) return;
  delivery.is_resuming = true;
  resumes_.push_back(&delivery);
}

/// A handler has returned, or waits: what it said takes effect.
void Silo::settle(Delivery& delivery) {
  Member& member = *delivery.member;
  if (delivery.crash_cause) {
    end_member(member, std::move(*delivery.crash_cause));
    return;
  }
  if (member.is_ending) {
    end_member(member, std::move(member.ending_cause));
    return;
  }
  if (delivery.reply) {
    Result<internal::RawMessage> reply = std::move(*delivery.reply);
    delivery.reply.reset();
    member.running.remove(delivery);
    answer(delivery, std::move(reply));
    after_handling(member);
    return;
  }
  if (delivery.root && !delivery.method->is_interleaved && !delivery.is_waiting &&
      !SEAWAY_MUTANT("a handler begins while another waits")) {
    delivery.is_waiting = true;
    ++member.waiting;
  }
}

/// Gives a call its answer. The delivery is in no list any more, and is gone afterwards.
void Silo::answer(Delivery& delivery, Result<internal::RawMessage> reply) {
  if (delivery.node) {
    const ReductionNode* const node = std::exchange(delivery.node, nullptr);
    const std::size_t position = delivery.node_position;
    const std::pair id(delivery.from, delivery.request_id);
    release(delivery);
    // The node may have been given up in between, and even be another one.
    const auto found = nodes_.find(id);
    if (found != nodes_.end() && found->second.get() == node && node->is_known) {
      contribute(*found->second, position, std::move(reply));
    }
    return;
  }
  Member& member = *delivery.member;
  if (delivery.is_once && member.find_extras()) {
    Member::Extras& extras = member.extras();
    const auto found = extras.once.find(delivery.request_id);
    if (found != extras.once.end()) {
      found->second.answer = reply;
      for (const auto& [from, call] : std::exchange(found->second.waiting, {})) {
        Envelope same;
        same.kind = Kind::kReply;
        same.member = member.member_name();
        same.call = call;
        if (reply.ok()) {
          same.payload = *reply;
        } else {
          same.status = reply.status();
        }
        reply_when_kept(member, delivery.state == Delivery::State::kRunning, from, std::move(same));
      }
      extras.once_order.push_back(delivery.request_id);
      if (extras.once_order.size() - extras.once_begin > wiring_.limits.once_remembered) {
        extras.once.erase(extras.once_order[extras.once_begin++]);
        if (extras.once_begin > wiring_.limits.once_remembered) {
          extras.once_order.erase(
              extras.once_order.begin(),
              extras.once_order.begin() + static_cast<std::ptrdiff_t>(extras.once_begin));
          extras.once_begin = 0;
        }
      }
    }
  }
  send_reply(delivery, reply);
  release(delivery);
}

void Silo::send_reply(Delivery& delivery, const Result<internal::RawMessage>& reply) {
  if (delivery.call == 0) return;
  Member& member = *delivery.member;
  std::uint64_t passed_on = 0;
  for (const Forward& forward : delivery.forwards) {
    // Of a life that is over, or that has not been heard of here: its caller knows it, and passes
    // on this one and those after it.
    SEAWAY_PROBE_IF(wiring_.network->epoch(forward.target_silo) != forward.target_epoch,
                    "an answer is for a life that is over");
    if (wiring_.network->epoch(forward.target_silo) != forward.target_epoch) break;
    ++passed_on;
    Envelope argument;
    argument.kind = Kind::kArgument;
    argument.from = forward.caller;
    argument.member = forward.target;
    argument.call = forward.call;
    if (reply.ok()) {
      argument.payload = *reply;
    } else {
      argument.status = reply.status();
    }
    post(forward.target_silo, std::move(argument));
  }
  Envelope envelope;
  envelope.kind = Kind::kReply;
  envelope.from = wiring_.id;
  envelope.member = member.member_name();
  envelope.call = delivery.call;
  envelope.number = passed_on;
  envelope.is_stream = delivery.is_stream && delivery.method->is_stream;
  if (reply.ok()) {
    envelope.payload = *reply;
  } else {
    envelope.status = reply.status();
  }
  reply_when_kept(member, delivery.state == Delivery::State::kRunning, delivery.from,
                  std::move(envelope));
}

/// Back to the pool; one-way messages give their credit back.
void Silo::release(Delivery& delivery) {
  if (delivery.is_resuming) std::erase(resumes_, &delivery);
  if (delivery.call != 0) {
    auto& places = incoming_[delivery.from];
    const auto place = static_cast<std::uint32_t>(delivery.call);
    if (place < places.size() && places[place] == &delivery) places[place] = nullptr;
  }
  if (delivery.owes_credit && delivery.from != wiring_.id) {
    const MemberName member = delivery.member->member_name();
    if (!credit_due_.empty() && credit_due_.back().to == delivery.from &&
        credit_due_.back().member == member) {
      ++credit_due_.back().count;
    } else {
      credit_due_.push_back({delivery.from, member, 1});
    }
  } else if (delivery.owes_credit) {
    return_credit(delivery.member->member_name());
  }
  deliveries_.give_back(delivery);
}

void Silo::after_handling(Member& member) {
  const internal::ActorTypeInfo& type = *member.mesh()->type;
  if (type.snapshot && ++member.extras().handled % type.snapshot_every == 0) take_snapshot(member);
  if (member.life == Member::Life::kStopping) end_when_drained(member);
}

void Silo::answer_later(Delivery& delivery, std::uint64_t ticket,
                        Result<internal::RawMessage> reply) {
  if (delivery.ticket != ticket || delivery.state != Delivery::State::kRunning) return;
  if (delivery.is_entered) {  // Within its own handler.
    delivery.reply = std::move(reply);
    return;
  }
  Member& member = *delivery.member;
  member.running.remove(delivery);
  answer(delivery, std::move(reply));
  after_handling(member);
}

Future<void> Silo::write_item(Delivery& delivery, std::uint64_t ticket, internal::RawMessage item) {
  const auto failed = [](Status status) { return Future<void>::of(std::move(status)); };
  if (delivery.ticket != ticket || delivery.state != Delivery::State::kRunning) {
    return failed(cancelled("this stream has ended"));
  }
  if (!delivery.is_stream) {
    return failed(invalid_argument(delivery.method->name + " to " + delivery.member->to_string() +
                                   " answers with a stream; its caller did not ask for one: use "
                                   "stream() instead of call()"));
  }
  if (delivery.is_cancelled) return failed(cancelled("the stream's reader has gone"));
  if (delivery.blocked_write) {
    return failed(resource_exhausted("one write at a time: await the one before"));
  }
  if (delivery.credit == 0) {
    SEAWAY_PROBE("a stream has no credit");
    delivery.blocked_item = std::move(item);
    delivery.blocked_write = std::make_shared<internal::FutureState<void>>(nullptr);
    return Future<void>(delivery.blocked_write);
  }
  --delivery.credit;
  Envelope envelope;
  envelope.kind = Kind::kItem;
  envelope.member = delivery.member->member_name();
  envelope.call = delivery.call;
  envelope.payload = std::move(item);
  post(delivery.from, std::move(envelope));
  return Future<void>::of({});
}

Delivery* current_delivery() { return current; }

}  // namespace seaway::app

namespace seaway::internal {

Invocation* current_invocation() { return app::current; }
Caller* current_caller() { return app::current ? app::current->member : nullptr; }

}  // namespace seaway::internal
