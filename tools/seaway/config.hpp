// ClusterConfig: the settings of a cluster's processes, and where each of them came from.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.hpp"
#include "seaway/status.hpp"

namespace seaway::tools {

/// Each member is one setting, of the same name in a file; in the environment `device_memory` is
/// SEAWAY_DEVICE_MEMORY, and on the command line --device-memory. docs/configuration.md is the
/// table for people.
struct ClusterConfig {
  std::uint32_t islands = 1;
  std::uint32_t devices = 1;                             // Of each island.
  std::uint32_t hosts = 1;                               // Of each island, which share its devices.
  std::uint64_t device_memory = std::uint64_t{1} << 30;  // Bytes, of each device.
  std::uint64_t host_memory = std::uint64_t{4} << 30;    // Bytes of spill room, of each host.
  std::uint32_t threads = 0;    // For large kernels; 0: all cores of the machine.
  std::string backend = "cpu";  // Or "pjrt:/path/plugin.so".

  std::string listen;     // Addresses with commas between; empty: a Unix socket in `directory`.
  std::string join;       // The address of the controller; empty: its Unix socket in `directory`.
  std::string advertise;  // The host by which others reach this process; empty: that of `listen`.
  std::string directory;  // Of sockets, logs and files with process ids.

  std::string token_file;           // Whose token this process shows; empty: none.
  std::string ca_file;              // Who signs the certificates of peers; PEM, as the next two.
  std::string cert_file, key_file;  // What this process shows to its peers.

  std::string log_level = "info";
  std::uint32_t heartbeat_ms = 250;  // A process that has nothing to say says so this often.
  std::uint32_t silence_ms = 1000;   // After which one that says nothing is given up.
  std::uint32_t drain_ms = 10'000;   // A host that is to end drains its island first, for so long.

  friend bool operator==(const ClusterConfig&, const ClusterConfig&) = default;
};

struct ConfigLimits {
  static constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
  static constexpr std::size_t kPathBytesMax = 4096;
  static constexpr std::size_t kAddressesMax = 8;
  static constexpr std::size_t kSocketPathBytesMax = 107;  // What the system takes.
  static constexpr std::uint32_t kDevicesMax = limits::kIslandDevices.max;
  static constexpr std::uint32_t kHostsMax = 64;
  static constexpr std::uint32_t kThreadsMax = 1024;
  static constexpr std::uint32_t kHeartbeatMsMax = 60'000;
  static constexpr std::uint32_t kSilenceMsMax = 600'000;
  static constexpr std::uint32_t kDrainMsMax = 600'000;
};

/// What the settings are read from, in rising precedence.
struct ConfigSources {
  /// A name and a value.
  using Words = std::vector<std::pair<std::string, std::string>>;

  std::string default_directory;
  std::optional<std::string> file_text;  // TOML.
  std::string file_name;                 // For messages.
  Words variables;                       // The whole environment; one that is empty is not set.
  Words flags;  // By the names of the settings: "device_memory", not "--device-memory".
};

/// One setting as it is in force.
struct Setting {
  std::string_view key;
  std::string value;
  std::string origin;  // "default", "cluster.toml:3", "$SEAWAY_ISLANDS", "--islands".
};

struct Settings {
  ClusterConfig config;
  std::vector<Setting> all;  // In the order of ClusterConfig.
};

/// Reads the settings; pure. Errors: kInvalidArgument with file:line:column (or the variable, or
/// the flag), the key, its value, and what is allowed; for an unknown key the nearest known one.
/// A variable SEAWAY_... that is no setting is another program's, unless it is nearly one.
/// kResourceExhausted for text longer than kFileBytesMax.
Result<Settings> read_settings(const ConfigSources& sources);

/// The name of a setting, what it may be and what it is for, for help and flags.
struct SettingWords {
  std::string_view key, allowed, purpose;
};
const std::vector<SettingWords>& setting_words();

/// "--device-memory" for "device_memory", and "SEAWAY_DEVICE_MEMORY".
std::string flag_of(std::string_view key);
std::string variable_of(std::string_view key);

}  // namespace seaway::tools
