// A host and its annexes: functions that all of them compile, and what they say to each other.

#include <seaway.capnp.h>

#include <utility>

#include "device/annex_codec.hpp"
#include "device/exchange_codec.hpp"
#include "device/function_messages.hpp"
#include "device/host_actor.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::device {

using actor::Role;
using transport::Lane;
using wire::Message;

Status HostActor::define_function(const Frame& frame) {
  FunctionId id = 0;
  Status status = wire::read_frame<Message>(
      frame, [&id](Message::Reader message) { id = message.getCompile().getId(); });
  if (!status.ok()) return status;
  compilations_.begin(id, core_.annexes().hosts());
  tell_annexes(frame);
  return make_executable(
      frame, wiring_.natives, backend_, wiring_.offload,
      [this](FunctionId function, const Result<std::shared_ptr<const function::Executable>>& made) {
        end_compilation(compilations_.end(function, made.status(), made.ok() ? *made : nullptr),
                        function);
      });
}

/// What the controller says to all hosts of the island.
void HostActor::tell_annexes(const Frame& frame) {
  for (std::uint32_t host = 1; host < core_.annexes().hosts(); ++host) {
    wiring_.router.send(Role::kAnnex, actor::annex_of(core_.options().island, host), frame);
  }
}

void HostActor::end_compilation(const std::optional<Compilations::Ended>& ended,
                                FunctionId function) {
  if (!ended) return;
  const function::Executable* const executable = ended->executable.get();
  wiring_.router.send(
      Role::kController, 0,
      compiled_frame(compiled(function, core_.options().host, ended->status, executable,
                              executable ? core_.replay_bytes(*executable) : 0)));
  if (executable) core_.add_function(function, ended->executable);
}

Status HostActor::take_answers(const Frame& frame) {
  auto answers = decode_answers(frame);
  if (!answers.ok()) return answers.status();
  for (AnnexAnswer& answer : *answers) {
    if (Status status = core_.annexes().answer(std::move(answer)); !status.ok()) return status;
  }
  return {};
}

Status HostActor::hear_words(const Frame& frame) {
  auto said = decode_exchange(frame);
  if (!said.ok()) return said.status();
  for (ExchangeWord& word : said->words) {
    Status status = core_.exchanges().receive(said->host, std::move(word));
    if (!status.ok()) return status;
  }
  return {};
}

void HostActor::flush_annexes() {
  send_words(wiring_.router, core_.options().island, 0, core_.exchanges());
  for (auto& [host, orders] : core_.annexes().outbox()) {
    for (Frame& frame : encode_orders(std::exchange(orders, {}))) {
      wiring_.router.send(Role::kAnnex, actor::annex_of(core_.options().island, host),
                          std::move(frame), Lane::kBulk);
    }
  }
}

}  // namespace seaway::device
