// A table of identities, and of who is not heard any more.

#include "cluster/sessions.hpp"

#include <algorithm>

namespace seaway::cluster {

using transport::ProcessId;

std::string Sessions::pass_of(ProcessId process, std::uint32_t life,
                              transport::TenantKey tenant) const {
  return transport::make_pass(key_, {cluster_, process, life, tenant});
}

Status Sessions::check_talk(ProcessId process, const transport::Caller& caller,
                            StatusCode without_pass) const {
  if (caller.is_local && !caller.is_own_user) {
    return {StatusCode::kPermissionDenied, caller.name + " is not the user whose cluster this is"};
  }
  const auto found = unwelcome_.find(process);
  if (found != unwelcome_.end()) return found->second;
  if (transport::check_pass(key_, {cluster_, process, caller.life}, caller.pass)) return {};
  return {without_pass, caller.name + " shows no pass of process " + std::to_string(process) +
                            " in its life " + std::to_string(caller.life) +
                            "; enrol at the controller"};
}

Status Sessions::check_room(const Identity& identity) const {
  if (identity.tenant.empty()) return {};
  const auto count = static_cast<std::size_t>(
      std::count_if(sessions_.begin(), sessions_.end(), [&identity](const auto& entry) {
        return entry.second.is_client && entry.second.identity.tenant == identity.tenant;
      }));
  if (count < kClientsOfTenantMax) return {};
  return resource_exhausted("tenant " + identity.tenant + " has " + std::to_string(count) + " of " +
                            std::to_string(kClientsOfTenantMax) +
                            " clients; end one, or wait until one ends");
}

void Sessions::begin(ProcessId process, Identity identity, bool is_client, std::uint64_t now_s) {
  sessions_[process] = {std::move(identity), is_client, false, now_s};
  unwelcome_.erase(process);  // Of a role: somebody else plays it now.
}

void Sessions::came(ProcessId process) {
  const auto found = sessions_.find(process);
  if (found != sessions_.end()) found->second.has_come = true;
}

const Identity* Sessions::find(ProcessId process) const {
  const auto found = sessions_.find(process);
  return found == sessions_.end() ? nullptr : &found->second.identity;
}

void Sessions::end(ProcessId process) { sessions_.erase(process); }

std::vector<std::pair<ProcessId, Status>> Sessions::end_invalid(const Doorkeeper& doorkeeper,
                                                                std::uint64_t now_s) {
  std::vector<std::pair<ProcessId, Status>> ended;
  for (const auto& [process, session] : sessions_) {
    Status status = doorkeeper.check(session.identity);
    const bool is_silent =
        session.is_client && !session.has_come && now_s > session.began_s + kSilentSeconds;
    if (is_silent && status.ok()) {
      status = deadline_exceeded("it was let in, and has said nothing for " +
                                 std::to_string(kSilentSeconds) + " s");
    }
    if (!status.ok()) ended.emplace_back(process, std::move(status));
  }
  for (const auto& [process, why] : ended) sessions_.erase(process);
  return ended;
}

void Sessions::refuse(ProcessId process, Status why) {
  unwelcome_.insert_or_assign(process, std::move(why));
  if (unwelcome_.size() > kUnwelcomeMax) unwelcome_.erase(unwelcome_.begin());
}

}  // namespace seaway::cluster
