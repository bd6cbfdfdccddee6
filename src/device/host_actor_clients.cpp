// What a host says to clients and hears from them: uploads, values, who has got them.

#include <seaway.capnp.h>

#include <algorithm>

#include "device/host_actor.hpp"
#include "wire/frame_builder.hpp"

namespace seaway::device {

using actor::Role;
using transport::Lane;
using wire::Message;

/// Bytes that have come, or `streams` that are to be fetched. A client whose bytes are others than
/// it has announced goes, and the array with it.
void HostActor::take_upload(ArrayId array, std::uint64_t streams, std::uint64_t bytes,
                            std::uint64_t stride, transport::Payload payload) {
  const Status fits = streams > 0 ? core_.check_upload_offer(array, streams)
                                  : core_.check_upload(array, bytes, stride);
  if (!fits.ok()) return wiring_.router.malformed(Role::kClient, client_of(array), fits);
  if (streams > 0) return core_.upload_offered(array);
  wiring_.bulk.offer_upload(array, std::move(payload));
  core_.upload_arrived(array);
  wiring_.bulk.take_upload(array);  // Nobody wanted it any more.
}

Status HostActor::take_file(ArrayId array, transport::Payload payload) {
  Status fits = core_.check_upload(array, payload.file->bytes(), payload.stride);
  if (!fits.ok()) return fits;
  wiring_.bulk.offer_upload(array, std::move(payload));
  core_.upload_arrived(array);
  wiring_.bulk.take_upload(array);  // Nobody wanted it any more.
  idle();
  return {};
}

void HostActor::call_back(ClientId client) {
  wire::FrameBuilder builder;
  builder.init_root<Message>().setCallForData(core_.options().host);
  wiring_.router.send(Role::kClient, client, builder.finish());
}

/// Roles that cannot be believed.
void HostActor::flush_wrong() {
  for (const HostOutbox::Wrong& wrong : std::exchange(core_.outbox().wrong, {})) {
    wiring_.router.malformed(wrong.role, wrong.index, wrong.why);
  }
}

/// Ahead of the word that says that it is there.
void HostActor::send_value(const HostOutbox::Fetched& answer) {
  if (!answer.status.ok()) return;
  wire::FrameBuilder builder;
  auto bulk = builder.init_root<Message>().initBulk();
  bulk.setKind(wire::Bulk::Kind::VALUE);
  bulk.setId(answer.request);
  bulk.setHost(core_.options().host);
  bulk.setStreams(answer.streams);
  bulk.setEdge(answer.offer);
  bulk.setData({reinterpret_cast<const kj::byte*>(answer.value.data()), answer.value.size()});
  const Lane lane = answer.streams > 0 ? Lane::kControl : Lane::kBulk;
  wiring_.router.send(Role::kClient, answer.client, builder.finish(), lane);
}

void HostActor::flush_pulls() {
  HostOutbox& outbox = core_.outbox();
  for (const ArrayId array : outbox.pulls) {
    wire::FrameBuilder builder;
    auto pull = builder.init_root<Message>().initPull();
    pull.setArray(array);
    pull.setHost(core_.options().host);
    pull.setFetches(wiring_.data != nullptr);
    wiring_.router.send(Role::kClient, client_of(array), builder.finish());
  }
  outbox.pulls.clear();
}

void HostActor::flush_arrived() {
  HostOutbox& outbox = core_.outbox();
  wire::FrameBuilder builder;
  auto arrived =
      builder.init_root<Message>().initArrived(static_cast<unsigned>(outbox.arrived.size()));
  for (unsigned i = 0; i < outbox.arrived.size(); ++i) arrived.set(i, outbox.arrived[i]);
  outbox.arrived.clear();
  wiring_.router.send(Role::kController, 0, builder.finish());
}

void HostActor::flush_fetched() {
  auto& fetched = core_.outbox().fetched;
  for (std::size_t begin = 0; begin < fetched.size();) {
    const ClientId client = fetched[begin].client;
    std::size_t end = begin;
    while (end < fetched.size() && fetched[end].client == client) ++end;
    for (std::size_t i = begin; i < end && core_.options().is_process; ++i) {
      Status status = transport::check_payload(fetched[i].value.size(), "what was asked for");
      if (!status.ok()) fetched[i].status = std::move(status);
      send_value(fetched[i]);
    }
    // What is offered has its outcome when the client has it.
    const auto is_offered = [](const HostOutbox::Fetched& answer) { return answer.streams > 0; };
    const auto offers =
        std::count_if(fetched.begin() + static_cast<std::ptrdiff_t>(begin),
                      fetched.begin() + static_cast<std::ptrdiff_t>(end), is_offered);
    const std::size_t answers = end - begin - static_cast<std::size_t>(offers);
    wire::FrameBuilder builder;
    auto list = builder.init_root<Message>().initFetched(static_cast<unsigned>(answers));
    unsigned next = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_offered(fetched[i])) continue;
      auto answer = list[next++];
      answer.setRequest(fetched[i].request);
      answer.setCode(static_cast<std::uint8_t>(fetched[i].status.code()));
      if (!fetched[i].status.ok()) answer.setMessage(fetched[i].status.message());
    }
    const Lane lane = core_.options().is_process ? Lane::kBulk : Lane::kControl;
    if (answers > 0) wiring_.router.send(Role::kClient, client, builder.finish(), lane);
    begin = end;
  }
  fetched.clear();
}

}  // namespace seaway::device
