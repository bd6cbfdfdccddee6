// What tells this build of the program from any other.

#pragma once

#include <string>

namespace seaway::campaign {

/// The first digits of the linker's build id, which depends on all code that is linked. Empty when
/// the program was linked without one.
std::string build_id();

/// The commit that the source tree was at when this was built, with "-dirty" when it had changes;
/// "unknown" outside git.
std::string build_commit();

}  // namespace seaway::campaign
