// What holds of any disk: the same tests for the files of this machine and for simulated ones.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/real_disk.hpp"
#include "sim/simulated_disk.hpp"

namespace seaway {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

/// All of a file, or the error in words.
std::string content_of(Result<std::unique_ptr<File>> file) {
  if (!file.ok()) return file.to_string();
  const auto bytes = (*file)->read(0, 1 << 20);
  if (!bytes.ok()) return bytes.to_string();
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

/// A directory of its own below that for temporary files.
class RealFiles {
 public:
  RealFiles() {
    std::string path = testing::TempDir() + "seaway-disk-XXXXXX";
    if (mkdtemp(path.data()) != nullptr) path_ = path;
    disk = std::make_unique<RealDisk>(path_);
  }
  ~RealFiles() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }
  std::unique_ptr<Disk> disk;

 private:
  std::string path_ = "/nowhere";
};

struct SimulatedFiles {
  ManualClock clock;
  std::unique_ptr<Disk> disk = std::make_unique<sim::SimulatedDisk>(sim::DiskOptions{}, clock);
};

template <class Files>
class AnyDisk : public testing::Test {
 protected:
  Disk& disk() { return *files_.disk; }
  std::unique_ptr<File> make(std::string_view path, std::string_view text = "") {
    auto file = disk().open(path, OpenMode::kAny).value();
    EXPECT_TRUE(file->append(bytes_of(text)).ok());
    return file;
  }
  std::string content(std::string_view path) {
    return content_of(disk().open(path, OpenMode::kExisting));
  }

