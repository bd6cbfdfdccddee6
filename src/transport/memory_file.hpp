// MemoryFile: memory with a descriptor, which is handed to another process of this machine.

#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "seaway/status.hpp"
#include "transport/near_memory.hpp"

namespace seaway::transport {

/// A descriptor that is closed with this. -1: none. Move-only.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  bool has_value() const { return number_ >= 0; }

 private:
  int number_;
};

/// Of Linux's memfd_create(2). It has no name: nobody comes by it who is not handed its descriptor,
/// and it is gone with the last who has it, however that ends. Zeros at first; memory is taken as
/// it is written, page by page.
class MemoryFile {
 public:
  /// Of `bytes` in whole pages, which never change. Errors: kResourceExhausted when the system has
  /// no descriptor or no addresses left, with its words.
  static Result<std::shared_ptr<MemoryFile>> make(std::size_t bytes);

  /// To be read and written, for as long as somebody has it.
  const SharedRegion& region() const { return region_; }
  const Descriptor& descriptor() const { return descriptor_; }

 private:
  MemoryFile(Descriptor descriptor, SharedRegion region)
      : descriptor_(std::move(descriptor)), region_(std::move(region)) {}

  Descriptor descriptor_;
  SharedRegion region_;
};

/// What was handed over by whoever made it, to be read alone; `handed` is closed. Errors:
/// kProtocolError for what is no memory, or might become smaller under its readers;
/// kResourceExhausted as above.
Result<SharedRegion> map_memory(Descriptor handed);

/// Whole pages of a region, of which nothing is kept: their memory goes back to the system, and
/// there are zeros.
void scrub(std::span<std::byte> pages);

}  // namespace seaway::transport
