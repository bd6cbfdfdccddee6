// Chunks out, chunks in.

#include "transport/data_link.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hpp"

namespace seaway::transport {
namespace {

constexpr std::uint32_t kStart = ~std::uint32_t{0};  // Of checksums.
/// Others ask for no more at once: a value has as many edges as islands wait for it.
constexpr std::size_t kServesMax = 65536;
/// Who asks and does not read what is said is not heard before he has.
constexpr std::size_t kSayingsMax = 4096;
/// Pieces that are shorter cost more than a copy.
constexpr std::size_t kPieceBytesMin = std::size_t{4} << 10;
constexpr std::size_t kPiecesMax = 60;

template <class Pieces>
std::uint32_t checksum_of(const Pieces& pieces) {
  std::uint32_t sum = kStart;
  for (const auto& piece : pieces) sum = crc32c(sum, piece);
  return sum;
}

}  // namespace

DataLink::DataLink(std::unique_ptr<DataSocket> socket, Find find)
    : socket_(std::move(socket)), find_(std::move(find)) {}
DataLink::~DataLink() = default;

void DataLink::ask(DataFetch& fetch) {
  SEAWAY_CHECK(!fetches_.contains(fetch.key), fetch.key.id, fetch.key.part);
  fetches_[fetch.key] = &fetch;
  DataHeader header;
  header.kind = DataHeader::Kind::kAsk;
  header.key = fetch.key;
  header.offset = fetch.next;
  header.end = fetch.end;
  say(header);
}

void DataLink::stop(const DataFetch& fetch) {
  const auto found = fetches_.find(fetch.key);
  if (found == fetches_.end() || found->second != &fetch) return;
  fetches_.erase(found);
  std::erase_if(ended_, [&fetch](const Ended& ended) { return ended.fetch == &fetch; });
  DataHeader header;
  header.kind = DataHeader::Kind::kStop;
  header.key = fetch.key;
  say(header);
  if (fetch_ != &fetch) return;
  // What is left of its chunk goes nowhere.
  fetch_ = nullptr;
  std::size_t left = 0;
  for (std::size_t i = places_begin_; i < places_.size(); ++i) left += places_[i].size();
  left -= place_bytes_;
  bounce_.resize(DataHeader::kChunkBytesMax);
  places_ = {std::span(bounce_).first(left)};
  places_begin_ = place_bytes_ = 0;
}

void DataLink::withdraw(DataKey key) {
  for (auto& [tenant, serves] : serves_) {
    const auto found =
        std::find_if(serves.begin(), serves.end(), [&key](auto& it) { return it.key == key; });
    if (found == serves.end()) continue;
    DataHeader header;
    header.kind = DataHeader::Kind::kGone;
    header.key = key;
    say(header);
    return end_serve(found);
  }
}

bool DataLink::run(std::uint64_t bytes) {
  has_moved_ = false;
  const bool is_heard = sayings_.size() < kSayingsMax;
  const bool more_to_read = !has_ended_ && may_read_ && is_heard && read(bytes);
  const bool more_to_write = !has_ended_ && may_write_ && write(bytes);
  const bool is_held = !is_heard && may_write_;
  return (more_to_read || more_to_write || is_held) && !has_ended_;
}

// ---- What is said ----

void DataLink::say(const DataHeader& header) { sayings_.push_back(header.to_bytes()); }

void DataLink::end_serve(std::list<Serve>::iterator serve) {
  const std::uint32_t tenant = serve->source->tenant;
  share_.end(tenant);
  asked_.erase(serve->key);
  serves_[tenant].erase(serve);
  --serves_count_;
}

/// The next pieces that are to be written; false: there are none.
bool DataLink::gather() {
  unwritten_.clear();
  unwritten_begin_ = 0;
  sayings_.erase(sayings_.begin(),
                 sayings_.begin() + static_cast<std::ptrdiff_t>(sayings_written_));
  written_ = nullptr;
  sayings_written_ = std::min(sayings_.size(), kPiecesMax);
  for (std::size_t i = 0; i < sayings_written_; ++i) unwritten_.emplace_back(sayings_[i]);
  if (sayings_written_ == sayings_.size()) gather_chunk();
  return !unwritten_.empty();
}

void DataLink::gather_chunk() {
  const auto tenant = share_.next();
  if (!tenant) return;
  std::list<Serve>& serves = serves_[*tenant];
  const auto serve = serves.begin();
  DataHeader header;
  header.kind = DataHeader::Kind::kChunk;
  header.key = serve->key;
  header.offset = serve->next;
  const std::uint64_t behind =
      std::min<std::uint64_t>(serve->end, serve->next + DataHeader::kChunkBytesMax);
  std::vector<std::span<const std::byte>> pieces;
  serve->source->pieces(serve->next, behind, pieces);
  header.length = static_cast<std::uint32_t>(behind - serve->next);
  header.checksum = checksum_of(pieces);
  chunk_header_ = header.to_bytes();
  unwritten_.emplace_back(chunk_header_);
  unwritten_.insert(unwritten_.end(), pieces.begin(), pieces.end());
  written_ = serve->source;
  share_.charge(*tenant, header.length);
  serve->next = behind;
  if (behind == serve->end) return end_serve(serve);
  // Values of one tenant take turns.
  serves.splice(serves.end(), serves, serve);
}

bool DataLink::write(std::uint64_t bytes) {
  for (std::uint64_t said = 0; said < bytes;) {
    if (unwritten_begin_ == unwritten_.size() && !gather()) return false;
    const auto step = socket_->write(std::span(unwritten_).subspan(unwritten_begin_));
    said += step.bytes;
    has_moved_ = has_moved_ || step.bytes > 0;
    std::size_t left = step.bytes;
    while (left > 0) {
      auto& piece = unwritten_[unwritten_begin_];
      const std::size_t part = std::min(left, piece.size());
      piece = piece.subspan(part);
      left -= part;
      if (piece.empty()) ++unwritten_begin_;
    }
    if (unwritten_begin_ == unwritten_.size()) written_ = nullptr;
    if (step.has_ended) fail();
    if (step.is_blocked) may_write_ = false;
    if (step.has_ended || step.is_blocked) return false;
  }
  return true;
}

// ---- What is heard ----

bool DataLink::read(std::uint64_t bytes) {
  std::array<std::span<std::byte>, kPiecesMax + 1> pieces;
  for (std::uint64_t heard = 0; heard < bytes;) {
    // The rest of a chunk and the header behind it come with one call.
    std::size_t used = 0;
    for (std::size_t i = places_begin_; i < places_.size(); ++i) {
      pieces[used++] = places_[i].subspan(i == places_begin_ ? place_bytes_ : 0);
    }
    pieces[used++] = std::span(header_).subspan(header_bytes_);
    const auto step = socket_->read(std::span(pieces).first(used));
    heard += step.bytes;
    has_moved_ = has_moved_ || step.bytes > 0;
    std::size_t left = step.bytes;
    while (left > 0 && places_begin_ < places_.size()) {
      const std::size_t part = std::min(left, places_[places_begin_].size() - place_bytes_);
      place_bytes_ += part;
      left -= part;
      if (place_bytes_ < places_[places_begin_].size()) break;
      ++places_begin_;
      place_bytes_ = 0;
    }
    header_bytes_ += left;
    if (chunk_ && places_begin_ == places_.size()) end_chunk();
    if (!has_ended_ && header_bytes_ == header_.size()) {
      header_bytes_ = 0;
      const auto header = DataHeader::read(header_);
      if (!header) ++changed_;
      header ? hear(*header) : fail();
    }
    if (step.has_ended) fail();
    if (step.is_blocked) may_read_ = false;
    if (has_ended_ || step.is_blocked) return false;
  }
  return true;
}

void DataLink::hear(const DataHeader& header) {
  switch (header.kind) {
    case DataHeader::Kind::kAsk:
      return on_asked(header);
    case DataHeader::Kind::kChunk:
      return begin_chunk(header);
    case DataHeader::Kind::kGone: {
      const auto found = fetches_.find(header.key);
      if (found == fetches_.end()) return;
      DataFetch* const fetch = found->second;
      fetches_.erase(found);
      const std::string of = header.end > 0
                                 ? "it has " + std::to_string(header.end) + " bytes, and " +
                                       std::to_string(fetch->end) + " were asked for"
                                 : "it is not offered";
      ended_.push_back({fetch, Status(StatusCode::kInputLost, of), header.end == 0});
      return;
    }
    case DataHeader::Kind::kStop:
      for (auto& [tenant, serves] : serves_) {
        const auto serve = std::find_if(serves.begin(), serves.end(),
                                        [&header](auto& it) { return it.key == header.key; });
        if (serve != serves.end()) return end_serve(serve);
      }
      return;
  }
}

void DataLink::on_asked(const DataHeader& header) {
  if (!asked_.insert(header.key).second) return fail();
  auto source = find_(header.key);
  if (!source || header.end > source->bytes) {
    DataHeader answer;
    answer.kind = DataHeader::Kind::kGone;
    answer.key = header.key;
    answer.end = source ? source->bytes : 0;
    asked_.erase(header.key);
    return say(answer);
  }
  if (serves_count_ == kServesMax) return fail();
  ++serves_count_;
  const std::uint32_t tenant = source->tenant;
  share_.begin(tenant);
  serves_[tenant].push_back({header.key, std::move(source), header.offset, header.end});
}

void DataLink::begin_chunk(const DataHeader& header) {
  chunk_ = header;
  const auto found = fetches_.find(header.key);
  fetch_ = found == fetches_.end() ? nullptr : found->second;
  places_.clear();
  places_begin_ = place_bytes_ = 0;
  if (fetch_ && (header.offset != fetch_->next || header.length > fetch_->end - fetch_->next)) {
    return fail();
  }
  std::uint64_t begin = header.offset;
  const std::uint64_t behind = begin + header.length;
  while (fetch_ && begin < behind && places_.size() < kPiecesMax) {
    const auto place = fetch_->target->place(begin, behind - begin);
    if (place.empty() || (place.size() < kPieceBytesMin && begin + place.size() < behind)) break;
    places_.push_back(place);
    begin += place.size();
  }
  bounces_ = begin < behind;
  if (!bounces_) return;
  bounce_.resize(DataHeader::kChunkBytesMax);
  places_ = {std::span(bounce_).first(header.length)};
}

void DataLink::end_chunk() {
  const DataHeader header = *std::exchange(chunk_, std::nullopt);
  DataFetch* const fetch = std::exchange(fetch_, nullptr);
  if (!fetch) return places_.clear();
  if (checksum_of(places_) != header.checksum) {
    ++changed_;
    return fail();
  }
  if (bounces_) fetch->target->scatter(header.offset, places_.front());
  places_.clear();
  places_begin_ = 0;
  received_ += header.length;
  fetch->next += header.length;
  if (fetch->next < fetch->end) return;
  fetches_.erase(fetch->key);
  ended_.push_back({fetch, {}});
}

}  // namespace seaway::transport
