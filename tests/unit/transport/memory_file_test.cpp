// Memory that is handed from one process to another.

#include "transport/memory_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace seaway::transport {
namespace {

Descriptor twin(const Descriptor& descriptor) { return Descriptor(::dup(descriptor.number())); }

TEST(MemoryFile, WhoeverIsHandedItReadsWhatItsMakerWrites) {
  const auto file = MemoryFile::make(10'000);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const std::span<std::byte> bytes = (*file)->region().bytes;
  EXPECT_EQ(bytes.size(), 12'288u) << "whole pages";
  EXPECT_EQ(bytes[0], std::byte{0});

  const auto seen = map_memory(twin((*file)->descriptor()));

  ASSERT_TRUE(seen.ok()) << seen.status().to_string();
  ASSERT_EQ(seen->bytes.size(), bytes.size());
  bytes[9'999] = std::byte{7};
  EXPECT_EQ(seen->bytes[9'999], std::byte{7});
}

TEST(MemoryFile, IsThereForItsReadersWhenItsMakerIsGone) {
  auto file = MemoryFile::make(4096);
  (*file)->region().bytes[5] = std::byte{3};
  const auto seen = map_memory(twin((*file)->descriptor()));

  file->reset();

  EXPECT_EQ(seen->bytes[5], std::byte{3});
}

TEST(MemoryFile, NobodyWritesWhatHeWasHanded) {
  const auto file = MemoryFile::make(4096);
  const auto seen = map_memory(twin((*file)->descriptor()));
  EXPECT_DEATH(seen->bytes[0] = std::byte{1}, "");
  const int handed = (*file)->descriptor().number();
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, handed, 0), MAP_FAILED);
  EXPECT_EQ(::write(handed, "1", 1), -1);
}

TEST(MemoryFile, ItsSizeNeverChanges) {
  const auto file = MemoryFile::make(8192);
  const int seals = ::fcntl((*file)->descriptor().number(), F_GET_SEALS);
  EXPECT_EQ(seals & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
            F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  EXPECT_NE(::ftruncate((*file)->descriptor().number(), 4096), 0);
  EXPECT_NE(::ftruncate((*file)->descriptor().number(), 16'384), 0);
}

TEST(MemoryFile, WhatMightBecomeSmallerIsRefused) {
  Descriptor loose(::memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(loose.number(), 4096), 0);
  EXPECT_EQ(map_memory(std::move(loose)).status().code(), StatusCode::kProtocolError);
  Descriptor file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(map_memory(std::move(file)).status().code(), StatusCode::kProtocolError);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Descriptor other(ends[1]);
  EXPECT_EQ(map_memory(Descriptor(ends[0])).status().code(), StatusCode::kProtocolError);
  EXPECT_EQ(map_memory(Descriptor()).status().code(), StatusCode::kProtocolError);
}

TEST(MemoryFile, ScrubbedPagesAreZerosAndTakeNoMemory) {
  const auto file = MemoryFile::make(1 << 20);
  const std::span<std::byte> bytes = (*file)->region().bytes;
  std::memset(bytes.data(), 1, bytes.size());
  struct stat full = {}, scrubbed = {};
  ASSERT_EQ(::fstat((*file)->descriptor().number(), &full), 0);

  scrub(bytes.first(bytes.size() / 2));

  ASSERT_EQ(::fstat((*file)->descriptor().number(), &scrubbed), 0);
  EXPECT_EQ(bytes[0], std::byte{0});
  EXPECT_EQ(bytes[bytes.size() / 2], std::byte{1});
  EXPECT_EQ(scrubbed.st_blocks, full.st_blocks / 2);
}

TEST(MemoryFile, WithoutAddressesItIsRefusedWithTheNumbers) {
  const auto file = MemoryFile::make(std::size_t{1} << 62);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kResourceExhausted);
  EXPECT_NE(file.status().message().find("4611686018427387904 bytes"), std::string::npos)
      << file.status().to_string();
}

}  // namespace
}  // namespace seaway::transport
