// What holds for calls of actors.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "sim/history_checker.hpp"

namespace seaway::sim {
namespace {

/// What callers of actors may be told. Tokens, frames and devices are not their concern here.
constexpr CodeSet kActorCodes = {
    StatusCode::kOk,        StatusCode::kInvalidArgument,   StatusCode::kResourceExhausted,
    StatusCode::kCancelled, StatusCode::kDeadlineExceeded,  StatusCode::kInputLost,
    StatusCode::kHostLost,  StatusCode::kUserFunctionError, StatusCode::kActorLost,
    StatusCode::kNotFound,
};

class ActorHistory {
 public:
  ActorHistory(const History& history, const TesterDeeds& deeds, std::vector<Violation>& violations)
      : history_(history), deeds_(deeds), violations_(violations) {}

  void check() {
    for (CallId id = 0; id < history_.calls.size(); ++id) {
      if (history_.calls[id].kind == CallKind::kSpawn) spawns_.push_back(id);
    }
    for (CallId id = 0; id < history_.calls.size(); ++id) {
      const HistoryCall& call = history_.calls[id];
      if (call.kind < CallKind::kAsk) continue;
      check_outcome(id, call);
      if (call.outcomes > 0) check_code(id, call);
      if (call.kind == CallKind::kSpawn || call.kind == CallKind::kFind) check_name(id, call);
    }
    check_handlings();
    check_answers();
    check_deaths();
    check_audits();
  }

 private:
  void report(const char* promise, CallId id, const std::string& text,
              Breach breach = Breach::kCorrectness) {
    if (!told_.insert(promise).second) return;
    std::string who = "of no call";
    if (id < history_.calls.size()) {
      const HistoryCall& call = history_.calls[id];
      const Caller& caller = call.caller;
      who = caller.client != 0 ? "client " + std::to_string(caller.client)
                               : "member " + name_of(caller.member, caller.incarnation);
      who += ", call " + std::to_string(id) + ", a " + std::string(to_string(call.kind)) +
             " with number " + std::to_string(call.number) + " at " +
             std::to_string(call.begun_ns) + " ns";
    }
    violations_.push_back({breach, promise, who + ": " + text});
  }
  static std::string name_of(MemberName member, std::uint32_t incarnation) {
    return std::to_string(member.mesh) + "[" + std::to_string(member.index) + "] in life " +
           std::to_string(incarnation);
  }

  void check_outcome(CallId id, const HistoryCall& call) {
    if (call.kind == CallKind::kTell) return;
    if (call.outcomes > call.members) {
      return report("H-AP1", id, "it had " + std::to_string(call.outcomes) + " outcomes");
    }
    // The calls of a member end with it, and of its life nobody hears the end.
    if (call.caller.client != 0 && history_.ends.contains(call.caller.client) &&
        call.outcomes < call.members) {
      return report("H-AP1", id,
                    "it had " + std::to_string(call.outcomes) + " outcomes of " +
                        std::to_string(call.members),
                    Breach::kLiveness);
    }
    if (call.outcomes == 0 || call.deadline_ns == 0) return;
    // A clock that is slow by a fifth makes a deadline late by a quarter.
    const bool is_by_wrong_clock = call.caller.client == 0 && deeds_.has_wrong_clocks;
    const std::uint64_t slow_ns = is_by_wrong_clock ? (call.deadline_ns - call.begun_ns) / 4 : 0;
    if (call.ended_ns > call.deadline_ns + deeds_.late_ns + slow_ns) {
      report("H-AP1", id,
             "its outcome came at " + std::to_string(call.ended_ns) + " ns, its deadline was " +
                 std::to_string(call.deadline_ns) + " ns",
             Breach::kLiveness);
    }
  }

  void check_code(CallId id, const HistoryCall& call) {
    if (call.code == StatusCode::kOk || call.wishes.has(call.code)) return;
    const std::string name(to_string(call.code));
    if (!kActorCodes.has(call.code)) return report("H-codes", id, name + " is not for its caller");
    switch (call.code) {
      case StatusCode::kActorLost:
      case StatusCode::kHostLost:
        if (history_.first_death_ns <= call.ended_ns) return;
        return report("H-P3", id, "nobody had died, and it failed with " + name);
      case StatusCode::kDeadlineExceeded: {
        // By the clock of its caller, which the tester may have set.
        const bool is_exact = call.caller.client != 0 || !deeds_.has_wrong_clocks;
        if (is_exact && call.ended_ns < call.deadline_ns) {
          report("H-P3", id,
                 "its deadline was " + std::to_string(call.deadline_ns) + " ns, and passed at " +
                     std::to_string(call.ended_ns) + " ns");
        }
        return;
      }
      case StatusCode::kCancelled:
        if (!may_be_cancelled(call)) report("H-P3", id, "nobody cancelled it");
        return;
      case StatusCode::kInputLost: {
        const CallId input = history_.call_of(call.input);
        if (call.input != 0 && input != SIZE_MAX &&
            (history_.calls[input].code != StatusCode::kOk || history_.calls[input].is_cancelled)) {
          return;
        }
        return report("H-P3", id, "no input of it failed, and it was " + name);
      }
      default:
        report("H-P3", id, "nothing caused its " + name);
    }
  }

