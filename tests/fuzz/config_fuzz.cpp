// Settings from any bytes: an error or settings, and the same the second time.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.hpp"
#include "tools/seaway/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace seaway::tools;
  const ConfigSources sources = {
      .default_directory = "/run/seaway",
      .file_text = std::string(reinterpret_cast<const char*>(data), size),
      .file_name = "cluster.toml",
      .variables = {},
      .flags = {}};
  const auto settings = read_settings(sources);
  if (!settings.ok()) {
    // One line, short enough to be read.
    SEAWAY_CHECK(settings.status().message().find('\n') == std::string::npos);
    SEAWAY_CHECK(settings.status().message().size() < 1000);
    return 0;
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
  return 0;
}
