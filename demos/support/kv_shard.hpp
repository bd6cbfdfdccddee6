// What a shard of the kv demo's store remembers.

#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "demos/kv.capnp.h"
#include "seaway/app.hpp"

namespace seaway::demos::kv {

/// What a shard is: values, and the last answer to each client.
struct Shard {
  std::uint64_t epoch = 0, position = 0;
  std::map<std::uint64_t, std::int64_t> values;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::int64_t>> sessions;  // Number and result.

  void apply(Update::Reader update) {
    epoch = update.getEpoch();
    position = update.getPosition();
    for (auto one : update.getEntries()) values[one.getKey()] = one.getValue();
    for (auto one : update.getSessions()) {
      sessions[one.getClient()] = {one.getNumber(), one.getResult()};
    }
  }
  Message<Update> update() const {
    return make<Update>([this](Update::Builder m) {
      m.setEpoch(epoch);
      m.setPosition(position);
      auto entries = m.initEntries(static_cast<unsigned>(values.size()));
      for (unsigned i = 0; const auto& [key, value] : values) {
        entries[i].setKey(key);
        entries[i++].setValue(value);
      }
      auto answers = m.initSessions(static_cast<unsigned>(sessions.size()));
      for (unsigned i = 0; const auto& [client, last] : sessions) {
        answers[i].setClient(client);
        answers[i].setNumber(last.first);
        answers[i++].setResult(last.second);
      }
    });
  }
};

}  // namespace seaway::demos::kv
