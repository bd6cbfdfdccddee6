// Who asks, what he may, and a line for each who was let in or not.

#include "cluster/gatehouse.hpp"

#include <utility>

#include "actor/router.hpp"
#include "base/limits.hpp"
#include "seaway/client.hpp"
#include "transport/caller_places.hpp"

namespace seaway::cluster {

using actor::Role;
using transport::Caller;
using transport::ProcessId;

Gatehouse::Gatehouse(Options options, std::string key, const Clock& clock)
    : options_(std::move(options)),
      enrolment_(options_.shape, options_.life),
      doorkeeper_(clock, options_.utc_s),
      sessions_(std::move(key), options_.cluster),
      lines_(clock) {}

Result<Frame> Gatehouse::answer(const Caller& caller, const Question& question,
                                const std::function<std::string()>& status,
                                const std::function<void()>& stop) {
  auto identity = doorkeeper_.enter(caller);
  if (!identity.ok()) return identity.status();
  if (const auto* enrols = std::get_if<EnrolQuestion>(&question)) {
    return enrol(caller, *identity, *enrols);
  }
  if (std::holds_alternative<StatusQuestion>(question)) return status_frame(status());
  if (const auto* find = std::get_if<FindQuestion>(&question)) {
    const auto found = enrolment_.find(find->process);
    return found.ok() ? Result<Frame>(address_frame(*found)) : found.status();
  }
  if (const auto* native = std::get_if<NativeQuestion>(&question)) {
    const Status known = enrolment_.check_native(native->native);
    return known.ok() ? Result<Frame>(done_frame()) : Result<Frame>(known);
  }
  if (std::holds_alternative<StopQuestion>(question)) {
    if (Status may = Doorkeeper::may_stop(*identity); !may.ok()) return may;
    options_.audit(identity->name + " from " + caller.name + " ends the cluster");
    stop();
    return done_frame();
  }
  if (Status may = Doorkeeper::may_work(*identity); !may.ok()) return may;
  if (const auto* said = std::get_if<AnnounceQuestion>(&question)) {
    const Status told =
        enrolment_.announce(said->process, said->life, said->address, said->natives);
    return told.ok() ? Result<Frame>(done_frame()) : Result<Frame>(told);
  }
  std::vector<ProcessId> unwelcome;
  const auto* const vouch = std::get_if<VouchQuestion>(&question);
  if (!vouch) return protocol_error("this question is not asked here");
  for (const ProcessId process : vouch->processes) {
    const bool is_welcome = !sessions_.is_refused(process) && enrolment_.admit(process).ok();
    if (!is_welcome) unwelcome.push_back(process);
  }
  return unwelcome_frame(unwelcome);
}

Status Gatehouse::may_drain(const Caller& caller, const DrainQuestion& drain) {
  const auto identity = doorkeeper_.enter(caller);
  if (!identity.ok()) return identity.status();
  if (Status may = Doorkeeper::may_drain(*identity, drain.island); !may.ok()) return may;
  const std::string what =
      (drain.how ? " drains island " : " ends the drain of island ") + std::to_string(drain.island);
  // Whoever waits asks again and again.
  if (what != last_drain_) options_.audit(identity->name + " from " + caller.name + what);
  last_drain_ = what;
  return {};
}

Status Gatehouse::may_ask_why(const Caller& caller) {
  const auto identity = doorkeeper_.enter(caller);
  return identity.ok() ? Doorkeeper::may_see_all(*identity) : identity.status();
}

Result<Frame> Gatehouse::enrol(const Caller& caller, const Identity& identity,
                               const EnrolQuestion& question) {
  const RoleName& name = question.name;
  Status may = Doorkeeper::may_enrol(identity, name);
  const bool is_client = name.role == Role::kClient;
  if (may.ok() && is_client) may = sessions_.check_room(identity);
  // Who may work for any tenant chooses one for the whole session.
  std::string tenant;
  if (is_client) {
    tenant = !identity.tenant.empty()   ? identity.tenant
             : !question.tenant.empty() ? question.tenant
                                        : ClientOptions().tenant;
    if (may.ok()) may = limits::check_tenant(tenant);
  }
  if (!may.ok()) return may;
  const auto place = enrolment_.enrol(name);
  if (!place.ok()) return place.status();
  const auto key = is_client ? transport::tenant_key(tenant) : transport::kNoTenant;
  sessions_.begin(place->process, identity, is_client, options_.utc_s());
  options_.audit("accepted " + to_string(place->name) + ", life " + std::to_string(place->life) +
                 ", as " + identity.name +
                 (identity.tenant.empty() ? "" : " of tenant " + identity.tenant) + " from " +
                 caller.name);
  return enrolled_frame({place->process, place->name.index, place->life, options_.cluster,
                         options_.spec, options_.heartbeat_ns, options_.silence_ns,
                         sessions_.pass_of(place->process, place->life, key),
                         is_client ? std::string() : sessions_.key(), tenant});
}

Status Gatehouse::admit(ProcessId process, const Caller& caller) const {
  constexpr StatusCode kNobody = StatusCode::kUnauthenticated;
  if (Status status = sessions_.check_talk(process, caller, kNobody); !status.ok()) return status;
  const auto place = enrolment_.admit(process);
  if (!place.ok()) return {kNobody, place.status().message()};
  if (place->life == caller.life) return {};
  return {kNobody, to_string(place->name) + " is in its life " + std::to_string(place->life) +
                       ", and not " + std::to_string(caller.life) + "; enrol again"};
}

void Gatehouse::offend(ProcessId process, const Status& offence) {
  if (sessions_.is_refused(process)) return;
  const Identity* const identity = sessions_.find(process);
  options_.audit("ended the session of process " + std::to_string(process) + ", " +
                 (identity ? identity->name : "nobody") + ": " + offence.message());
  sessions_.refuse(process, offence);
}

std::vector<std::pair<ProcessId, Status>> Gatehouse::end_invalid() {
  auto ended = sessions_.end_invalid(doorkeeper_, options_.utc_s());
  for (const auto& [process, why] : ended) {
    options_.audit("ended the session of process " + std::to_string(process) + ": " +
                   why.message());
    sessions_.refuse(process, why);
    // Whoever never came is not there to be lost.
    if (why.code() == StatusCode::kDeadlineExceeded) enrolment_.went(process);
  }
  return ended;
}

void Gatehouse::use(transport::TokenStore store) {
  std::set<std::string> revoked;
  for (const transport::TokenRecord& record : store.records()) {
    if (!record.is_revoked) continue;
    revoked.insert(record.id);
    if (revoked_ && !revoked_->contains(record.id)) {
      options_.audit("token " + record.id + " of tenant " + record.tenant + " was revoked");
    }
  }
  revoked_ = std::move(revoked);
  doorkeeper_.use(std::move(store));
}

void Gatehouse::came(ProcessId process) {
  enrolment_.came(process);
  sessions_.came(process);
}

void Gatehouse::went(ProcessId process) {
  enrolment_.went(process);
  sessions_.end(process);
}

/// What is refused for lack of room says nothing about who calls.
void Gatehouse::refused(const Caller& caller, const Status& why) {
  const bool is_about_caller = why.code() == StatusCode::kUnauthenticated ||
                               why.code() == StatusCode::kPermissionDenied ||
                               why.code() == StatusCode::kProtocolError;
  if (!is_about_caller) return;
  const std::string reason = doorkeeper_.take_why();
  const std::string address = transport::caller_group(caller);
  if (!lines_.admit(address).ok()) return;
  lines_.fail(address);
  options_.audit("refused " + caller.name + ": " + (reason.empty() ? why.message() : reason));
}

}  // namespace seaway::cluster
