// The log of a role: a line for each event, with its time and level.

#pragma once

#include <string>

#include "cluster/log.hpp"

namespace seaway::tools {

/// Lines such as "2030-01-31T12:00:00.125Z warning: the host of island 1, life 257, is lost: .." on
/// stderr, each in one write, of `level` ("error", "warning", "info", "debug") and what is graver.
/// Characters that a terminal would act on are '?'. Thread-safe.
cluster::Log make_role_log(const std::string& level);

}  // namespace seaway::tools
