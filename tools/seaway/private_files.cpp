// Rights of files and directories, through the disk and the system.

#include "private_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace seaway::tools {
namespace {

std::filesystem::path plain(const std::string& path) {
  std::filesystem::path full = std::filesystem::absolute(path).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

}  // namespace

Result<FilePlace> place_of(const std::string& path) {
  const std::filesystem::path full = std::filesystem::absolute(path).lexically_normal();
  if (path.empty() || !full.has_filename()) {
    return invalid_argument("'" + path + "' is a directory, and a file is asked for");
  }
  return FilePlace{std::make_unique<RealDisk>(full.parent_path().string()),
                   full.filename().string()};
}

Result<std::string> read_whole(const std::string& path, std::size_t bytes_max) {
  std::ifstream in(path, std::ios::binary);
  std::string text(bytes_max + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) {
    return not_found("cannot read " + path + ": " + std::strerror(errno));
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() <= bytes_max) return text;
  return resource_exhausted(path + " has more than " + std::to_string(bytes_max) + " bytes");
}

Status write_private(const std::string& path, std::string_view text) {
  const auto place = place_of(path);
  if (!place.ok()) return place.status();
  Disk& disk = *place.value().disk;
  const std::string& name = place.value().name;
  const auto file = disk.open(name, OpenMode::kNew);
  if (!file.ok()) return file.status();
  Status status = file.value()->append(std::as_bytes(std::span(text)));
  if (status.ok()) status = file.value()->sync();
  if (status.ok()) status = disk.sync_directory("");
  if (!status.ok()) (void)disk.remove(name);  // What went wrong first is what is told.
  return status;
}

Status make_private_directory(const std::string& path) {
  const std::filesystem::path full = plain(path);
  std::error_code error;
  if (std::filesystem::is_directory(full, error)) return {};
  RealDisk disk(full.parent_path().string());
  return disk.make_directory(full.filename().string());
}

Status claim_directory(const std::string& path) {
  if (Status status = make_private_directory(path); !status.ok()) return status;
  struct stat found {};
  // Not through a link: whoever has made that can turn it elsewhere.
  if (::lstat(plain(path).c_str(), &found) != 0) {
    return not_found("cannot look at " + path + ": " + std::strerror(errno));
  }
  if (S_ISDIR(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & 022) == 0) return {};
  return {StatusCode::kPermissionDenied,
          path +
              " is no directory of this user that nobody else can write to; remove it, or name "
              "another one with --directory or $SEAWAY_DIRECTORY"};
}

std::string text_of_time(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  std::array<char, 40> text{};
  if (gmtime_r(&time, &parts) == nullptr) return std::to_string(seconds) + " s";
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::uint64_t now_seconds() { return static_cast<std::uint64_t>(std::time(nullptr)); }

}  // namespace seaway::tools
