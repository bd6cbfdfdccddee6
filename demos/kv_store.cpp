// Decisions, and where they are kept.

#include "demos/kv_store.hpp"

#include <string>

namespace seaway::demos::kv {

std::int64_t Data::value(std::uint64_t key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? 0 : found->second;
}

Data::Session Data::session(std::uint32_t client) const {
  const auto found = sessions_.find(client);
  return found == sessions_.end() ? Session() : found->second;
}

void Data::apply(Decision::Reader decision) {
  position_ = decision.getPosition();
  values_[decision.getKey()] = decision.getValue();
  sessions_[decision.getClient()] = {decision.getNumber(), decision.getResult()};
}

void Data::save(State::Builder state) const {
  state.setPosition(position_);
  auto entries = state.initEntries(static_cast<unsigned>(values_.size()));
  unsigned i = 0;
  for (const auto& [key, value] : values_) {
    entries[i].setKey(key);
    entries[i++].setValue(value);
  }
  auto sessions = state.initSessions(static_cast<unsigned>(sessions_.size()));
  i = 0;
  for (const auto& [client, session] : sessions_) {
    sessions[i].setClient(client);
    sessions[i].setNumber(session.number);
    sessions[i++].setResult(session.result);
  }
}

void Data::load(State::Reader state) {
  *this = Data();
  position_ = state.getPosition();
  for (const auto entry : state.getEntries()) values_[entry.getKey()] = entry.getValue();
  for (const auto session : state.getSessions()) {
    sessions_[session.getClient()] = {session.getNumber(), session.getResult()};
  }
}

Status Replica::check(std::uint64_t epoch) {
  if (epoch < epoch_) {
    return invalid_argument("the primary of epoch " + std::to_string(epoch) +
                            " has been replaced by that of epoch " + std::to_string(epoch_));
  }
  epoch_ = epoch;
  return {};
}

Result<Reply<State>> Replica::follow(Request<Follow> request) {
  if (Status status = check(request->getEpoch()); !status.ok()) return status;
  return save();
}

Status Replica::install(Request<State> request) {
  if (Status status = check(request->getEpoch()); !status.ok()) return status;
  data_.load(*request);
  return {};
}

Status Replica::store(Request<Decision> request) {
  if (Status status = check(request->getEpoch()); !status.ok()) return status;
  // A primary that has not heard the answer sends it again.
  if (request->getPosition() == data_.position()) return {};
  if (request->getPosition() != data_.position() + 1) {
    return invalid_argument("decision " + std::to_string(request->getPosition()) +
                            " cannot follow " + std::to_string(data_.position()));
  }
  data_.apply(*request);
  return {};
}

Message<State> Replica::save() const {
  return make<State>([this](State::Builder m) {
    m.setEpoch(epoch_);
    data_.save(m);
  });
}

Status Replica::restore(Message<State> state) {
  epoch_ = state->getEpoch();
  data_.load(*state);
  return {};
}

/// A new incarnation is a new epoch: no two primaries of a shard ever share one.
Primary::Primary(Self self, const ActorMesh<Replica>& replicas)
    : epoch_(self.incarnation()),
      replicas_(replicas.sub("shard", {self.index(), self.index() + 1})) {}

/// Only one command at a time is in here: while it waits, the next ones wait in the mailbox.
Task<Reply<Answer>> Primary::execute(Request<Command> request) {
  if (!is_leading_) {
    if (Status status = co_await lead(); !status.ok()) co_return status;
  }
  const std::uint64_t last = data_.session(request->getClient()).number;
  if (request->getNumber() < last) {
    co_return invalid_argument("its client has asked something else since then");
  }
  if (request->getNumber() > last) {
    const Message<Decision> decision = decide(*request);
    const auto stored = co_await replicas_.call(&Replica::store, decision, kAgain).all();
    for (const auto& one : stored.value()) {
      if (one.ok()) continue;
      // Some may have it and some not: find out before anything else is decided.
      is_leading_ = false;
      co_return one.status();
    }
    data_.apply(*decision);
  }
  co_return make<Answer>([&](Answer::Builder m) {
    m.setResult(data_.session(request->getClient()).result);
    m.setEpoch(epoch_);
  });
}

Task<Status> Primary::lead() {
  const auto states =
      co_await replicas_
          .call(
              &Replica::follow, [this](Follow::Builder m) { m.setEpoch(epoch_); }, kAgain)
          .all();
  for (const auto& state : states.value()) {
    if (!state.ok()) co_return state.status();
    if (state.value()->getPosition() >= data_.position()) data_.load(**state);
  }
  const auto installed = co_await replicas_
                             .call(
                                 &Replica::install,
                                 [this](State::Builder m) {
                                   m.setEpoch(epoch_);
                                   data_.save(m);
                                 },
                                 kAgain)
                             .all();
  for (const auto& one : installed.value()) {
    if (!one.ok()) co_return one.status();
  }
  is_leading_ = true;
  co_return Status();
}

Message<Decision> Primary::decide(Command::Reader command) const {
  std::int64_t value = data_.value(command.getKey());
  std::int64_t result = 0;
  switch (command.getKind()) {
    case Command::Kind::GET:
      result = value;
      break;
    case Command::Kind::PUT:
      value = command.getValue();
      break;
    case Command::Kind::SWAP:
      result = value == command.getExpected();
      if (result != 0) value = command.getValue();
      break;
  }
  return make<Decision>([&](Decision::Builder m) {
    m.setEpoch(epoch_);
    m.setPosition(data_.position() + 1);
    m.setKey(command.getKey());
    m.setValue(value);
    m.setClient(command.getClient());
    m.setNumber(command.getNumber());
    m.setResult(result);
  });
}

}  // namespace seaway::demos::kv
