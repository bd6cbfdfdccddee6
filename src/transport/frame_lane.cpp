// Cutting frames into packets, and putting them together again.

#include "transport/frame_lane.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "base/random.hpp"

namespace seaway::transport {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

std::string text(std::uint64_t number) { return std::to_string(number); }

}  // namespace

FrameLane::FrameLane(FrameLaneOptions options) : options_(options) {
  SEAWAY_CHECK(options.packet_bytes >= kWord && options.packet_bytes % kWord == 0 &&
                   options.packet_bytes <= kPacketFrameBytesMax,
               options.packet_bytes);
}

std::uint64_t FrameLane::packets_of(const Frame& frame) const {
  return std::max<std::uint64_t>(
      1, (frame.size_bytes() + options_.packet_bytes - 1) / options_.packet_bytes);
}

Status FrameLane::send(std::uint32_t channel, Frame frame) {
  const std::size_t bytes = frame.size_bytes();
  if (bytes > options_.frame_bytes_max) {
    return resource_exhausted("a frame of " + text(bytes) + " bytes; the limit is " +
                              text(options_.frame_bytes_max) + ": send it in parts");
  }
  const bool is_full = outgoing_.size() >= options_.frames_max ||
                       (waiting_bytes_ > 0 && waiting_bytes_ + bytes > options_.waiting_bytes_max);
  if (is_full) {
    return resource_exhausted("has not acknowledged " + text(outgoing_.size()) + " frames of " +
                              text(waiting_bytes_) + " bytes, and " + text(bytes) +
                              " bytes more are too many; the limits are " +
                              text(options_.frames_max) + " and " +
                              text(options_.waiting_bytes_max) + "; wait until it has");
  }
  const std::uint64_t packets = packets_of(frame);
  outgoing_.push_back({{channel, std::move(frame)}, last_ + 1, last_ + packets});
  waiting_bytes_ += bytes;
  last_ += packets;
  return {};
}

FrameLane::Piece FrameLane::piece(const Outgoing& outgoing, std::uint64_t number) const {
  const Letter& letter = outgoing.letter;
  if (outgoing.first == outgoing.last) return {number, letter.channel, letter.frame, true};
  const auto words = letter.frame.words();
  const std::size_t each = options_.packet_bytes / kWord;
  const auto begin = static_cast<std::size_t>(number - outgoing.first) * each;
  const auto part = words.subspan(begin, std::min(each, words.size() - begin));
  Frame frame = Frame::make(part.size(), [part](std::span<std::uint64_t> target) {
    std::copy(part.begin(), part.end(), target.begin());
  });
  return {number, letter.channel, std::move(frame), number == outgoing.last};
}

std::optional<FrameLane::Piece> FrameLane::next() {
  if (said_ == last_) return std::nullopt;
  if (under_way_.size() >= options_.credit_packets || under_way_bytes_ >= options_.credit_bytes) {
    SEAWAY_PROBE("packets wait for credit");
    if (!SEAWAY_MUTANT("packets are sent without credit")) return std::nullopt;
  }
  ++said_;
  // Mostly the last one; behind a new connection any.
  auto found = std::prev(outgoing_.end());
  if (found->first > said_) {
    found = std::ranges::lower_bound(outgoing_, said_, {}, &Outgoing::last);
  }
  SEAWAY_CHECK(found->first <= said_ && said_ <= found->last, said_, last_);
  Piece next = piece(*found, said_);
  under_way_.push_back(next.frame.size_bytes());
  under_way_bytes_ += under_way_.back();
  return next;
}

std::uint64_t FrameLane::expand(std::uint32_t received) const {
  const auto more = static_cast<std::int32_t>(received - static_cast<std::uint32_t>(acknowledged_));
  return acknowledged_ + static_cast<std::uint64_t>(std::int64_t{more});
}

bool FrameLane::acknowledge(std::uint64_t received) {
  if (static_cast<std::int64_t>(received - acknowledged_) < 0) return true;  // An older one.
  if (received > said_) return false;
  for (; acknowledged_ < received; ++acknowledged_) {
    under_way_bytes_ -= under_way_.front();
    under_way_.pop_front();
  }
  while (!outgoing_.empty() && outgoing_.front().last <= acknowledged_) {
    waiting_bytes_ -= outgoing_.front().letter.frame.size_bytes();
    outgoing_.pop_front();
  }
  return true;
}

