// The store as text and on disk, and one pass over all hashes for each token that is shown.

#include "transport/token.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <optional>

#include "base/parse.hpp"

namespace seaway::transport {
namespace {

constexpr std::string_view kPrefix = "swt_";
constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kHeader =
    "# Tokens: id, SHA-256, tenant, role, expiry (s of UTC; 0: never), quota (bytes; 0: none)\n";
constexpr std::size_t kFields = 7;
constexpr std::array<std::string_view, 3> kRoles = {"client", "worker", "admin"};

using TokenBits = std::array<std::byte, kTokenBytes>;

TokenHash hash_of(std::span<const std::byte, kTokenBytes> bits) {
  TokenHash hash;
  SHA256(reinterpret_cast<const unsigned char*>(bits.data()), bits.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

std::string text_of_token(std::span<const std::byte, kTokenBytes> bits) {
  std::string text(kPrefix);
  std::uint32_t held = 0;
  unsigned held_bits = 0;
  for (const std::byte byte : bits) {
    held = (held << 8 | std::to_integer<std::uint32_t>(byte)) & 0xffff;
    for (held_bits += 8; held_bits >= 6; held_bits -= 6) {
      text += kLetters[held >> (held_bits - 6) & 63];
    }
  }
  if (held_bits > 0) text += kLetters[held << (6 - held_bits) & 63];
  return text;
}

/// Nothing when `text` is no token. It says so at once: that is plain from the text alone.
std::optional<TokenBits> bits_of_token(std::string_view text) {
  if (text.size() != kTokenLetters || !text.starts_with(kPrefix)) return std::nullopt;
  TokenBits bits;
  std::size_t done = 0;
  std::uint32_t held = 0;
  unsigned held_bits = 0;
  for (const char letter : text.substr(kPrefix.size())) {
    const std::size_t value = kLetters.find(letter);
    if (value == kLetters.npos) return std::nullopt;
    held = (held << 6 | static_cast<std::uint32_t>(value)) & 0xffff;
    held_bits += 6;
    if (held_bits < 8) continue;
    held_bits -= 8;
    bits[done++] = static_cast<std::byte>(held >> held_bits & 0xff);
  }
  // One token has one text: what the last letter has beyond 256 bits is zero.
  if ((held & ((1u << held_bits) - 1)) != 0) return std::nullopt;
  return bits;
}

std::string hex_of(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte) >> 4];
    text += kDigits[std::to_integer<std::size_t>(byte) & 15];
  }
  return text;
}

std::optional<TokenHash> hash_of_hex(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  TokenHash hash;
  if (text.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t index = 0; index < hash.size(); ++index) {
    const std::size_t high = kDigits.find(text[2 * index]);
    const std::size_t low = kDigits.find(text[2 * index + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
    hash[index] = static_cast<std::byte>(high << 4 | low);
  }
  return hash;
}

bool is_letter_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool is_name(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && std::ranges::all_of(text, is_letter_of_name);
}

std::string line_of(const TokenRecord& record) {
  return record.id + " " + hex_of(record.hash) + " " + record.tenant + " " +
         std::string(to_string(record.role)) + " " + std::to_string(record.expiry_s) + " " +
         std::to_string(record.quota_bytes) + (record.is_revoked ? " revoked\n" : " active\n");
}

/// The parts of a line with one space between each two; more than kFields come as kFields + 1.
std::vector<std::string_view> parts_of(std::string_view line) {
  std::vector<std::string_view> parts;
  while (parts.size() <= kFields) {
    const std::size_t space = line.find(' ');
    parts.push_back(line.substr(0, space));
    if (space == line.npos) break;
    line.remove_prefix(space + 1);
  }
  return parts;
}

/// A hash is not worth hiding, but a token that somebody has put there by mistake is: no message
/// repeats what it does not understand.
Result<TokenRecord> read_line(std::string_view line) {
  const auto parts = parts_of(line);
  if (parts.size() != kFields) {
    return invalid_argument("a token has 7 words with one space between each two");
  }
  TokenRecord record;
  if (!is_name(parts[0], TokenStore::kIdBytesMax)) {
    return invalid_argument("word 1 is no id: 1 to 32 letters, digits, '.', '_' and '-'");
  }
  const auto hash = hash_of_hex(parts[1]);
  if (!hash) return invalid_argument("word 2 is no SHA-256: 64 digits of 0..9 and a..f");
  if (!is_name(parts[2], TokenStore::kTenantBytesMax)) {
    return invalid_argument("word 3 is no tenant: 1 to 256 letters, digits, '.', '_' and '-'");
  }
  const auto role = parse_token_role(parts[3]);
  if (!role.ok()) return invalid_argument("word 4 is no role: client, worker or admin");
  const auto expiry = parse_number(parts[4]);
  if (!expiry.ok()) return invalid_argument("word 5 is no expiry: seconds of UTC, or 0");
  const auto quota = parse_number(parts[5]);
  if (!quota.ok()) return invalid_argument("word 6 is no quota: bytes, or 0");
  if (parts[6] != "active" && parts[6] != "revoked") {
    return invalid_argument("word 7 is neither active nor revoked");
  }
  return TokenRecord{.id = std::string(parts[0]),
                     .hash = *hash,
                     .tenant = std::string(parts[2]),
                     .role = *role,
                     .expiry_s = *expiry,
                     .quota_bytes = *quota,
                     .is_revoked = parts[6] == "revoked"};
}

/// The line of the second of two tokens with the same `part`, and the line of the first.
template <class Part>
std::optional<std::pair<std::size_t, std::size_t>> twice(const std::vector<TokenRecord>& records,
                                                         const std::vector<std::size_t>& lines,
                                                         Part part) {
  std::vector<std::size_t> order(records.size());
  for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
  std::ranges::stable_sort(order, [&records, part](std::size_t left, std::size_t right) {
    return records[left].*part < records[right].*part;
  });
  for (std::size_t index = 1; index < order.size(); ++index) {
    const std::size_t first = order[index - 1], second = order[index];
    if (records[first].*part == records[second].*part) return {{lines[second], lines[first]}};
  }
  return std::nullopt;
}

std::string directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : std::string(path.substr(0, slash));
}

/// What is written to `file` becomes what is at `path`.
Status replace(Disk& disk, File& file, std::string_view fresh, std::string_view path,
               const std::string& text) {
  if (Status status = file.append(std::as_bytes(std::span(text))); !status.ok()) return status;
  if (Status status = file.sync(); !status.ok()) return status;
  return disk.rename(fresh, path);
}

/// The store at `path`, changed and in its place; `file` is the new one.
Status change_into(Disk& disk, File& file, std::string_view fresh, std::string_view path,
                   const std::function<Status(TokenStore&)>& change) {
  auto store = load_token_store(disk, path);
  if (!store.ok() && store.status().code() != StatusCode::kNotFound) return store.status();
  TokenStore changed = store.ok() ? std::move(*store) : TokenStore();
  if (Status status = change(changed); !status.ok()) return status;
  const std::string text = changed.to_text();
  // Written by hand it may have been full without the first line.
  if (text.size() > TokenStore::kTextBytesMax) {
    return resource_exhausted(std::string(path) + " would have " + std::to_string(text.size()) +
                              " bytes; at most " + std::to_string(TokenStore::kTextBytesMax) +
                              ": remove lines of revoked or expired tokens");
  }
  return replace(disk, file, fresh, path, text);
}

}  // namespace

std::string_view to_string(TokenRole role) { return kRoles[static_cast<std::size_t>(role)]; }

Result<TokenRole> parse_token_role(std::string_view text) {
  const auto found = std::ranges::find(kRoles, text);
  if (found != kRoles.end()) return static_cast<TokenRole>(found - kRoles.begin());
  return invalid_argument("there is no role '" + std::string(text.substr(0, 32)) +
                          "'; there are: client, worker, admin");
}

Result<TokenStore> TokenStore::parse(std::string_view text, std::string_view name) {
  if (text.size() > kTextBytesMax) {
    return resource_exhausted(std::string(name) + " has more than " +
                              std::to_string(kTextBytesMax) + " bytes; no store of tokens has");
  }
  if (!text.empty() && text.back() != '\n') {
    return invalid_argument(std::string(name) +
                            ": the last line does not end: the file is cut off; restore it");
  }
  const auto place = [name](std::size_t line) {
    return std::string(name) + ":" + std::to_string(line) + ": ";
  };
  TokenStore store;
  std::vector<std::size_t> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    if (line.empty() || line.front() == '#') continue;
    if (store.records_.size() == kTokensMax) {
      return resource_exhausted(place(number) + "more than " + std::to_string(kTokensMax) +
                                " tokens; remove those that are revoked or expired");
    }
    auto record = read_line(line);
    if (!record.ok()) return invalid_argument(place(number) + record.status().message());
    store.text_bytes_ += line_of(*record).size();
    store.records_.push_back(std::move(*record));
    lines.push_back(number);
  }
  for (const auto& same : {twice(store.records_, lines, &TokenRecord::id),
                           twice(store.records_, lines, &TokenRecord::hash)}) {
    if (!same) continue;
    return invalid_argument(place(same->first) + "the token of line " +
                            std::to_string(same->second) + " is here once more; remove one");
  }
  return store;
}

