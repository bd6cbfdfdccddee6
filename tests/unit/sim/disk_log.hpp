// DiskLog: a small write-ahead log, as a user of a disk would write it; and ways to write it wrong.

#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/random.hpp"

namespace seaway::sim {

/// Records with length and checksum, one behind another, in the file "log".
class DiskLog {
 public:
  enum class Carelessness {
    kNone,
    kNoSync,              // Acknowledges what is not synced.
    kNoSyncBeforeRename,  // Puts a file in the place of the log before its content is synced.
    kNoDirectorySync,     // Does not sync the name of the log.
    kIgnoresFailedSync,   // Opens the file anew, syncs again, and takes that for good.
  };
  DiskLog(Disk& disk, Carelessness careless) : disk_(disk), careless_(careless) {}

  /// All whole records, up to the first that is not. What is behind them is cut off by writing the
  /// log anew, beside the old one.
  Result<std::vector<std::string>> recover() {
    std::vector<std::string> records;
    if (const auto old = disk_.open("log", OpenMode::kExisting); old.ok()) {
      const auto bytes = (*old)->read(0, 1 << 24);
      if (!bytes.ok()) return bytes.status();
      records = parse(*bytes);
    }
    auto file = disk_.open("log.new", OpenMode::kAny);
    if (!file.ok()) return file.status();
    if ((*file)->size().value() > 0) {
      // Of an earlier recovery that was not finished.
      file->reset();
      if (const Status status = disk_.remove("log.new"); !status.ok()) return status;
      file = disk_.open("log.new", OpenMode::kNew);
      if (!file.ok()) return file.status();
    }
    file_ = std::move(*file);
    for (const std::string& record : records) {
      if (const Status status = write(record); !status.ok()) return status;
    }
    if (careless_ != Carelessness::kNoSyncBeforeRename) {
      if (const Status status = file_->sync(); !status.ok()) return status;
    }
    if (const Status status = disk_.rename("log.new", "log"); !status.ok()) return status;
    if (careless_ == Carelessness::kNoDirectorySync) return records;
    if (const Status status = disk_.sync_directory(""); !status.ok()) return status;
    return records;
  }

  /// OK: it is acknowledged. After an error the log takes nothing more.
  Status append(const std::string& record) {
    const Status written = write(record);
    if (!written.ok() || careless_ == Carelessness::kNoSync) return written;
    const Status synced = file_->sync();
    if (synced.ok() || careless_ != Carelessness::kIgnoresFailedSync) return synced;
    file_ = disk_.open("log", OpenMode::kExisting).value();
    return file_->sync();
  }
  /// Not acknowledged yet.
  Status write(const std::string& record) {
    const Head head{record.size(), checksum(record.data(), record.size())};
    std::vector<std::byte> bytes(sizeof(head) + record.size());
    std::memcpy(bytes.data(), &head, sizeof(head));
    std::memcpy(bytes.data() + sizeof(head), record.data(), record.size());
    return file_->append(bytes);
  }

 private:
  struct Head {
    std::uint64_t size = 0, checksum = 0;
  };
  static std::uint64_t checksum(const char* first, std::size_t size) {
    std::uint64_t sum = mix64(size + 1);
    for (std::size_t i = 0; i < size; ++i) sum = mix64(sum ^ static_cast<unsigned char>(first[i]));
    return sum;
  }
  static std::vector<std::string> parse(const std::vector<std::byte>& bytes) {
    std::vector<std::string> records;
    Head head;
    for (std::size_t at = 0; bytes.size() - at >= sizeof(head);) {
      std::memcpy(&head, bytes.data() + at, sizeof(head));
      at += sizeof(head);
      const auto* const first = reinterpret_cast<const char*>(bytes.data() + at);
      if (head.size > bytes.size() - at || head.checksum != checksum(first, head.size)) break;
      records.emplace_back(first, head.size);
      at += head.size;
    }
    return records;
  }

  Disk& disk_;
  const Carelessness careless_;
  std::unique_ptr<File> file_;
};

}  // namespace seaway::sim