bool FrameLane::resume(std::uint64_t received) {
  if (!acknowledge(received)) return false;
  SEAWAY_PROBE_IF(said_ > acknowledged_, "packets are sent again");
  if (SEAWAY_MUTANT("packets under way are not sent again")) return true;
  resent_ += said_ - acknowledged_;
  said_ = acknowledged_;
  under_way_.clear();
  under_way_bytes_ = 0;
  return true;
}

FrameLane::Taken FrameLane::refuse(std::string why) {
  wrong_ = std::move(why);
  return Taken::kWrong;
}

Frame FrameLane::assemble() {
  Frame whole = Frame::make(coming_bytes_ / kWord, [this](std::span<std::uint64_t> words) {
    auto at = words.begin();
    for (Frame& part : coming_) {
      at = std::ranges::copy(part.words(), at).out;
      part = Frame();
    }
  });
  coming_ = {};
  coming_bytes_ = 0;
  return whole;
}

FrameLane::Taken FrameLane::take(Piece piece, std::vector<Letter>& letters) {
  const bool is_repeated = piece.number <= received_;
  if (is_repeated && !SEAWAY_MUTANT("a packet that is repeated is taken again")) {
    SEAWAY_PROBE("a repeated packet is dropped");
    return Taken::kRepeated;
  }
  SEAWAY_PROBE_IF(piece.number > received_ + 1, "a packet is missing");
  if (piece.number > received_ + 1) return Taken::kGap;
  const std::size_t bytes = piece.frame.size_bytes();
  if (received_ + 1 - told_ > options_.credit_packets) {
    return refuse("packet " + text(piece.number) + " without credit: " + text(received_ - told_) +
                  " of " + text(options_.credit_packets) + " are not acknowledged");
  }
  const bool is_first = coming_.empty();
  if ((!piece.is_last && bytes == 0) || (!is_first && piece.channel != coming_channel_)) {
    return refuse("packet " + text(piece.number) + ", which does not continue its frame");
  }
  if (coming_bytes_ + bytes > options_.frame_bytes_max) {
    return refuse("a frame of at least " + text(coming_bytes_ + bytes) + " bytes; the limit is " +
                  text(options_.frame_bytes_max));
  }
  ++received_;
  untold_bytes_ += bytes;
  if (is_first && piece.is_last) {
    letters.push_back({piece.channel, std::move(piece.frame)});
    return Taken::kNew;
  }
  SEAWAY_PROBE_IF(is_first, "a frame comes in several packets");
  coming_bytes_ += bytes;
  coming_channel_ = piece.channel;
  coming_.push_back(std::move(piece.frame));
  if (piece.is_last) letters.push_back({piece.channel, assemble()});
  return Taken::kNew;
}

bool FrameLane::owes_acknowledgement() const {
  const std::size_t every = std::min<std::size_t>(
      options_.acknowledge_every, std::max<std::size_t>(1, options_.credit_packets / 8));
  return received_ - told_ >= every || holds_credit();
}

bool FrameLane::holds_credit() const {
  const std::size_t quarter = std::max<std::size_t>(1, options_.credit_packets / 4);
  return received_ - told_ >= quarter || (has_news() && untold_bytes_ * 4 >= options_.credit_bytes);
}

void FrameLane::told() {
  told_ = received_;
  untold_bytes_ = 0;
}

void FrameLane::clear() { *this = FrameLane(options_); }

std::uint64_t FrameLane::hash() const {
  std::uint64_t hash = mix64(last_) ^ mix64(said_ << 20 ^ acknowledged_);
  const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ value) + value; };
  const auto add_words = [&add](const Frame& frame) {
    add(frame.words().size());
    for (const std::uint64_t word : frame.words()) add(word);
  };
  add(received_ << 32 ^ told_);
  for (const Frame& part : coming_) add_words(part);
  for (const Outgoing& one : outgoing_) {
    add(one.letter.channel);
    add_words(one.letter.frame);
  }
  return hash;
}

}  // namespace seaway::transport