std::string TokenStore::to_text() const {
  std::string text(kHeader);
  for (const TokenRecord& record : records_) text += line_of(record);
  return text;
}

Result<std::string> TokenStore::issue(const Terms& terms,
                                      std::span<const std::byte, kTokenBytes> random) {
  if (!is_name(terms.tenant, kTenantBytesMax)) {
    return invalid_argument(
        "a tenant is called by 1 to 256 letters, digits, '.', '_' and '-', and not '" +
        std::string(terms.tenant.substr(0, 32)) + "'");
  }
  TokenRecord record = {.id = {},
                        .hash = hash_of(random),
                        .tenant = terms.tenant,
                        .role = terms.role,
                        .expiry_s = terms.expiry_s,
                        .quota_bytes = terms.quota_bytes};
  // Of the hash, so that it says nothing that a list of hashes does not say.
  record.id = hex_of(std::span(record.hash).first<8>());
  for (const TokenRecord& other : records_) {
    if (other.id == record.id || other.hash == record.hash) {
      return invalid_argument("the random bits are those of token " + other.id +
                              ": is the system's generator broken?");
    }
  }
  // One letter for "revoked", which is longer than "active", of each.
  const std::size_t bytes = text_bytes_ + line_of(record).size();
  if (records_.size() == kTokensMax ||
      kHeader.size() + bytes + records_.size() + 1 > kTextBytesMax) {
    return resource_exhausted("the store has " + std::to_string(records_.size()) + " tokens in " +
                              std::to_string(text_bytes_) + " bytes; at most " +
                              std::to_string(kTokensMax) + " in " + std::to_string(kTextBytesMax) +
                              ": remove lines of revoked or expired ones");
  }
  text_bytes_ = bytes;
  records_.push_back(std::move(record));
  return text_of_token(random);
}

