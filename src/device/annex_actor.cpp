// An annex's side of its conversation.

#include "device/annex_actor.hpp"

#include <seaway.capnp.h>

#include <string>
#include <utility>

#include "device/annex_codec.hpp"
#include "device/function_messages.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::device {

using actor::Role;
using transport::Lane;
using wire::Message;

AnnexActor::AnnexActor(IslandId island, std::uint32_t host, actor::Router& router,
                       const function::NativeRegistry& natives, Backend& backend)
    : island_(island),
      host_(host),
      router_(router),
      natives_(natives),
      backend_(backend),
      core_(backend) {}

void AnnexActor::receive(const Frame& frame) {
  const Status status = handle(frame);
  // All comes from its host. That one begins anew, as it has lost an annex; so does this.
  if (!status.ok()) router_.malformed(Role::kHost, island_, status);
}

Status AnnexActor::handle(const Frame& frame) {
  Message::Which kind = Message::POKE;
  bool is_about_host = false;
  Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    kind = message.which();
    is_about_host = message.isPeer() &&
                    message.getPeer().getRole() == static_cast<std::uint8_t>(Role::kHost) &&
                    message.getPeer().getIndex() == island_;
  });
  if (!status.ok()) return status;
  switch (kind) {
    case Message::ANNEX_ORDERS:
      return follow_orders(frame);
    case Message::COMPILE:
      return make_executable(frame, natives_, backend_,
                             [this, generation = generation_](
                                 FunctionId function,
                                 const Result<std::shared_ptr<const function::Executable>>& made) {
                               if (generation == generation_) define(function, made);
                             });
    case Message::PEER:
      // Lost, or there: the first word of a life that knows nothing of what the last one wanted.
      if (!is_about_host) return {};
      ++generation_;
      core_.begin_anew();
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

void AnnexActor::define(FunctionId function,
                        const Result<std::shared_ptr<const function::Executable>>& executable) {
  if (executable.ok()) core_.add_function(function, *executable);
  // What it wants is the same here and there: the host says it.
  router_.send(Role::kHost, island_,
               compiled_frame(compiled(function, host_, executable.status(), nullptr, 0)));
}

void AnnexActor::idle() {
  if (core_.answers().empty()) return;
  for (Frame& frame : encode_answers(std::exchange(core_.answers(), {}))) {
    router_.send(Role::kHost, island_, std::move(frame), Lane::kBulk);
  }
}

}  // namespace seaway::device
