// Passes: how a process that was let into a cluster shows that to all others in it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "transport/wires.hpp"

namespace seaway::transport {

/// Of a pass, and of the key that makes passes.
constexpr std::size_t kPassBytes = 32;

/// Which life of which process a pass is for.
struct PassHolder {
  std::uint64_t cluster = 0;
  ProcessId process = 0;
  std::uint32_t life = 0;
};

/// Whoever has `key`, kPassBytes random bytes that the workers of a cluster share, makes passes and
/// checks them without a question to anybody. Nobody else can.
std::string make_pass(std::string_view key, const PassHolder& holder);
/// Compares in constant time.
bool check_pass(std::string_view key, const PassHolder& holder, std::string_view pass);

/// Shows that whoever sends `token` made this very connection: `channel` is the connection's alone
/// (TlsOutcome). What was recorded elsewhere is of no use.
std::string bind_token(std::string_view token, std::string_view channel);
bool is_bound(std::string_view token, std::string_view channel, std::string_view binding);

/// kPassBytes of the system's random bytes.
std::string make_pass_key();

}  // namespace seaway::transport
