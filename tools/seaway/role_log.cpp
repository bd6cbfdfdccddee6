// Levels and lines, by spdlog.

#include "role_log.hpp"

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "base/printable.hpp"

namespace seaway::tools {
namespace {

spdlog::level::level_enum level_of(cluster::LogLevel level) {
  switch (level) {
    case cluster::LogLevel::kError:
      return spdlog::level::err;
    case cluster::LogLevel::kWarning:
      return spdlog::level::warn;
    case cluster::LogLevel::kInfo:
      return spdlog::level::info;
    case cluster::LogLevel::kDebug:
      break;
  }
  return spdlog::level::debug;
}

}  // namespace

cluster::Log make_role_log(const std::string& level) {
  auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>(spdlog::color_mode::never);
  auto logger = std::make_shared<spdlog::logger>("seaway", std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l: %v", spdlog::pattern_time_type::utc);
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::debug);
  return [logger = std::move(logger)](cluster::LogLevel severity, const std::string& line) {
    logger->log(level_of(severity), printable(line));
  };
}

}  // namespace seaway::tools
