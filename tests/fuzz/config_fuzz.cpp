// Settings from any bytes: an error or settings, and the same the second time.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.hpp"
#include "target.hpp"
#include "tools/seaway/config.hpp"

namespace seaway::fuzz {

void config(std::span<const std::uint8_t> input) {
  using namespace seaway::tools;
  const ConfigSources sources = {
      .default_directory = "/run/seaway",
      .file_text = std::string(reinterpret_cast<const char*>(input.data()), input.size()),
      .file_name = "cluster.toml",
      .variables = {},
      .flags = {}};
  const auto settings = read_settings(sources);
  if (!settings.ok()) {
    // One line, short enough to be read.
    SEAWAY_CHECK(settings.status().message().find('\n') == std::string::npos);
    SEAWAY_CHECK(settings.status().message().size() < 1000);
    return;
  }
  // What is shown as in force is read back as the same, for those that are given at all.
  ConfigSources again = {.default_directory = "/run/seaway",
                         .file_text = {},
                         .file_name = {},
                         .variables = {},
                         .flags = {}};
  for (const Setting& setting : settings.value().all) {
    if (!setting.value.empty()) again.flags.emplace_back(setting.key, setting.value);
  }
  const auto second = read_settings(again);
  SEAWAY_CHECK(second.ok());
  SEAWAY_CHECK(second.value().config == settings.value().config);
}

}  // namespace seaway::fuzz
