// ExecutableCache: compiled programs in files, so that the next process need not compile them.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.hpp"

namespace seaway::pjrt {

/// One file an entry, whose name is a hash of its key. The file holds the key as well, so that two
/// keys of one hash are told apart, and a checksum. Thread-safe.
///
/// What is in the files is code that this process runs: nobody else may be able to write there.
class ExecutableCache {
 public:
  struct Limits {
    std::uint64_t entry_bytes_max = std::uint64_t{1} << 30;  // Larger ones are not kept.
  };

  /// `writer` is a word for file names that no other cache which writes there now has. `disk`
  /// outlives this.
  ExecutableCache(Disk& disk, std::string writer) : ExecutableCache(disk, writer, Limits()) {}
  ExecutableCache(Disk& disk, std::string writer, Limits limits)
      : disk_(disk), writer_(std::move(writer)), limits_(limits) {}

  /// What was kept under `key`. Nothing: no entry, or one that is damaged.
  std::optional<std::string> find(std::string_view key);
  /// Keeps `bytes` in the place of what was there. Whoever looks meanwhile sees one of both. A disk
  /// that fails costs the entry and nothing else: the error says why.
  Status keep(std::string_view key, std::string_view bytes);

  /// The file of `key`.
  static std::string file_of(std::string_view key);

 private:
  std::optional<std::string> read(std::string_view key);

  Disk& disk_;
  const std::string writer_;
  const Limits limits_;
  std::mutex mutex_;  // A disk has one user at a time.
};

}  // namespace seaway::pjrt
