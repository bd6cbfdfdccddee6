// What breaks which promise.

#include "sim/app_ledger.hpp"

#include "base/random.hpp"

namespace seaway::sim {
namespace {

/// How much later than its deadline an outcome may be seen: nobody's turn takes longer.
constexpr std::uint64_t kLateNs = 50'000'000;

std::string text(std::uint64_t number) { return std::to_string(number); }

}  // namespace

std::string AppLife::to_string() const {
  return "member " + text(member.index) + " of mesh " + text(member.mesh >> 40) + "/" +
         text(member.mesh & 0xff'ffff'ffff) + ", life " + text(incarnation);
}

std::string AppCaller::to_string() const {
  if (client != 0) return "client " + text(client);
  return AppLife{member, incarnation}.to_string();
}

void AppLedger::complain(const char* invariant, std::string text, Breach breach,
                         const std::source_location& at) {
  // The world stops at the first: what its end looks like is no promise.
  if (verdict_.ok()) verdict_.report(breach, invariant, std::move(text), at);
}

void AppLedger::note(const char* what, std::uint64_t number, const AppLife& life, StatusCode code) {
  if (!verdict_.ok()) return;
  const std::uint64_t now_ns = now_ns_();
  events_.push_back({now_ns, number, what, life, code});
  hash_ = mix64(hash_ ^ now_ns ^ (number << 32) ^ (life.member.mesh << 8) ^ life.member.index ^
                (std::uint64_t{life.incarnation} << 48) ^
                (std::uint64_t{static_cast<std::uint8_t>(what[0])} << 56) ^
                static_cast<std::uint64_t>(code));
}

std::string AppLedger::name(std::uint64_t number) const {
  const Record& record = records_[number - 1];
  return "request " + text(number) + " (" + std::string(record.asked.what) + " of " +
         record.asked.caller.to_string() + ")";
}

std::string AppLedger::story(std::size_t lines_max) const {
  std::string story;
  for (std::size_t i = events_.size() > lines_max ? events_.size() - lines_max : 0;
       i < events_.size(); ++i) {
    const Event& event = events_[i];
    story += "    #" + text(i + 1) + " " + text(event.at_ns / 1000) + " us: " + event.what;
    if (event.number != 0) story += " " + name(event.number);
    if (event.life.member != MemberName()) story += " at " + event.life.to_string();
    if (event.code != StatusCode::kOk) story += " " + std::string(seaway::to_string(event.code));
    story += "\n";
  }
  return story;
}

std::uint64_t AppLedger::ask(const AppAsked& asked) {
  Record record;
  record.asked = asked;
  record.asked_ns = now_ns_();
  records_.push_back(std::move(record));
  ++counts_[asked.what];
  note("asks", records_.size(), {});
  return records_.size();
}

std::uint64_t AppLedger::ask_with(const AppAsked& asked, std::uint64_t source) {
  const std::uint64_t number = ask(asked);
  record(source).next = number;
  return number;
}

std::uint64_t AppLedger::next_in_chain(std::uint64_t source) const {
  return records_[source - 1].next;
}

void AppLedger::begin(std::uint64_t number, const AppLife& life, bool is_marked) {
  note("begins", number, life);
  Record& own = record(number);
  const AppAsked& asked = own.asked;
  std::uint32_t lives = 0;
  for (const auto& [other, count] : own.begun) {
    if (other.member == life.member) lives += count;
  }
  const std::uint32_t here = ++own.begun[life];
  const bool is_first = lives == 0;
  if (asked.is_once ? here > 1 : lives > asked.retries) {
    complain("AP-3", name(number) + " is handled again, by " + life.to_string());
  }
  // What is sent again comes after what was sent meanwhile.
  if (asked.retries == 0) {
    std::uint64_t& last = last_begun_[{asked.caller, life.member}];
    if (is_first && last > number) {
      complain("AP-2", name(number) + " begins after " + name(last) + " at " + life.to_string());
    }
    last = number;
  }
  if (!is_marked && waiting_[life] > 0) {
    complain("AP-5", name(number) + " begins while another handler waits at " + life.to_string());
  }
  const auto newest = newest_.find(life.member);
  if (newest != newest_.end() && newest->second > life.incarnation) {
    complain("AP-8", name(number) + " begins at " + life.to_string() + ", and life " +
                         text(newest->second) + " has begun");
  }
  if (!is_marked) ++waiting_[life];
  ++open_handlers_;
}

void AppLedger::end(std::uint64_t number, const AppLife& life, bool is_marked) {
  note("ends", number, life);
  if (!is_marked) --waiting_[life];
  --open_handlers_;
}

bool AppLedger::is_excused(const Record& own, StatusCode code) const {
  const AppAsked& asked = own.asked;
  switch (code) {
    case StatusCode::kOk:
      return true;
    case StatusCode::kHostLost:
      return faults.host_kills > 0;
    case StatusCode::kActorLost:
      return faults.deaths + faults.host_kills > 0;
    case StatusCode::kUserFunctionError:
      return asked.is_failing;
    case StatusCode::kCancelled:
      return asked.is_cancelled || asked.caller.client == 0;
    case StatusCode::kDeadlineExceeded:
      return asked.deadline_ns > 0;
    case StatusCode::kResourceExhausted:
      return asked.is_tight;
    case StatusCode::kInputLost:
      return asked.has_input;
    default:
      return false;
  }
}

void AppLedger::answer(std::uint64_t number, const Status& status, const AppLife& life) {
  note("is answered", number, life, status.code());
  Record& own = record(number);
  own.is_fine = status.ok();
  if (++own.outcomes > own.asked.members) {
    complain("AP-1", name(number) + " has one outcome too many");
  }
  ++verdict_.counts.runs;
  if (status.ok()) {
    ++verdict_.counts.ok;
  } else if (status.code() == StatusCode::kCancelled) {
    ++verdict_.counts.cancelled;
  } else {
    ++verdict_.counts.failed;
  }
  ++counts_[seaway::to_string(status.code())];
  const std::uint64_t limit_ns = own.asked.deadline_ns > 0
                                     ? own.asked.deadline_ns
                                     : static_cast<std::uint64_t>(kCallDeadline.count());
  const std::uint64_t took_ns = now_ns_() - own.asked_ns;
  // The slowest clock of a host loses a fifth.
  const std::uint64_t slow_ns = faults.wrong_clocks > 0 ? limit_ns / 4 : 0;
  if (took_ns > limit_ns + slow_ns + kLateNs + faults.late_ns) {
    complain("AP-1", name(number) + " has its outcome after " + text(took_ns / 1000) +
                         " us; its deadline was " + text(limit_ns / 1000) + " us");
  }
  if (status.code() == StatusCode::kDeadlineExceeded && own.asked.deadline_ns == 0) {
    complain("AP-1", name(number) + " waited until the end: " + status.to_string(),
             Breach::kLiveness);
  } else if (!is_excused(own, status.code())) {
    complain("AP-1", name(number) + " failed without a reason: " + status.to_string());
  }
  // A request with an id is answered as it was before, by a later life too.
  if (!status.ok() || own.asked.is_once || life.member == MemberName()) return;
  std::uint32_t& last = last_answered_[{own.asked.caller, life.member}];
  if (last > life.incarnation) {
    complain("AP-8", name(number) + " is answered by " + life.to_string() + ", after life " +
                         text(last) + " has answered");
  }
  last = life.incarnation;
}

void AppLedger::compare(std::uint64_t number, std::uint64_t value, std::uint64_t right) {
  ++verdict_.counts.values_checked;
  if (value == right) return;
  complain("AP-1", name(number) + " was answered with " + text(value) + " and not " + text(right));
}

void AppLedger::be_born(const AppLife& life, std::uint32_t host) {
  hosts_[life] = host;
  note("born", 0, life);
  const auto [newest, is_first] = newest_.emplace(life.member, life.incarnation);
  if (!is_first && newest->second >= life.incarnation) {
    complain("AP-8",
             life.to_string() + " is born, and life " + text(newest->second) + " was there before");
  }
  newest->second = std::max(newest->second, life.incarnation);
  ++alive_[life];
}

void AppLedger::die(const AppLife& life) {
  note("dies", 0, life);
  if (--alive_[life] == 0) alive_.erase(life);
}

void AppLedger::watch(const AppCaller& watcher, std::uint64_t mesh,
                      std::optional<std::uint32_t> index) {
  watched_.insert(mesh);
  watches_[{watcher, mesh}] = index;
}

void AppLedger::hear(const AppCaller& watcher, const Death& death) {
  const AppLife life{death.member, death.incarnation};
  note("is heard to have ended", 0, life, death.cause.code());
  ++counts_["death heard of"];
  // Of a mesh as a whole, or of what had ended before it was watched.
  if (death.is_escalated || death.incarnation == 0) return;
  const auto watch = watches_.find({watcher, death.member.mesh});
  const bool is_meant =
      watch != watches_.end() && (!watch->second || *watch->second == death.member.index);
  // Of other meshes their parents hear.
  if (!is_meant && watched_.contains(death.member.mesh)) {
    complain("AP-9", watcher.to_string() + " hears of the death of " + life.to_string() +
                         ", which it does not watch");
  }
  const auto [last, is_first] = last_heard_.emplace(std::pair(watcher, death.member), death);
  if (!is_first && last->second.incarnation >= death.incarnation) {
    complain("AP-9", watcher.to_string() + " hears of the death of " + life.to_string() +
                         " after that of life " + text(last->second.incarnation));
  } else if (!is_first && !last->second.restarts) {
    complain("AP-9", watcher.to_string() + " hears of the death of " + life.to_string() +
                         ", whose death before was to be the last");
  }
  const auto newest = newest_.find(death.member);
  // With its host a life may end before it has begun.
  if (faults.host_kills == 0 && (newest == newest_.end() || newest->second < death.incarnation)) {
    complain("AP-9", watcher.to_string() + " hears of the death of " + life.to_string() +
                         ", which was never born");
  }
  last->second = death;
}

void AppLedger::deposit_twice(std::uint64_t number, const AppLife& life) {
  complain("AP-3", name(number) + " is added a second time to the state of " + life.to_string());
}

void AppLedger::deposit_lost(std::uint64_t number, MemberName member) {
  complain("AP-3", name(number) + " was answered, and the state of " +
                       AppLife{member, 0}.to_string() + " has forgotten it");
}

void AppLedger::fill(MemberName member, std::uint32_t silo, std::uint64_t count,
                     std::uint64_t max) {
  if (count <= max) return;
  complain("AP-4", text(count) + " messages of silo " + text(silo) + " are at " +
                       AppLife{member, 0}.to_string() + "; its mailbox takes " + text(max));
}

void AppLedger::finish() {
  for (std::uint64_t number = 1; number <= records_.size(); ++number) {
    const Record& own = record(number);
    // The calls of a member end with it, and nobody is left to hear of them.
    if (own.asked.is_send || own.asked.caller.client == 0) continue;
    if (own.outcomes < own.asked.members) complain("AP-1", name(number) + " lacks an outcome");
  }
  if (!alive_.empty()) {
    complain("AP-6", text(alive_.size()) + " actors are left, such as " +
                         alive_.begin()->first.to_string());
  }
  if (open_handlers_ > 0) complain("AP-6", text(open_handlers_) + " handlers never ended");
}

}  // namespace seaway::sim
