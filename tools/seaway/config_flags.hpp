// The settings of a cluster as flags of a verb, with the file and the environment behind them.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "cluster/credentials.hpp"
#include "config.hpp"

namespace CLI {
class App;
}

namespace seaway::tools {

/// What was given on the command line.
struct ConfigFlags {
  std::string file;                                          // Of --config; empty: none.
  std::map<std::string, std::optional<std::string>> values;  // By setting.
};

/// Adds --config and one flag for each setting to `verb`. `flags` outlives the parsing.
void add_config_flags(CLI::App& verb, ConfigFlags& flags);

/// Adds --token-file, --ca-file, --cert-file and --key-file to a verb that calls a cluster; what is
/// not given is that of the environment. `files` outlives the parsing.
void add_credential_flags(CLI::App& verb, cluster::CredentialFiles& files);
/// The same files as variables of this process, where the library looks for them.
void set_environment(const cluster::CredentialFiles& files);

/// The settings from the file, the environment and the flags.
/// Errors: those of read_settings(), and kNotFound for a file that cannot be read.
Result<Settings> load_settings(const ConfigFlags& flags);

/// Where sockets and logs are when nobody says otherwise: seaway in $XDG_RUNTIME_DIR, else a
/// directory in /tmp with the number of the user. Whoever uses the second one looks first whether
/// it belongs to the user: others can make it.
std::string default_directory();

}  // namespace seaway::tools
