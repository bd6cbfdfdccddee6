// How a message goes: within a word, lent, or fetched.

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "base/probe.hpp"
#include "device/exchanges_state.hpp"

namespace seaway::device {

using collective::Copy;
using collective::ExchangeMemory;
using collective::Input;
using collective::Message;
using collective::Piece;
using transport::DataSource;
using transport::DataTarget;

namespace {

/// Of offers, which are no edges.
constexpr std::uint64_t kOfferBit = std::uint64_t{1} << 63;
constexpr std::uint32_t kBlindMessages = 64;

std::string text(std::uint64_t number) { return std::to_string(number); }

/// A run of spans as one.
void add_spans(const std::vector<std::span<const std::byte>>& spans, std::uint64_t begin,
               std::uint64_t end, std::vector<std::span<const std::byte>>& pieces) {
  std::uint64_t at = 0;
  for (const std::span<const std::byte> span : spans) {
    const std::uint64_t from = std::max(begin, at), to = std::min(end, at + span.size());
    if (from < to) pieces.push_back(span.subspan(from - at, to - from));
    at += span.size();
    if (at >= end) return;
  }
}

std::span<std::byte> place_in(const std::vector<std::span<std::byte>>& spans, std::uint64_t begin,
                              std::uint64_t most) {
  for (const std::span<std::byte> span : spans) {
    if (begin < span.size()) return span.subspan(begin, std::min(most, span.size() - begin));
    begin -= span.size();
  }
  return {};
}

}  // namespace

/// Who offers counts anew when its process begins anew, and that is another life of the first host.
transport::DataKey Exchanges::offer_key(const Active& active, std::uint64_t offer) {
  return {offer, static_cast<std::uint32_t>(active.wanted.id.gang >> kGangBits)};
}

/// False: it cannot be read there.
bool Exchanges::lend(Active& active, const Slot& slot, const Message& message,
                     const ExchangeMemory& memory) {
  if (!wiring_.near || !wiring_.near->reads(wiring_.peer(slot.host))) return false;
  if (const auto blind = blind_.find(slot.host); blind != blind_.end()) {
    if (--blind->second == 0) blind_.erase(blind);
    return false;
  }
  const std::byte* begin = memory.at(message.pieces.front());
  const std::byte* end = begin;
  for (const Piece& piece : message.pieces) {
    const std::byte* const at = memory.at(piece);
    begin = std::min(begin, at);
    end = std::max(end, at + piece.extent());
  }
  const auto place = wiring_.near->lend(begin, static_cast<std::size_t>(end - begin));
  if (!place) return false;
  SEAWAY_PROBE("a message of an exchange is lent");
  LentMessage lent{*place, {}};
  for (const Piece& piece : message.pieces) {
    lent.pieces.push_back(static_cast<std::uint64_t>(memory.at(piece) - begin));
  }
  active.sent[slot] = {message, memory, *place, 0};
  say(active, slot, std::move(lent));
  return true;
}

void Exchanges::hand_over(Active& active, const Slot& slot, const Message& message,
                          const ExchangeMemory& memory) {
  const std::uint64_t bytes = message.size();
  if (wiring_.data && bytes > wiring_.options.packed_bytes_max &&
      bytes >= wiring_.data->bytes_min()) {
    return offer(active, slot, message, memory);
  }
  PackedMessage packed{std::vector<std::byte>(bytes)};
  pack(message, memory, packed.data.data());
  say(active, slot, std::move(packed));
}

void Exchanges::offer(Active& active, const Slot& slot, const Message& message,
                      const ExchangeMemory& memory) {
  SEAWAY_PROBE("a message of an exchange is offered");
  struct Offered {
    std::vector<std::span<const std::byte>> spans;
    std::vector<std::byte> packed;
    // Connections may read it for a while when it is withdrawn, whatever becomes of the gang.
    std::shared_ptr<const void> owner;
    std::shared_ptr<const Running> block;
  };
  const std::shared_ptr<Running> block = active.running.at(slot.block);
  const auto offered = std::make_shared<Offered>();
  offered->owner = active.wanted.owner;
  offered->block = block;
  std::erase_if(offered_, [](const auto& one) { return one.expired(); });
  if (offered_.empty() || offered_.back().lock() != block) offered_.push_back(block);
  const bool is_dense = std::all_of(message.pieces.begin(), message.pieces.end(),
                                    [](const Piece& piece) { return piece.is_dense(); });
  if (is_dense) {
    for (const Piece& piece : message.pieces) {
      offered->spans.emplace_back(memory.at(piece), piece.size());
    }
  } else {
    offered->packed.resize(message.size());
    pack(message, memory, offered->packed.data());
    offered->spans.emplace_back(offered->packed);
  }
  const std::uint64_t id = kOfferBit | ++last_offer_;
  DataSource source{.bytes = message.size(),
                    .pieces =
                        [&spans = offered->spans](std::uint64_t begin, std::uint64_t end,
                                                  std::vector<std::span<const std::byte>>& pieces) {
                          add_spans(spans, begin, end, pieces);
                        },
                    .owner = offered,
                    .tenant = active.wanted.tenant};
  wiring_.data->offer(wiring_.peer(slot.host), offer_key(active, id), std::move(source));
  active.sent[slot] = {{}, {}, std::nullopt, id};
  say(active, slot, OfferedMessage{id});
}

Status Exchanges::accept_lent(Active& active, Running& block, std::size_t message,
                              const LentMessage& lent) {
  Running::Arrival& arrival = block.arrivals[message];
  const Message& wanted = block.now().receives[message];
  if (!wiring_.near || !wiring_.near->reads(wiring_.peer(wanted.host))) {
    SEAWAY_PROBE("a host cannot read what it was lent for an exchange");
    say(active, {block.block.number, static_cast<std::uint32_t>(block.round), wanted.host},
        UnreadMessage());
    return {};
  }
  auto read = wiring_.near->read(wiring_.peer(wanted.host), lent.place);
  if (!read.ok()) return read.status();
  if (lent.pieces.size() != wanted.pieces.size()) {
    return protocol_error(text(lent.pieces.size()) + " pieces from host " + text(wanted.host) +
                          ", where " + text(wanted.pieces.size()) + " were waited for");
  }
  for (std::size_t i = 0; i < lent.pieces.size(); ++i) {
    const std::uint64_t begin = lent.pieces[i], extent = wanted.pieces[i].extent();
    if (begin > lent.place.bytes || extent > lent.place.bytes - begin) {
      return protocol_error("a piece of host " + text(wanted.host) + " ends behind what it lends");
    }
    arrival.received.pieces.push_back(read->base + begin);
  }
  ++counts_.lent;
  arrival.received.is_packed = false;
  arrival.loan = read->loan;
  arrival.is_known = arrival.is_here = arrival.is_owed = true;
  return {};
}

/// Right to where it belongs, if it is only copied, to one place each; else it waits in a room.
void Exchanges::fetch(const std::shared_ptr<Active>& active, Running& block, std::size_t message,
                      std::uint64_t offer) {
  Running::Arrival& arrival = block.arrivals[message];
  collective::Round& round = block.block.rounds[block.round];
  const Message& wanted = round.receives[message];
  const auto number = static_cast<std::int32_t>(message);
  const ExchangeMemory memory = active->memory(block);
  const auto spans = std::make_shared<std::vector<std::span<std::byte>>>(wanted.pieces.size());
  bool is_direct = std::none_of(round.folds.begin(), round.folds.end(), [&](const auto& fold) {
    return std::any_of(fold.inputs.begin(), fold.inputs.end(),
                       [number](const Input& input) { return input.message == number; });
  });
  for (const Copy& copy : round.copies) {
    if (copy.from.message != number) continue;
    std::span<std::byte>& span = (*spans)[copy.from.index];
    is_direct = is_direct && copy.to.is_dense() && span.empty();
    span = {memory.at(copy.to), copy.to.size()};
  }
  is_direct = is_direct && std::none_of(spans->begin(), spans->end(),
                                        [](const auto& span) { return span.empty(); });
  if (is_direct) {
    std::erase_if(round.copies, [number](const Copy& copy) { return copy.from.message == number; });
  } else {
    auto room = wiring_.slabs.make(1, wanted.size());
    if (!room.ok()) return give_up(active, room.status());
    arrival.room = std::move(room).value();
    *spans = {{arrival.room.base(), wanted.size()}};
    arrival.read_from(arrival.room.base(), wanted);
  }
  ++counts_.fetched;
  ++active->work;
  arrival.offer = offer;
  DataTarget target{.bytes = wanted.size(),
                    .place = [spans](std::uint64_t begin,
                                     std::uint64_t most) { return place_in(*spans, begin, most); },
                    .scatter = [](std::uint64_t, std::span<const std::byte>) {}};
  // The block stays in this round until it has ended.
  wiring_.data->fetch(wiring_.peer(wanted.host), offer_key(*active, offer), std::move(target),
                      [this, active, &block, message](const Status& status) {
                        if (active->ending) return end_work(active);
                        --active->work;
                        block.arrivals[message].offer = 0;
                        if (!status.ok()) return give_up(active, status);
                        block.arrivals[message].is_here = true;
                        advance(active);
                      });
}

/// What was lent or offered is there, or is not to be had in that way.
void Exchanges::taken(Active& active, std::uint32_t host, const ExchangeWord& word) {
  auto found = active.sent.extract({word.block, word.round, host});
  if (found.empty()) return;
  const Active::Sent& sent = found.mapped();
  if (sent.loan) wiring_.near->take_back(*sent.loan);
  if (sent.offer) wiring_.data->withdraw(wiring_.peer(host), offer_key(active, sent.offer));
  if (!std::holds_alternative<UnreadMessage>(word.what) || !sent.loan) return;
  blind_[host] = kBlindMessages;
  hand_over(active, found.key(), sent.message, sent.memory);
}

}  // namespace seaway::device
