// POSIX: each call names what failed, and the code is what the caller can do about it.

#include "base/real_disk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace seaway {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kDirectoryMode = 0700;

/// What an errno of this process comes to.
Status failure(const std::string& what, const std::string& name, int error) {
  const std::string text = "cannot " + what + " " + name + ": " + std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return not_found(text);
    case EEXIST:
    case EISDIR:
    case ENOTEMPTY:
    case ENAMETOOLONG:
    case ELOOP:
      return invalid_argument(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return {StatusCode::kPermissionDenied, text};
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return resource_exhausted(text + "; make room on the disk, or use another one");
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return resource_exhausted(text + "; raise the limits of this process");
    default:
      return {StatusCode::kDataCorruption,
              text + "; what was not synced is lost: restore it, or use another disk"};
  }
}

/// Closes a descriptor. An error of close() says nothing that sync() has not said.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

int open_descriptor(const std::string& name, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::open(name.c_str(), flags | O_CLOEXEC, kFileMode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

class RealFile final : public File {
 public:
  RealFile(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}

  Result<std::uint64_t> size() const override {
    struct stat found {};
    if (::fstat(descriptor_.number(), &found) != 0) return failure("look at", name_, errno);
    return static_cast<std::uint64_t>(found.st_size);
  }

  Result<std::vector<std::byte>> read(std::uint64_t offset, std::size_t bytes_max) const override {
    const auto there = size();
    if (!there.ok()) return there.status();
    const std::uint64_t left = *there > offset ? *there - offset : 0;
    std::vector<std::byte> bytes(std::min<std::uint64_t>(bytes_max, left));
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::pread(descriptor_.number(), bytes.data() + done, bytes.size() - done,
                                    static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failure("read", name_, errno);
      if (count == 0) bytes.resize(done);  // It has become shorter.
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }

  Status append(std::span<const std::byte> bytes) override {
    const auto end = size();
    return end.ok() ? write_at(*end, bytes) : end.status();
  }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (!failure_.ok()) return failure_;
    return write_all(name_, offset, bytes, [this](std::uint64_t at, auto rest) -> std::ptrdiff_t {
      return ::pwrite(descriptor_.number(), rest.data(), rest.size(), static_cast<off_t>(at));
    });
  }

  Status sync() override {
    if (!failure_.ok()) return failure_;
    if (::fsync(descriptor_.number()) == 0) return {};
    // The system has forgotten which pages were not written: asked again it would say that all is
    // well.
    failure_ = failure("sync", name_, errno);
    return failure_;
  }

 private:
  const std::string name_;
  const Descriptor descriptor_;
  Status failure_;
};

}  // namespace

Status write_all(const std::string& name, std::uint64_t offset, std::span<const std::byte> bytes,
                 const WriteSome& write_some) {
  while (!bytes.empty()) {
    const std::ptrdiff_t count = write_some(offset, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("write to", name, errno);
    if (count == 0) return failure("write to", name, ENOSPC);
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> RealDisk::full_path(std::string_view path) const {
  const auto parts = split_path(path);
  if (!parts.ok()) return parts.status();
  return root_ + "/" + std::string(path);
}

Result<std::string> RealDisk::full_directory(std::string_view directory) const {
  if (directory.empty()) return root_;
  return full_path(directory);
}

Result<std::unique_ptr<File>> RealDisk::open(std::string_view path, OpenMode mode) {
  const auto name = full_path(path);
  if (!name.ok()) return name.status();
  int flags = O_RDWR;
  if (mode == OpenMode::kAny) flags |= O_CREAT;
  if (mode == OpenMode::kNew) flags |= O_CREAT | O_EXCL;
  const int descriptor = open_descriptor(*name, flags);
  if (descriptor < 0) return failure("open", *name, errno);
  return std::unique_ptr<File>(std::make_unique<RealFile>(*name, descriptor));
}

Status RealDisk::rename(std::string_view from, std::string_view to) {
  const auto source = full_path(from);
  if (!source.ok()) return source.status();
  const auto target = full_path(to);
  if (!target.ok()) return target.status();
  if (source->substr(0, source->rfind('/')) != target->substr(0, target->rfind('/'))) {
    return invalid_argument("cannot rename " + *source + " to " + *target +
                            ": they are in different directories");
  }
  struct stat found {};
  if (::stat(source->c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
    return invalid_argument("cannot rename " + *source + ": it is a directory");
  }
  if (::rename(source->c_str(), target->c_str()) == 0) return {};
  return failure("rename", *source + " to " + *target, errno);
}

Status RealDisk::remove(std::string_view path) {
  const auto name = full_path(path);
  if (!name.ok()) return name.status();
  if (std::remove(name->c_str()) == 0) return {};
  return failure("remove", *name, errno);
}

Status RealDisk::make_directory(std::string_view path) {
  const auto name = full_path(path);
  if (!name.ok()) return name.status();
  if (::mkdir(name->c_str(), kDirectoryMode) == 0) return {};
  return failure("make the directory", *name, errno);
}

Result<std::vector<std::string>> RealDisk::list(std::string_view directory) {
  const auto name = full_directory(directory);
  if (!name.ok()) return name.status();
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(name->c_str()), ::closedir);
  if (!stream) {
    struct stat found {};
    const int error = errno;
    const bool is_file = error == ENOTDIR && ::stat(name->c_str(), &found) == 0;
    return failure("list", *name, is_file ? EEXIST : error);
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return failure("list", *name, errno);
    if (entry == nullptr) break;
    const std::string_view found = entry->d_name;
    if (found != "." && found != "..") names.emplace_back(found);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status RealDisk::sync_directory(std::string_view directory) {
  const auto name = full_directory(directory);
  if (!name.ok()) return name.status();
  const Descriptor descriptor(open_descriptor(*name, O_RDONLY | O_DIRECTORY));
  if (descriptor.number() < 0) return failure("open the directory", *name, errno);
  if (::fsync(descriptor.number()) == 0) return {};
  return failure("sync the directory", *name, errno);
}

}  // namespace seaway
