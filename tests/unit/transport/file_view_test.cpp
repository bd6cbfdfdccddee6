// Parts of files as memory, also of files that do not stay.

#include "transport/file_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <numeric>
#include <vector>

#include "unit/transport/scratch_file.hpp"

namespace seaway::transport {
namespace {

constexpr std::size_t kPage = 4096;

std::vector<std::byte> counted(std::size_t bytes) {
  std::vector<std::byte> values(bytes);
  for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>(i % 251);
  return values;
}

std::shared_ptr<const SourceFile> open(const ScratchFile& file) {
  return SourceFile::open(file.path()).value();
}

TEST(FileView, IsWhatTheFileHasThere) {
  const auto bytes = counted(3 * kPage + 17);
  const ScratchFile file(bytes);

  for (const std::size_t offset : {std::size_t{0}, std::size_t{64}, kPage, kPage + 1}) {
    const std::size_t count = bytes.size() - offset;
    const auto view = FileView::map(open(file), offset, count).value();
    EXPECT_TRUE(std::equal(view->base(), view->base() + count,
                           bytes.begin() + static_cast<std::ptrdiff_t>(offset)))
        << offset;
    EXPECT_FALSE(view->is_torn());
  }
  EXPECT_EQ(FileView::map(open(file), bytes.size(), 0).value()->bytes(), 0u);
}

TEST(FileView, WhatIsWrittenThereIsNotTheFiles) {
  const ScratchFile file(std::vector<float>(2048, 1));
  const auto view = FileView::map(open(file), 0, 8192).value();

  std::fill_n(reinterpret_cast<float*>(view->base()), 2048, 9.0f);

  EXPECT_EQ(file.floats(), std::vector<float>(2048, 1));
}

TEST(FileView, MoreThanTheFileHasIsRefusedWithBothNumbers) {
  const ScratchFile file(counted(100));

  EXPECT_EQ(FileView::map(open(file), 64, 37).status().to_string(),
            "INVALID_ARGUMENT: bytes 64 to 101 of a file that has 100");
  EXPECT_EQ(FileView::map(open(file), ~std::uint64_t{0}, 2).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(FileView, AFileThatBecomesShorterBreaksNobody) {
  ScratchFile file(counted(4 * kPage));
  const auto view = FileView::map(open(file), 0, 4 * kPage).value();
  const auto other = FileView::map(open(file), 0, kPage).value();
  EXPECT_EQ(view->base()[100], std::byte{100});

  file.shorten(kPage);

  EXPECT_EQ(view->base()[100], std::byte{100}) << "this page is still there";
  EXPECT_FALSE(view->is_torn()) << "nobody has looked behind it";
  EXPECT_EQ(view->base()[2 * kPage + 5], std::byte{0});
  EXPECT_TRUE(view->is_torn());
  view->base()[3 * kPage] = std::byte{7};
  EXPECT_EQ(view->base()[3 * kPage], std::byte{7});
  EXPECT_FALSE(other->is_torn());
}

using FileViewDeathTest = testing::Test;

TEST(FileViewDeathTest, OtherBusErrorsAreWhoseTheyWere) {
  const ScratchFile file(counted(64));
  const auto view = FileView::map(open(file), 0, 64).value();

  EXPECT_DEATH(::raise(SIGBUS), "");
}

TEST(FileView, ThereAreNoMoreThanTheTableHasPlaces) {
  const ScratchFile file(counted(64));
  const auto source = open(file);
  std::vector<std::shared_ptr<FileView>> all;
  while (all.size() < FileView::kViewsMax) {
    auto view = FileView::map(source, 0, 64);
    ASSERT_TRUE(view.ok()) << all.size();
    all.push_back(std::move(*view));
  }

  EXPECT_EQ(FileView::map(source, 0, 64).status().code(), StatusCode::kResourceExhausted);
  all.pop_back();
  EXPECT_TRUE(FileView::map(source, 0, 64).ok());
}

TEST(SourceFile, WhatIsNoFileIsRefusedWithTheSystemsWords) {
  EXPECT_EQ(SourceFile::open("/nowhere/at/all").status().to_string(),
            "NOT_FOUND: /nowhere/at/all: No such file or directory");
  EXPECT_EQ(SourceFile::open("/tmp").status().to_string(), "INVALID_ARGUMENT: /tmp: it is no file");
  EXPECT_EQ(SourceFile::open("/dev/null").status().to_string(),
            "INVALID_ARGUMENT: /dev/null: it is no file");
  EXPECT_EQ(SourceFile::take(nullptr).status().to_string(),
            "PROTOCOL_ERROR: what was handed over: nothing was handed over");
}

}  // namespace
}  // namespace seaway::transport
