// AppLedger: what was asked in a world of actors, who handled it, what came of it; and which
// promise that breaks.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "seaway/app/runtime.hpp"
#include "sim/verdict.hpp"
#include "sim/world_trace.hpp"

namespace seaway::sim {

/// In whose name something is asked: a client, or one life of a member.
struct AppCaller {
  std::uint32_t client = 0;  // 0: a member.
  MemberName member;
  std::uint32_t incarnation = 0;
  friend auto operator<=>(const AppCaller&, const AppCaller&) = default;
  std::string to_string() const;
};

/// One life of one member.
struct AppLife {
  MemberName member;
  std::uint32_t incarnation = 0;
  friend auto operator<=>(const AppLife&, const AppLife&) = default;
  std::string to_string() const;
};

/// What is known of a request when it is asked.
struct AppAsked {
  AppCaller caller;
  std::string_view what;          // "Plain"; static.
  std::uint64_t deadline_ns = 0;  // How long; 0: as long as calls have that name none.
  std::uint32_t retries = 0;
  std::uint32_t members = 1;  // Who answer, each once.
  bool is_once = false;
  bool is_send = false;       // Nobody waits for an answer.
  bool is_tight = false;      // Of a member with a small mailbox: it may be full.
  bool is_failing = false;    // The handler is asked to fail.
  bool is_cancelled = false;  // Its caller has given it up.
  bool has_input = false;     // It waits for another call's answer.
};

/// What has happened so far that excuses failures.
struct AppFaults {
  std::uint64_t deaths = 0;  // Members that were killed, stopped or have thrown.
  std::uint64_t host_kills = 0;
  std::uint64_t pauses = 0, wrong_clocks = 0;  // Of hosts.
  std::uint64_t late_ns = 0;                   // By so much those may have held up anybody.
};

/// Told of everything by the bodies and actors of a world, in order. Checks:
/// AP-1  each call has an outcome, at its deadline at the latest, and a reason for a failure
/// AP-2  what one caller sends to one member is begun in the order of sending
/// AP-3  a message is handled at most once; one with an id at most once in a life
/// AP-5  while a handler waits none begins but those that are marked
/// AP-6  nothing is left over
/// AP-8  a life that was replaced neither begins nor answers
/// AP-9  who watches hears of each death once, in the order of the member's lives; nobody else does
class AppLedger {
 public:
  AppLedger(Verdict& verdict, std::function<std::uint64_t()> now_ns)
      : verdict_(verdict), now_ns_(std::move(now_ns)) {}

  /// Its number, which rises.
  std::uint64_t ask(const AppAsked& asked);
  /// The one that has the answer of `source` as its request.
  std::uint64_t ask_with(const AppAsked& asked, std::uint64_t source);
  std::uint64_t next_in_chain(std::uint64_t source) const;
  void cancel(std::uint64_t number) { record(number).asked.is_cancelled = true; }

  /// A handler begins; and ends, also when its coroutine ends with its member.
  void begin(std::uint64_t number, const AppLife& life, bool is_marked);
  void end(std::uint64_t number, const AppLife& life, bool is_marked);
  /// The outcome of a call; `life` of who answered, if that is known.
  void answer(std::uint64_t number, const Status& status, const AppLife& life = {});
  /// A value that was answered, against the one that is right.
  void compare(std::uint64_t number, std::uint64_t value, std::uint64_t right);
  /// An actor's object begins, and ends.
  void be_born(const AppLife& life, std::uint32_t host = 0);
  void die(const AppLife& life);
  /// `watcher` begins to watch a mesh of a client's, or one member of it; each mesh once.
  void watch(const AppCaller& watcher, std::uint64_t mesh,
             std::optional<std::uint32_t> index = std::nullopt);
  /// `watcher` is told of a death, by the watch that it has of that mesh.
  void hear(const AppCaller& watcher, const Death& death);
  /// A deposit is added to a state that has it already.
  void deposit_twice(std::uint64_t number, const AppLife& life);
  /// A deposit that was answered is not in the state that is left.
  void deposit_lost(std::uint64_t number, MemberName member);
  /// `count` messages of one silo are at one member.
  void fill(MemberName member, std::uint32_t silo, std::uint64_t count, std::uint64_t max);
  /// The world has ended.
  void finish();

  AppFaults faults;
  const std::map<std::string_view, std::uint64_t>& counts() const { return counts_; }
  std::uint64_t hash() const { return hash_; }
  /// The newest ones, a line each.
  std::string story(std::size_t lines_max) const;
  /// How many lines there would be of all.
  std::uint64_t events() const { return events_.size(); }
  /// Onto tracks of hosts and clients, with an arrow from each request to whoever handles it.
  void draw(WorldTrace& trace) const;
  bool is_answered(std::uint64_t number) const { return records_[number - 1].outcomes > 0; }
  bool was_fine(std::uint64_t number) const { return records_[number - 1].is_fine; }

 private:
  struct Record {
    AppAsked asked;
    std::uint64_t asked_ns = 0;
    std::uint32_t outcomes = 0;
    bool is_fine = false;
    std::uint64_t next = 0;  // Whose request its answer is.
    std::map<AppLife, std::uint32_t> begun;
  };
  struct Event {
    std::uint64_t at_ns = 0, number = 0;
    const char* what = "";
    AppLife life;
    StatusCode code = StatusCode::kOk;
  };
  Record& record(std::uint64_t number) { return records_[number - 1]; }
  void note(const char* what, std::uint64_t number, const AppLife& life,
            StatusCode code = StatusCode::kOk);
  void complain(const char* invariant, std::string text, Breach breach = Breach::kCorrectness,
                const std::source_location& at = std::source_location::current());
  std::string name(std::uint64_t number) const;
  bool is_excused(const Record& record, StatusCode code) const;

  Verdict& verdict_;
  const std::function<std::uint64_t()> now_ns_;
  std::vector<Record> records_;
  std::vector<Event> events_;
  std::map<AppLife, std::uint32_t> hosts_;  // Where each life was.
  std::map<std::pair<AppCaller, MemberName>, std::uint64_t> last_begun_;
  std::map<std::pair<AppCaller, MemberName>, std::uint32_t> last_answered_;  // Incarnations.
  std::map<MemberName, std::uint32_t> newest_;                               // The same.
  std::map<std::pair<AppCaller, MemberName>, Death> last_heard_;
  std::set<std::uint64_t> watched_;  // Meshes that anybody watches.
  /// Which member of a mesh; nothing: all of them.
  std::map<std::pair<AppCaller, std::uint64_t>, std::optional<std::uint32_t>> watches_;
  std::map<AppLife, std::uint32_t> alive_;    // Objects.
  std::map<AppLife, std::uint64_t> waiting_;  // Handlers that let no other begin.
  std::uint64_t open_handlers_ = 0;
  std::map<std::string_view, std::uint64_t> counts_;
  std::uint64_t hash_ = 0;
};

}  // namespace seaway::sim