 private:
  Files files_;
};

using Kinds = testing::Types<RealFiles, SimulatedFiles>;
TYPED_TEST_SUITE(AnyDisk, Kinds, );

TYPED_TEST(AnyDisk, WhatIsAppendedIsReadBackInOrder) {
  const auto file = this->make("log", "one ");

  EXPECT_TRUE(file->append(bytes_of("two")).ok());
  EXPECT_TRUE(file->sync().ok());

  EXPECT_EQ(this->content("log"), "one two");
  EXPECT_EQ(file->size().value(), 7u);
}

TYPED_TEST(AnyDisk, AWriteReplacesWhatWasThereAndFillsAGapWithZeros) {
  const auto file = this->make("log", "one two");

  EXPECT_TRUE(file->write_at(4, bytes_of("six")).ok());
  EXPECT_TRUE(file->write_at(9, bytes_of("!")).ok());

  EXPECT_EQ(this->content("log"), std::string("one six\0\0!", 10));
}

TYPED_TEST(AnyDisk, AReadEndsWhereTheFileEnds) {
  const auto file = this->make("log", "one two");

  EXPECT_EQ(file->read(4, 100).value(), bytes_of("two"));
  EXPECT_EQ(file->read(0, 3).value(), bytes_of("one"));
  EXPECT_TRUE(file->read(7, 10).value().empty());
  EXPECT_TRUE(file->read(700, 10).value().empty());
}

TYPED_TEST(AnyDisk, OpeningSaysWhatIsExpectedToBeThere) {
  EXPECT_EQ(this->disk().open("a", OpenMode::kExisting).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(this->disk().open("a", OpenMode::kNew).ok());
  EXPECT_EQ(this->disk().open("a", OpenMode::kNew).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(this->disk().open("a", OpenMode::kExisting).ok());
  EXPECT_TRUE(this->disk().open("a", OpenMode::kAny).ok());
}

TYPED_TEST(AnyDisk, ARenamedFileTakesThePlaceOfAnother) {
  this->make("old", "old");
  const auto open = this->make("new", "new");

  EXPECT_TRUE(this->disk().rename("new", "old").ok());
  EXPECT_TRUE(this->disk().sync_directory("").ok());
  EXPECT_TRUE(open->append(bytes_of("er")).ok());

  EXPECT_EQ(this->content("old"), "newer");
  EXPECT_EQ(this->disk().list("").value(), std::vector<std::string>{"old"});
}

TYPED_TEST(AnyDisk, OnlyFilesAreRenamedAndWithinOneDirectory) {
  ASSERT_TRUE(this->disk().make_directory("d").ok());
  this->make("a");

  EXPECT_EQ(this->disk().rename("a", "d/a").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(this->disk().rename("d", "e").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(this->disk().rename("a", "d").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(this->disk().rename("b", "c").code(), StatusCode::kNotFound);
  EXPECT_EQ(this->disk().list("").value(), (std::vector<std::string>{"a", "d"}));
}

TYPED_TEST(AnyDisk, ARemovedFileIsThereForAsLongAsItIsOpen) {
  const auto open = this->make("a", "text");

  EXPECT_TRUE(this->disk().remove("a").ok());

  EXPECT_EQ(open->read(0, 10).value(), bytes_of("text"));
  EXPECT_EQ(this->disk().remove("a").code(), StatusCode::kNotFound);
  EXPECT_TRUE(this->disk().list("").value().empty());
}

TYPED_TEST(AnyDisk, DirectoriesHoldFilesAndAreRemovedOnceTheyAreEmpty) {
  ASSERT_TRUE(this->disk().make_directory("d").ok());
  ASSERT_TRUE(this->disk().make_directory("d/e").ok());
  this->make("d/b");
  this->make("d/a");

  EXPECT_EQ(this->disk().list("d").value(), (std::vector<std::string>{"a", "b", "e"}));
  EXPECT_TRUE(this->disk().sync_directory("d").ok());
  EXPECT_EQ(this->disk().make_directory("d").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(this->disk().remove("d").code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(this->disk().remove("d/e").ok());
  EXPECT_EQ(this->disk().open("d", OpenMode::kAny).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(this->disk().list("d/a").status().code(), StatusCode::kInvalidArgument);
}

TYPED_TEST(AnyDisk, WhatIsInNoDirectoryIsNotFound) {
  this->make("a");

  EXPECT_EQ(this->disk().open("d/a", OpenMode::kAny).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(this->disk().open("a/b", OpenMode::kAny).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(this->disk().make_directory("d/e").code(), StatusCode::kNotFound);
  EXPECT_EQ(this->disk().list("d").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(this->disk().sync_directory("d").code(), StatusCode::kNotFound);
  EXPECT_EQ(this->disk().remove("d/a").code(), StatusCode::kNotFound);
}

TYPED_TEST(AnyDisk, NoPathLeadsOutOfIt) {
  for (const char* const path :
       {"", "/etc/passwd", "..", "../a", "d/../../a", "./a", "a/", "a//b"}) {
    EXPECT_EQ(this->disk().open(path, OpenMode::kAny).status().code(), StatusCode::kInvalidArgument)
        << path;
    EXPECT_EQ(this->disk().remove(path).code(), StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(this->disk().rename("a", path).code(), StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(this->disk().make_directory(path).code(), StatusCode::kInvalidArgument) << path;
  }
  EXPECT_EQ(this->disk().list("..").status().code(), StatusCode::kInvalidArgument);
}

TEST(RealDisk, AFullDiskIsResourceExhaustedAndAFailedSyncIsNotForgotten) {
  RealFiles files;
  std::filesystem::create_symlink("/dev/full", files.path() + "/full");
  const auto file = files.disk->open("full", OpenMode::kExisting).value();

  const Status written = file->append(bytes_of("text"));
  const Status synced = file->sync();  // Of what is no file: refused.

  EXPECT_EQ(written.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(written.message().find("/full: No space left on device; make room"), std::string::npos)
      << written.message();
  EXPECT_EQ(synced.code(), StatusCode::kDataCorruption);
  EXPECT_EQ(file->sync(), synced);
  EXPECT_EQ(file->append(bytes_of("text")), synced);
}

TEST(RealDisk, AWriteGoesOnUntilAllIsWritten) {
  std::string written;
  int calls = 0;
  const auto three_at_most = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    EXPECT_EQ(offset, 100 + written.size());
    if (++calls == 2) {
      errno = EINTR;
      return std::ptrdiff_t{-1};
    }
    const std::size_t count = std::min<std::size_t>(3, bytes.size());
    written.append(reinterpret_cast<const char*>(bytes.data()), count);
    return static_cast<std::ptrdiff_t>(count);
  };

  EXPECT_TRUE(write_all("a", 100, bytes_of("one two"), three_at_most).ok());

  EXPECT_EQ(written, "one two");
  EXPECT_EQ(calls, 4);
}

TEST(RealDisk, AWriteThatFailsOrTakesNothingIsAnError) {
  const auto failing = [](int error) {
    return write_all("a", 0, bytes_of("text"), [error](std::uint64_t, auto) {
      errno = error;
      return std::ptrdiff_t{error == 0 ? 0 : -1};
    });
  };

  EXPECT_EQ(failing(EIO).code(), StatusCode::kDataCorruption);
  EXPECT_EQ(failing(ENOSPC).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(failing(EROFS).code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(failing(0).code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace seaway
