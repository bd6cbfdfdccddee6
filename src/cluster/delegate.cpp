// A session whose frames go to another process.

#include "cluster/delegate.hpp"

#include <string>
#include <utility>

namespace seaway::cluster {

using actor::Role;

Delegate::Delegate(actor::Engine& engine, Peers& peers, transport::ProcessId client,
                   const client::DelegateName& name)
    : engine_(engine),
      peers_(peers),
      client_(client),
      ids_(std::make_shared<client::IdBlocks>(name)),
      first_request_(client::first_request_of(name)) {
  router_.set_elsewhere([this](Role role, std::uint32_t index, Frame frame, transport::Lane lane) {
    relay(role, index, std::move(frame), lane);
  });
}

std::shared_ptr<client::Session> Delegate::open(const std::shared_ptr<Delegate>& delegate,
                                                client::Wiring wiring) {
  wiring.engine = &delegate->engine_;
  wiring.router = &delegate->router_;
  wiring.bulk = &delegate->bulk_;
  wiring.keeper = delegate.get();
  wiring.ids = delegate->ids_;
  wiring.first_request = delegate->first_request_;
  wiring.owns = delegate;
  delegate->session_ = client::make_session(std::move(wiring), {});
  return delegate->session_;
}

void Delegate::end(const Status& why) {
  const auto session = std::exchange(session_, nullptr);
  pending_ = {};
  if (session) session->lose(why);
}

void Delegate::say(Frame frame) {
  if (!session_) return;
  DelegateWords words = std::exchange(pending_, {});
  words.frame = std::move(frame);
  words.wants_ids = ids_->wants_more();
  if (words.empty()) return;
  words.number = ++said_;
  peers_.send_relayed(client_, kRelayWords, to_frame(words), transport::Lane::kControl);
}

void Delegate::relay(Role role, std::uint32_t index, Frame frame, transport::Lane lane) {
  if (!session_) return;
  // Payload, for a host.
  if (role == Role::kHost) return peers_.send_relayed(client_, 1 + index, std::move(frame), lane);
  if (frame.size_bytes() <= transport::kUserFrameBytesMax) return say(std::move(frame));
  // One frame less would go unnoticed; the end of the session does not.
  engine_.post([session = session_, bytes = frame.size_bytes()] {
    session->lose(resource_exhausted("an actor in a host's process has said " +
                                     std::to_string(bytes) + " bytes at once; the limit is " +
                                     std::to_string(transport::kUserFrameBytesMax) +
                                     ": let the client capture a program that large"));
  });
}

void Delegate::made(std::span<const client::Made> made) {
  pending_.made.insert(pending_.made.end(), made.begin(), made.end());
}

void Delegate::dropped(std::span<const ArrayId> arrays) {
  pending_.drops.insert(pending_.drops.end(), arrays.begin(), arrays.end());
  say();
}

void Delegate::asked(std::span<const client::Asked> asked) {
  pending_.asks.insert(pending_.asks.end(), asked.begin(), asked.end());
  say();
}

}  // namespace seaway::cluster
