// Draining the outbox: records that are ready together share one `runs` frame.

#include "client/session_actor.hpp"

#include <algorithm>

#include "base/fault_point.hpp"
#include "client/frames.hpp"

namespace seaway::client {
namespace {

/// Most records of one frame, which keeps a frame below 2 MiB.
constexpr std::size_t kRecordsMax = 16384;

}  // namespace

SessionActor::SessionActor(std::shared_ptr<Session> session) : session_(std::move(session)) {
  session_->set_flush([this] { drain(); });
}

SessionActor::~SessionActor() {
  if (session_) session_->set_flush({});
}

void SessionActor::receive(const Frame& frame) {
  if (!session_) return;
  if (!is_bound_ && !session_->wiring().ids) {
    session_->wiring().router->bind(actor::Role::kClient, session_->id(), session_->actor());
    is_bound_ = true;
  }
  if (frame.words().data() == session_->poke().words().data()) {
    if (SEAWAY_FAULT(kLateRecords)) return session_->actor().send(frame);
    drain();
    return;
  }
  // A frame that does not decode names nobody who could be told; requests have their deadlines.
  static_cast<void>(frames::dispatch(frame, *session_));
}

void SessionActor::send(Frame frame) {
  session_->wiring().router->send(actor::Role::kController, 0, std::move(frame));
}

void SessionActor::drain() {
  outbox_.clear();
  session_->take_outbox(outbox_);
  ArrayKeeper* const keeper = session_->wiring().keeper;
  if (keeper) {
    keeper->made(outbox_.made);
    take_drops();
  }
  std::size_t begin = 0, arguments_begin = 0, arguments_end = 0;
  for (std::size_t at = 0; at < outbox_.said.size(); ++at) {
    const Said& said = outbox_.said[at];
    const bool is_frame = said.kind == Said::Kind::kFrame;
    if (is_frame || at - begin == kRecordsMax || (at > begin && SEAWAY_FAULT(kRecordsApart))) {
      send_records(begin, at, arguments_begin, arguments_end);
      begin = at;
      arguments_begin = arguments_end;
    }
    if (is_frame) {
      send(std::move(outbox_.frames[said.object]));
      begin = at + 1;
    } else if (said.kind == Said::Kind::kRun) {
      arguments_end += said.argument_count;
    }
  }
  send_records(begin, outbox_.said.size(), arguments_begin, arguments_end);
  start_limits();
  if (keeper) {
    keeper->dropped(dropped_);
    keeper->asked(outbox_.asked);
    dropped_.clear();
  }
  if (outbox_.is_last) {
    session_->stop_streams();
    session_->stop_all_timers();
    session_->set_flush({});
    if (is_bound_) session_->wiring().router->unbind(actor::Role::kClient, session_->id());
    session_.reset();
  }
  outbox_.clear();
}

/// They may wait until all else has been said.
void SessionActor::take_drops() {
  std::erase_if(outbox_.said, [this](const Said& said) {
    if (said.kind != Said::Kind::kDrop) return false;
    dropped_.push_back(said.id);
    return true;
  });
}

void SessionActor::send_records(std::size_t begin, std::size_t end, std::size_t arguments_begin,
                                std::size_t arguments_end) {
  if (begin == end) return;
  send(frames::runs(
      session_->id(), std::span(outbox_.said).subspan(begin, end - begin),
      std::span(outbox_.arguments).subspan(arguments_begin, arguments_end - arguments_begin)));
}

void SessionActor::start_limits() {
  actor::Engine& engine = *session_->wiring().engine;
  for (const TimeLimit& limit : outbox_.limits) {
    const auto timer = engine.schedule(engine.clock().now_ns() + limit.timeout_ns,
                                       [session = std::weak_ptr(session_), limit] {
                                         if (const auto alive = session.lock()) {
                                           alive->on_time_limit(limit);
                                         }
                                       });
    session_->keep_timer(limit, timer);
  }
}

}  // namespace seaway::client