  /// What is given up reaches its handler, and what that asks; all of a member ends with it.
  bool may_be_cancelled(const HistoryCall& call) const {
    if (call.is_cancelled) return true;
    if (call.outer >= history_.calls.size()) return false;
    const HistoryCall& outer = history_.calls[call.outer];
    const bool is_over = outer.outcomes > 0 && outer.code != StatusCode::kOk;
    return is_over || history_.first_death_ns <= call.ended_ns || may_be_cancelled(outer);
  }

  /// Of those alone that certainly live: before anybody did anything that ends actors.
  void check_name(CallId id, const HistoryCall& call) {
    if (call.name.empty() || call.outcomes == 0) return;
    const bool is_found = call.kind == CallKind::kFind && call.code == StatusCode::kOk;
    bool is_known = false, may_be_taken = false;
    for (const CallId other : spawns_) {
      const HistoryCall& spawn = history_.calls[other];
      if (spawn.name != call.name || other == id) continue;
      if (spawn.begun_ns > call.ended_ns) continue;
      may_be_taken = true;
      const bool is_good = spawn.outcomes > 0 && spawn.code == StatusCode::kOk;
      // One that has no answer yet, or gets none, may have its name already.
      is_known |= is_found && (!is_good || spawn.mesh == call.mesh);
      const bool lives =
          is_good && spawn.ended_ns < call.begun_ns && history_.first_death_ns > call.ended_ns;
      if (!lives) continue;
      if (call.kind == CallKind::kSpawn && call.code == StatusCode::kOk) {
        report("H-name", id, "a second mesh has the name " + call.name + ", while one lives");
      }
      if (call.kind == CallKind::kFind && call.code == StatusCode::kNotFound) {
        report("H-name", id, "nobody has the name " + call.name + ", though one lives");
      }
      if (is_found && spawn.mesh != call.mesh) {
        report("H-name", id, "the name " + call.name + " is another mesh's, while one lives");
      }
    }
    if (call.code == StatusCode::kInvalidArgument && !may_be_taken) {
      report("H-name", id, "the name " + call.name + " is refused, and nobody ever had it");
    }
    if (is_found && !is_known) {
      report("H-name", id, "what has the name " + call.name + " was never given it");
    }
  }

  /// Order, once, one at a time: what handlers saw.
  void check_handlings() {
    std::map<std::pair<Caller, MemberName>, CallId> last;
    std::map<std::tuple<CallId, MemberName, std::uint32_t>, int> begun;
    std::map<std::pair<MemberName, std::uint32_t>, std::vector<const Handling*>> busy;
    for (const Handling& one : history_.handlings) {
      std::vector<const Handling*>& others = busy[{one.member, one.incarnation}];
      if (one.kind == Handling::Kind::kEnd) {
        std::erase_if(others, [&one](const Handling* other) { return other->call == one.call; });
        continue;
      }
      if (one.call == SIZE_MAX) {
        report("H-AP3", one.call, "member " + name_of(one.member, one.incarnation) + " began it");
        continue;
      }
      if (++begun[{one.call, one.member, one.incarnation}] > 1) {
        report("H-AP3", one.call,
               "member " + name_of(one.member, one.incarnation) + " handled it twice");
      }
      for (const Handling* other : others) {
        if (one.is_marked || other->is_marked) continue;
        report("H-AP5", one.call,
               "member " + name_of(one.member, one.incarnation) + " had not ended call " +
                   std::to_string(other->call));
      }
      others.push_back(&one);
      const HistoryCall& call = history_.calls[one.call];
      if (call.retries > 0) continue;  // Others may overtake what is sent again.
      CallId& before = last.try_emplace({call.caller, one.member}, one.call).first->second;
      if (one.call < before) {
        report("H-AP2", one.call,
               "member " + name_of(one.member, one.incarnation) + " began it behind call " +
                   std::to_string(before) + " of the same caller");
      }
      before = one.call;
    }
    std::map<std::tuple<CallId, MemberName>, int> lives;
    for (const auto& [key, count] : begun) {
      const CallId call = std::get<0>(key);
      if (++lives[{call, std::get<1>(key)}] > 1 && history_.calls[call].retries == 0) {
        report("H-AP3", call, "two lives of one member handled it, and it was sent once");
      }
    }
  }

