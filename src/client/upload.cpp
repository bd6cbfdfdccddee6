// Uploads: from one global row-major value to the shards that its devices will hold.

#include "client/upload.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "base/aligned.hpp"
#include "base/probe.hpp"
#include "client/frames.hpp"
#include "client/session.hpp"

namespace seaway::client {
namespace {

constexpr std::size_t kAlignment = 64;

/// One shard that holds everything.
const transfer::Placement kWhole;

/// Whether the shards of a global value lie in it one behind the other, where kernels want them.
bool lies_densely(const ArraySpec& spec) {
  const std::int64_t shards = spec.sharding.mesh().device_count();
  const std::uint64_t shard_bytes = spec.sharding.shard_type(spec.type).bytes();
  if (shard_bytes * static_cast<std::uint64_t>(shards) != spec.type.bytes()) return false;
  if (shards > 1 && shard_bytes % kAlignment != 0) return false;
  const transfer::ReshardPlan plan(spec.type, kWhole, placement_of(spec.sharding));
  for (std::uint32_t shard = 0; shard < static_cast<std::uint32_t>(shards); ++shard) {
    const auto copies = plan.copies(shard);
    const bool is_one = copies.size() == 1 && copies[0].extents.size() == 1 &&
                        copies[0].source_offset == shard * shard_bytes;
    if (!is_one) return false;
  }
  return true;
}

}  // namespace

transfer::Placement placement_of(const NamedSharding& sharding) {
  return {.axes = sharding.mesh().axes(), .spec = sharding.spec(), .devices = {}};
}

std::size_t stride_of(std::size_t shard_bytes, std::int64_t shards) {
  std::size_t stride = (shard_bytes + kAlignment - 1) / kAlignment * kAlignment;
  // Shards a multiple of 4096 apart would all want the same lines of a first-level cache.
  if (shards > 1 && stride > 0 && stride % 4096 == 0) stride += kAlignment;
  return stride;
}

transport::Payload split(const ArraySpec& spec, const std::byte* data) {
  const std::int64_t shards = spec.sharding.mesh().device_count();
  const std::size_t shard_bytes = spec.sharding.shard_type(spec.type).bytes();
  const std::size_t stride = stride_of(shard_bytes, shards);
  const std::size_t size =
      std::max<std::size_t>(kAlignment, stride * static_cast<std::size_t>(shards));
  const std::shared_ptr<std::byte> owner = share_aligned(size);
  std::byte* const base = owner.get();
  const transfer::ReshardPlan plan(spec.type, kWhole, placement_of(spec.sharding));
  for (std::uint32_t shard = 0; shard < static_cast<std::uint32_t>(shards); ++shard) {
    for (const transfer::Copy& copy : plan.copies(shard)) {
      transfer::copy_region(data, base + shard * stride, copy);
    }
  }
  return {.base = base,
          .stride = stride,
          .owner = std::move(owner),
          .shards = static_cast<std::size_t>(shards),
          .shard_bytes = shard_bytes};
}

void join(const ArraySpec& spec, const transport::Payload& shards, std::span<std::byte> target) {
  const transfer::ReshardPlan plan(spec.type, placement_of(spec.sharding), kWhole);
  for (const transfer::Copy& copy : plan.copies(0)) {
    transfer::copy_region(shards.base + copy.source_shard * shards.stride, target.data(), copy);
  }
}

Status Session::reserve_upload(std::uint64_t bytes) {
  const std::uint64_t bytes_max = options_.upload_bytes_max;
  const auto sizes = [bytes, bytes_max] {
    return std::to_string(bytes) + " bytes do not fit the limit of " + std::to_string(bytes_max);
  };
  if (bytes > bytes_max) {
    return resource_exhausted("put refused: " + sizes() +
                              "; put it in pieces, or raise ClientOptions::upload_bytes_max");
  }
  for (;;) {
    const std::uint64_t before = upload_bytes_.fetch_add(bytes);
    if (before + bytes <= bytes_max) return {};
    SEAWAY_PROBE("a put finds no room for its bytes");
    upload_bytes_.fetch_sub(bytes);
    const auto has_room = [this, bytes, bytes_max] { return upload_bytes_ + bytes <= bytes_max; };
    const Status status = wait_for_room(
        has_room, "put refused: " + sizes() + " while " + std::to_string(before) +
                      " wait to be taken; wait for ready(), use WhenFull::kWait, or raise "
                      "ClientOptions::upload_bytes_max");
    if (!status.ok()) return status;
  }
}

/// A host that is another process wants the bytes now. Control thread.
void Session::on_pull(ArrayId array, HostId host, bool fetches) {
  // Withdrawn ones are not missed: the controller knows.
  const auto payload = wiring_.bulk->take_upload(array);
  SEAWAY_PROBE_IF(!payload, "an upload is wanted that was withdrawn");
  if (!payload) return;
  if (!payload->file || !wiring_.give_file) return send_upload(array, host, fetches, *payload);
  wiring_.give_file(
      host, array, *payload,
      [self = shared_from_this(), array, host, fetches, payload](const Status& given) {
        // The host is elsewhere, or cannot read it: its bytes go there.
        if (!given.ok()) self->send_upload(array, host, fetches, *payload);
      });
}

void Session::send_upload(ArrayId array, HostId host, bool fetches,
                          const transport::Payload& payload) {
  if (is_closed() || (fetches && offer_upload(array, host, payload))) return;
  wiring_.router->send(actor::Role::kHost, host, frames::upload(id(), array, payload),
                       transport::Lane::kBulk);
}

Record* Session::refuse_put(const ArraySpec& wanted, Status status) {
  auto origin = std::make_shared<Origin>();
  origin->session = shared_from_this();
  origin->outputs = {wanted};
  origin->output_specs = {0};
  origin->name = "put";
  Record* record = Record::make_failed(std::move(origin), 1, std::move(status));
  record->is_run = false;
  return record;
}

/// The session's record of `wanted`, if something of that kind may be put.
Result<std::shared_ptr<SpecRecord>> Session::check_put(const ArraySpec& wanted) {
  if (is_closed()) return closed_status();
  auto interned = intern(wanted);
  if (interned.ok() && is_closed()) return closed_status();
  return interned;
}

Record* Session::put(TensorType type, const std::byte* data, std::size_t elements,
                     const NamedSharding& sharding, HostBufferSemantics semantics) {
  const ArraySpec wanted{std::move(type), sharding};
  auto interned = check_put(wanted);
  if (!interned.ok()) return refuse_put(wanted, interned.status());
  const auto count = static_cast<std::size_t>(wanted.type.elements());
  if (elements != count) {
    return refuse_put(wanted, invalid_argument("put refused: " + std::to_string(elements) +
                                               " elements for " + seaway::to_string(wanted.type) +
                                               ", which has " + std::to_string(count)));
  }
  if (!data && count > 0) {
    return refuse_put(
        wanted, invalid_argument("put refused: null data for " + seaway::to_string(wanted.type) +
                                 ", which has " + std::to_string(wanted.type.bytes()) + " bytes"));
  }
  if (debug()) {
    Record* record = Record::make(*interned, 1);
    record->is_run = false;
    record->is_local = true;
    record->id = record->first = next_id();
    record->details = std::make_unique<Record::Details>();
    record->details->values.emplace_back(data, data + wanted.type.bytes());
    record->complete({}, internal::Wake::kLater);
    record->unreference();
    return record;
  }
  const std::uint64_t bytes = wanted.type.bytes();
  if (wiring_.is_process && !wiring_.data) {
    Status status =
        transport::check_payload(bytes, "put refused: " + seaway::to_string(wanted.type));
    if (!status.ok()) return refuse_put(wanted, std::move(status));
  }
  if (Status status = reserve_upload(bytes); !status.ok()) return refuse_put(wanted, status);
  const ArrayId array = next_id();
  if (array == 0) [[unlikely]] {
    upload_bytes_.fetch_sub(bytes);
    return refuse_put(wanted, no_ids());
  }
  const bool is_aliased = semantics == HostBufferSemantics::kZeroCopy &&
                          wanted.sharding.mesh().device_count() == 1 && count > 0 &&
                          reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0;
  transport::Payload payload{const_cast<std::byte*>(data), 0, {}, 1, bytes};
  try {
    if (!is_aliased) payload = split(wanted, data);
  } catch (const std::bad_alloc&) {
    // A replicated value takes its size once for each device.
    upload_bytes_.fetch_sub(bytes);
    return refuse_put(
        wanted, resource_exhausted("put refused: no memory for the shards of " +
                                   seaway::to_string(wanted) + ", of " + std::to_string(bytes) +
                                   " bytes in all; replicate it less, or put it in pieces"));
  }
  return begin_put(wanted, *interned, array, std::move(payload));
}

Record* Session::put_file(TensorType type, std::shared_ptr<const transport::SourceFile> file,
                          std::uint64_t offset, const NamedSharding& sharding) {
  const ArraySpec wanted{std::move(type), sharding};
  auto interned = check_put(wanted);
  if (!interned.ok()) return refuse_put(wanted, interned.status());
  if (!file) {
    return refuse_put(wanted, invalid_argument("put refused: an empty MappedFile; open() one"));
  }
  const std::uint64_t bytes = wanted.type.bytes();
  auto view = transport::FileView::map(std::move(file), offset, bytes);
  if (!view.ok()) {
    return refuse_put(wanted, {view.status().code(), "put of " + seaway::to_string(wanted.type) +
                                                         " refused: " + view.status().message()});
  }
  const auto shards = static_cast<std::size_t>(wanted.sharding.mesh().device_count());
  const bool is_whole = !debug() && bytes > 0 && offset % kAlignment == 0 && lies_densely(wanted);
  if (!is_whole) {
    // Its shards lie in pieces, or where kernels do not want them.
    Record* record =
        put(wanted.type, (*view)->base(), static_cast<std::size_t>(wanted.type.elements()),
            sharding, HostBufferSemantics::kImmutableOnlyDuringCall);
    return record;
  }
  if (Status status = reserve_upload(bytes); !status.ok()) return refuse_put(wanted, status);
  const ArrayId array = next_id();
  if (array == 0) [[unlikely]] {
    upload_bytes_.fetch_sub(bytes);
    return refuse_put(wanted, no_ids());
  }
  transport::Payload payload;
  payload.base = (*view)->base();
  payload.shards = shards;
  payload.shard_bytes = payload.stride = bytes / shards;
  payload.file = *view;
  payload.owner = std::move(*view);
  return begin_put(wanted, *interned, array, std::move(payload));
}

Record* Session::begin_put(const ArraySpec& wanted, std::shared_ptr<SpecRecord> known,
                           ArrayId array, transport::Payload payload) {
  SpecRecord& spec = *known;
  const std::uint64_t bytes = wanted.type.bytes();
  if (Status status = ensure_defined(spec); !status.ok()) {
    upload_bytes_.fetch_sub(bytes);
    return refuse_put(wanted, std::move(status));
  }
  Record* record = Record::make(std::move(known), 1);
  record->is_run = false;
  record->id = record->first = array;
  const auto file = payload.file;
  wiring_.bulk->offer_upload(record->id, std::move(payload));
  const bool is_said = say([this, record, &spec, &wanted, &file, bytes](Outbox& outbox) {
    outbox.said.push_back({.kind = Said::Kind::kPut, .id = record->id, .object = spec.id});
    if (keeps(record->id)) outbox.made.push_back({record->id, record->id, 1});
    if (wiring_.data && bytes >= wiring_.data->bytes_min())
      large_puts_.insert({record->id, LargePut{wanted, file}});
    if (options_.when_full == WhenFull::kWait || wiring_.is_process) {
      outbox.limits.push_back(
          {.is_run = true, .id = record->id, .timeout_ns = request_timeout_ns()});
    }
    in_flight_.insert(record->id, record);
  });
  if (!is_said) {
    wiring_.bulk->take_upload(record->id);
    finish(*record, closed_status());
  }
  return record;
}

}  // namespace seaway::client
