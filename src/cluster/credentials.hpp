// What a process shows to others, from files.

#pragma once

#include <string>

#include "seaway/status.hpp"
#include "transport/caller.hpp"
#include "transport/tls.hpp"

namespace seaway::cluster {

/// Paths; an empty one: there is no such file. The names of the settings are token_file, ca_file,
/// cert_file and key_file.
struct CredentialFiles {
  std::string token, authority, certificate, key;
};

/// SEAWAY_TOKEN_FILE, SEAWAY_CA_FILE, SEAWAY_CERT_FILE and SEAWAY_KEY_FILE.
CredentialFiles credential_files_of_environment();

/// Errors: kNotFound for a file that cannot be read; kPermissionDenied for a token or a key that
/// other users can read; kInvalidArgument for what is none, or when one of two that belong together
/// is missing.
Result<transport::Credentials> load_credentials(const CredentialFiles& files);
/// Without the token.
Result<transport::TlsFiles> load_tls_files(const CredentialFiles& files);

}  // namespace seaway::cluster
