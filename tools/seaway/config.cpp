// One table of settings: each source is a list of keys and texts, and each text is read the same
// way.

#include "config.hpp"

#define TOML_EXCEPTIONS 0
// toml++ 3.3 ends the process at "[." and "[[=", by an assertion in front of the line that would
// have told the mistake (its pull request 301). With NDEBUG it would take the assertion for
// granted.
#ifdef NDEBUG
#error "the settings are compiled without NDEBUG"
#endif
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

#include "actor/router.hpp"
#include "base/parse.hpp"
#include "names.hpp"
#include "transport/address_text.hpp"
#include "transport/link.hpp"

namespace seaway::tools {
namespace {

using Limits = ConfigLimits;

/// How a setting stands in a file.
enum class Kind : std::uint8_t { kNumber, kBytes, kText };

struct Entry {
  SettingWords words;
  Kind kind;
  /// False: `text` is not what is allowed.
  bool (*read)(std::string_view text, ClusterConfig& config);
  std::string (*write)(const ClusterConfig& config);
};

template <class Integer>
bool read_number(std::string_view text, std::uint64_t min, std::uint64_t max, Integer& target) {
  const auto number = parse_number(text);
  if (!number.ok() || *number < min || *number > max) return false;
  target = static_cast<Integer>(*number);
  return true;
}

bool read_size(std::string_view text, std::uint64_t& target) {
  const auto bytes = parse_bytes(text);
  if (!bytes.ok() || *bytes == 0) return false;
  target = *bytes;
  return true;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool read_path(std::string_view text, std::string& target) {
  if (text.empty() || text.size() > Limits::kPathBytesMax) return false;
  if (std::ranges::any_of(text, is_control)) return false;
  target = text;
  return true;
}

bool is_host_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.';
}

/// "NAME", "10.0.0.7" or "[::1]".
bool is_host(std::string_view host) {
  if (host.starts_with('[')) {
    if (!host.ends_with(']') || host.size() < 4) return false;
    const std::string_view inner = host.substr(1, host.size() - 2);
    const auto fits = [](char c) { return std::isxdigit(c) != 0 || c == ':' || c == '.'; };
    return inner.size() <= 45 && inner.find(':') != inner.npos && std::ranges::all_of(inner, fits);
  }
  return !host.empty() && host.size() <= 253 && std::ranges::all_of(host, is_host_letter);
}

/// Whether other machines cannot reach it.
bool is_own_machine(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

/// `port_min` is 0 where the system may choose one.
bool read_address(std::string_view text, std::uint64_t port_min, std::string& target) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return false;
  const std::string_view scheme = text.substr(0, colon), rest = text.substr(colon + 1);
  if (scheme == "unix") {
    std::string path;
    if (rest.size() > Limits::kSocketPathBytesMax || !read_path(rest, path)) return false;
  } else if (scheme == "tcp" || scheme == "tls") {
    const std::size_t last = rest.rfind(':');
    std::uint16_t port = 0;
    if (last == rest.npos || !is_host(rest.substr(0, last))) return false;
    if (!read_number(rest.substr(last + 1), port_min, 65'535, port)) return false;
    // What is not encrypted does not leave the machine.
    if (scheme == "tcp" && !is_own_machine(rest.substr(0, last))) return false;
  } else {
    return false;
  }
  target = text;
  return true;
}

/// One address or several.
bool read_addresses(std::string_view text, std::string& target) {
  std::vector<std::string> all = transport::split_addresses(std::string(text));
  if (all.empty() || all.size() > Limits::kAddressesMax) return false;
  for (std::string& one : all) {
    const std::string plain = transport::plain_address(one);
    if (!read_address(plain, 0, one)) return false;
  }
  target = transport::join_addresses(all);
  return true;
}

constexpr std::array<std::string_view, 4> kLogLevels = {"error", "warning", "info", "debug"};

bool read_log_level(std::string_view text, std::string& target) {
  if (std::ranges::find(kLogLevels, text) == kLogLevels.end()) return false;
  target = text;
  return true;
}

bool read_backend(std::string_view text, std::string& target) {
  constexpr std::string_view kPlugin = "pjrt:/";
  const bool is_plugin = text.starts_with(kPlugin) && text.size() <= Limits::kPathBytesMax &&
                         text.find(',') == std::string_view::npos;
  if (text != "cpu" && !is_plugin) return false;
  target = text;
  return true;
}

std::string words_of(const std::string& text) { return text; }
std::string words_of(std::uint64_t number) { return std::to_string(number); }

template <auto Member>
std::string write(const ClusterConfig& config) {
  return words_of(config.*Member);
}

constexpr std::string_view kPath = "a path of 1 to 4096 bytes without control characters";
constexpr std::string_view kSize = "a number of bytes, or a size such as 64MiB or 1GB, above 0";
static_assert(transport::ClusterLinks::kIslandsMax == 1024, "the table says 1024");
static_assert(Limits::kDevicesMax == 65'536 && Limits::kThreadsMax == 1024, "as the table says");
static_assert(Limits::kHostsMax == 64 && actor::kHostsMax == 64, "the table says 64");

const std::vector<Entry>& entries() {
  static const std::vector<Entry> table = {
      {{"islands", "a number from 1 to 1024", "how many islands"},
       Kind::kNumber,
       [](std::string_view text, ClusterConfig& config) {
         return read_number(text, 1, transport::ClusterLinks::kIslandsMax, config.islands);
       },
       &write<&ClusterConfig::islands>},
      {{"devices", "a number from 1 to 65536", "devices of each island"},
       Kind::kNumber,
       [](std::string_view text, ClusterConfig& config) {
         return read_number(text, 1, Limits::kDevicesMax, config.devices);
       },
       &write<&ClusterConfig::devices>},
      {{"hosts", "a number from 1 to 64", "processes that share the devices of each island"},
       Kind::kNumber,
       [](std::string_view text, ClusterConfig& config) {
         return read_number(text, 1, Limits::kHostsMax, config.hosts);
       },
       &write<&ClusterConfig::hosts>},
      {{"device_memory", kSize, "memory of each device"},
       Kind::kBytes,
       [](std::string_view text, ClusterConfig& config) {
         return read_size(text, config.device_memory);
       },
       &write<&ClusterConfig::device_memory>},
      {{"host_memory", kSize, "spill room of each host"},
       Kind::kBytes,
       [](std::string_view text, ClusterConfig& config) {
         return read_size(text, config.host_memory);
       },
       &write<&ClusterConfig::host_memory>},
      {{"threads", "a number from 0 (all cores) to 1024", "threads for large kernels"},
       Kind::kNumber,
       [](std::string_view text, ClusterConfig& config) {
         return read_number(text, 0, Limits::kThreadsMax, config.threads);
       },
       &write<&ClusterConfig::threads>},
      {{"backend", "cpu, or pjrt: and the whole path of a plugin, from / on, without commas",
        "what the devices are"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) {
         return read_backend(text, config.backend);
       },
       &write<&ClusterConfig::backend>},
      {{"listen",
        "unix:PATH (at most 107 bytes), tls:HOST:PORT or, within this machine, tcp:HOST:PORT; port "
        "0: any; several with commas between",
        "where this process listens"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) {
         return read_addresses(text, config.listen);
       },
       &write<&ClusterConfig::listen>},
      {{"join",
        "unix:PATH (at most 107 bytes), tls:HOST:PORT or, within this machine, tcp:HOST:PORT",
        "where the controller listens"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) {
         return read_address(transport::plain_address(std::string(text)), 1, config.join);
       },
       &write<&ClusterConfig::join>},
      {{"advertise", "a host: NAME, 10.0.0.7 or [::1]", "the host by which others reach it"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) {
         config.advertise = text;
         return is_host(text);
       },
       &write<&ClusterConfig::advertise>},
      {{"directory", kPath, "sockets, logs and files with process ids"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) {
         return read_path(text, config.directory);
       },
       &write<&ClusterConfig::directory>},
      {{"token_file", kPath, "the file with the token that this process shows"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) {
         return read_path(text, config.token_file);
       },
       &write<&ClusterConfig::token_file>},
      {{"ca_file", kPath, "the certificate that has signed those of peers"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) { return read_path(text, config.ca_file); },
       &write<&ClusterConfig::ca_file>},
      {{"cert_file", kPath, "the certificate that this process shows"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) {
         return read_path(text, config.cert_file);
       },
       &write<&ClusterConfig::cert_file>},
      {{"key_file", kPath, "the key of that certificate"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) {
         return read_path(text, config.key_file);
       },
       &write<&ClusterConfig::key_file>},
      {{"log_level", "error, warning, info or debug", "what is logged"},
       Kind::kText,
       [](std::string_view text, ClusterConfig& config) {
         return read_log_level(text, config.log_level);
       },
       &write<&ClusterConfig::log_level>},
      {{"heartbeat_ms", "milliseconds, from 1 to 60000", "how often a silent process speaks"},
       Kind::kNumber,
       [](std::string_view text, ClusterConfig& config) {
         return read_number(text, 1, Limits::kHeartbeatMsMax, config.heartbeat_ms);
       },
       &write<&ClusterConfig::heartbeat_ms>},
      {{"silence_ms", "milliseconds, from 2 to 600000", "when a silent process is given up"},
       Kind::kNumber,
       [](std::string_view text, ClusterConfig& config) {
         return read_number(text, 2, Limits::kSilenceMsMax, config.silence_ms);
       },
       &write<&ClusterConfig::silence_ms>},
      {{"drain_ms", "milliseconds, from 0 to 600000",
        "how long a host that is to end drains first"},
       Kind::kNumber,
       [](std::string_view text, ClusterConfig& config) {
         return read_number(text, 0, Limits::kDrainMsMax, config.drain_ms);
       },
       &write<&ClusterConfig::drain_ms>},
  };
  return table;
}

const Entry* find_entry(std::string_view key) {
  const auto found =
      std::ranges::find_if(entries(), [key](const Entry& entry) { return entry.words.key == key; });
  return found == entries().end() ? nullptr : &*found;
}

/// What somebody wrote, safe for a terminal and not too long for a line.
std::string shown(std::string_view text) {
  constexpr std::size_t kShownMax = 80;
  std::string result(text.substr(0, kShownMax));
  std::ranges::replace_if(result, is_control, '?');
  if (text.size() > kShownMax) result += "...";
  return result;
}

/// One value of one source. `place` goes before messages, `origin` into the list of settings.
struct Given {
  std::string key, text, place, origin;
};

Status unknown_key(std::string_view place, std::string_view key) {
  constexpr std::size_t kKeyBytesMax = 64;  // Distances of longer ones cost time.
  std::vector<std::string_view> known;
  for (const Entry& entry : entries()) known.push_back(entry.words.key);
  std::string text = std::string(place) + ": no setting is called '" + shown(key) + "'";
  const auto close = key.size() <= kKeyBytesMax ? close_names(key, known) : known;
  if (close.size() < known.size() && !close.empty()) {
    text += "; did you mean " + std::string(close.front()) + "?";
  } else {
    text += "; there are:";
    for (const std::string_view name : known) text += " " + std::string(name);
  }
  return invalid_argument(text);
}

Status wrong_value(const Given& given, const Entry& entry, std::string_view instead) {
  return invalid_argument(given.place + ": " + given.key + " = " + shown(given.text) +
                          std::string(instead) + ": allowed is " +
                          std::string(entry.words.allowed));
}

/// A value as text, and whether its type is one that the setting may have.
struct TomlValue {
  std::string text;
  std::string_view type;
  bool fits = false;
};

TomlValue read_value(const toml::node& node, Kind kind) {
  if (const auto* const text = node.as_string()) {
    return {text->get(), "a string", kind != Kind::kNumber};
  }
  if (const auto* const number = node.as_integer()) {
    return {std::to_string(number->get()), "a number", kind != Kind::kText};
  }
  if (const auto* const truth = node.as_boolean()) {
    return {truth->get() ? "true" : "false", "a truth value", false};
  }
  if (node.is_table()) return {"{...}", "a table", false};
  if (node.is_array()) return {"[...]", "a list", false};
  return {"...", node.is_floating_point() ? "a number with a point" : "a time", false};
}

/// `text` in ASCII alone, in which toml++ 3.3 is defined: it takes for granted that some letters
/// beyond do not follow a space or a new line (its issues 190 and 295). In lines of comment they
/// become '?'.
Result<std::string> ascii_of(std::string_view text, const std::string& name) {
  // A line of a string over several lines may look like a comment.
  const bool has_long_strings = text.find("\"\"\"") != text.npos || text.find("'''") != text.npos;
  std::string result(text);
  std::size_t line = 1, line_begin = 0;
  bool is_comment = false, is_blank = true;
  for (std::size_t index = 0; index < result.size(); ++index) {
    char& c = result[index];
    if (c == '\n') {
      ++line;
      line_begin = index + 1;
      is_comment = false;
      is_blank = true;
      continue;
    }
    is_comment = is_comment || (is_blank && c == '#');
    is_blank = is_blank && (c == ' ' || c == '\t');
    if (static_cast<unsigned char>(c) < 0x80) continue;
    if (!is_comment || has_long_strings) {
      return invalid_argument(
          name + ":" + std::to_string(line) + ":" + std::to_string(index - line_begin + 1) +
          ": a letter beyond ASCII; in a string write it as \\u00e9, elsewhere only "
          "lines that begin with # have such letters");
    }
    c = '?';
  }
  return result;
}

/// Pure, and never throws, whatever `text` is.
Result<std::vector<Given>> read_file(std::string_view text, const std::string& name) {
  if (text.size() > Limits::kFileBytesMax) {
    return resource_exhausted(name + " has " + std::to_string(text.size()) +
                              " bytes; settings have "
                              "at most " +
                              std::to_string(Limits::kFileBytesMax));
  }
  const auto place_of = [&name](const toml::source_position& position) {
    return name + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  };
  const auto ascii = ascii_of(text, name);
  if (!ascii.ok()) return ascii.status();
  const toml::parse_result parsed = toml::parse(ascii.value());
  if (!parsed) {
    return invalid_argument(place_of(parsed.error().source().begin) +
                            ": this is no TOML: " + shown(parsed.error().description()));
  }
  // The first mistake of the file is told first.
  std::vector<std::tuple<toml::source_position, std::string_view, const toml::node*>> found;
  for (const auto& [key, node] : parsed.table()) {
    found.emplace_back(key.source().begin, key.str(), &node);
  }
  std::ranges::sort(found, [](const auto& left, const auto& right) {
    return std::get<0>(left) < std::get<0>(right);
  });
  std::vector<Given> all;
  for (const auto& [position, key, node] : found) {
    const Entry* const entry = find_entry(key);
    if (entry == nullptr) return unknown_key(place_of(position), key);
    const TomlValue value = read_value(*node, entry->kind);
    Given given = {std::string(key), value.text, place_of(node->source().begin),
                   name + ":" + std::to_string(position.line)};
    if (!value.fits) return wrong_value(given, *entry, " is " + std::string(value.type));
    all.push_back(std::move(given));
  }
  return all;
}

Result<std::vector<Given>> read_variables(const ConfigSources::Words& variables) {
  constexpr std::string_view kPrefix = "SEAWAY_";
  std::vector<std::string> known;
  for (const Entry& entry : entries()) known.push_back(variable_of(entry.words.key));
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::vector<Given> all;
  for (const auto& [name, value] : variables) {
    if (!name.starts_with(kPrefix) || name.size() > 64 || value.empty()) continue;
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) {
      const auto index = static_cast<std::size_t>(found - names.begin());
      all.push_back({std::string(entries()[index].words.key), value, "$" + name, "$" + name});
      continue;
    }
    for (const std::string_view close : close_names(name, names)) {
      // A longer name that begins as a setting does is a name of its own.
      if (name.size() > close.size() + 2) continue;
      return invalid_argument("$" + name + " is no setting; did you mean $" + std::string(close) +
                              "? Unset it, or correct it");
    }
  }
  return all;
}

Result<std::vector<Given>> read_flags(const ConfigSources::Words& flags) {
  std::vector<Given> all;
  for (const auto& [key, value] : flags) {
    if (find_entry(key) == nullptr) return unknown_key(flag_of(key), key);
    all.push_back({key, value, flag_of(key), flag_of(key)});
  }
  return all;
}

/// What no setting can say alone.
Status check_together(const Settings& settings) {
  const ClusterConfig& config = settings.config;
  const auto told = [&settings](std::string_view key) {
    const auto found = std::ranges::find_if(
        settings.all, [key](const Setting& setting) { return setting.key == key; });
    return std::string(key) + " = " + shown(found->value) + " (" + found->origin + ")";
  };
  if (config.silence_ms < 2 * config.heartbeat_ms) {
    return invalid_argument(told("silence_ms") + " is less than twice " + told("heartbeat_ms") +
                            ": one heartbeat that is late would end a process");
  }
  if (config.cert_file.empty() != config.key_file.empty()) {
    const bool has_certificate = !config.cert_file.empty();
    return invalid_argument(told(has_certificate ? "cert_file" : "key_file") + " needs " +
                            (has_certificate ? "key_file" : "cert_file") +
                            ", too: set both or neither");
  }
  const auto addresses = transport::split_addresses(config.listen);
  const bool is_tls = std::ranges::any_of(
      addresses, [](const std::string& address) { return address.starts_with("tls:"); });
  if (is_tls && config.ca_file.empty() && !config.cert_file.empty()) {
    return invalid_argument(told("listen") +
                            " needs ca_file, to know callers by; `seaway cert init` makes it");
  }
  if (is_tls && config.cert_file.empty()) {
    return invalid_argument(told("listen") +
                            " needs cert_file and key_file; `seaway cert issue` makes both");
  }
  if (config.join.starts_with("tls:") && config.ca_file.empty()) {
    return invalid_argument(
        told("join") + " needs ca_file, to know the controller by; `seaway cert init` makes it");
  }
  return {};
}

}  // namespace

Result<Settings> read_settings(const ConfigSources& sources) {
  Settings settings;
  settings.config.directory = sources.default_directory;
  std::vector<std::string> origins(entries().size(), "default");
  const auto apply = [&](const Result<std::vector<Given>>& given) -> Status {
    if (!given.ok()) return given.status();
    for (const Given& one : given.value()) {
      const Entry& entry = *find_entry(one.key);
      if (!entry.read(one.text, settings.config)) return wrong_value(one, entry, "");
      origins[static_cast<std::size_t>(&entry - entries().data())] = one.origin;
    }
    return {};
  };
  if (sources.file_text) {
    Status status = apply(read_file(*sources.file_text, sources.file_name));
    if (!status.ok()) return status;
  }
  if (Status status = apply(read_variables(sources.variables)); !status.ok()) return status;
  if (Status status = apply(read_flags(sources.flags)); !status.ok()) return status;
  for (std::size_t index = 0; index < entries().size(); ++index) {
    const Entry& entry = entries()[index];
    settings.all.push_back({entry.words.key, entry.write(settings.config), origins[index]});
  }
  if (Status status = check_together(settings); !status.ok()) return status;
  return settings;
}

const std::vector<SettingWords>& setting_words() {
  static const std::vector<SettingWords> words = [] {
    std::vector<SettingWords> all;
    for (const Entry& entry : entries()) all.push_back(entry.words);
    return all;
  }();
  return words;
}

std::string flag_of(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string variable_of(std::string_view key) {
  std::string variable = "SEAWAY_" + std::string(key);
  for (char& letter : variable) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return variable;
}

}  // namespace seaway::tools