Status TokenStore::revoke(std::string_view id) {
  const auto found =
      std::ranges::find_if(records_, [id](const TokenRecord& record) { return record.id == id; });
  if (found == records_.end()) {
    return not_found("no token has the id '" + std::string(id.substr(0, kIdBytesMax)) +
                     "'; `seaway token list` shows all");
  }
  text_bytes_ -= line_of(*found).size();
  found->is_revoked = true;
  text_bytes_ += line_of(*found).size();
  return {};
}

TokenStore::Check TokenStore::check(std::string_view token, std::uint64_t now_s) const {
  const auto refused = [](std::string log) {
    return Check{nullptr,
                 {StatusCode::kUnauthenticated,
                  "the token is not accepted; ask whoever runs the cluster for another one"},
                 std::move(log)};
  };
  const auto bits = bits_of_token(token);
  if (!bits) return refused("what was shown is no token");
  const TokenHash hash = hash_of(*bits);
  // No branch and no index depends on a comparison until all are done.
  std::size_t found = records_.size();
  for (std::size_t index = 0; index < records_.size(); ++index) {
    const auto difference = static_cast<std::uint64_t>(static_cast<std::uint32_t>(
        CRYPTO_memcmp(hash.data(), records_[index].hash.data(), hash.size())));
    const std::size_t same = ((difference - 1) >> 32) ? ~std::size_t{0} : 0;
    found = (index & same) | (found & ~same);
  }
  if (found == records_.size()) return refused("no token is like the one that was shown");
  const TokenRecord& record = records_[found];
  if (record.is_revoked) return refused("token " + record.id + " is revoked");
  if (record.expiry_s != 0 && now_s >= record.expiry_s) {
    return refused("token " + record.id + " has expired");
  }
  return {&record, {}, "token " + record.id + " of " + record.tenant};
}

Result<TokenStore> load_token_store(Disk& disk, std::string_view path) {
  const auto file = disk.open(path, OpenMode::kExisting);
  if (!file.ok()) return file.status();
  const auto bytes = (*file)->read(0, TokenStore::kTextBytesMax + 1);
  if (!bytes.ok()) return bytes.status();
  return TokenStore::parse({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path);
}

Status change_token_store(Disk& disk, std::string_view path,
                          const std::function<Status(TokenStore&)>& change) {
  const std::string fresh = std::string(path) + ".new";
  {
    const auto file = disk.open(fresh, OpenMode::kNew);
    if (!file.ok() && file.status().code() == StatusCode::kInvalidArgument) {
      return invalid_argument("another process is changing the tokens, or was killed meanwhile (" +
                              file.status().message() + "); if none is, remove " + fresh);
    }
    if (!file.ok()) return file.status();
    if (Status status = change_into(disk, **file, fresh, path, change); !status.ok()) {
      (void)disk.remove(fresh);  // What went wrong first is what is told.
      return status;
    }
  }
  return disk.sync_directory(directory_of(path));
}

}  // namespace seaway::transport
