// The environment and the file are read here, and nothing is decided.

#include "config_flags.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "private_files.hpp"

namespace seaway::tools {

void add_config_flags(CLI::App& verb, ConfigFlags& flags) {
  verb.add_option("--config", flags.file, "a file with settings (TOML); docs/configuration.md");
  for (const SettingWords& words : setting_words()) {
    const std::string help = std::string(words.purpose) + ": " + std::string(words.allowed);
    verb.add_option(flag_of(words.key), flags.values[std::string(words.key)], help)
        ->group("Settings");
  }
}

void add_credential_flags(CLI::App& verb, cluster::CredentialFiles& files) {
  files = cluster::credential_files_of_environment();
  for (const auto& [key, target] : {std::pair("token_file", &files.token),
                                    {"ca_file", &files.authority},
                                    {"cert_file", &files.certificate},
                                    {"key_file", &files.key}}) {
    for (const SettingWords& words : setting_words()) {
      if (words.key != key) continue;
      verb.add_option(flag_of(key), *target, std::string(words.purpose))->group("Settings");
    }
  }
}

void set_environment(const cluster::CredentialFiles& files) {
  for (const auto& [key, value] : {std::pair("token_file", &files.token),
                                   {"ca_file", &files.authority},
                                   {"cert_file", &files.certificate},
                                   {"key_file", &files.key}}) {
    if (!value->empty()) ::setenv(variable_of(key).c_str(), value->c_str(), 1);
  }
}

Result<Settings> load_settings(const ConfigFlags& flags) {
  ConfigSources sources;
  sources.default_directory = default_directory();
  if (!flags.file.empty()) {
    // One byte more than settings may have: read_settings() refuses them in its own words.
    auto text = read_whole(flags.file, ConfigLimits::kFileBytesMax + 1);
    if (!text.ok()) return text.status();
    sources.file_text = std::move(*text);
    sources.file_name = flags.file;
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view word = *variable;
    const std::size_t equals = word.find('=');
    if (equals == word.npos) continue;
    sources.variables.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  for (const auto& [key, value] : flags.values) {
    if (value) sources.flags.emplace_back(key, *value);
  }
  return read_settings(sources);
}

std::string default_directory() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return std::string(runtime) + "/seaway";
  return std::string("/tmp") + "/seaway-" + std::to_string(getuid());
}

}  // namespace seaway::tools
