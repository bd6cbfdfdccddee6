// RealDisk: the files below a directory of this machine.

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/file.hpp"

namespace seaway {

/// Made by main() and tests alone. Files are not handed to programs that this one starts.
class RealDisk final : public Disk {
 public:
  /// `root` exists; it is looked at first when something is opened in it.
  explicit RealDisk(std::string root) : root_(std::move(root)) {}

  Result<std::unique_ptr<File>> open(std::string_view path, OpenMode mode) override;
  Status rename(std::string_view from, std::string_view to) override;
  Status remove(std::string_view path) override;
  Status make_directory(std::string_view path) override;
  Result<std::vector<std::string>> list(std::string_view directory) override;
  Status sync_directory(std::string_view directory) override;

 private:
  Result<std::string> full_path(std::string_view path) const;
  Result<std::string> full_directory(std::string_view directory) const;

  const std::string root_;
};

/// One write to a file: how many of `bytes` were taken; -1, and errno, when it failed.
using WriteSome = std::function<std::ptrdiff_t(std::uint64_t offset, std::span<const std::byte>)>;

/// Writes all of `bytes` from `offset` on, in as many writes as it takes. `name` is for messages.
Status write_all(const std::string& name, std::uint64_t offset, std::span<const std::byte> bytes,
                 const WriteSome& write_some);

}  // namespace seaway
