// Writing down, and nothing else.

#include "sim/history.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/random.hpp"

namespace seaway::sim {

std::string_view to_string(CallKind kind) {
  switch (kind) {
    case CallKind::kConnect:
      return "connect";
    case CallKind::kAcquire:
      return "acquire";
    case CallKind::kDefine:
      return "definition";
    case CallKind::kPut:
      return "put";
    case CallKind::kRun:
      return "run";
    case CallKind::kReshard:
      return "reshard";
    case CallKind::kFetch:
      return "fetch";
    case CallKind::kRebind:
      return "rebind";
    case CallKind::kDrain:
      return "drain";
    case CallKind::kAsk:
      return "request";
    case CallKind::kTell:
      return "message";
    case CallKind::kDeposit:
      return "deposit";
    case CallKind::kSpawn:
      return "spawn";
    case CallKind::kFind:
      return "find";
    case CallKind::kStop:
      return "stop";
  }
  return "unknown";
}

std::uint64_t digest_of(std::span<const std::byte> bytes, std::uint64_t type) {
  std::uint64_t digest = mix64(type ^ bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), size);
    digest = mix64(digest ^ word);
    bytes = bytes.subspan(size);
  }
  return digest | 1;  // 0 says that nobody knows.
}

CallId History::begin(HistoryCall call) {
  call.begun_ns = now_();
  if (call.caller.client == 0) {
    const auto found = handled_.find({call.caller.member, call.caller.incarnation});
    if (found != handled_.end()) call.outer = found->second;
  }
  if (call.number != 0) {
    if (call.number >= numbers_.size()) numbers_.resize(call.number + 1, SIZE_MAX);
    numbers_[call.number] = calls.size();
  }
  calls.push_back(std::move(call));
  return calls.size() - 1;
}

void History::end(CallId call, StatusCode code, std::uint64_t digest) {
  HistoryCall& one = calls[call];
  ++one.outcomes;
  if (one.outcomes == 1 || one.code == StatusCode::kOk) one.code = one.last_code = code;
  one.ended_ns = now_();
  one.digest = digest;
}

void History::read(CallId call, StatusCode code) { calls[call].last_code = code; }

ValueId History::put(CallId maker, std::uint64_t digest) {
  values.push_back({.maker = maker, .term = digest, .digest = digest});
  calls[maker].gives.push_back(values.size() - 1);
  return values.size() - 1;
}

ValueId History::output(CallId maker, std::size_t index) {
  std::uint64_t term = mix64(calls[maker].what + index);
  for (const ValueId taken : calls[maker].takes) term = mix64(term ^ values[taken].term);
  values.push_back({.maker = maker, .term = term});
  calls[maker].gives.push_back(values.size() - 1);
  return values.size() - 1;
}

ValueId History::moved(CallId maker, ValueId value) {
  values.push_back({.maker = maker, .term = values[value].term, .digest = values[value].digest});
  calls[maker].gives.push_back(values.size() - 1);
  return values.size() - 1;
}

CallId History::call_of(std::uint64_t number) const {
  return number < numbers_.size() ? numbers_[number] : SIZE_MAX;
}

void History::handle(Handling::Kind kind, std::uint64_t number, MemberName member,
                     std::uint32_t incarnation, bool is_marked) {
  const CallId call = call_of(number);
  handlings.push_back({kind, call, member, incarnation, is_marked});
  // One that is marked asks nobody.
  if (kind == Handling::Kind::kBegin && !is_marked) handled_[{member, incarnation}] = call;
}

void History::answer(std::uint64_t number, StatusCode code, MemberName member,
                     std::uint32_t incarnation) {
  const CallId call = call_of(number);
  if (call == SIZE_MAX) return;
  end(call, code);
  if (code == StatusCode::kOk && incarnation != 0) {
    answers.push_back({call, member, incarnation, handlings.size()});
  }
}

void History::compare(std::uint64_t number, std::uint64_t got, std::uint64_t wanted) {
  comparisons.push_back({call_of(number), got, wanted});
}

void History::cancel_number(std::uint64_t number) {
  if (const CallId call = call_of(number); call != SIZE_MAX) cancel(call);
}

void History::item(std::uint64_t number, std::uint32_t position, std::uint64_t index) {
  items.push_back({call_of(number), position, index});
}

void History::hear(const Caller& watcher, const Death& death) {
  heard.push_back({watcher, death.member, death.incarnation, death.is_escalated, now_()});
}

void History::audit(std::uint32_t client, std::uint32_t index,
                    std::span<const std::uint64_t> numbers) {
  audits.push_back({client, index, {numbers.begin(), numbers.end()}, calls.size()});
}

void History::note_death_wish() { first_death_ns = std::min(first_death_ns, now_()); }

}  // namespace seaway::sim
