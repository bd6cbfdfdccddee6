// History: what the clients of one world called and what came of it, as they saw it themselves.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "seaway/app/runtime.hpp"
#include "seaway/status.hpp"

namespace seaway::sim {

/// What was called. The first group is of arrays, the second of actors.
enum class CallKind : std::uint8_t {
  kConnect,
  kAcquire,
  kDefine,  // A function or a program.
  kPut,
  kRun,
  kReshard,
  kFetch,
  kRebind,
  kDrain,

  kAsk,      // One outcome of each member that is asked.
  kTell,     // No outcome: a send, or a stream, whose answers are items.
  kDeposit,  // Asked once: it is never forgotten, and never counted twice.
  kSpawn,
  kFind,
  kStop,
};
std::string_view to_string(CallKind kind);

/// Some of the codes. A value.
class CodeSet {
 public:
  constexpr CodeSet() = default;
  constexpr CodeSet(std::initializer_list<StatusCode> codes) {
    for (const StatusCode code : codes) bits_ |= bit(code);
  }
  constexpr bool has(StatusCode code) const { return (bits_ & bit(code)) != 0; }
  constexpr CodeSet& operator|=(CodeSet other) {
    bits_ |= other.bits_;
    return *this;
  }

 private:
  static constexpr std::uint64_t bit(StatusCode code) {
    return std::uint64_t{1} << static_cast<unsigned>(code);
  }
  std::uint64_t bits_ = 0;
};

using CallId = std::size_t;   // Index into History::calls.
using ValueId = std::size_t;  // Index into History::values.

/// A client, or one life of a member.
struct Caller {
  std::uint32_t client = 0;  // 0: a member.
  MemberName member = {};
  std::uint32_t incarnation = 0;
  friend auto operator<=>(const Caller&, const Caller&) = default;
};

/// One call, and its outcome once there is one. Times are those of the world, in ns.
struct HistoryCall {
  CallKind kind = CallKind::kRun;
  Caller caller;
  std::uint64_t begun_ns = 0;
  /// It has its outcome by then, whatever happens; 0: it named no time of its own.
  std::uint64_t deadline_ns = 0;
  /// Errors that its caller asked for: a function that fails, a name that may be taken.
  CodeSet wishes;
  bool is_cancelled = false;

  // Of arrays.
  std::vector<ValueId> takes, gives;
  std::uint64_t what = 0;  // Of a run: its program. Equal programs have equal ones.
  /// How often each function with effects that it calls is to be executed: once for each shard.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> effects = {};
  bool is_refused = false;  // A run that never came to be.

  // Of actors.
  std::uint64_t number = 0;
  std::uint32_t members = 1;  // Who are asked.
  std::uint32_t retries = 0;
  bool is_once = false;
  CallId outer = SIZE_MAX;  // What its caller, a member, handled when it asked.
  std::uint64_t input = 0;  // The number of the call whose answer it takes; 0: none.
  std::string name;         // Of a spawn, a find.
  std::uint64_t mesh = 0;   // What came of them.

  // What came of it.
  std::uint32_t outcomes = 0;
  StatusCode code = StatusCode::kOk;  // Of the first outcome; of many members, the first error.
  StatusCode last_code = StatusCode::kOk;  // As it was when somebody looked again.
  std::uint64_t ended_ns = 0;              // Of the last outcome.
  std::uint64_t digest = 0;                // Of a fetched value.
};

/// A value that a client has, or had, a handle of.
struct HistoryValue {
  CallId maker = 0;
  /// What it is, whatever it may be: equal for values that are made in the same way of the same.
  std::uint64_t term = 0;
  std::uint64_t digest = 0;  // Of what was put; 0: nobody knows.
  /// The first call behind its end by donation or deletion; SIZE_MAX: it has not ended.
  CallId gone = SIZE_MAX;
};

/// A handler of a user's, which belongs to the tester: who was handled, where, and in which order.
struct Handling {
  enum class Kind : std::uint8_t { kBegin, kEnd };
  Kind kind = Kind::kBegin;
  CallId call = 0;
  MemberName member;
  std::uint32_t incarnation = 0;
  bool is_marked = false;  // It may run while another one waits.
};

/// What the tester did to the world, beside what clients called.
struct TesterDeeds {
  /// When the first fault came and the last one was over; there was none when the first is later.
  std::uint64_t first_fault_ns = UINT64_MAX, last_fault_ns = 0;
  /// So long after the last fault everything has its outcome.
  std::uint64_t settle_ns = 10'000'000'000;
  /// What an error of those faults may be; and of a world in which there is little room.
  CodeSet faults_cause, room_causes;
  bool waits_for_room = false;  // For how long, only the clients themselves decide.
  bool flips_unseen = false;    // Values may be wrong of which nobody has promised to notice.
  /// Clocks and pauses make deadlines so late.
  std::uint64_t late_ns = 0;
  bool has_wrong_clocks = false;  // Deadlines of members may come early, by their own clocks.
};

/// Written while a world runs, and read when it is over. Knows nothing about what it writes down.
/// One thread.
class History {
 public:
  using Now = std::function<std::uint64_t()>;
  explicit History(Now now) : now_(std::move(now)) {}

