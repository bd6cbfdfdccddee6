// The directory of a cluster on this machine: sockets, and how often its controller has begun.

#pragma once

#include <cstdint>
#include <string>

#include "cluster/credentials.hpp"
#include "config.hpp"
#include "seaway/status.hpp"

namespace seaway::tools {

/// "unix:DIRECTORY/ctl.sock".
std::string controller_address(const std::string& directory);

/// "embedded:islands=2,devices=4,..": what the cluster is made of, with more words behind.
std::string spec_of(const ClusterConfig& config, const std::string& more);
/// The files that a process shows what it is by.
cluster::CredentialFiles credential_files(const ClusterConfig& config);
/// Writes where a process listens to `directory`/`name`.address, one address a line, so that port 0
/// can be asked for. kResourceExhausted when it cannot be written.
Status write_address(const std::string& directory, const std::string& name,
                     const std::string& addresses);

/// Which cluster it is, and which life of its controller. Kept in a file, so that what was before
/// is known to be over.
struct ControllerLife {
  std::uint64_t cluster = 0;
  std::uint32_t life = 0;
};
/// Counts a new life. `random` names the cluster if it has none yet. Errors: kDataCorruption for a
/// file that is none; kResourceExhausted when it cannot be written, or beyond
/// Enrolment::kControllerLivesMax lives.
Result<ControllerLife> begin_life(const std::string& directory, std::uint64_t random);

}  // namespace seaway::tools
