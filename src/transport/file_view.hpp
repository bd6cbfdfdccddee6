// FileView: a part of a file as memory, which is there whatever becomes of the file.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "seaway/status.hpp"
#include "transport/memory_file.hpp"

namespace seaway::transport {

/// A file that somebody has opened to be read. Thread-safe.
class SourceFile {
 public:
  /// Errors, with the system's words: kNotFound; kPermissionDenied; kInvalidArgument for what is no
  /// file; kResourceExhausted without a descriptor.
  static Result<std::shared_ptr<const SourceFile>> open(const std::string& path);
  /// What another process has handed over. Errors: kProtocolError for what is no file.
  static Result<std::shared_ptr<const SourceFile>> take(std::shared_ptr<const Descriptor> handed);

  std::uint64_t bytes() const { return bytes_; }  // When it was opened.
  const std::shared_ptr<const Descriptor>& descriptor() const { return descriptor_; }

 private:
  SourceFile(std::shared_ptr<const Descriptor> descriptor, std::uint64_t bytes)
      : descriptor_(std::move(descriptor)), bytes_(bytes) {}

  const std::shared_ptr<const Descriptor> descriptor_;
  const std::uint64_t bytes_;
};

/// Bytes [offset, offset + bytes) of a file, read when somebody looks at them. What is written
/// there is this view's own, and never the file's.
///
/// A file that becomes shorter takes nothing from under its readers: they find zeros, and the view
/// is torn from then on. At most 1,024 views at once, as the signal by which the system tells of it
/// (SIGBUS) looks for them in a table. Thread-safe.
class FileView {
 public:
  static constexpr std::size_t kViewsMax = 1024;

  /// Errors: kInvalidArgument when the file has fewer bytes; kResourceExhausted beyond kViewsMax,
  /// or without addresses.
  static Result<std::shared_ptr<FileView>> map(std::shared_ptr<const SourceFile> file,
                                               std::uint64_t offset, std::uint64_t bytes);
  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  std::byte* base() const { return base_; }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t bytes() const { return bytes_; }
  const std::shared_ptr<const SourceFile>& file() const { return file_; }
  /// Something of it was read that was not there any more.
  bool is_torn() const;

 private:
  FileView(std::shared_ptr<const SourceFile> file, std::uint64_t offset, std::uint64_t bytes)
      : file_(std::move(file)), offset_(offset), bytes_(bytes) {}

  const std::shared_ptr<const SourceFile> file_;
  const std::uint64_t offset_, bytes_;
  std::byte* pages_ = nullptr;  // What is mapped: whole pages.
  std::size_t mapped_ = 0;
  std::byte* base_ = nullptr;
  std::size_t place_ = kViewsMax;  // In the table.
};

}  // namespace seaway::transport
