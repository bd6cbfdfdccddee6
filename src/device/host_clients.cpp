// What goes to clients and comes from them over connections for data: values, uploads.

#include <string>
#include <utility>

#include "actor/router.hpp"
#include "base/probe.hpp"
#include "device/host_core.hpp"
#include "transfer/value_stream.hpp"

namespace seaway::device {

using transport::DataKey;

namespace {

transfer::Placement placement_of(const ArrayDesc& desc) { return {desc.group.axes, desc.spec, {}}; }

}  // namespace

// ---- Values ----

/// The client fetches it from where it lies, and it stays there until the client has it, whatever
/// becomes of the array. False: it is to be copied, as it is short, may change before it is read,
/// or clients have as much already as there is memory on the devices.
bool HostCore::offer_read(const ArrayDesc& desc, const Waiter& waiter, ShardMemory& memory) {
  if (!data_ || has_sums() || desc.type.bytes() < data_->bytes_min()) return false;
  const auto stream = std::make_shared<const transfer::ValueStream>(desc.type, placement_of(desc));
  if (read_bytes_ + stream->bytes() > options_.devices * options_.device_bytes) return false;
  auto owner = memory.share();
  if (!owner || stream->bytes() == 0) return false;
  SEAWAY_PROBE("a value is offered to a client");
  const std::uint32_t offer = ++last_offer_;
  reads_[{waiter.client, waiter.request, offer}] = stream->bytes();
  read_bytes_ += stream->bytes();
  const function::ShardedBuffer from = memory.buffer();
  data_->offer(actor::data_peer_of_client(waiter.client), DataKey{waiter.request, offer},
               {stream->bytes(),
                [stream, from](std::uint64_t begin, std::uint64_t end, auto& pieces) {
                  stream->add_pieces(from.base, from.stride, begin, end, pieces);
                },
                std::move(owner)});
  outbox_.fetched.push_back({waiter.client, waiter.request, {}, {}, stream->bytes(), offer});
  return true;
}

void HostCore::taken(ClientId client, std::uint64_t request, std::uint32_t offer) {
  const auto found = reads_.find({client, request, offer});
  if (found == reads_.end()) return;
  data_->withdraw(actor::data_peer_of_client(client), DataKey{request, offer});
  read_bytes_ -= found->second;
  reads_.erase(found);
}

/// The client is lost.
void HostCore::end_reads(ClientId client) {
  auto next = reads_.lower_bound({client, 0, 0});
  while (next != reads_.end() && std::get<0>(next->first) == client) {
    SEAWAY_PROBE("a client is lost that has not taken what was offered");
    const auto [of, request, offer] = (next++)->first;
    taken(of, request, offer);
  }
}

/// What it reads is offered later, when it is made, or is here: unless its client is forgotten
/// before, for then nobody is there to take it.
HostCore::Waiter HostCore::late(Waiter waiter) {
  if (!waiter.streams) return waiter;
  waiter.ticket = ++last_late_read_;
  late_reads_.insert({waiter.client, waiter.ticket});
  return waiter;
}

/// It waits no longer. False: its client was forgotten meanwhile.
bool HostCore::is_due(const Waiter& waiter) {
  return waiter.ticket == 0 || late_reads_.erase({waiter.client, waiter.ticket}) > 0;
}

// ---- Uploads ----

Status HostCore::check_upload_offer(ArrayId array, std::uint64_t bytes) const {
  const auto found = arrays_.find(array);
  if (found == arrays_.end() || !found->second.is_upload) return {};  // Nobody wants it any more.
  const ArrayDesc& desc = *found->second.desc;
  const transfer::ValueStream stream(desc.type, placement_of(desc));
  if (data_ && bytes == stream.bytes()) return {};
  return protocol_error("array " + std::to_string(sequence_of(array)) + " of client " +
                        std::to_string(client_of(array)) + " is offered as " +
                        std::to_string(bytes) + " bytes; its shards have " +
                        std::to_string(stream.bytes()));
}

void HostCore::upload_offered(ArrayId array) {
  const auto found = arrays_.find(array);
  // It may have been freed meanwhile, or be poison.
  if (found == arrays_.end() || !found->second.is_upload) return;
  if (found->second.state != ArrayRecord::State::kPending || uploading_.contains(array)) return;
  const ArrayDesc& desc = *found->second.desc;
  SEAWAY_PROBE("an upload is fetched");
  auto memory =
      std::make_shared<ShardMemory>(make_memory(desc.group.devices.size(), desc.shard_bytes));
  uploading_[array] = memory;
  fetch_upload(array, memory);
}

/// Right to where it will lie.
void HostCore::fetch_upload(ArrayId id, const std::shared_ptr<ShardMemory>& memory) {
  const ArrayDesc& desc = *arrays_.find(id)->second.desc;
  const transfer::Placement placement = placement_of(desc);
  const auto target =
      std::make_shared<const transfer::StreamTarget>(desc.type, placement, placement);
  const function::ShardedBuffer to = memory->buffer();
  data_->fetch(actor::data_peer_of_client(client_of(id)), DataKey{id},
               {target->stream().bytes(),
                [target, to](std::uint64_t begin, std::uint64_t most) {
                  return target->place(to.base, to.stride, begin, most);
                },
                [target, to](std::uint64_t begin, std::span<const std::byte> bytes) {
                  target->scatter(to.base, to.stride, begin, bytes);
                }},
               [this, id, memory](const Status& status) { end_upload(id, memory, status); });
}

void HostCore::end_upload(ArrayId id, const std::shared_ptr<ShardMemory>& memory,
                          const Status& status) {
  const auto still = uploading_.find(id);
  const bool is_wanted = still != uploading_.end() && still->second == memory;
  if (!is_wanted) return;  // It was stopped.
  // As long as they can hear each other it goes on.
  if (status.code() == StatusCode::kHostLost) return fetch_upload(id, memory);
  uploading_.erase(still);
  const auto found = arrays_.find(id);
  if (!status.ok()) {
    refuse(actor::Role::kClient, client_of(id),
           "array " + std::to_string(sequence_of(id)) + ": " + status.message());
    return;
  }
  found->second.memory = std::move(*memory);
  found->second.state = ArrayRecord::State::kOnHost;
  note_upload(id, found->second);
  outbox_.arrived.push_back(id);
  settle(id);
}

/// Nobody wants it any more.
void HostCore::stop_upload(ArrayId id) {
  const auto found = uploading_.find(id);
  if (found == uploading_.end()) return;
  SEAWAY_PROBE("an upload is given up while it is fetched");
  uploading_.erase(found);
  data_->cancel(actor::data_peer_of_client(client_of(id)), DataKey{id});
}

}  // namespace seaway::device
