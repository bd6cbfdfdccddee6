// The heap block behind a Frame.

#include "base/frame.hpp"

#include <new>

namespace seaway {

Frame Frame::allocate(std::size_t size, Origin origin) {
  void* memory = ::operator new(sizeof(Block) + size * sizeof(std::uint64_t));
  Frame frame;
  frame.block_ = new (memory) Block;
  frame.block_->size = size;
  frame.block_->origin = origin;
  return frame;
}

void Frame::release() {
  if (!block_ || block_->count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  block_->~Block();
  ::operator delete(block_);
}

}  // namespace seaway
