// Exchange words as frames.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "actor/actor.hpp"
#include "actor/router.hpp"
#include "device/exchange_word.hpp"
#include "device/exchanges.hpp"
#include "transport/lane.hpp"

namespace seaway::device {

struct ExchangeFrame {
  Frame frame;
  transport::Lane lane = transport::Lane::kControl;
};

/// Frames with all of `words`, said by `host`: short ones are not to wait behind payload.
std::vector<ExchangeFrame> encode_exchange(std::uint32_t host, std::span<const ExchangeWord> words);

/// Sends what `exchanges` of host `host` has to say to the others of its island.
void send_words(actor::Router& router, IslandId island, std::uint32_t host, Exchanges& exchanges);

struct ExchangeWords {
  std::uint32_t host = 0;
  std::vector<ExchangeWord> words;
};
/// Errors: kProtocolError.
Result<ExchangeWords> decode_exchange(const Frame& frame);

}  // namespace seaway::device
