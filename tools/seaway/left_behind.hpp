// What processes leave behind: themselves, memory that they shared, and what they have made.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace seaway::tools {

/// Processes that have `value` as the environment variable `name`, but for this one: all that were
/// started by whoever set it, and by those. Processes of others are not seen.
std::vector<pid_t> processes_with(const std::string& name, const std::string& value);

/// Memory that hosts have shared (`memfd:seaway`), which some of `processes` have, and whose maker
/// is none of them: only that one can write it. A line each, with who has it. `processes`: by what
/// they are called.
std::vector<std::string> memory_of_the_dead(const std::map<std::string, pid_t>& processes);

/// Descriptors of a process, 0 when it is not there.
std::size_t descriptors_of(pid_t process);
/// Names in a directory.
std::vector<std::string> names_in(const std::string& directory);
/// File systems that are mounted at `path` or below.
std::vector<std::string> mounts_below(const std::string& path);

}  // namespace seaway::tools
