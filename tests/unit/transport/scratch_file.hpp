// A file of a test's own, which goes with it.

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace seaway {

class ScratchFile {
 public:
  explicit ScratchFile(std::span<const std::byte> bytes)
      : path_(testing::TempDir() + "seaway-file-" + std::to_string(::getpid()) + "-" +
              std::to_string(++made_)) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  template <class T>
  explicit ScratchFile(const std::vector<T>& values)
      : ScratchFile(std::as_bytes(std::span(values))) {}
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }
  void shorten(std::size_t bytes) { std::filesystem::resize_file(path_, bytes); }
  std::vector<float> floats() const {
    std::vector<float> values(std::filesystem::file_size(path_) / sizeof(float));
    std::ifstream(path_, std::ios::binary)
        .read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
    return values;
  }

 private:
  static inline int made_ = 0;
  const std::string path_;
};

}  // namespace seaway
