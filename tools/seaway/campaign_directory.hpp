// The directory of a campaign against real processes, and what dead campaigns have left.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "seaway/status.hpp"

namespace seaway::tools {

/// A new directory, its user's alone, with one for the roles and others for what they and clients
/// say. All of it goes with this object, or, when that was not to be, with the next campaign of the
/// same user.
class CampaignDirectory {
 public:
  /// Removes what dead campaigns have left: directories, file systems, networks. Errors:
  /// kResourceExhausted where none can be made.
  static Result<std::unique_ptr<CampaignDirectory>> make();
  ~CampaignDirectory();
  CampaignDirectory(const CampaignDirectory&) = delete;
  CampaignDirectory& operator=(const CampaignDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string roles() const { return path_ + "/roles"; }
  std::string logs() const { return path_ + "/logs"; }
  std::string histories() const { return path_ + "/histories"; }
  /// Roles write to a file system of `bytes`, in memory. Errors: kPermissionDenied to all but root.
  Status mount_disk(std::size_t bytes);
  /// Networks whose names begin like that are the campaign's.
  void own_networks(const std::string& prefix);
  /// Logs and histories stay, for whoever wants to know.
  void keep() { is_kept_ = true; }

 private:
  CampaignDirectory() = default;

  std::string path_;
  int lock_ = -1;  // Held for as long as this process lives.
  bool is_kept_ = false;
};

}  // namespace seaway::tools
