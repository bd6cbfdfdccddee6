// Large values that come and go over connections for data, while the session lives and behind its
// end.

#include <string>
#include <utility>

#include "base/probe.hpp"
#include "client/frames.hpp"
#include "client/session.hpp"
#include "client/upload.hpp"
#include "transfer/value_stream.hpp"

namespace seaway::client {

using transport::DataKey;

namespace {

/// One shard that holds everything.
const transfer::Placement kWhole;

}  // namespace

// ---- Values that come ----

void Session::say_taken(const Offered& offered) {
  wiring_.router->send(actor::Role::kHost, offered.host,
                       frames::taken(id(), offered.request, offered.offer));
}

void Session::on_offered(const Offered& offered) {
  if (const auto found = streams_.find(offered.request); found != streams_.end()) {
    // It is made anew elsewhere, and is wanted from there.
    if (found->second.next) say_taken(*found->second.next);
    found->second.next = offered;
    found->second.outcome.reset();
    const Offered& from = found->second.from;
    return wiring_.data->cancel(from.host, {from.request, from.offer});
  }
  const auto target = wiring_.data ? wiring_.bulk->take_target(id(), offered.request)
                                   : std::optional<std::span<std::byte>>();
  Stream stream{offered, target.value_or(std::span<std::byte>()), nullptr};
  std::shared_ptr<const transfer::StreamTarget> places;
  {
    std::lock_guard guard(mutex_);
    const auto found = fetches_.find(offered.request);
    if (target && found != fetches_.end()) {
      PendingFetch& fetch = found->second;
      const ArraySpec& spec = fetch.origin->outputs[fetch.index];
      places = std::make_shared<const transfer::StreamTarget>(spec.type,
                                                              placement_of(spec.sharding), kWhole);
      fetch.is_streaming = true;
      stream.sink = fetch.sink;
    }
  }
  SEAWAY_PROBE_IF(!places, "a value is offered that nobody waits for any more");
  if (!places) return say_taken(offered);  // It was given up.
  std::byte* const base = stream.target.data();
  const std::uint64_t room = stream.target.size();
  streams_.emplace(offered.request, std::move(stream));
  if (places->stream().bytes() != offered.bytes || room == 0) {
    return end_stream(offered.request,
                      protocol_error("host " + std::to_string(offered.host) + " offers " +
                                     std::to_string(offered.bytes) + " bytes for request " +
                                     std::to_string(offered.request) + ", which is for " +
                                     std::to_string(places->stream().bytes())));
  }
  wiring_.data->fetch(offered.host, DataKey{offered.request, offered.offer},
                      {offered.bytes,
                       [places, base](std::uint64_t begin, std::uint64_t most) {
                         return places->place(base, 0, begin, most);
                       },
                       [places, base](std::uint64_t begin, std::span<const std::byte> bytes) {
                         places->scatter(base, 0, begin, bytes);
                       }},
                      [self = shared_from_this(), request = offered.request](const Status& status) {
                        self->end_stream(request, status);
                      });
}

/// Nothing is written there any more.
void Session::end_stream(std::uint64_t request, const Status& status) {
  const auto node = streams_.extract(request);
  Stream& stream = node.mapped();
  say_taken(stream.from);
  // What was not written whole may yet come from elsewhere.
  if (!status.ok()) wiring_.bulk->offer_target(id(), request, stream.target);
  Status end;
  {
    std::lock_guard guard(mutex_);
    const auto found = fetches_.find(request);
    if (found != fetches_.end()) found->second.is_streaming = false;
    if (is_closed()) end = end_;
  }
  if (stream.next && (status.ok() || !end.ok())) say_taken(*stream.next);
  std::vector<Outcome> outcomes;
  if (status.ok()) {
    outcomes.push_back({request, {}});
  } else if (!end.ok()) {
    outcomes.push_back({request, std::move(end)});
  } else if (stream.next) {
    return on_offered(*stream.next);
  } else if (stream.outcome) {
    outcomes.push_back(std::move(*stream.outcome));
  } else {
    outcomes.push_back({request, status});
  }
  on_fetched(outcomes);
}

void Session::on_call(HostId host) {
  if (wiring_.data) wiring_.data->meet(host);
}

// ---- Uploads that go ----

bool Session::offer_upload(ArrayId array, HostId host, transport::Payload payload) {
  std::shared_ptr<const transfer::ValueStream> stream;
  {
    std::lock_guard guard(mutex_);
    const auto found = large_puts_.find(array);
    if (found == large_puts_.end()) return false;
    const ArraySpec& spec = found->second.spec;
    stream = std::make_shared<const transfer::ValueStream>(spec.type, placement_of(spec.sharding));
    found->second.reader = host;
  }
  SEAWAY_PROBE("an upload is offered");
  // A user's own memory is his again when the session ends, whoever still reads it.
  if (!payload.owner) payload = transport::copy_payload({payload.base, payload.shard_bytes}, 0);
  wiring_.data->offer(host, DataKey{array},
                      {stream->bytes(),
                       [stream, base = payload.base, stride = payload.stride](
                           std::uint64_t begin, std::uint64_t end, auto& pieces) {
                         stream->add_pieces(base, stride, begin, end, pieces);
                       },
                       payload.owner});
  wiring_.router->send(actor::Role::kHost, host,
                       frames::upload_offer(id(), array, stream->bytes()));
  return true;
}

/// The upload has its outcome, unless what was sent of a file was not there any more.
Status Session::end_offer(ArrayId array, Status outcome) {
  LargePut put;
  {
    std::lock_guard guard(mutex_);
    const auto found = large_puts_.find(array);
    if (found == large_puts_.end()) return outcome;
    put = std::move(found->second);
    large_puts_.erase(found);
  }
  if (put.reader) {
    wiring_.data->withdraw(*put.reader, DataKey{array});
  }
  if (outcome.ok() && put.reader && put.file && put.file->is_torn()) {
    return input_lost("array " + std::to_string(sequence_of(array)) +
                      " was put from a file that has become shorter meanwhile");
  }
  return outcome;
}

// ---- The end ----

void Session::stop_streams() {
  std::map<ArrayId, LargePut> puts;
  {
    std::lock_guard guard(mutex_);
    puts.swap(large_puts_);
  }
  for (const auto& [array, put] : puts) {
    if (put.reader) wiring_.data->withdraw(*put.reader, DataKey{array});
  }
  for (auto& [request, stream] : streams_) {
    wiring_.data->cancel(stream.from.host, {request, stream.from.offer});
  }
}

void Session::end_streams() {
  const Status over = cancelled("client " + std::to_string(id()) + " has ended");
  while (!streams_.empty()) end_stream(streams_.begin()->first, over);
}

}  // namespace seaway::client
