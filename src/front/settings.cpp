// Options, then variables, then what is usual.

#include "front/settings.hpp"

#include <charconv>
#include <cstdlib>

namespace seaway::front {
namespace {

struct Setting {
  const char* option;
  const char* variable;
  const char* usual;
};

constexpr Setting kSettings[] = {
    {"cluster", "SEAWAY_CLUSTER", ""},      {"backend", "SEAWAY_JAX_BACKEND", ""},
    {"islands", "SEAWAY_JAX_ISLANDS", "1"}, {"devices", "SEAWAY_JAX_DEVICES", "1"},
    {"tenant", "SEAWAY_TENANT", "default"}, {"weight", "SEAWAY_WEIGHT", "0"},
    {"ahead", "SEAWAY_JAX_AHEAD", "0"}};
/// Of a process whose devices are its own cores: whoever runs further ahead takes them from his
/// runs.
constexpr std::uint32_t kAheadEmbedded = 64;

Result<std::uint32_t> read_number(const std::string& name, const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return number;
  return invalid_argument("setting " + name + " of Seaway's plugin is \"" + text +
                          "\", which is no number");
}

}  // namespace

std::optional<std::string> look_up_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) return {};
  return value;
}

Result<FrontOptions> read_settings(const std::map<std::string, std::string>& options,
                                   const Lookup& environment) {
  std::map<std::string, std::string> found;
  for (const Setting& setting : kSettings) {
    const auto variable = environment(setting.variable);
    found[setting.option] = variable && !variable->empty() ? *variable : setting.usual;
  }
  std::string known;
  for (const Setting& setting : kSettings) known += std::string(" ") + setting.option;
  for (const auto& [name, value] : options) {
    if (!found.contains(name)) {
      return invalid_argument("option \"" + name +
                              "\" is none of Seaway's plugin; there are:" + known);
    }
    found[name] = value;
  }
  FrontOptions front;
  front.cluster = found["cluster"];
  front.tenant = found["tenant"];
  const auto weight = read_number("weight", found["weight"]);
  if (!weight.ok()) return weight.status();
  front.weight = *weight;
  const auto ahead = read_number("ahead", found["ahead"]);
  if (!ahead.ok()) return ahead.status();
  const bool is_embedded = front.cluster.empty() || front.cluster.starts_with("embedded");
  front.ahead = *ahead == 0 && is_embedded ? kAheadEmbedded : *ahead;
  if (!front.cluster.empty()) return front;
  if (found["backend"].empty()) {
    return invalid_argument(
        "there is no cluster: set SEAWAY_CLUSTER to the address of one, which `seaway up --backend "
        "pjrt:/path/plugin.so` prints, or SEAWAY_JAX_BACKEND to the path of a PJRT plugin, whose "
        "devices this process serves itself then");
  }
  front.cluster = "embedded:islands=" + found["islands"] + ",devices=" + found["devices"] +
                  ",backend=pjrt:" + found["backend"];
  return front;
}

}  // namespace seaway::front
