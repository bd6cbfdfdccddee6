// An annex's side of its conversation.

#include "device/annex_actor.hpp"

#include <seaway.capnp.h>

#include <string>
#include <utility>

#include "device/annex_codec.hpp"
#include "device/exchange_codec.hpp"
#include "device/function_messages.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::device {

using actor::Role;
using transport::Lane;
using wire::Message;

AnnexActor::AnnexActor(IslandId island, std::uint32_t host, AnnexWiring wiring, Backend& backend)
    : island_(island),
      host_(host),
      wiring_(wiring),
      backend_(backend),
      core_(
          host, backend, wiring.near, wiring.data,
          [island](std::uint32_t peer) { return actor::data_peer_of(island, peer); },
          wiring.exchange) {}

void AnnexActor::receive(const Frame& frame) {
  const Status status = handle(frame);
  // All comes from its host. That one begins anew, as it has lost an annex; so does this.
  if (!status.ok()) wiring_.router.malformed(Role::kHost, island_, status);
}

Status AnnexActor::handle(const Frame& frame) {
  Message::Which kind = Message::POKE;
  bool is_about_host = false;
  std::uint32_t life = 0;  // From which on words count.
  Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    kind = message.which();
    is_about_host = message.isPeer() &&
                    message.getPeer().getRole() == static_cast<std::uint8_t>(Role::kHost) &&
                    message.getPeer().getIndex() == island_;
    if (is_about_host) {
      life = message.getPeer().getEpoch() + (message.getPeer().getLost() ? 1 : 0);
    }
    if (message.isWeights() && wiring_.data) {
      for (const auto weight : message.getWeights()) {
        wiring_.data->set_weight(weight.getTenant(), weight.getWeight());
      }
    }
  });
  if (!status.ok()) return status;
  switch (kind) {
    case Message::ANNEX_ORDERS:
      return follow_orders(frame);
    case Message::EXCHANGE_WORDS:
      return hear_words(frame);
    case Message::WEIGHTS:
      return {};
    case Message::COMPILE:
      return make_executable(frame, wiring_.natives, backend_, wiring_.offload,
                             [this, generation = generation_](
                                 FunctionId function,
                                 const Result<std::shared_ptr<const function::Executable>>& made) {
                               if (generation == generation_) define(function, made);
                             });
    case Message::PEER:
      // Lost, or there: the first word of a life that knows nothing of what the last one wanted.
      if (!is_about_host) return {};
      ++generation_;
      core_.begin_anew(life);
      return {};
    default:
      return protocol_error("host " + std::to_string(host_) + " of island " +
                            std::to_string(island_) + " got a message of kind " +
                            std::to_string(static_cast<int>(kind)) + ", which is not for it");
  }
}

Status AnnexActor::follow_orders(const Frame& frame) {
  auto orders = decode_orders(frame);
  if (!orders.ok()) return orders.status();
  for (AnnexOrder& order : *orders) {
    if (Status status = core_.follow(std::move(order)); !status.ok()) return status;
  }
  return {};
}

Status AnnexActor::hear_words(const Frame& frame) {
  auto said = decode_exchange(frame);
  if (!said.ok()) return said.status();
  for (ExchangeWord& word : said->words) {
    Status status = core_.exchanges().receive(said->host, std::move(word));
    if (!status.ok()) return status;
  }
  return {};
}

void AnnexActor::define(FunctionId function,
                        const Result<std::shared_ptr<const function::Executable>>& executable) {
  if (executable.ok()) core_.add_function(function, *executable);
  // What it wants is the same here and there: the host says it.
  wiring_.router.send(Role::kHost, island_,
                      compiled_frame(compiled(function, host_, executable.status(), nullptr, 0)));
}

void AnnexActor::idle() {
  send_words(wiring_.router, island_, host_, core_.exchanges());
  if (core_.answers().empty()) return;
  for (Frame& frame : encode_answers(std::exchange(core_.answers(), {}))) {
    wiring_.router.send(Role::kHost, island_, std::move(frame), Lane::kBulk);
  }
}

}  // namespace seaway::device
