// How a call is written down in the history.

#include "sim/app_stage.hpp"

namespace seaway::sim {

std::uint64_t AppStage::write(std::uint64_t number, const AppAsked& asked, std::uint64_t input) {
  constexpr std::uint64_t kDeadlineNs = 30'000'000'000;  // Of calls that name none.
  HistoryCall call;
  call.kind = asked.is_send ? CallKind::kTell : CallKind::kAsk;
  if (asked.what == "deposit") call.kind = CallKind::kDeposit;
  call.caller = {asked.caller.client, asked.caller.member, asked.caller.incarnation};
  call.number = number;
  call.members = asked.members;
  call.retries = asked.retries;
  call.is_once = asked.is_once;
  call.input = input;
  if (asked.is_tight) call.wishes |= {StatusCode::kResourceExhausted};
  if (asked.is_failing) call.wishes |= {StatusCode::kActorLost, StatusCode::kUserFunctionError};
  HistoryCall& written = history.calls[history.begin(std::move(call))];
  written.deadline_ns = written.begun_ns + (asked.deadline_ns ? asked.deadline_ns : kDeadlineNs);
  return number;
}

}  // namespace seaway::sim
