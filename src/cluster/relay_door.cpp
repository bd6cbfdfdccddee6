// What a delegate may say in its client's name, and whose an id is.

#include <seaway.capnp.h>

#include <string>

#include "cluster/door.hpp"
#include "cluster/relay.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::cluster {

using actor::Role;
using wire::ClientRecord;
using wire::Message;

client::Holder Relay::owner_of_request(std::uint64_t request) const {
  const client::DelegateName name = client::delegate_of_request(request);
  return {app::silo_of_host(name.host), client::whole_life(name, options_.life)};
}

Relay::Holder Relay::owner_of(std::uint64_t id) const {
  if (client::is_in_first_block(id)) {
    const client::DelegateName name = client::delegate_of_id(id);
    return {app::silo_of_host(name.host), client::whole_life(name, options_.life)};
  }
  const std::uint64_t block = client::lease_of_id(id);
  return is_of_delegate(id) && block < leases_.size() ? leases_[block] : Holder();
}

bool Relay::is_its(Holder by, std::uint64_t id) const {
  return client_of(id) == options_.client && owner_of(id) == by;
}

/// Whether `maker` may have announced `array`, or needs no announcement.
bool Relay::is_maker(const client::ArrayMaker& maker, ArrayId array) const {
  return maker.said == 0 || owner_of(array) == maker.holder;
}

Status Relay::check_words(Holder by, const DelegateWords& words) const {
  const auto wrong = [by](const char* what) {
    return protocol_error("silo " + std::to_string(by.silo) + " has named " + what +
                          " that is not its own");
  };
  for (const client::Made& made : words.made) {
    if (made.count == 0 || !is_its(by, made.run)) return wrong("a run");
    if (!is_its(by, made.first) || !is_its(by, made.first + made.count - 1)) {
      return wrong("an array");
    }
  }
  const auto is_array = [this](ArrayId array) { return client_of(array) == options_.client; };
  for (const ArrayImport& one : words.imports) {
    if (!is_array(one.array)) return wrong("an array");
    if (!is_maker(one.maker, one.array)) return wrong("a maker");
  }
  for (const ArrayGrant& one : words.grants) {
    if (!is_array(one.array)) return wrong("an array");
  }
  for (const client::Asked& ask : words.asks) {
    if (owner_of_request(ask.request) != by) return wrong("a request");
  }
  return words.frame.empty() ? Status() : check_frame(by, words.frame);
}

Status Relay::check_frame(Holder by, const Frame& frame) const {
  const RoleName self{Role::kClient, options_.client};
  const DoorLimits limits{options_.shape.islands, options_.devices};
  if (Status status = check_at_door(self, {Role::kController, 0}, frame, limits); !status.ok()) {
    return status;
  }
  const std::string who = "a delegate in silo " + std::to_string(by.silo);
  const auto wrong = [&who](const char* what, std::uint64_t id) {
    return protocol_error(who + " has named " + what + " " + std::to_string(id) +
                          ", which is not its own");
  };
  return wire::read_frame<Message>(frame, [&](Message::Reader message) -> Status {
    switch (message.which()) {
      case Message::DEFINE_FUNCTION: {
        const std::uint64_t id = message.getDefineFunction().getId();
        return is_its(by, id) ? Status() : wrong("function", id);
      }
      case Message::DEFINE_PROGRAM: {
        const std::uint64_t id = message.getDefineProgram().getId();
        return is_its(by, id) ? Status() : wrong("program", id);
      }
      case Message::REQUEST: {
        const auto request = message.getRequest();
        if (request.isDefineForeign() && !is_its(by, request.getDefineForeign().getId())) {
          return wrong("function", request.getDefineForeign().getId());
        }
        if (request.isDefineSpec() && !is_its(by, request.getDefineSpec().getId())) {
          return wrong("spec", request.getDefineSpec().getId());
        }
        const std::uint64_t number = request.getRequest();
        return owner_of_request(number) == by ? Status() : wrong("request", number);
      }
      case Message::RUNS:
        break;
      default:
        return protocol_error(who + " has said a message of kind " +
                              std::to_string(static_cast<unsigned>(message.which())) +
                              ", which is the client's own to say");
    }
    const auto runs = message.getRuns();
    const std::uint64_t ids = runs.getIds().size();
    for (const auto record : runs.getRecords()) {
      if (std::uint64_t{record.getArgBegin()} + record.getArgCount() > ids) {
        return wrong("arguments up to", record.getArgBegin() + record.getArgCount());
      }
      bool is_own = false;
      switch (record.getKind()) {
        case ClientRecord::Kind::RUN:
          is_own = is_its(by, record.getId()) && is_its(by, record.getFirst());
          break;
        case ClientRecord::Kind::PUT:
        case ClientRecord::Kind::CANCEL:
        case ClientRecord::Kind::FORGET:
          is_own = is_its(by, record.getId());
          break;
        case ClientRecord::Kind::FETCH:
          is_own = owner_of_request(record.getObject()) == by &&
                   client::is_delegates_request(record.getObject());
          break;
        case ClientRecord::Kind::GOT:
          is_own = owner_of_request(record.getId()) == by &&
                   client::is_delegates_request(record.getId());
          break;
        case ClientRecord::Kind::RELEASE:
          break;  // The client releases when nobody holds it.
      }
      if (!is_own) return wrong("in a record", record.getId());
    }
    return {};
  });
}

}  // namespace seaway::cluster
