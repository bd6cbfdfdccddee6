// Passes: how a process that was let into a cluster shows that to all others in it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "transport/wires.hpp"

namespace seaway::transport {

/// Identifies a tenant to every process of a cluster; see tenant_key().
using TenantKey = std::uint64_t;
constexpr TenantKey kNoTenant = 0;

/// Of the key that signs passes.
constexpr std::size_t kPassKeyBytes = 32;
/// Of a pass: the tenant, then the signature.
constexpr std::size_t kPassBytes = sizeof(TenantKey) + 32;

/// The process that a pass identifies, and the tenant that the process works for.
struct PassHolder {
  std::uint64_t cluster = 0;
  ProcessId process = 0;
  std::uint32_t life = 0;
  TenantKey tenant = kNoTenant;  // Of a client.
};

/// Signs `holder` with `key`: kPassKeyBytes random bytes that the workers of a cluster share. Only
/// a process that has `key` can make a pass, and it checks a pass without a message to another one.
std::string make_pass(std::string_view key, const PassHolder& holder);
/// Whether `key` signed `pass` for `holder`, whose tenant is the one that the pass names. Constant
/// time.
bool check_pass(std::string_view key, PassHolder holder, std::string_view pass);
/// The tenant that `pass` names; kNoTenant for a pass of another size. Valid after check_pass().
TenantKey tenant_of_pass(std::string_view pass);

/// The first 8 bytes of the SHA-256 of a tenant's name; never kNoTenant.
TenantKey tenant_key(std::string_view tenant);

/// Shows that whoever sends `token` made this very connection: `channel` is the connection's alone
/// (TlsOutcome). What was recorded elsewhere is of no use.
std::string bind_token(std::string_view token, std::string_view channel);
bool is_bound(std::string_view token, std::string_view channel, std::string_view binding);

/// kPassKeyBytes of the system's random bytes.
std::string make_pass_key();

}  // namespace seaway::transport
