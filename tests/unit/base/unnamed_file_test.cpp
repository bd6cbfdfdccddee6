// Files without a name: what is written is read, and nothing of them is seen or left.

#include "base/unnamed_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace seaway {
namespace {

class UnnamedFiles : public testing::Test {
 protected:
  UnnamedFiles() {
    std::string name = testing::TempDir() + "unnamedXXXXXX";
    if (mkdtemp(name.data()) != nullptr) directory_ = name;
  }
  ~UnnamedFiles() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
};

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  return bytes;
}

TEST_F(UnnamedFiles, ReadWhatWasWrittenAndHaveNoName) {
  const auto made = UnnamedFile::make(directory_);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const auto bytes = pattern(100'000);

  ASSERT_TRUE((*made)->write_at(5000, bytes).ok());
  std::vector<std::byte> read(bytes.size());
  ASSERT_TRUE((*made)->read_at(5000, read).ok());

  EXPECT_EQ(read, bytes);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(UnnamedFiles, SayWhenTheyAreShorterThanWhatIsReadOfThem) {
  const auto made = UnnamedFile::make(directory_);
  ASSERT_TRUE((*made)->write_at(0, pattern(100)).ok());

  std::vector<std::byte> read(101);
  const Status status = (*made)->read_at(0, read);

  EXPECT_EQ(status.code(), StatusCode::kDataCorruption);
  EXPECT_NE(status.message().find("shorter"), std::string::npos) << status.message();
}

TEST_F(UnnamedFiles, SayWhenThereIsNoMoreRoom) {
  const auto made = UnnamedFile::make(directory_);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit tight = old;
  tight.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &tight);

  const Status status = (*made)->write_at(0, pattern(5000));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);

  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.to_string();
  EXPECT_TRUE((*made)->write_at(0, pattern(5000)).ok());
}

TEST_F(UnnamedFiles, NeedADirectoryThatIsThere) {
  const Status missing = UnnamedFile::make(directory_ + "/nowhere").status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound) << missing.to_string();
  EXPECT_NE(missing.message().find("make that directory, or name another one"), std::string::npos);

  EXPECT_EQ(UnnamedFile::make("/dev/null").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seaway
