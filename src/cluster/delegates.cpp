// Which clients have a delegate here, and what is said to them of arrays that come and go.

#include "cluster/delegates.hpp"

#include <string>
#include <utility>

#include "cluster/delegate.hpp"
#include "cluster/relay_frames.hpp"

namespace seaway::cluster {

using actor::Role;
using app::SiloId;
using client::Holder;

namespace {

std::string name_of_client(ClientId client) { return "client " + std::to_string(client); }

}  // namespace

Delegates::Delegates(actor::Engine& engine, Peers& peers, Actors& actors, DelegatesOptions options)
    : engine_(engine),
      peers_(peers),
      actors_(actors),
      options_(std::move(options)),
      self_{actors.self(), options_.life} {}

Delegates::~Delegates() { close(); }

void Delegates::close() {
  is_closed_ = true;
  for (auto& [client, delegate] : delegates_) {
    delegate->end(cancelled("this host ends, and the session of " + name_of_client(client) +
                            "'s actors with it"));
  }
  delegates_.clear();
}

Delegate* Delegates::find(ClientId client) {
  const auto found = delegates_.find(client);
  return found == delegates_.end() ? nullptr : found->second.get();
}

Result<Delegate*> Delegates::delegate_of(ClientId client) {
  if (Delegate* const found = find(client)) {
    if (!found->session()->is_closed()) return found;
    end(client, cancelled("its session has ended"));
  }
  if (is_closed_ || has_ended(client)) {
    return cancelled(name_of_client(client) + " was lost for host " +
                     std::to_string(options_.host) + ", and its session there with it");
  }
  if (options_.host >= client::kDelegateHostsMax) {
    return resource_exhausted("host " + std::to_string(options_.host) +
                              " has no ids for sessions of actors; hosts below " +
                              std::to_string(client::kDelegateHostsMax) + " have");
  }
  return (delegates_[client] = make_delegate(client)).get();
}

std::shared_ptr<Delegate> Delegates::make_delegate(ClientId client) {
  const RoleName name{Role::kClient, client};
  // Others may have heard of it sooner.
  if (options_.meet && actors_.epoch(actors_.silo_of(name)) == 0) options_.meet(client);
  client::Wiring wiring;
  wiring.client = client;
  wiring.islands = options_.shape.islands;
  wiring.hosts = options_.shape.hosts;
  wiring.devices = options_.devices;
  wiring.device_memory = options_.device_memory;
  wiring.frame_bytes_max = options_.frame_bytes_max;
  wiring.is_process = true;
  wiring.register_native = options_.check_native;
  wiring.open_caller = []() -> Result<std::shared_ptr<internal::Caller>> {
    return invalid_argument(
        "an actor in a host's process calls and spawns others through its Self, not through the "
        "client whose session it works in");
  };
  auto delegate = std::make_shared<Delegate>(engine_, peers_, process_of(name, options_.shape),
                                             client::delegate_name(options_.host, options_.life));
  Delegate::open(delegate, std::move(wiring));
  return delegate;
}

Result<Client> Delegates::client_of(ClientId client) {
  auto delegate = delegate_of(client);
  if (!delegate.ok()) return delegate.status();
  return client::lend_client((*delegate)->session());
}

void Delegates::end(ClientId client, const Status& why) {
  if (ended_.size() <= client) ended_.resize(client + 1);
  ended_[client] = true;
  const auto found = delegates_.find(client);
  if (found == delegates_.end()) return;
  const auto delegate = std::move(found->second);
  delegates_.erase(found);
  delegate->end(why);
}

Status Delegates::on_words(ClientId client, const Frame& frame) {
  const auto words = read_client_words(frame);
  if (!words.ok()) return words.status();
  for (const Holder& other : words->are_gone) {
    if (Status status = answer_when_gone(client, other); !status.ok()) return status;
  }
  Delegate* const delegate = find(client);
  if (!delegate) return {};
  if (words->lease != 0) delegate->add_ids(words->lease);
  for (const ArrayOutcome& outcome : words->outcomes) {
    delegate->session()->on_told(outcome.request, outcome.status);
  }
  if (!words->end.ok()) end(client, words->end);
  return {};
}

Status Delegates::on_answer(ClientId client, Frame frame) {
  const auto answer = read_answer(frame);
  if (!answer.ok()) return answer.status();
  if (answer->kind == Answer::Kind::kOther)
    return protocol_error(name_of_client(client) + " has handed on no answer");
  if (Delegate* const delegate = find(client)) delegate->session()->actor().send(std::move(frame));
  return {};
}

// Losses.

void Delegates::on_silo_lost(SiloId silo, std::uint32_t life) {
  if (actors_.is_client(silo)) {
    const ClientId client = silo - actors_.silo_of({Role::kClient, 0});
    end(client, cancelled(name_of_client(client) + " has gone, and its session with it"));
    questions_.erase(client);
    return;
  }
  std::uint32_t& lost = lost_[silo];
  lost = std::max(lost, life);
  const Holder gone{silo, life};
  for (const auto& [client, delegate] : delegates_) {
    delegate->pending().gone.push_back(gone);
    delegate->say();
  }
  for (auto& [client, others] : questions_) {
    const auto begin = others.lower_bound({silo, 0});
    const auto end = others.upper_bound(gone);
    for (auto other = begin; other != end; ++other) say_gone(client, *other);
    others.erase(begin, end);
  }
}

/// As soon as nothing of what came from `other` is still to be looked at.
Status Delegates::answer_when_gone(ClientId client, const Holder& other) {
  if (other.silo == app::kHub || actors_.is_client(other.silo)) {
    return protocol_error(name_of_client(client) + " asks for the end of silo " +
                          std::to_string(other.silo) + ", which is no host's");
  }
  if (is_over(other)) {
    say_gone(client, other);
    return {};
  }
  std::set<Holder>& others = questions_[client];
  if (others.size() == kQuestionsMax && !others.contains(other)) {
    return protocol_error(name_of_client(client) + " asks for the end of more than " +
                          std::to_string(kQuestionsMax) + " lives of hosts that have not ended");
  }
  others.insert(other);
  return {};
}

/// Nothing that came from it is still to be looked at.
bool Delegates::is_over(const Holder& other) const {
  const auto lost = lost_.find(other.silo);
  if (lost != lost_.end() && lost->second >= other.life) return true;
  // It was never heard here.
  return actors_.epoch(other.silo) == app::Network::kUnheard;
}

void Delegates::say_gone(ClientId client, const Holder& gone) {
  if (Delegate* const delegate = find(client)) {
    delegate->pending().gone.push_back(gone);
    return delegate->say();
  }
  DelegateWords words;
  words.gone.push_back(gone);
  peers_.send_relayed(process_of({Role::kClient, client}, options_.shape), kRelayWords,
                      to_frame(words), transport::Lane::kControl);
}

// Arrays.

Status Delegates::check(const Array& array) {
  if (!array) return {};
  const auto& session = array.cell()->record().origin->session;
  const ClientId client = session->id();
  if (array.cell()->record().is_local) {
    return invalid_argument("an array that was made in debug mode does not travel");
  }
  const bool is_to_client = actors_.is_client(to_.silo);
  if (to_.silo == app::kHub ||
      (is_to_client && to_.silo != actors_.silo_of({Role::kClient, client}))) {
    return invalid_argument(array.to_string() + " cannot be given to " +
                            app::silo_name(to_.silo, actors_.silo_of({Role::kClient, 0})) +
                            ": arrays of " + name_of_client(client) +
                            " are for its own actors and itself; send the values");
  }
  const Delegate* const delegate = find(client);
  if (delegate && delegate->session() == session && !session->is_closed()) return {};
  return cancelled(array.to_string() + " went with the session of " + name_of_client(client));
}

Frame Delegates::give(const Array& array) {
  GivenArray given{client::describe(array), self_, 0};
  if (given.array.id != 0) {
    Delegate& delegate = *find(given.array.client);
    // Whoever reads what it says of the array waits for all that it has said until now.
    delegate.session()->flush();
    if (given.array.maker.holder == Holder()) given.array.maker = {self_, delegate.said()};
    given.number = delegate.next_grant();
    given_.push_back({given.array.client, {given.array.id, to_, given.number}});
  }
  return to_frame(given);
}

/// Before the message leaves, so that the client hears of it before anything that this process says
/// later of the same array.
void Delegates::commit() {
  for (const Given& given : given_) {
    find(given.client)->pending().grants.push_back(given.grant);
  }
  for (const Given& given : given_) find(given.client)->say();
  given_.clear();
}

Result<Array> Delegates::take(const Frame& frame, SiloId from) {
  const auto given = read_given_array(frame);
  if (!given.ok()) return given.status();
  const client::TravellingArray& array = given->array;
  if (array.client == 0) return Array();
  if (array.id != 0 && seaway::client_of(array.id) != array.client) {
    return protocol_error("array " + std::to_string(array.id) + " is not one of " +
                          name_of_client(array.client));
  }
  if (actors_.is_client(from) && actors_.client_of_silo(from) != array.client) {
    return protocol_error(app::silo_name(from, actors_.hosts()) + " may not give an array of " +
                          name_of_client(array.client));
  }
  if (array.id != 0 && given->from.silo != from) {
    return protocol_error("silo " + std::to_string(from) + " gives an array of another silo");
  }
  const auto delegate = delegate_of(array.client);
  if (!delegate.ok()) return lost_array(array, delegate.status());
  if (array.id != 0) {
    (*delegate)->pending().imports.push_back({array.id, given->from, given->number, array.maker});
  }
  return (*delegate)->session()->import_array(array);
}

/// It says itself what became of it, in a session that has ended.
Array Delegates::lost_array(const client::TravellingArray& array, Status why) {
  const auto delegate = make_delegate(array.client);
  const auto session = delegate->session();
  delegate->end(why);
  client::TravellingArray lost = array;
  lost.id = 0;
  lost.outcome = std::move(why);
  return session->import_array(lost);
}

}  // namespace seaway::cluster
