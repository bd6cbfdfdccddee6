// Disk and File: where bytes outlive a process. Handed in from main(); the simulator hands in disks
// that are full, slow, lie and crash.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"

namespace seaway {

/// One open file. It has one writer; what was opened earlier or later under its name sees what it
/// writes. Closed by its destructor, which makes nothing durable. Not thread-safe.
///
/// Errors of all calls: RESOURCE_EXHAUSTED when the disk is full; DATA_CORRUPTION when the disk
/// fails, after which what was not synced is not to be relied on; HOST_LOST when the machine of the
/// disk has crashed since.
class File {
 public:
  virtual ~File() = default;

  virtual Result<std::uint64_t> size() const = 0;
  /// From `offset` on, `bytes_max` bytes, or as many as there are.
  virtual Result<std::vector<std::byte>> read(std::uint64_t offset,
                                              std::size_t bytes_max) const = 0;

  /// Writes all of `bytes` behind the last byte. After an error a first part of them may be there.
  virtual Status append(std::span<const std::byte> bytes) = 0;
  /// Writes all of `bytes` from `offset` on; a gap behind the last byte is filled with zeros. After
  /// an error any part of them may be there.
  virtual Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;

  /// What was written before survives a crash once this has returned OK; its name does so only
  /// after Disk::sync_directory. After an error all that was not synced before is lost, whatever is
  /// still read, and each later write or sync through this object fails: no later sync can speak
  /// for it. Open the file anew to see what is left.
  virtual Status sync() = 0;
};

/// What open() expects to find.
enum class OpenMode : std::uint8_t {
  kExisting,  // A file; NOT_FOUND otherwise.
  kNew,       // Nothing; INVALID_ARGUMENT otherwise.
  kAny,       // A file, or nothing, and then it is made.
};

/// The files below one directory of one machine. Paths are relative to it, with '/' between their
/// parts; a part is neither empty nor "." nor "..": INVALID_ARGUMENT. Not thread-safe; outlives its
/// files. Calls may wait for the disk.
///
/// Errors, beside those of File: NOT_FOUND when a path or the directory that it is in does not
/// exist; INVALID_ARGUMENT when it is a directory and not a file, or the other way round;
/// PERMISSION_DENIED.
class Disk {
 public:
  virtual ~Disk() = default;

  virtual Result<std::unique_ptr<File>> open(std::string_view path, OpenMode mode) = 0;
  /// `from` is known as `to` from now on, in the place of a file that was there: whoever looks sees
  /// one of both. Both are in one directory; INVALID_ARGUMENT otherwise.
  virtual Status rename(std::string_view from, std::string_view to) = 0;
  /// A file, whose content is there for as long as it is open; or an empty directory.
  virtual Status remove(std::string_view path) = 0;
  /// In an existing directory. INVALID_ARGUMENT when there is something of that name.
  virtual Status make_directory(std::string_view path) = 0;
  /// The names in a directory, sorted; "" is the disk's own.
  virtual Result<std::vector<std::string>> list(std::string_view directory) = 0;
  /// What was made, renamed and removed in `directory` before survives a crash once this has
  /// returned OK. Until then any number of those changes, the latest first, may be undone by one.
  virtual Status sync_directory(std::string_view directory) = 0;

  /// When all that was asked so far is done, on the clock of this process. Whoever acknowledges
  /// something that was written does so then, and not earlier. 0: it is done when a call returns.
  virtual std::uint64_t due_ns() const { return 0; }
};

/// The parts of a path. INVALID_ARGUMENT, with `path` in the message, when it is none.
Result<std::vector<std::string>> split_path(std::string_view path);

}  // namespace seaway
