// O_TMPFILE, or a name that is taken away at once.

#include "base/unnamed_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/real_disk.hpp"

namespace seaway {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr int kNamesMax = 100;

Status cannot_make(const std::string& directory, int error) {
  const std::string text =
      "cannot make a file without a name in " + directory + ": " + std::strerror(error);
  switch (error) {
    case ENOENT:
      return not_found(text + "; make that directory, or name another one");
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return invalid_argument(text + "; name a directory");
    case EACCES:
    case EPERM:
    case EROFS:
      return {StatusCode::kPermissionDenied,
              text + "; name a directory that this user may write to"};
    default:
      return resource_exhausted(text + "; name a directory on another disk");
  }
}

int open_retrying(const std::string& name, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::open(name.c_str(), flags | O_RDWR | O_CLOEXEC, kFileMode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

/// Not all file systems know files without names: EOPNOTSUPP, or EISDIR where the kernel does not.
bool has_no_unnamed(int error) { return error == EOPNOTSUPP || error == EISDIR; }

int open_and_unlink(const std::string& directory) {
  for (int number = 0; number < kNamesMax; ++number) {
    const std::string name =
        directory + "/seaway-spill-" + std::to_string(::getpid()) + "-" + std::to_string(number);
    const int descriptor = open_retrying(name, O_CREAT | O_EXCL | O_NOFOLLOW);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor >= 0) ::unlink(name.c_str());
    return descriptor;
  }
  return -1;
}

}  // namespace

Result<std::unique_ptr<UnnamedFile>> UnnamedFile::make(const std::string& directory) {
  int descriptor = open_retrying(directory, O_TMPFILE);
  if (descriptor < 0 && has_no_unnamed(errno)) descriptor = open_and_unlink(directory);
  if (descriptor < 0) return cannot_make(directory, errno);
  return std::unique_ptr<UnnamedFile>(
      new UnnamedFile("the file without a name in " + directory, descriptor));
}

UnnamedFile::~UnnamedFile() { ::close(descriptor_); }

Status UnnamedFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  return write_all(name_, offset, bytes, [this](std::uint64_t at, auto rest) -> std::ptrdiff_t {
    return ::pwrite(descriptor_, rest.data(), rest.size(), static_cast<off_t>(at));
  });
}

Status UnnamedFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return {StatusCode::kDataCorruption,
              "cannot read " + name_ + ": " +
                  (count < 0 ? std::strerror(errno) : "it is shorter than what was written")};
    }
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

std::string temporary_directory() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : path.string();
}

}  // namespace seaway
