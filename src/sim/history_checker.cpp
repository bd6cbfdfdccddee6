// What holds for calls on arrays, and for the outcomes of all calls.

#include "sim/history_checker.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace seaway::sim {
namespace {

/// What users of arrays may ever be told. None of the others is for them.
constexpr CodeSet kCodes = {
    StatusCode::kOk,
    StatusCode::kDeviceLost,
    StatusCode::kHostLost,
    StatusCode::kIslandUnavailable,
    StatusCode::kInputLost,
    StatusCode::kControllerRestarted,
    StatusCode::kMaybeExecuted,
    StatusCode::kUserFunctionError,
    StatusCode::kResourceExhausted,
    StatusCode::kDeadlineExceeded,
    StatusCode::kCancelled,
    StatusCode::kDataCorruption,
    StatusCode::kInvalidArgument,
    StatusCode::kProtocolError,
    StatusCode::kUnauthenticated,
    StatusCode::kPermissionDenied,
};

bool is_of_actors(CallKind kind) { return kind >= CallKind::kAsk; }

class ArrayHistory {
 public:
  ArrayHistory(const History& history, const TesterDeeds& deeds, std::vector<Violation>& violations)
      : history_(history), deeds_(deeds), violations_(violations) {
    find_failed();
  }

  void check() {
    for (CallId id = 0; id < history_.calls.size(); ++id) {
      const HistoryCall& call = history_.calls[id];
      if (is_of_actors(call.kind)) continue;
      check_outcome(id, call);
      if (call.outcomes == 0) continue;
      if (!is_of_gone(id, call) || call.code != StatusCode::kInvalidArgument) check_code(id, call);
      if (call.kind == CallKind::kFetch) check_fetch(id, call);
      if (call.kind == CallKind::kRun) check_run(id, call);
    }
    check_effects();
  }

 private:
  void report(const char* promise, CallId id, const std::string& text,
              Breach breach = Breach::kCorrectness) {
    if (!told_.insert(promise).second) return;
    const HistoryCall& call = history_.calls[id];
    violations_.push_back({breach, promise,
                           "client " + std::to_string(call.caller.client) + ", call " +
                               std::to_string(id) + ", a " + std::string(to_string(call.kind)) +
                               " at " + std::to_string(call.begun_ns) + " ns: " + text});
  }

  /// What failed, and what was made of it, from the first call on: inputs are older than what is
  /// made of them.
  void find_failed() {
    inputs_.resize(history_.calls.size());
    for (CallId id = 0; id < history_.calls.size(); ++id) {
      const HistoryCall& call = history_.calls[id];
      Inputs& inputs = inputs_[id];
      for (const ValueId value : call.takes) {
        const CallId maker = history_.values[value].maker;
        const HistoryCall& made = history_.calls[maker];
        inputs.has_cancelled |= inputs_[maker].has_cancelled || made.is_cancelled;
        inputs.has_effects |= inputs_[maker].has_effects || !made.effects.empty();
        inputs.codes |= inputs_[maker].codes;
        // Nobody knows what became of a run of a client that did not live to hear of it.
        const bool has_failed = made.outcomes > 0 && made.code != StatusCode::kOk;
        if (!has_failed) continue;
        inputs.codes |= {made.code, StatusCode::kInputLost};
        // Of several failures it may have been told another one than its outputs.
        inputs.codes |= made.wishes;
      }
    }
  }

  void check_outcome(CallId id, const HistoryCall& call) {
    const auto end = history_.ends.find(call.caller.client);
    if (end == history_.ends.end()) return;
    if (call.outcomes == 0) {
      return report("H-P1", id, "it never had an outcome", Breach::kLiveness);
    }
    if (call.outcomes > 1) {
      return report("H-P1", id, "it had " + std::to_string(call.outcomes) + " outcomes");
    }
    if (call.code != call.last_code) {
      return report("H-P1", id,
                    "its outcome was " + std::string(to_string(call.code)) + ", and then " +
                        std::string(to_string(call.last_code)));
    }
    if (deeds_.waits_for_room) return;
    std::uint64_t limit_ns = std::max(call.begun_ns, deeds_.last_fault_ns) + deeds_.settle_ns;
    limit_ns = std::max(limit_ns, call.deadline_ns);
    if (call.ended_ns > limit_ns) {
      report("H-P1", id,
             "its outcome came at " + std::to_string(call.ended_ns) + " ns, and was due at " +
                 std::to_string(limit_ns) + " ns",
             Breach::kLiveness);
    }
  }

