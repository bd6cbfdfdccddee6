// What a cluster says of itself, as far as commands look at it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.hpp"
#include "seaway/status.hpp"
#include "transport/caller.hpp"

namespace seaway::tools {

struct ClusterLook {
  std::uint32_t islands = 0, devices = 0, life = 0;
  std::uint32_t hosts_each = 1;                        // Of each island there are to be so many.
  std::size_t schedulers = 0, hosts = 0, clients = 0;  // That are there; hosts of all kinds.
  std::size_t islands_joined = 0;                      // The hosts of which are all at work.
  nlohmann::json json;

  /// Each island has its scheduler and all its hosts, and may be used.
  bool is_complete() const;
  /// "2 schedulers and 3 hosts are there, of 2 islands with 2 hosts each".
  std::string whos_there() const;

  /// As a table for people. `before`: an earlier look, `seconds` ago, for rates; null: none.
  std::string to_string(const std::string& address, const ClusterLook* before,
                        double seconds) const;
};

/// Asks the controller that listens at `address`, for two seconds. Errors: those of asking;
/// kProtocolError for an answer that is none.
Result<ClusterLook> look_at_cluster(const std::string& address, const Clock& clock,
                                    const transport::Credentials& shown = {});

}  // namespace seaway::tools
