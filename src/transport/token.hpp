// Tokens: by which a server knows who calls. It keeps their hashes; the tokens are with the
// callers.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/limits.hpp"
#include "seaway/status.hpp"

namespace seaway::transport {

/// 256 random bits, and whoever has them is trusted. As text: "swt_" and 43 letters of base64url.
constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kTokenLetters = 47;

enum class TokenRole : std::uint8_t { kClient, kWorker, kAdmin };
std::string_view to_string(TokenRole role);
/// "client", "worker" or "admin"; kInvalidArgument otherwise.
Result<TokenRole> parse_token_role(std::string_view text);

using TokenHash = std::array<std::byte, 32>;

/// What a server knows of one token.
struct TokenRecord {
  std::string id;  // Public: for lists and logs.
  TokenHash hash = {};
  std::string tenant;
  TokenRole role = TokenRole::kClient;
  std::uint64_t expiry_s = 0;     // Seconds of UTC, from which on it is refused; 0: never.
  std::uint64_t quota_bytes = 0;  // Of its holders' memory; 0: none.
  bool is_revoked = false;

  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

/// All tokens of one cluster: a value. As text it has a line for each: id, SHA-256 of the token's
/// bits in hex, tenant, role, expiry, quota, and "active" or "revoked", with a space between them.
/// Empty lines and those that begin with '#' say nothing, and are gone when the store is next
/// changed.
class TokenStore {
 public:
  static constexpr std::size_t kTokensMax = 10'000;
  static constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;
  static constexpr std::size_t kTenantBytesMax = limits::kTenantBytes.max;
  static constexpr std::size_t kIdBytesMax = 32;

  /// What is asked for a new token. `tenant` is of letters, digits, '.', '_' and '-'.
  struct Terms {
    std::string tenant;
    TokenRole role = TokenRole::kClient;
    std::uint64_t expiry_s = 0;
    std::uint64_t quota_bytes = 0;
  };

  /// Pure. `name` goes before messages. Errors: kInvalidArgument with name:line and what stands
  /// there instead of what; kResourceExhausted for too long a text or too many tokens.
  static Result<TokenStore> parse(std::string_view text, std::string_view name);
  std::string to_text() const;

  /// Adds the token that `random` makes, and returns it as text, which is nowhere else. Whoever can
  /// guess `random` is trusted as the holder is: it comes from the system's generator.
  /// Errors: kInvalidArgument for terms that cannot be, or for bits that are a token already;
  /// kResourceExhausted when there are kTokensMax, or the text gets too long.
  Result<std::string> issue(const Terms& terms, std::span<const std::byte, kTokenBytes> random);

  /// From now on the token is refused; again is the same. kNotFound when no token has this id.
  Status revoke(std::string_view id);

  /// The outcome of showing a token.
  struct Check {
    const TokenRecord* record = nullptr;  // Null: refused. Valid until the store changes.
    Status told;      // To the caller: kUnauthenticated in the same words whatever the reason is.
    std::string log;  // To whoever runs the server, and never to the caller: which token, and why.
  };
  /// Compares with each hash and in constant time: how long it takes says nothing about which one
  /// was alike. `now_s` in seconds of UTC. It takes a few microseconds for each thousand tokens.
  Check check(std::string_view token, std::uint64_t now_s) const;

  const std::vector<TokenRecord>& records() const { return records_; }

 private:
  std::vector<TokenRecord> records_;  // In the order in which they were issued.
  std::size_t text_bytes_ = 0;        // Of their lines.
};

/// Reads the store at `path`. Errors: those of TokenStore::parse() and of the disk.
Result<TokenStore> load_token_store(Disk& disk, std::string_view path);

/// Reads the store at `path`, or begins one, lets `change` change it, and puts it in its place:
/// whoever reads meanwhile sees the old one or the new one, and so does a crash. Only one process
/// changes it at a time: the file `path`.new is there for that long.
/// Errors: kInvalidArgument when another process is at it, or was killed meanwhile; what `change`
/// returns; those of the disk. After an error the old store is in its place, but for one of
/// syncing the directory, after which it may be either.
Status change_token_store(Disk& disk, std::string_view path,
                          const std::function<Status(TokenStore&)>& change);

}  // namespace seaway::transport
