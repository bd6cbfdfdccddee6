// memfd_create, seals, and mappings.

#include "transport/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace seaway::transport {
namespace {

constexpr std::size_t kPage = 4096;
/// So no reader ever finds that what it maps is not there any more.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Status no_memory(std::size_t bytes, const char* what) {
  return resource_exhausted(std::to_string(bytes) + " bytes of shared memory refused: " + what +
                            ": " + std::strerror(errno) +
                            "; values go to other processes as bytes, or raise the limits of "
                            "addresses (ulimit -v) and descriptors (ulimit -n)");
}

Result<SharedRegion> map(int descriptor, std::size_t bytes, int protection) {
  void* const base = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED) return no_memory(bytes, "mmap");
  return SharedRegion{{static_cast<std::byte*>(base), bytes},
                      std::shared_ptr<void>(base, [bytes](void* all) { ::munmap(all, bytes); })};
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Result<std::shared_ptr<MemoryFile>> MemoryFile::make(std::size_t bytes) {
  bytes = (bytes + kPage - 1) / kPage * kPage;
  Descriptor descriptor(::memfd_create("seaway", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor.has_value()) return no_memory(bytes, "memfd_create");
  if (::ftruncate(descriptor.number(), static_cast<off_t>(bytes)) != 0) {
    return no_memory(bytes, "ftruncate");
  }
  if (::fcntl(descriptor.number(), F_ADD_SEALS, kSeals) != 0) return no_memory(bytes, "fcntl");
  auto region = map(descriptor.number(), bytes, PROT_READ | PROT_WRITE);
  if (!region.ok()) return region.status();
  // Others get one by which nothing is written. Without /proc they get this one.
  const std::string own = "/proc/self/fd/" + std::to_string(descriptor.number());
  Descriptor to_read(::open(own.c_str(), O_RDONLY | O_CLOEXEC));
  if (to_read.has_value()) descriptor = std::move(to_read);
  return std::shared_ptr<MemoryFile>(
      new MemoryFile(std::move(descriptor), std::move(region).value()));
}

Result<SharedRegion> map_memory(Descriptor handed) {
  struct stat about = {};
  if (::fstat(handed.number(), &about) != 0) {
    return protocol_error(std::string("what was handed over is not to be had: ") +
                          std::strerror(errno));
  }
  const int seals = ::fcntl(handed.number(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || about.st_size <= 0) {
    return protocol_error(
        "what was handed over is no memory, or is not sealed: it may become "
        "smaller under its readers");
  }
  return map(handed.number(), static_cast<std::size_t>(about.st_size), PROT_READ);
}

void scrub(std::span<std::byte> pages) {
  // Where that fails it is only not given back.
  if (::madvise(pages.data(), pages.size(), MADV_REMOVE) != 0) {
    std::memset(pages.data(), 0, pages.size());
  }
}

}  // namespace seaway::transport
