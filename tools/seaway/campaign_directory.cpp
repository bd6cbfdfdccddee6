// A directory whose file `owner` is locked while its campaign lives.

#include "campaign_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "net_namespaces.hpp"

namespace seaway::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "seaway_chaos_";
constexpr const char *kOwner = "/owner", *kNetworks = "/networks", *kKept = "/kept";

/// A full disk goes with all that is on it.
void remove_roles(const std::string& path) {
  std::error_code ignored;
  const std::string roles = path + "/roles";
  while (::umount2(roles.c_str(), MNT_DETACH) == 0) continue;
  fs::remove_all(roles, ignored);
}

/// -1: somebody else holds it, or it is not there.
int lock_owner(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (file < 0 || ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  ::close(file);
  return -1;
}

bool is_own(const fs::path& path) {
  struct stat about = {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
         about.st_uid == ::geteuid();
}

void remove_leftovers() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path(error), error)) {
    const std::string path = entry.path();
    if (!entry.path().filename().string().starts_with(kPrefix) || !is_own(path)) continue;
    if (fs::exists(path + kKept, error)) continue;
    const int lock = lock_owner(path + kOwner, 0);
    if (lock < 0) continue;  // It lives, or is just being made.
    std::ifstream networks(path + kNetworks);
    for (std::string prefix; std::getline(networks, prefix);) NetNamespaces::remove(prefix);
    remove_roles(path);
    fs::remove_all(path, error);
    ::close(lock);
  }
}

}  // namespace

Result<std::unique_ptr<CampaignDirectory>> CampaignDirectory::make() {
  remove_leftovers();
  std::error_code error;
  std::string path = fs::temp_directory_path(error) / (std::string(kPrefix) + "XXXXXX");
  std::unique_ptr<CampaignDirectory> directory(new CampaignDirectory());
  if (::mkdtemp(path.data()) == nullptr) {
    return resource_exhausted("no directory for the processes of a campaign: " +
                              std::string(std::strerror(errno)));
  }
  directory->path_ = path;
  // It is locked before it has the name that others look for.
  directory->lock_ = lock_owner(path + kOwner + ".new", O_CREAT);
  fs::rename(path + kOwner + ".new", path + kOwner, error);
  for (const std::string& part : {directory->roles(), directory->logs(), directory->histories()}) {
    if (directory->lock_ >= 0 && !error && ::mkdir(part.c_str(), 0700) == 0) continue;
    return resource_exhausted("cannot make " + part);
  }
  return directory;
}

CampaignDirectory::~CampaignDirectory() {
  std::error_code ignored;
  if (!path_.empty()) remove_roles(path_);
  if (is_kept_) {
    std::ofstream(path_ + kKept) << "Remove this directory when nobody needs it.\n";
  } else if (!path_.empty()) {
    fs::remove_all(path_, ignored);
  }
  if (lock_ >= 0) ::close(lock_);
}

Status CampaignDirectory::mount_disk(std::size_t bytes) {
  const std::string options = "size=" + std::to_string(bytes) + ",mode=0700";
  if (::mount("tmpfs", roles().c_str(), "tmpfs", 0, options.c_str()) == 0) return {};
  return {StatusCode::kPermissionDenied,
          std::string("a file system that can be filled could not be mounted: ") +
              std::strerror(errno) + "; --enospc needs the rights of root"};
}

void CampaignDirectory::own_networks(const std::string& prefix) {
  std::ofstream(path_ + kNetworks, std::ios::app) << prefix << '\n';
}

}  // namespace seaway::tools
