// Blocks of ids: the one in use first.

#include "client/id_blocks.hpp"

namespace seaway::client {

IdBlocks::IdBlocks(const DelegateName& name) {
  const std::uint64_t first = first_sequence_of(name);
  blocks_.push_back({first, first + kFirstIds});
}

std::uint64_t IdBlocks::take(std::uint64_t count) {
  std::lock_guard guard(mutex_);
  for (std::size_t at = 0; at < blocks_.size(); ++at) {
    Block& block = blocks_[at];
    if (block.end - block.next < count) continue;
    const std::uint64_t first = block.next;
    block.next += count;
    // What is left of one that is smaller than the next one is not worth a look each time.
    while (blocks_.size() > 1 && blocks_.front().next == blocks_.front().end) blocks_.pop_front();
    return first;
  }
  return 0;
}

void IdBlocks::add(std::uint64_t first) {
  std::lock_guard guard(mutex_);
  blocks_.push_back({first, first + kLeaseIds});
  size_ = kLeaseIds;
  is_wanted_ = false;
}

bool IdBlocks::wants_more() {
  std::lock_guard guard(mutex_);
  const Block& newest = blocks_.back();
  if (is_wanted_ || newest.end - newest.next > size_ / 2) return false;
  is_wanted_ = true;
  return true;
}

}  // namespace seaway::client
