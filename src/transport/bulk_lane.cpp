// Cutting frames into chunks, and putting them together again.

#include "transport/bulk_lane.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "base/random.hpp"

namespace seaway::transport {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

std::uint64_t BulkLane::chunks_of(const Frame& frame) const {
  const std::size_t words = frame.words().size();
  const std::size_t each = options_.chunk_bytes / kWord;
  return std::max<std::uint64_t>(1, (words + each - 1) / each);
}

Status BulkLane::send(std::uint32_t channel, Frame frame) {
  const std::size_t bytes = frame.size_bytes();
  if (waiting_bytes_ + bytes > options_.waiting_bytes_max || bytes > options_.frame_bytes_max) {
    return resource_exhausted(
        std::to_string(waiting_bytes_) + " bytes of payload wait, and " + std::to_string(bytes) +
        " more are too many; the limits are " + std::to_string(options_.waiting_bytes_max) +
        ", and " + std::to_string(options_.frame_bytes_max) + " for one value; read what waits");
  }
  const std::uint64_t chunks = chunks_of(frame);
  outgoing_.push_back({{channel, std::move(frame)}, last_ + 1, last_ + chunks});
  waiting_bytes_ += bytes;
  last_ += chunks;
  return {};
}

BulkLane::Chunk BulkLane::chunk(const Outgoing& outgoing, std::uint64_t number) const {
  const auto words = outgoing.letter.frame.words();
  const std::size_t each = options_.chunk_bytes / kWord;
  const auto begin = static_cast<std::size_t>(number - outgoing.first) * each;
  const std::size_t left = words.size() - begin;
  const auto piece = words.subspan(begin, std::min(each, left));
  Frame frame = Frame::make(piece.size() + 1, [&](std::span<std::uint64_t> target) {
    target[0] = left;
    std::copy(piece.begin(), piece.end(), target.begin() + 1);
  });
  return {number, outgoing.letter.channel, std::move(frame)};
}

std::optional<BulkLane::Chunk> BulkLane::next() {
  if (said_ == last_) return std::nullopt;
  if (under_way_.size() >= options_.credit_chunks || under_way_bytes_ >= options_.credit_bytes) {
    SEAWAY_PROBE("payload waits for credit");
    if (!SEAWAY_MUTANT("payload is sent without credit")) return std::nullopt;
  }
  ++said_;
  const auto found = std::find_if(outgoing_.begin(), outgoing_.end(),
                                  [this](const Outgoing& one) { return one.last >= said_; });
  SEAWAY_CHECK(found != outgoing_.end(), said_, last_);
  Chunk next = chunk(*found, said_);
  under_way_.push_back(next.frame.size_bytes());
  under_way_bytes_ += under_way_.back();
  return next;
}

bool BulkLane::acknowledge(std::uint32_t received) {
  // The two ends are never further apart than the credit; what is repeated may be older.
  const auto more = static_cast<std::int32_t>(received - static_cast<std::uint32_t>(acknowledged_));
  if (more < 0) return true;
  const std::uint64_t acknowledged = acknowledged_ + static_cast<std::uint64_t>(more);
  if (acknowledged > said_) return false;
  for (; acknowledged_ < acknowledged; ++acknowledged_) {
    under_way_bytes_ -= under_way_.front();
    under_way_.pop_front();
  }
  while (!outgoing_.empty() && outgoing_.front().last <= acknowledged_) {
    waiting_bytes_ -= outgoing_.front().letter.frame.size_bytes();
    outgoing_.pop_front();
  }
  return true;
}

bool BulkLane::resume(std::uint32_t received) {
  if (!acknowledge(received)) return false;
  SEAWAY_PROBE_IF(said_ > acknowledged_, "payload is sent again");
  if (SEAWAY_MUTANT("payload under way is not sent again")) return true;
  said_ = acknowledged_;
  under_way_.clear();
  under_way_bytes_ = 0;
  return true;
}

BulkLane::Taken BulkLane::take(const Chunk& chunk, std::vector<Letter>& letters) {
  if (chunk.number <= received_ && !SEAWAY_MUTANT("a chunk that is repeated is heard again")) {
    return Taken::kRepeated;
  }
  if (chunk.number > received_ + 1) return Taken::kGap;
  const auto words = chunk.frame.words();
  if (words.empty()) return Taken::kWrong;
  const std::uint64_t left = words[0];
  const auto piece = words.subspan(1);
  const bool is_first = missing_words_ == 0;
  // Who was not told of more has no credit for more.
  if (received_ + 1 - told_ > options_.credit_chunks) return Taken::kWrong;
  if (left < piece.size() || (is_first ? left > options_.frame_bytes_max / kWord
                                       : left != missing_words_ || piece.empty())) {
    return Taken::kWrong;
  }
  ++received_;
  untold_bytes_ += piece.size() * kWord;
  missing_words_ = static_cast<std::size_t>(left) - piece.size();
  words_.insert(words_.end(), piece.begin(), piece.end());
  SEAWAY_PROBE_IF(is_first && missing_words_ > 0, "a frame comes in chunks");
  if (missing_words_ > 0) return Taken::kNew;
  letters.push_back(
      {chunk.channel, Frame::make(words_.size(), [this](std::span<std::uint64_t> all) {
         std::copy(words_.begin(), words_.end(), all.begin());
       })});
  words_.clear();
  if (words_.capacity() * kWord > options_.credit_bytes) words_.shrink_to_fit();
  return Taken::kNew;
}

bool BulkLane::owes_acknowledgement() const {
  return received_ - told_ >= std::max<std::size_t>(1, options_.credit_chunks / 8) ||
         (has_news() && untold_bytes_ * 4 >= options_.credit_bytes);
}

void BulkLane::told() {
  told_ = received_;
  untold_bytes_ = 0;
}

void BulkLane::clear() { *this = BulkLane(options_); }

std::uint64_t BulkLane::hash() const {
  std::uint64_t hash = mix64(last_) ^ mix64(said_ << 20 ^ acknowledged_);
  const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ value) + value; };
  add(received_ << 32 ^ told_);
  add(missing_words_);
  for (const std::uint64_t word : words_) add(word);
  for (const Outgoing& one : outgoing_) {
    add(one.letter.channel);
    for (const std::uint64_t word : one.letter.frame.words()) add(word);
  }
  return hash;
}

}  // namespace seaway::transport