  /// A good answer was handled before, in the life that gave it, and is what it computes.
  void check_answers() {
    std::map<std::tuple<CallId, MemberName, std::uint32_t>, std::size_t> begun;
    for (std::size_t i = history_.handlings.size(); i-- > 0;) {
      const Handling& one = history_.handlings[i];
      if (one.kind == Handling::Kind::kBegin) begun[{one.call, one.member, one.incarnation}] = i;
    }
    for (const History::Answer& answer : history_.answers) {
      const auto found = begun.find({answer.call, answer.member, answer.incarnation});
      // What was asked once may have been remembered by an earlier life.
      const bool is_there = found != begun.end() && found->second < answer.handlings;
      if (!is_there) {
        report("H-AP8", answer.call,
               "member " + name_of(answer.member, answer.incarnation) +
                   " answered and had not begun it");
      }
    }
    for (const History::Comparison& one : history_.comparisons) {
      if (one.got == one.wanted) continue;
      report("H-P2", one.call,
             "the answer is " + std::to_string(one.got) + ", and should be " +
                 std::to_string(one.wanted));
    }
    std::map<std::pair<CallId, std::uint32_t>, std::uint64_t> next;
    for (const History::Item& item : history_.items) {
      std::uint64_t& wanted = next[{item.call, item.position}];
      if (item.index != wanted) {
        report("H-stream", item.call,
               "answer " + std::to_string(item.index) + " of the member at " +
                   std::to_string(item.position) + " came in the place of " +
                   std::to_string(wanted));
      }
      wanted = item.index + 1;
    }
  }

  void check_deaths() {
    constexpr CallId kNobody = SIZE_MAX;
    constexpr std::uint32_t kLast = UINT32_MAX;
    std::map<std::pair<Caller, MemberName>, std::uint32_t> last;
    std::set<std::pair<Caller, std::uint64_t>> given_up;
    for (const History::Heard& one : history_.heard) {
      const auto who = [&one] { return name_of(one.member, one.incarnation); };
      if (one.at_ns < history_.first_death_ns) {
        report("H-AP9", kNobody, "a watcher heard of the death of " + who() + ", before any");
      }
      if (one.is_mesh) {
        if (!given_up.insert({one.watcher, one.member.mesh}).second) {
          report("H-AP9", kNobody, "a watcher heard twice that the mesh of " + who() + " ended");
        }
        continue;
      }
      std::uint32_t& before = last[{one.watcher, one.member}];
      // Of one that had ended before, nobody is told which life was its last.
      const std::uint32_t life = one.incarnation == 0 ? kLast : one.incarnation;
      if (life <= before) {
        report("H-AP9", kNobody,
               "a watcher heard of the death of " + who() + " behind that of life " +
                   std::to_string(before));
      }
      before = life;
    }
  }

  /// What was answered is there, once; and nothing that nobody has asked for.
  void check_audits() {
    for (const History::Audit& audit : history_.audits) {
      std::set<CallId> kept;
      for (const std::uint64_t number : audit.numbers) {
        const CallId id = history_.call_of(number);
        const bool is_known = id != SIZE_MAX && history_.calls[id].kind == CallKind::kDeposit &&
                              history_.calls[id].caller.client == audit.client;
        if (!is_known) {
          report("H-AP3", id, "a deposit that its client never made was kept");
        } else if (!kept.insert(id).second) {
          report("H-AP3", id, "it was kept twice");
        }
      }
      for (const History::Answer& answer : history_.answers) {
        const HistoryCall& call = history_.calls[answer.call];
        if (call.kind != CallKind::kDeposit || call.caller.client != audit.client) continue;
        if (answer.member.index != audit.index || answer.call >= audit.calls) continue;
        if (!kept.contains(answer.call)) report("H-AP3", answer.call, "it was answered and lost");
      }
    }
  }

  const History& history_;
  const TesterDeeds& deeds_;
  std::vector<Violation>& violations_;
  std::vector<CallId> spawns_;
  std::set<std::string> told_;
};

}  // namespace

void check_actor_history(const History& history, const TesterDeeds& deeds,
                         std::vector<Violation>& violations) {
  ActorHistory(history, deeds, violations).check();
}

}  // namespace seaway::sim
