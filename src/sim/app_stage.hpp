// AppStage: what all actors of a world know, and where they and their callers write down what they
// do: in the ledger, which checks it at once, and in the history, which knows nothing of the
// ledger.

#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "seaway/app.hpp"
#include "sim/app_ledger.hpp"
#include "sim/history.hpp"

namespace seaway::sim {

template <bool kTight>
class WorldActor;

/// Outlives all actors.
struct AppStage {
  AppLedger& ledger;
  History& history;
  std::uint32_t hosts = 1;
  /// Runs work outside of all handlers.
  std::function<void(std::function<void()>)> post;
  /// Who may be asked by others, with their levels.
  std::vector<std::pair<std::uint32_t, ActorMesh<WorldActor<false>>>> meshes = {};

  /// The number of the call, which is made now.
  std::uint64_t ask(const AppAsked& asked) { return write(ledger.ask(asked), asked, 0); }
  /// One that takes the answer of another one.
  std::uint64_t ask_with(const AppAsked& asked, std::uint64_t input) {
    return write(ledger.ask_with(asked, input), asked, input);
  }
  void answer(std::uint64_t number, const Status& status, const AppLife& life = {}) {
    history.answer(number, status.code(), life.member, life.incarnation);
    ledger.answer(number, status, life);
  }
  void compare(std::uint64_t number, std::uint64_t got, std::uint64_t wanted) {
    history.compare(number, got, wanted);
    ledger.compare(number, got, wanted);
  }
  void cancel(std::uint64_t number) {
    history.cancel_number(number);
    ledger.cancel(number);
  }
  void hear(const AppCaller& watcher, const Death& death) {
    history.hear({watcher.client, watcher.member, watcher.incarnation}, death);
    ledger.hear(watcher, death);
  }
  /// Something is done of which members die.
  void note_death() {
    history.note_death_wish();
    ++ledger.faults.deaths;
  }
  void note_host_kill() {
    history.note_death_wish();
    ++ledger.faults.host_kills;
  }

 private:
  std::uint64_t write(std::uint64_t number, const AppAsked& asked, std::uint64_t input);
};

}  // namespace seaway::sim
