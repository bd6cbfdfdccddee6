// UnnamedFile: bytes on a disk that nobody can open, and that are gone with their process.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "seaway/status.hpp"

namespace seaway {

/// A file without a name: for what does not fit into memory, and is worth nothing to the next
/// process. Whatever ends this one, `kill -9` included, gives its room back. Not handed to programs
/// that this one starts. Thread-safe, as long as no two calls touch the same bytes.
class UnnamedFile {
 public:
  /// In an existing `directory`; where that cannot hold files without names, one of mode 0600 whose
  /// name goes at once. Errors: kNotFound, kPermissionDenied, kInvalidArgument for what is no
  /// directory, kResourceExhausted.
  static Result<std::unique_ptr<UnnamedFile>> make(const std::string& directory);
  ~UnnamedFile();
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;

  /// All of `bytes`. After an error any part of them may be there. Errors: kResourceExhausted when
  /// the disk is full, kDataCorruption when it fails.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// All of `bytes`, which were written before. Errors: kDataCorruption.
  Status read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  UnnamedFile(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}

  const std::string name_;  // For messages.
  const int descriptor_;
};

/// Where this system keeps temporary files.
std::string temporary_directory();

}  // namespace seaway
