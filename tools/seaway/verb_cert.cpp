// `seaway cert`: a cluster's own authority, and certificates for its processes.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/printable.hpp"
#include "private_files.hpp"
#include "transport/certificates.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

using transport::CertifiedKey;
using transport::kDaySeconds;

struct Arguments {
  std::string directory = ".";
  std::string cluster;     // Of init.
  std::string role, name;  // Of issue; an empty name is made from the role.
  std::vector<std::string> dns_names, ip_addresses;
  std::uint64_t days = 0;  // 0: ten years or one.
};

int fail(const Status& status) {
  std::fprintf(stderr, "seaway: %s\n", printable(status.to_string()).c_str());
  const bool is_usage =
      status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNotFound;
  return is_usage ? kBadUsage : kCheckFailed;
}

/// Both files or none, and neither in the place of another one.
int write(const std::string& path, const CertifiedKey& made) {
  if (Status status = write_private(path + ".key", made.key); !status.ok()) return fail(status);
  if (Status status = write_private(path + ".pem", made.certificate); !status.ok()) {
    std::remove((path + ".key").c_str());
    return fail(status);
  }
  const auto facts = transport::read_certificate(made.certificate);
  if (!facts.ok()) return fail(facts.status());
  std::printf("%s.pem  valid until %s\n%s.key  for this user alone\n", path.c_str(),
              text_of_time(facts.value().end_s).c_str(), path.c_str());
  return kDone;
}

int init(const Arguments& arguments) {
  transport::AuthorityOptions options{.cluster = arguments.cluster, .now_s = now_seconds()};
  if (arguments.days > 0) options.lasts_s = arguments.days * kDaySeconds;
  const auto made = transport::make_authority(options);
  if (!made.ok()) return fail(made.status());
  if (Status status = make_private_directory(arguments.directory); !status.ok()) {
    return fail(status);
  }
  return write(arguments.directory + "/ca", made.value());
}

int issue(const Arguments& arguments) {
  transport::CertificateOptions options{.role = arguments.role,
                                        .dns_names = arguments.dns_names,
                                        .ip_addresses = arguments.ip_addresses,
                                        .now_s = now_seconds()};
  if (arguments.days > 0) options.lasts_s = arguments.days * kDaySeconds;
  constexpr std::size_t kMax = transport::CertificateLimits::kPemBytesMax;
  auto certificate = read_whole(arguments.directory + "/ca.pem", kMax);
  if (!certificate.ok()) return fail(certificate.status());
  auto key = read_whole(arguments.directory + "/ca.key", kMax);
  if (!key.ok()) return fail(key.status());
  const auto made = transport::issue_certificate({*certificate, *key}, options);
  if (!made.ok()) return fail(made.status());
  std::string name = arguments.name.empty() ? arguments.role : arguments.name;
  std::ranges::replace(name, '/', '-');
  return write(arguments.directory + "/" + name, made.value());
}

constexpr const char* kExitCodes = R"(

exit codes:
  0  both files are written
  1  the command line will not do, or a file is there already; nothing was written
  2  the disk failed; the message says how)";

}  // namespace

void add_cert(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("cert", "Make a cluster's authority, and certificates for TLS");
  verb->require_subcommand(1);
  verb->footer("example: seaway cert init --cluster blue --directory keys");
  const auto arguments = std::make_shared<Arguments>();
  const CLI::Range days(std::uint64_t{1}, std::uint64_t{1'000'000});

  CLI::App* const made = verb->add_subcommand("init", "Make an authority: ca.pem and ca.key");
  made->add_option("--cluster", arguments->cluster, "a..z, 0..9 and '-'")->required();
  made->add_option("--directory", arguments->directory, "where the files go; made if not there");
  made->add_option("--days", arguments->days, "how long it is valid; otherwise 3652")->check(days);
  made->footer(std::string("example: seaway cert init --cluster blue --directory keys") +
               kExitCodes);
  made->callback([arguments, &exit_code] { exit_code = init(*arguments); });

  CLI::App* const issued =
      verb->add_subcommand("issue", "Make a key and a certificate that the authority signs");
  issued->add_option("role", arguments->role, "controller, worker/17, client/ann")->required();
  issued->add_option("--dns", arguments->dns_names, "a name where it is reached; may be repeated")
      ->allow_extra_args(false);
  issued->add_option("--ip", arguments->ip_addresses, "an address of it; may be repeated")
      ->allow_extra_args(false);
  issued->add_option("--directory", arguments->directory, "where ca.pem is, and the files go");
  issued->add_option("--name", arguments->name, "of the files; otherwise the role: worker-17");
  issued->add_option("--days", arguments->days, "how long it is valid; otherwise 365")->check(days);
  issued->footer(
      std::string("example: seaway cert issue worker/17 --dns host.example.org --directory keys") +
      kExitCodes);
  issued->callback([arguments, &exit_code] { exit_code = issue(*arguments); });
}

}  // namespace seaway::tools
