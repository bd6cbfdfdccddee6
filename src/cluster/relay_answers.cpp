// What comes back for delegates, and which arrays the client and its actors share.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "cluster/relay.hpp"

namespace seaway::cluster {

using app::SiloId;
using transport::Lane;

namespace {

Status never_begun(client::Holder by, ArrayId array) {
  return input_lost("array " + client::name_of(array) +
                    " is lost: the session of the actors on host " +
                    std::to_string(app::host_of_silo(by.silo)) +
                    " ended before it had said how the array is made; make it again");
}

}  // namespace

void Relay::hand_on_to(const Holder& to, Frame frame, Lane lane) {
  const auto speaker = speakers_.find(to);
  if (speaker == speakers_.end() || speaker->second.is_gone) return;
  peers_.send_relayed(actors_.process_of_silo(to.silo), 1, std::move(frame), lane);
}

bool Relay::hand_on(const Frame& frame) {
  if (speakers_.empty() && runs_.empty() && puts_.empty()) return true;
  const auto answer = read_answer(frame);
  if (!answer.ok()) return true;
  switch (answer->kind) {
    case Answer::Kind::kReply:
    case Answer::Kind::kValue: {
      if (!client::is_delegates_request(answer->id)) return true;
      const bool is_value = answer->kind == Answer::Kind::kValue;
      hand_on_to(owner_of_request(answer->id), frame, is_value ? Lane::kBulk : Lane::kControl);
      return false;
    }
    case Answer::Kind::kPull:
      if (!is_of_delegate(answer->id)) return true;
      hand_on_to(owner_of(answer->id), frame, Lane::kControl);
      return false;
    case Answer::Kind::kFetched: {
      std::set<Holder> owners;
      bool is_own = false;
      for (const std::uint64_t request : answer->requests) {
        if (client::is_delegates_request(request)) {
          owners.insert(owner_of_request(request));
        } else {
          is_own = true;
        }
      }
      // Behind the values. Whoever is not meant ignores what it does not know.
      for (const Holder& owner : owners) hand_on_to(owner, frame, Lane::kBulk);
      return is_own;
    }
    case Answer::Kind::kResolved:
      return hand_on_resolved(*answer);
    case Answer::Kind::kOther:
      break;
  }
  return true;
}

/// Runs under the ids of those who began them.
bool Relay::hand_on_resolved(const Answer& answer) {
  std::map<Holder, std::vector<ResolvedRun>> all;
  bool is_own = false;
  for (const auto& [id, outcome] : answer.resolved) {
    if (is_of_delegate(id)) {
      resolve(id, outcome);
      all[owner_of(id)].push_back({id, outcome});
      continue;
    }
    const auto run = runs_.find(id);
    if (run == runs_.end()) {
      is_own = true;
      continue;
    }
    const auto [owner, theirs] = run->second;
    runs_.erase(run);
    run_ids_.erase(theirs);
    resolve(theirs, outcome);
    all[owner].push_back({theirs, outcome});
  }
  for (const auto& [owner, outcomes] : all) {
    hand_on_to(owner, resolved_frame(options_.client, outcomes), Lane::kControl);
  }
  return is_own;
}

// Outcomes.

void Relay::resolve(RunId run, const Status& status) {
  puts_.erase(run);
  const auto found = outcomes_.find(run);
  if (found == outcomes_.end()) return;
  found->second.is_known = true;
  found->second.status = status;
  for (const Ask& ask : std::exchange(found->second.asks, {})) tell(ask, status);
}

void Relay::tell(const Ask& ask, const Status& status) {
  if (ask.by == self_) return session_->on_told(ask.request, status);
  if (!speakers_.contains(ask.by)) return;
  ClientWords words;
  words.outcomes.push_back({ask.request, status});
  send(ask.by, words);
}

/// What it has made is said ahead of what begins the run, and nothing more comes from it.
void Relay::give_up_unbegun(Holder by) {
  std::map<RunId, ArrayId> unbegun;  // With the first array of each.
  for (const auto& [array, run] : makers_) {
    if (!is_its(by, run)) continue;
    const auto outcome = outcomes_.find(run);
    if (outcome->second.is_known || outcome->second.is_begun) continue;
    ArrayId& first = unbegun.emplace(run, array).first->second;
    first = std::min(first, array);
  }
  for (const auto& [run, array] : unbegun) resolve(run, never_begun(by, array));
}

void Relay::ask(const Ask& ask, const client::Asked& about) {
  if (const auto own = own_.find(about.array); own != own_.end()) {
    static_cast<void>(own->second.ready().then(
        inline_executor(),
        [this, &engine = engine_, here = is_here_, ask](const Result<void>& outcome) {
          engine.post([this, here, ask, status = outcome.status()] {
            if (*here) tell(ask, status);
          });
        }));
    return;
  }
  const auto found = outcomes_.find(about.run);
  if (found == outcomes_.end()) {
    const Holder by = is_of_delegate(about.run) ? owner_of(about.run) : Holder();
    if (by.life != 0 && !may_speak(by)) return tell(ask, never_begun(by, about.array));
    return tell(ask, invalid_argument("array " + client::name_of(about.array) +
                                      " is gone, and what became of it is not known any more"));
  }
  if (found->second.is_known) return tell(ask, found->second.status);
  found->second.asks.push_back(ask);
}

// Arrays.

void Relay::dropped(std::span<const ArrayId> arrays) {
  for (const ArrayId array : arrays) shared_.drop(self_, array);
  release();
}

void Relay::asked(std::span<const client::Asked> asked) {
  for (const client::Asked& one : asked) ask({self_, one.request}, one);
}

/// What nobody holds any more.
void Relay::release() {
  for (const ArrayId array : shared_.take_released()) {
    // Then it is the client's own, who releases it when it drops it.
    if (own_.erase(array) > 0) continue;
    if (session_) {
      client::Said said{.kind = client::Said::Kind::kRelease, .id = array};
      session_->say_for_delegate(std::span(&said, 1), {});
    }
    const auto maker = makers_.find(array);
    if (maker == makers_.end()) continue;
    const auto outcome = outcomes_.find(maker->second);
    makers_.erase(maker);
    if (outcome == outcomes_.end() || --outcome->second.arrays > 0) continue;
    const std::vector<Ask> asks = std::move(outcome->second.asks);
    outcomes_.erase(outcome);
    for (const Ask& ask : asks) {
      tell(ask, invalid_argument("array " + client::name_of(array) + " was let go by all"));
    }
  }
}

Status Relay::check(const Array& array) {
  if (!array) return {};
  const auto& record = array.cell()->record();
  if (record.is_local) {
    return invalid_argument("an array that was made in debug mode does not travel");
  }
  if (record.origin->session != session_) {
    return invalid_argument(array.to_string() +
                            " is of another client or cluster, and cannot be given to actors here");
  }
  if (to_.silo != app::kHub && !actors_.is_client(to_.silo)) {
    if (!is_gone(to_)) return {};
    return Status(StatusCode::kHostLost,
                  array.to_string() + " cannot be given to host " +
                      std::to_string(app::host_of_silo(to_.silo)) + ", which was lost for client " +
                      std::to_string(options_.client) +
                      " before: it holds no arrays of the client until it has begun anew");
  }
  return invalid_argument(array.to_string() + " cannot be given to " +
                          app::silo_name(to_.silo, actors_.silo_of({actor::Role::kClient, 0})) +
                          ": arrays of client " + std::to_string(options_.client) +
                          " are for its own actors and itself; send the values");
}

Frame Relay::give(const Array& array) {
  GivenArray given{client::describe(array), self_, 0};
  const ArrayId id = given.array.id;
  if (id != 0) {
    // What the client has said of its own is ahead of all that its delegates say.
    if (given.array.maker.holder == Holder()) {
      given.array.maker = {self_, 0};
      own_.emplace(id, array);
    }
    given.number = ++grants_;
    given_.push_back({id, to_, given.number});
  }
  return to_frame(given);
}

void Relay::commit() {
  for (const ArrayGrant& one : given_) shared_.grant(self_, one.to, one.number, one.array);
  discard();
  release();
}

void Relay::discard() {
  for (const ArrayGrant& one : std::exchange(given_, {})) {
    if (!shared_.knows(one.array)) own_.erase(one.array);
  }
}

/// The delegates for whose words it waits are ended, and say nothing more.
void Relay::give_up_early(const Status& why) {
  std::set<Holder> late;
  for (const client::ArrayMaker& maker : early_) late.insert(maker.holder);
  for (const Holder& one : late) refuse(one, speakers_[one], why);
}

Result<Array> Relay::take(const Frame& frame, SiloId from) {
  const auto given = read_given_array(frame);
  if (!given.ok()) return given.status();
  const client::TravellingArray& array = given->array;
  if (array.client == 0) return Array();
  const bool is_of_sender = array.id == 0 || given->from.silo == from;
  const bool is_of_client = array.id == 0 || client_of(array.id) == options_.client;
  if (array.client != options_.client || !is_of_client || !is_of_sender) {
    return protocol_error("silo " + std::to_string(from) +
                          " gives an array that is not its own or this client's");
  }
  if (!session_) return Array();
  if (array.id == 0) return session_->import_array(array);
  const bool is_delegates = is_of_delegate(array.id);
  if (is_delegates && !is_maker(array.maker, array.id)) {
    return protocol_error("silo " + std::to_string(from) + " gives array " +
                          client::name_of(array.id) + " of another maker than it names");
  }
  shared_.import(self_, given->from, given->number, array.id);
  if (is_delegates) {
    if (!is_met(self_, array.maker)) {
      if (early_.empty()) early_since_ns_ = engine_.clock().now_ns();
      early_.push_back(array.maker);
      watch_waits();
    }
    return session_->import_array(array);
  }
  // It has come home.
  const auto own = own_.find(array.id);
  const Array home = own == own_.end() ? Array() : own->second;
  shared_.drop(self_, array.id);
  release();
  return home;
}

}  // namespace seaway::cluster
