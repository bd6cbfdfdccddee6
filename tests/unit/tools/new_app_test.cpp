// What `seaway new app` takes for a name, what it writes, and what it leaves behind.

#include "new_app.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace seaway::tools {
namespace {

namespace fs = std::filesystem;

/// A path in the directory for temporary files where nothing is yet.
class NewApp : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(directory); }
  void TearDown() override { fs::remove_all(directory); }
  const fs::path directory = fs::path(testing::TempDir()) / "seaway_new_app_test";
};

std::string text_of(const std::vector<AppFile>& files, const std::string& path) {
  const auto found = std::ranges::find(files, path, &AppFile::path);
  return found == files.end() ? "" : found->text;
}

TEST(AppName, IsOfSmallLettersDigitsAndSingleUnderscores) {
  for (const char* name : {"hello", "word_count", "x", "tier2", "counter", "time", "int"}) {
    EXPECT_TRUE(check_app_name(name).ok()) << name;
  }
  for (const char* name :
       {"Hello", "2tier", "_x", "a__b", "a-b", "a/b", "..", "a b", "h\xc3\xa4"}) {
    EXPECT_EQ(check_app_name(name).to_string(),
              "INVALID_ARGUMENT: an app cannot be called '" + std::string(name) +
                  "': a name is of a..z, 0..9 and single _, and begins with a letter, as in "
                  "word_count");
  }
}

TEST(AppName, HasALimit) {
  EXPECT_TRUE(check_app_name(std::string(kAppNameMax, 'a')).ok());
  EXPECT_EQ(
      check_app_name(std::string(kAppNameMax + 1, 'a')).message(),
      "an app cannot be called '" + std::string(65, 'a') + "': a name has 1 to 64 letters, not 65");
  EXPECT_EQ(check_app_name("").message(),
            "an app cannot be called '': a name has 1 to 64 letters, not 0");
}

TEST(AppName, IsNotWhatBuildSystemsOrSeawayCallTheirOwn) {
  EXPECT_EQ(check_app_name("test").message(),
            "an app cannot be called 'test': the name is taken, by a build system or by Seaway; "
            "try my_test");
  for (const char* name : {"all", "install", "clean", "seaway", "messages", "counter_test"}) {
    EXPECT_EQ(check_app_name(name).code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST(AppFiles, BearTheNameOfTheApp) {
  const auto files = app_files("word_count", 7);

  EXPECT_EQ(text_of(files, "meson.build").substr(0, 20), "project('word_count'");
  EXPECT_NE(text_of(files, "word_count.capnp"), "");
  EXPECT_NE(text_of(files, ".gitignore"), "");
  for (const AppFile& file : files) {
    EXPECT_EQ(file.path.find("app_name"), std::string::npos) << file.path;
    EXPECT_EQ(file.text.find("app_name"), std::string::npos) << file.path;
  }
}

TEST(AppFiles, HaveASchemaWithAnIdOfItsOwn) {
  const auto first = text_of(app_files("hello", 7), "hello.capnp");
  const auto second = text_of(app_files("hello", 0xfedcba9876543210), "hello.capnp");

  EXPECT_EQ(first.substr(0, 21), "@0x8000000000000007;\n");
  EXPECT_EQ(second.substr(0, 21), "@0xfedcba9876543210;\n");
}

TEST_F(NewApp, IsWrittenAsItIs) {
  const std::vector<AppFile> files = {{"a.txt", "one\n"}, {".b", "two\n"}};

  ASSERT_TRUE(write_app(directory, files).ok());

  std::ifstream a(directory / "a.txt"), b(directory / ".b");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(a), {}), "one\n");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(b), {}), "two\n");
}

TEST_F(NewApp, LeavesADirectoryAloneThatExists) {
  ASSERT_TRUE(write_app(directory, std::vector<AppFile>{{"a.txt", "mine\n"}}).ok());

  const Status status = write_app(directory, std::vector<AppFile>{{"a.txt", "yours\n"}});

  EXPECT_EQ(status.to_string(), "INVALID_ARGUMENT: there is a directory " + directory.string() +
                                    " already; name another with --directory");
  std::ifstream a(directory / "a.txt");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(a), {}), "mine\n");
}

TEST_F(NewApp, SaysThatThereIsNothingToLieIn) {
  const Status status = write_app(directory / "inner", {});

  EXPECT_EQ(status.to_string(), "INVALID_ARGUMENT: cannot make the directory " +
                                    (directory / "inner").string() +
                                    ": No such file or directory; name another with --directory");
  EXPECT_FALSE(fs::exists(directory));
}

TEST_F(NewApp, LeavesNothingWhenAFileCannotBeWritten) {
  const std::vector<AppFile> files = {{"a.txt", "one\n"}, {"no/such/place", "two\n"}};

  const Status status = write_app(directory, files);

  EXPECT_EQ(status.to_string(), "RESOURCE_EXHAUSTED: cannot write " +
                                    (directory / "no/such/place").string() +
                                    ": is the disk full? Nothing was left in its place");
  EXPECT_FALSE(fs::exists(directory));
}

}  // namespace
}  // namespace seaway::tools
