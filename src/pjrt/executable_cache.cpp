// The files of the cache: magic, sizes of key and program, checksum of all that follows, both.

#include "pjrt/executable_cache.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <span>

#include "transport/checksum.hpp"

namespace seaway::pjrt {
namespace {

constexpr std::uint64_t kMagic = 0x31305452504a5753;  // "SWJPRT01".

struct Header {
  std::uint64_t magic = kMagic, key_bytes = 0, program_bytes = 0;
  std::uint64_t sum = 0;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::uint64_t sum_of(std::string_view key, std::string_view program) {
  return transport::crc32c(transport::crc32c(0xffffffff, bytes_of(key)), bytes_of(program));
}

/// FNV-1a with two starts; the file holds the key itself, so that this only has to be spread well.
std::uint64_t hash(std::string_view text, std::uint64_t start) {
  for (const char letter : text) {
    start = (start ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return start;
}

}  // namespace

std::string ExecutableCache::file_of(std::string_view key) {
  char name[64];
  std::snprintf(name, sizeof name, "%016llx%016llx.pjrt",
                static_cast<unsigned long long>(hash(key, 0xcbf29ce484222325)),
                static_cast<unsigned long long>(hash(key, 0x6c62272e07bb0142)));
  return name;
}

std::optional<std::string> ExecutableCache::find(std::string_view key) {
  std::lock_guard guard(mutex_);
  return read(key);
}

std::optional<std::string> ExecutableCache::read(std::string_view key) {
  auto file = disk_.open(file_of(key), OpenMode::kExisting);
  if (!file.ok()) return {};
  const auto size = (*file)->size();
  Header header;
  if (!size.ok() || *size < sizeof header ||
      *size > limits_.entry_bytes_max + key.size() + sizeof header) {
    return {};
  }
  const auto bytes = (*file)->read(0, *size);
  if (!bytes.ok() || bytes->size() != *size) return {};
  std::memcpy(&header, bytes->data(), sizeof header);
  const std::string_view rest(reinterpret_cast<const char*>(bytes->data()) + sizeof header,
                              bytes->size() - sizeof header);
  if (header.magic != kMagic || header.key_bytes > rest.size() ||
      header.program_bytes != rest.size() - header.key_bytes) {
    return {};
  }
  const std::string_view kept = rest.substr(0, header.key_bytes);
  const std::string_view program = rest.substr(header.key_bytes);
  if (kept != key || header.sum != sum_of(kept, program)) return {};
  return std::string(program);
}

Status ExecutableCache::keep(std::string_view key, std::string_view bytes) {
  if (bytes.size() > limits_.entry_bytes_max) {
    return resource_exhausted("a compiled program of " + std::to_string(bytes.size()) +
                              " bytes is not kept: at most " +
                              std::to_string(limits_.entry_bytes_max) +
                              " are, by ExecutableCache::Limits::entry_bytes_max");
  }
  std::lock_guard guard(mutex_);
  Header header;
  header.key_bytes = key.size();
  header.program_bytes = bytes.size();
  header.sum = sum_of(key, bytes);
  const std::string name = file_of(key);
  const std::string draft = name + "." + writer_;
  (void)disk_.remove(draft);  // Of one that died when it wrote; there is none as a rule.
  auto file = disk_.open(draft, OpenMode::kNew);
  if (!file.ok()) return file.status();
  const std::array<std::span<const std::byte>, 3> pieces = {std::as_bytes(std::span(&header, 1)),
                                                            bytes_of(key), bytes_of(bytes)};
  for (const auto& piece : pieces) {
    if (Status status = (*file)->append(piece); !status.ok()) return status;
  }
  if (Status status = (*file)->sync(); !status.ok()) return status;
  return disk_.rename(draft, name);
}

}  // namespace seaway::pjrt