  void check_code(CallId id, const HistoryCall& call) {
    if (call.code == StatusCode::kOk) return;
    const std::string name(to_string(call.code));
    if (!kCodes.has(call.code)) return report("H-codes", id, name + " is not for its caller");
    if (call.wishes.has(call.code)) return;
    const Inputs& inputs = inputs_[id];
    if (call.code == StatusCode::kCancelled) {
      // What a client waits for is complete when it goes, and it may have been killed.
      const bool has_lived = history_.ends.contains(call.caller.client);
      if (has_lived && !call.is_cancelled && !inputs.has_cancelled) {
        report("H-P3", id, "nobody cancelled it, and it was " + name);
      }
      return;
    }
    if (call.code == StatusCode::kMaybeExecuted && call.effects.empty() && !inputs.has_effects) {
      return report("H-P4", id, "it has no effects, and failed with " + name);
    }
    if (inputs.codes.has(call.code) || (call.is_cancelled && call.code == StatusCode::kInputLost)) {
      return;
    }
    if (inputs.has_cancelled && call.code == StatusCode::kInputLost) return;
    if (deeds_.room_causes.has(call.code)) return;
    const bool is_behind_fault = call.ended_ns >= deeds_.first_fault_ns;
    if (is_behind_fault && deeds_.faults_cause.has(call.code)) return;
    report("H-P3", id, "nothing caused its " + name);
  }

  bool is_of_gone(CallId id, const HistoryCall& call) const {
    return call.kind == CallKind::kFetch && id >= history_.values[call.takes.front()].gone;
  }

  void check_fetch(CallId id, const HistoryCall& call) {
    const HistoryValue& value = history_.values[call.takes.front()];
    if (is_of_gone(id, call)) {
      // One that had failed before may say that instead, if there is a reason for it.
      if (call.code == StatusCode::kOk || call.ended_ns != call.begun_ns) {
        report("H-freed", id,
               "the value was donated or deleted, and the outcome was " +
                   std::string(to_string(call.code)) + " at " + std::to_string(call.ended_ns));
      }
      return;
    }
    if (call.code != StatusCode::kOk || deeds_.flips_unseen) return;
    const HistoryCall& made = history_.calls[value.maker];
    if (made.outcomes > 0 && made.code != StatusCode::kOk && made.ended_ns < call.begun_ns) {
      report("H-final", id,
             "call " + std::to_string(value.maker) + " had failed with " +
                 std::string(to_string(made.code)) + ", and its value is there");
    }
    const std::uint64_t known = value.digest ? value.digest : seen_[value.term];
    if (known != 0 && known != call.digest) {
      report("H-P2", id,
             value.digest ? "it is not what was put"
                          : "the same program gave another value for the same inputs");
    }
    seen_[value.term] = call.digest;
  }

  /// Functions are deterministic, also when they fail.
  void check_run(CallId id, const HistoryCall& call) {
    if (deeds_.flips_unseen || call.is_refused) return;
    const bool is_good = call.code == StatusCode::kOk;
    if (!is_good && call.code != StatusCode::kUserFunctionError) return;
    std::uint64_t term = call.what;
    for (const ValueId taken : call.takes) term = mix(term, history_.values[taken].term);
    const auto [found, is_new] = verdicts_.emplace(term, is_good);
    if (!is_new && found->second != is_good) {
      report("H-P2", id, "an equal run on equal inputs had another outcome");
    }
  }

  /// Of all runs of one function together: shards do not say whose they are.
  void check_effects() {
    struct Bounds {
      std::uint64_t least = 0, most = 0;
      CallId call = 0;
    };
    std::map<std::uint64_t, Bounds> bounds;
    for (CallId id = 0; id < history_.calls.size(); ++id) {
      const HistoryCall& call = history_.calls[id];
      for (const auto& [function, times] : call.effects) {
        Bounds& one = bounds[function];
        one.call = id;
        if (call.is_refused) continue;
        one.most += times;
        if (call.outcomes > 0 && call.code == StatusCode::kOk) one.least += times;
      }
    }
    for (const auto& [function, limits] : bounds) {
      const auto found = history_.effects.find(function);
      const std::uint64_t times = found == history_.effects.end() ? 0 : found->second;
      if (times >= limits.least && times <= limits.most) continue;
      report("H-P4", limits.call,
             "effects of its function happened " + std::to_string(times) +
                 " times, and its runs ask for " + std::to_string(limits.least) + " to " +
                 std::to_string(limits.most));
    }
  }

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return (a ^ b) * 0x9e3779b97f4a7c15ULL + (a >> 7);
  }

  struct Inputs {
    bool has_cancelled = false, has_effects = false;
    CodeSet codes;  // With which what it was made of has failed.
  };

  const History& history_;
  const TesterDeeds& deeds_;
  std::vector<Violation>& violations_;
  std::vector<Inputs> inputs_;                   // By call: what it takes.
  std::map<std::uint64_t, std::uint64_t> seen_;  // By term: the digest of its value.
  std::map<std::uint64_t, bool> verdicts_;       // By run and inputs: whether it was good.
  std::set<std::string> told_;
};

}  // namespace

std::vector<Violation> check_history(const History& history, const TesterDeeds& deeds) {
  std::vector<Violation> violations;
  ArrayHistory(history, deeds, violations).check();
  check_actor_history(history, deeds, violations);
  return violations;
}

}  // namespace seaway::sim
