// Cap'n Proto of exchange words.

#include "device/exchange_codec.hpp"

#include <seaway.capnp.h>

#include <utility>

#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::device {
namespace {

using transport::Lane;
using wire::Message;

constexpr std::size_t kWordsMax = 1024, kBytesMax = std::size_t{4} << 20;
/// Of a frame among messages of control.
constexpr std::size_t kControlBytesMax = std::size_t{64} << 10;

struct Writer {
  wire::ExchangeWord::Builder to;

  void operator()(const PackedMessage& packed) {
    to.setPacked({reinterpret_cast<const kj::byte*>(packed.data.data()), packed.data.size()});
  }
  void operator()(const LentMessage& lent) {
    auto loan = to.initLent();
    loan.setOffset(lent.place.offset);
    loan.setBytes(lent.place.bytes);
    loan.setSlot(lent.place.slot);
    loan.setTurn(lent.place.turn);
    auto pieces = loan.initPieces(static_cast<unsigned>(lent.pieces.size()));
    for (unsigned i = 0; i < lent.pieces.size(); ++i) pieces.set(i, lent.pieces[i]);
  }
  void operator()(const OfferedMessage& offered) { to.setOffered(offered.id); }
  void operator()(const TakenMessage&) { to.setTaken(); }
  void operator()(const UnreadMessage&) { to.setUnread(); }
  void operator()(const FailedGang& failed) {
    auto gang = to.initFailed();
    gang.setCode(static_cast<std::uint8_t>(failed.status.code()));
    gang.setMessage(failed.status.message());
  }
};

Result<ExchangeWord::What> read_what(wire::ExchangeWord::Reader from) {
  switch (from.which()) {
    case wire::ExchangeWord::PACKED: {
      const auto bytes = std::as_bytes(std::span(from.getPacked().begin(), from.getPacked().end()));
      return ExchangeWord::What(PackedMessage{{bytes.begin(), bytes.end()}});
    }
    case wire::ExchangeWord::LENT: {
      const auto loan = from.getLent();
      LentMessage lent{{loan.getOffset(), loan.getBytes(), loan.getSlot(), loan.getTurn()}, {}};
      for (const std::uint64_t piece : loan.getPieces()) lent.pieces.push_back(piece);
      return ExchangeWord::What(std::move(lent));
    }
    case wire::ExchangeWord::OFFERED:
      return ExchangeWord::What(OfferedMessage{from.getOffered()});
    case wire::ExchangeWord::TAKEN:
      return ExchangeWord::What(TakenMessage());
    case wire::ExchangeWord::UNREAD:
      return ExchangeWord::What(UnreadMessage());
    case wire::ExchangeWord::FAILED: {
      const auto failed = from.getFailed();
      Status status = wire::read_status(failed.getCode(), failed.getMessage());
      if (status.ok()) return protocol_error("a gang has failed without an error");
      return ExchangeWord::What(FailedGang{std::move(status)});
    }
  }
  return protocol_error("a word of an exchange of kind " +
                        std::to_string(static_cast<int>(from.which())) + " is none");
}

std::size_t bytes_of(const ExchangeWord& word) {
  const auto* const packed = std::get_if<PackedMessage>(&word.what);
  const auto* const lent = std::get_if<LentMessage>(&word.what);
  return packed ? packed->data.size() : lent ? lent->pieces.size() * sizeof(lent->pieces[0]) : 0;
}

}  // namespace

std::vector<ExchangeFrame> encode_exchange(std::uint32_t host,
                                           std::span<const ExchangeWord> words) {
  std::vector<ExchangeFrame> frames;
  while (!words.empty()) {
    std::size_t count = 0, bytes = 0;
    while (count < words.size() && count < kWordsMax) {
      const std::size_t more = bytes_of(words[count]);
      if (count > 0 && bytes + more > kBytesMax) break;
      bytes += more;
      ++count;
    }
    wire::FrameBuilder builder;
    auto said = builder.init_root<Message>().initExchangeWords();
    said.setHost(host);
    auto list = said.initWords(static_cast<unsigned>(count));
    for (unsigned i = 0; i < count; ++i) {
      const ExchangeWord& word = words[i];
      list[i].setGang(word.id.gang);
      list[i].setStage(word.id.stage);
      list[i].setBlock(word.block);
      list[i].setRound(word.round);
      std::visit(Writer{list[i]}, word.what);
    }
    frames.push_back({builder.finish(), bytes > kControlBytesMax ? Lane::kBulk : Lane::kControl});
    words = words.subspan(count);
  }
  return frames;
}

void send_words(actor::Router& router, IslandId island, std::uint32_t host, Exchanges& exchanges) {
  for (auto& [peer, words] : exchanges.outbox()) {
    const actor::Role role = peer == 0 ? actor::Role::kHost : actor::Role::kAnnex;
    const std::uint32_t index = peer == 0 ? island : actor::annex_of(island, peer);
    for (ExchangeFrame& one : encode_exchange(host, std::exchange(words, {}))) {
      router.send(role, index, std::move(one.frame), one.lane);
    }
  }
}

Result<ExchangeWords> decode_exchange(const Frame& frame) {
  ExchangeWords all;
  Status status = wire::read_frame<Message>(frame, [&all](Message::Reader message) -> Status {
    if (!message.isExchangeWords()) return protocol_error("it has no words of an exchange");
    all.host = message.getExchangeWords().getHost();
    for (const auto one : message.getExchangeWords().getWords()) {
      auto what = read_what(one);
      if (!what.ok()) return what.status();
      all.words.push_back({{one.getGang(), one.getStage()},
                           one.getBlock(),
                           one.getRound(),
                           std::move(what).value()});
    }
    return {};
  });
  if (!status.ok()) return status;
  return all;
}

}  // namespace seaway::device
