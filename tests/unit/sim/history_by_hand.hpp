// Hand: a history written by hand, for tests of what looks at histories.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/history_checker.hpp"

namespace seaway::sim {

inline constexpr std::uint64_t kMs = 1'000'000;
inline constexpr std::uint64_t kFunction = 7;
inline constexpr MemberName kMember{.mesh = 3, .index = 1};

/// A history by hand: one client, unless a test says otherwise, that comes to its end.
class Hand {
 public:
  History history{[this] { return now_ns; }};
  TesterDeeds deeds;
  std::uint64_t now_ns = 1;

  CallId call(CallKind kind, std::vector<ValueId> takes = {}) {
    HistoryCall one;
    one.kind = kind;
    one.caller.client = 1;
    one.takes = std::move(takes);
    if (kind == CallKind::kRun) one.what = 11;
    return history.begin(std::move(one));
  }
  CallId done(CallKind kind, std::vector<ValueId> takes = {}, StatusCode code = StatusCode::kOk) {
    const CallId id = call(kind, std::move(takes));
    history.end(id, code);
    return id;
  }
  ValueId put(std::uint64_t digest) { return history.put(done(CallKind::kPut), digest); }
  ValueId run(std::vector<ValueId> takes, StatusCode code = StatusCode::kOk) {
    return history.output(done(CallKind::kRun, std::move(takes), code), 0);
  }
  void fetch(ValueId value, std::uint64_t digest, StatusCode code = StatusCode::kOk) {
    history.end(call(CallKind::kFetch, {value}), code, digest);
  }

  /// What a client asks a member; its number is `number`.
  void ask(std::uint64_t number, CallKind kind = CallKind::kAsk, std::uint32_t retries = 0) {
    HistoryCall one;
    one.kind = kind;
    one.caller.client = 1;
    one.number = number;
    one.retries = retries;
    one.deadline_ns = now_ns + 10 * kMs;
    history.begin(std::move(one));
  }
  void begin(std::uint64_t number, std::uint32_t life = 1, bool is_marked = false) {
    history.handle(Handling::Kind::kBegin, number, kMember, life, is_marked);
  }
  void end(std::uint64_t number, std::uint32_t life = 1) {
    history.handle(Handling::Kind::kEnd, number, kMember, life, false);
  }
  void handle(std::uint64_t number, std::uint32_t life = 1) {
    begin(number, life);
    end(number, life);
  }
  void answer(std::uint64_t number, StatusCode code = StatusCode::kOk, std::uint32_t life = 1) {
    history.answer(number, code, kMember, life);
  }
  void name(CallKind kind, const char* name, std::uint64_t mesh,
            StatusCode code = StatusCode::kOk) {
    const CallId id = call(kind);
    history.calls[id].name = name;
    history.calls[id].mesh = mesh;
    history.calls[id].wishes = {StatusCode::kInvalidArgument, StatusCode::kNotFound};
    history.end(id, code);
    ++now_ns;
  }
  void hear(std::uint32_t life, bool is_mesh = false, std::uint64_t mesh = 3) {
    Death death;
    death.member = {mesh, 1};
    death.incarnation = life;
    death.is_escalated = is_mesh;
    history.hear({.client = 1}, death);
  }

  /// The names of the promises that are broken, once the client has ended.
  std::vector<std::string> broken() {
    history.end_client(1);
    std::vector<std::string> names;
    for (const Violation& one : check_history(history, deeds)) names.push_back(one.invariant);
    return names;
  }
};

using Names = std::vector<std::string>;

}  // namespace seaway::sim
