// `seaway token`: makes, lists and revokes the tokens by which a cluster knows who calls.

#include <sys/random.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "base/parse.hpp"
#include "base/printable.hpp"
#include "config_flags.hpp"
#include "private_files.hpp"
#include "transport/token.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

using transport::TokenRecord;
using transport::TokenStore;

constexpr const char* kStoreHelp =
    "the server's list of tokens; otherwise `tokens` in the directory of the settings";

struct Arguments {
  std::string store;  // Empty: in the directory of the settings.
  std::string tenant, role = "client", expires = "0", quota = "0";
  std::string out;  // Empty: stdout.
  std::string id;
};

int fail(const Status& status) {
  std::fprintf(stderr, "seaway: %s\n", printable(status.to_string()).c_str());
  const bool is_usage =
      status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNotFound;
  return is_usage ? kBadUsage : kCheckFailed;
}

/// Where the store is; its directory is there when `is_made`.
Result<std::string> store_path(const Arguments& arguments, bool is_made) {
  if (!arguments.store.empty()) return arguments.store;
  const auto settings = load_settings({});
  if (!settings.ok()) return settings.status();
  const std::string& directory = settings.value().config.directory;
  if (is_made) {
    if (Status status = claim_directory(directory); !status.ok()) return status;
  }
  return directory + "/tokens";
}

Result<TokenStore::Terms> terms_of(const Arguments& arguments) {
  TokenStore::Terms terms{.tenant = arguments.tenant};
  const auto role = transport::parse_token_role(arguments.role);
  if (!role.ok()) return role.status();
  terms.role = role.value();
  const auto lasts_ns = parse_duration_ns(arguments.expires);
  if (!lasts_ns.ok()) return lasts_ns.status();
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (lasts_ns.value() > 0 && lasts_ns.value() < kSecond) {
    return invalid_argument("a token lasts for at least 1s, or for ever: 0");
  }
  if (lasts_ns.value() > 0) terms.expiry_s = now_seconds() + lasts_ns.value() / kSecond;
  const auto quota = parse_bytes(arguments.quota);
  if (!quota.ok()) return quota.status();
  terms.quota_bytes = quota.value();
  return terms;
}

std::string expiry_text(const TokenRecord& record) {
  return record.expiry_s == 0 ? "never" : text_of_time(record.expiry_s);
}

/// Issues the token and writes it to its file, if it has one.
Status issue(TokenStore& store, const TokenStore::Terms& terms, const std::string& out,
             std::string& token) {
  std::array<std::byte, transport::kTokenBytes> random{};
  // So few bytes come at once or not at all.
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return resource_exhausted("the system gives no random bytes: " +
                              std::string(std::strerror(errno)));
  }
  auto issued = store.issue(terms, random);
  if (!issued.ok()) return issued.status();
  token = std::move(*issued);
  return out.empty() ? Status() : write_private(out, token + "\n");
}

int create(const Arguments& arguments) {
  const auto terms = terms_of(arguments);
  if (!terms.ok()) return fail(terms.status());
  const auto path = store_path(arguments, true);
  if (!path.ok()) return fail(path.status());
  const auto place = place_of(path.value());
  if (!place.ok()) return fail(place.status());
  std::string token;
  std::optional<TokenRecord> record;
  const Status status = transport::change_token_store(
      *place.value().disk, place.value().name, [&](TokenStore& store) {
        if (Status done = issue(store, terms.value(), arguments.out, token); !done.ok())
          return done;
        record = store.records().back();
        return Status();
      });
  if (!status.ok()) {
    // A token that no server knows is of no use to anybody.
    if (record && !arguments.out.empty()) std::remove(arguments.out.c_str());
    return fail(status);
  }
  if (arguments.out.empty()) std::printf("%s\n", token.c_str());
  std::fprintf(stderr, "token %s: tenant %s, role %s, expires %s; known to %s\n",
               record->id.c_str(), record->tenant.c_str(),
               std::string(to_string(record->role)).c_str(), expiry_text(*record).c_str(),
               path.value().c_str());
  return kDone;
}

int list(const Arguments& arguments) {
  const auto path = store_path(arguments, false);
  if (!path.ok()) return fail(path.status());
  const auto place = place_of(path.value());
  if (!place.ok()) return fail(place.status());
  const auto store = transport::load_token_store(*place.value().disk, place.value().name);
  if (!store.ok()) return fail(store.status());
  std::printf("%-16s %-8s %-20s %-12s %-8s %s\n", "id", "role", "expires", "quota", "state",
              "tenant");
  for (const TokenRecord& record : store.value().records()) {
    const bool is_expired = record.expiry_s != 0 && record.expiry_s <= now_seconds();
    const std::string quota =
        record.quota_bytes == 0 ? "none" : std::to_string(record.quota_bytes) + "B";
    std::printf("%-16s %-8s %-20s %-12s %-8s %s\n", record.id.c_str(),
                std::string(to_string(record.role)).c_str(), expiry_text(record).c_str(),
                quota.c_str(),
                record.is_revoked ? "revoked"
                : is_expired      ? "expired"
                                  : "active",
                record.tenant.c_str());
  }
  return kDone;
}

int revoke(const Arguments& arguments) {
  const auto path = store_path(arguments, false);
  if (!path.ok()) return fail(path.status());
  const auto place = place_of(path.value());
  if (!place.ok()) return fail(place.status());
  const Status status = transport::change_token_store(
      *place.value().disk, place.value().name,
      [&arguments](TokenStore& store) { return store.revoke(arguments.id); });
  if (!status.ok()) return fail(status);
  std::fprintf(stderr, "token %s is revoked\n", arguments.id.c_str());
  return kDone;
}

constexpr const char* kExitCodes = R"(

exit codes:
  0  it is done
  1  the command line will not do; nothing was changed
  2  the store or the disk failed; the message says how)";

}  // namespace

void add_token(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("token", "Make, list and revoke the tokens of a cluster's callers");
  verb->require_subcommand(1);
  verb->footer("example: seaway token create --tenant physics --role client --expires 30d");
  const auto arguments = std::make_shared<Arguments>();

  CLI::App* const made = verb->add_subcommand("create", "Make a token, and print it once");
  made->add_option("--tenant", arguments->tenant, "whom its holders work for")->required();
  made->add_option("--role", arguments->role, "client, worker or admin")->required();
  made->add_option("--expires", arguments->expires, "after how long, as in 30d; 0: never");
  made->add_option("--quota", arguments->quota, "memory of its holders, as in 1GiB; 0: no limit");
  made->add_option("--store", arguments->store, kStoreHelp);
  made->add_option("--out", arguments->out,
                   "a new file for the token, for this user alone; otherwise stdout");
  made->footer(std::string("example: seaway token create --tenant physics --role client --out "
                           "physics.token") +
               kExitCodes);
  made->callback([arguments, &exit_code] { exit_code = create(*arguments); });

  CLI::App* const listed = verb->add_subcommand("list", "Show all tokens, by their ids");
  listed->add_option("--store", arguments->store, kStoreHelp);
  listed->footer(std::string("example: seaway token list") + kExitCodes);
  listed->callback([arguments, &exit_code] { exit_code = list(*arguments); });

  CLI::App* const revoked = verb->add_subcommand("revoke", "Refuse a token from now on");
  revoked->add_option("id", arguments->id, "as `seaway token list` shows it")->required();
  revoked->add_option("--store", arguments->store, kStoreHelp);
  revoked->footer(std::string("example: seaway token revoke 66687aadf862bd77") + kExitCodes);
  revoked->callback([arguments, &exit_code] { exit_code = revoke(*arguments); });
}

}  // namespace seaway::tools
