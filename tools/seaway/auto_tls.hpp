// What `seaway up --tls auto` makes: an authority, a certificate and a token for one cluster.

#pragma once

#include <string>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::tools {

/// Where they are: all in `directory`/tls, but for the list of tokens.
struct AutoTls {
  std::string authority, certificate, key, token;  // Paths.
};

/// Makes what is not there yet: an authority of its own, whose key stays in `directory`/tls; a
/// certificate for `hosts`, localhost and 127.0.0.1, with which the cluster's processes listen; and
/// the token of a client, of tenant "default", for programs elsewhere. Errors: those of the files.
Result<AutoTls> make_auto_tls(const std::string& directory, const std::vector<std::string>& hosts);

}  // namespace seaway::tools
