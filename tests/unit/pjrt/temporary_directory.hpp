// TemporaryDirectory: a directory of one test.

#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace seaway::pjrt {

/// A directory of its own that goes with it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "seaway-pjrt-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace seaway::pjrt
