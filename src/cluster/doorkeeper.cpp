// Callers by their tokens, certificates and users.

#include "cluster/doorkeeper.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "transport/caller_places.hpp"

namespace seaway::cluster {

using actor::Role;
using transport::Caller;
using transport::TokenRecord;
using transport::TokenRole;

namespace {

Status stranger(const Caller& caller) {
  return {StatusCode::kUnauthenticated,
          "nothing was shown by which " + caller.name +
              " is known here; show a token (token_file, SEAWAY_TOKEN_FILE)" +
              (caller.is_encrypted ? " or a certificate (cert_file and key_file)" : "")};
}

Status denied(const Identity& identity, const std::string& what, const std::string& who) {
  return {StatusCode::kPermissionDenied, identity.name + " may not " + what + "; it takes " + who};
}

/// "host/1": that host and no other.
std::optional<RoleName> role_of(std::string_view role, std::string_view word, Role kind) {
  if (!role.starts_with(word)) return {};
  role.remove_prefix(word.size());
  RoleName name{kind, 0};
  const auto [end, error] = std::from_chars(role.data(), role.data() + role.size(), name.index);
  if (error != std::errc() || end != role.data() + role.size()) return {};
  return name;
}

}  // namespace

void Doorkeeper::use(transport::TokenStore store) {
  store_ = std::move(store);
  records_.clear();
  for (const TokenRecord& record : store_.records()) records_[record.id] = &record;
}

Result<Identity> Doorkeeper::enter(const Caller& caller) {
  why_.clear();
  if (!caller.token.empty()) return by_token(caller);
  if (!caller.certificate.empty()) return by_certificate(caller);
  if (caller.is_local && caller.is_own_user) {
    return Identity{.kind = Identity::Kind::kOwner,
                    .name = "user " + std::to_string(caller.user),
                    .tenant = {},
                    .token = {}};
  }
  if (caller.is_local) {
    return Status(StatusCode::kPermissionDenied,
                  caller.name + " is not the user whose cluster this is");
  }
  return fail(transport::caller_group(caller), "it has shown nothing", stranger(caller));
}

Result<Identity> Doorkeeper::by_token(const Caller& caller) {
  const auto check = store_.check(caller.token, utc_s_());
  if (!check.record) {
    return fail(transport::caller_group(caller), check.log, check.told);
  }
  Identity identity;
  identity.name = "token " + check.record->id;
  identity.token = check.record->id;
  identity.tenant = check.record->tenant;
  switch (check.record->role) {
    case TokenRole::kClient:
      break;
    case TokenRole::kWorker:
      identity.kind = Identity::Kind::kWorker;
      break;
    case TokenRole::kAdmin:
      identity.kind = Identity::Kind::kAdmin;
      break;
  }
  return identity;
}

/// Who has tried too often is told so, and nobody else: what others show from the same address
/// counts, or one of them could keep all of them out.
Status Doorkeeper::fail(const std::string& address, const std::string& why, Status told) {
  if (Status status = tries_.admit(address); !status.ok()) return status;
  tries_.fail(address);
  why_ = why;
  return told;
}

Result<Identity> Doorkeeper::by_certificate(const Caller& caller) {
  const std::string_view role = caller.certificate;
  Identity identity;
  identity.name = "certificate " + caller.certificate;
  identity.end_s = caller.certificate_end_s;
  identity.kind = Identity::Kind::kWorker;
  if (role == "controller" || role == "worker" || role.starts_with("worker/")) return identity;
  for (const auto& [word, kind] :
       {std::pair(std::string_view("host/"), Role::kHost), {"scheduler/", Role::kIsland}}) {
    identity.only = role_of(role, word, kind);
    if (identity.only) return identity;
  }
  if (role == "admin" || role.starts_with("admin/")) {
    identity.kind = Identity::Kind::kAdmin;
    return identity;
  }
  if (role.starts_with("client/")) {
    identity.kind = Identity::Kind::kClient;
    const std::string_view rest = role.substr(std::string_view("client/").size());
    identity.tenant = rest.substr(0, rest.find('/'));
    return identity;
  }
  return Status(StatusCode::kPermissionDenied,
                "the certificate of " + caller.certificate +
                    " is of nobody that this cluster knows: controller, worker/.., scheduler/K, "
                    "host/K, admin/.., client/TENANT");
}

Status Doorkeeper::check(const Identity& identity) const {
  if (identity.end_s != 0 && utc_s_() >= identity.end_s) {
    return {StatusCode::kUnauthenticated, identity.name + " is not valid any more; get a new one"};
  }
  if (identity.token.empty()) return {};
  const auto found = records_.find(identity.token);
  const bool is_revoked = found == records_.end() || found->second->is_revoked;
  const bool is_over =
      !is_revoked && found->second->expiry_s != 0 && utc_s_() >= found->second->expiry_s;
  if (!is_revoked && !is_over) return {};
  return {StatusCode::kUnauthenticated,
          identity.name + (is_revoked ? " was revoked" : " has expired") + "; get a new one"};
}

std::uint64_t Doorkeeper::quota_of(const std::string& tenant) const {
  std::uint64_t quota = 0;
  for (const TokenRecord& record : store_.records()) {
    const bool is_over = record.expiry_s != 0 && utc_s_() >= record.expiry_s;
    if (record.tenant != tenant || record.is_revoked || is_over) continue;
    if (record.quota_bytes == 0) continue;
    quota = quota == 0 ? record.quota_bytes : std::min(quota, record.quota_bytes);
  }
  return quota;
}

Status Doorkeeper::may_enrol(const Identity& identity, const RoleName& name) {
  const bool is_owner = identity.kind == Identity::Kind::kOwner;
  if (name.role == Role::kClient) {
    if (identity.kind != Identity::Kind::kWorker) return {};
    return denied(identity, "run programs", "a token or a certificate of a client");
  }
  if (!is_owner && identity.kind != Identity::Kind::kWorker) {
    return denied(identity, "be " + to_string(name), "a token or a certificate of a worker");
  }
  // Whoever may be the host of an island may be any of its hosts.
  const RoleName played =
      name.role == Role::kAnnex ? RoleName{Role::kHost, actor::island_of_annex(name.index)} : name;
  if (!identity.only || *identity.only == played) return {};
  return denied(identity, "be " + to_string(name), "a certificate of that role, or of worker/..");
}

Status Doorkeeper::may_work(const Identity& identity) {
  const auto kind = identity.kind;
  if (kind == Identity::Kind::kOwner || kind == Identity::Kind::kWorker) return {};
  return denied(identity, "speak for a scheduler or a host",
                "a token or a certificate of a worker");
}

Status Doorkeeper::may_see_all(const Identity& identity) {
  const auto kind = identity.kind;
  if (kind == Identity::Kind::kOwner || kind == Identity::Kind::kAdmin) return {};
  return denied(identity, "see what others' runs wait for",
                "the cluster's owner on its machine, or a token of an admin");
}

Status Doorkeeper::may_stop(const Identity& identity) {
  const auto kind = identity.kind;
  if (kind == Identity::Kind::kOwner || kind == Identity::Kind::kAdmin) return {};
  return denied(identity, "end the cluster", "its owner on its machine, or a token of an admin");
}

Status Doorkeeper::may_drain(const Identity& identity, IslandId island) {
  const bool is_own = !identity.only || identity.only->index == island;
  const bool is_worker = identity.kind == Identity::Kind::kWorker && is_own;
  if (is_worker || may_stop(identity).ok()) return {};
  return denied(identity, "drain island " + std::to_string(island),
                "its own host, the cluster's owner on its machine, or a token of an admin");
}

}  // namespace seaway::cluster