  CallId begin(HistoryCall call);
  /// Once for each outcome that the caller is told.
  void end(CallId call, StatusCode code, std::uint64_t digest = 0);
  /// Its outcome was looked at again, and was that.
  void read(CallId call, StatusCode code);
  void cancel(CallId call) { calls[call].is_cancelled = true; }

  ValueId put(CallId maker, std::uint64_t digest);
  /// Output `index` of a run.
  ValueId output(CallId maker, std::size_t index);
  /// The same value elsewhere.
  ValueId moved(CallId maker, ValueId value);
  void donate_or_delete(ValueId value) { values[value].gone = calls.size(); }

  /// A function with effects ran on one shard. Not while `is_rehearsal`: what the tester itself
  /// works out has no effects.
  void count_effect(std::uint64_t function) { effects[function] += is_rehearsal ? 0 : 1; }

  void handle(Handling::Kind kind, std::uint64_t number, MemberName member,
              std::uint32_t incarnation, bool is_marked);
  /// Answers that are compared with what the handler computes, as its caller knows.
  void answer(std::uint64_t number, StatusCode code, MemberName member, std::uint32_t incarnation);
  void compare(std::uint64_t number, std::uint64_t got, std::uint64_t wanted);
  void cancel_number(std::uint64_t number);
  /// Answer `index` of the stream, from the member at `position`.
  void item(std::uint64_t number, std::uint32_t position, std::uint64_t index);
  void hear(const Caller& watcher, const Death& death);
  /// What a member has kept.
  void audit(std::uint32_t client, std::uint32_t index, std::span<const std::uint64_t> numbers);
  /// Somebody does something of which members may die.
  void note_death_wish();

  /// The client came to its own end, and was told of all that it waited for.
  void end_client(std::uint32_t client) { ends[client] = now_(); }

  std::vector<HistoryCall> calls;
  std::vector<HistoryValue> values;
  std::map<std::uint64_t, std::uint64_t> effects;  // By function: executions.
  std::map<std::uint32_t, std::uint64_t> ends;     // Of clients that lived, in ns.
  std::vector<Handling> handlings;
  struct Answer {
    CallId call;
    MemberName member;
    std::uint32_t incarnation;
    std::size_t handlings;  // How many there were by then.
  };
  std::vector<Answer> answers;  // Of one member each, and good.
  struct Comparison {
    CallId call;
    std::uint64_t got, wanted;
  };
  std::vector<Comparison> comparisons;
  struct Item {
    CallId call;
    std::uint32_t position;
    std::uint64_t index;
  };
  std::vector<Item> items;
  struct Heard {
    Caller watcher;
    MemberName member;
    std::uint32_t incarnation;
    bool is_mesh;
    std::uint64_t at_ns;
  };
  std::vector<Heard> heard;
  struct Audit {
    std::uint32_t client, index;
    std::vector<std::uint64_t> numbers;
    CallId calls;  // How many there were by then.
  };
  std::vector<Audit> audits;
  std::uint64_t first_death_ns = UINT64_MAX;
  bool is_rehearsal = false;

  /// The call of that number; SIZE_MAX when nobody made it.
  CallId call_of(std::uint64_t number) const;

 private:
  const Now now_;
  std::vector<CallId> numbers_;                                     // By number: they rise by ones.
  std::map<std::pair<MemberName, std::uint32_t>, CallId> handled_;  // By life: what it handles now.
};

/// Of bytes and their type.
std::uint64_t digest_of(std::span<const std::byte> bytes, std::uint64_t type);

}  // namespace seaway::sim
