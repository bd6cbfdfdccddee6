// Files that are for one user alone, and the disk that they are on.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/real_disk.hpp"

namespace seaway::tools {

/// A file as people name it: where it is, and what it is called there.
struct FilePlace {
  std::unique_ptr<Disk> disk;  // The directory that it is in.
  std::string name;
};
/// kInvalidArgument when `path` ends like a directory.
Result<FilePlace> place_of(const std::string& path);

/// At most `bytes_max` bytes of a file; a longer one is kResourceExhausted. Other errors: those of
/// the disk.
Result<std::string> read_whole(const std::string& path, std::size_t bytes_max);

/// Makes a file that only this user can read, with `text` in it, durably. kInvalidArgument when
/// there is one of that name: nothing is ever overwritten. After an error nothing new is there.
Status write_private(const std::string& path, std::string_view text);

/// Makes `path` for this user alone when it is not there yet. Its parents exist.
Status make_private_directory(const std::string& path);
/// The same, and refuses with kPermissionDenied what another user has made or can write to.
Status claim_directory(const std::string& path);

/// "2030-01-31T12:00:00Z", for seconds of UTC.
std::string text_of_time(std::uint64_t seconds);
std::uint64_t now_seconds();

}  // namespace seaway::tools
