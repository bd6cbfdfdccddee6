// Lending, taking back, and copying.

#include "device/lent_shards.hpp"

#include <cstring>
#include <string>
#include <utility>

namespace seaway::device {

std::optional<LentShards> LoanQueue::lend(function::ShardedBuffer from, std::uint32_t shards,
                                          std::uint64_t bytes, std::shared_ptr<const void> owner) {
  if (!near_ || shards == 0 || bytes == 0) return std::nullopt;
  const auto place = near_->lend(from.base, (shards - 1) * from.stride + bytes);
  if (!place) return std::nullopt;
  loans_.push_back({*place, std::move(owner)});
  return LentShards{*place, from.stride};
}

Status LoanQueue::taken(std::uint64_t count) {
  if (count < taken_ || count - taken_ > loans_.size()) {
    return protocol_error("the other host has copied " + std::to_string(count) +
                          " times what it was lent; before it had " + std::to_string(taken_) +
                          " times, and " + std::to_string(loans_.size()) + " loans are open");
  }
  for (; taken_ < count; ++taken_) {
    near_->take_back(loans_.front().place);
    loans_.pop_front();
  }
  return {};
}

void LoanQueue::take_back_all() {
  for (const Lent& lent : loans_) near_->take_back(lent.place);
  loans_.clear();
  taken_ = 0;
}

Status copy_lent(const transport::NearMemory* near, HostId peer, const LentShards& lent,
                 std::uint32_t shards, std::uint64_t bytes, function::ShardedBuffer to) {
  if (!near) return protocol_error("this host reads nobody's memory");
  const std::uint64_t all = lent.place.bytes;
  const bool is_within =
      shards > 0 && bytes <= all && (shards == 1 || lent.stride <= (all - bytes) / (shards - 1));
  if (!is_within) {
    return protocol_error(std::to_string(shards) + " shards of " + std::to_string(bytes) +
                          " bytes, each " + std::to_string(lent.stride) +
                          " behind the last, are not within the " + std::to_string(all) +
                          " bytes that are lent");
  }
  const auto read = near->read(peer, lent.place);
  if (!read.ok()) return read.status();
  for (std::uint32_t s = 0; s < shards; ++s) {
    std::memcpy(to.shard(s), read->base + s * lent.stride, bytes);
  }
  if (read->loan->holds()) return {};
  return input_lost("what another host of the island had lent was taken back while it was copied");
}

}  // namespace seaway::device
