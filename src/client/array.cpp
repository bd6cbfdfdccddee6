// The public Array, on a session's records.

#include "seaway/array.hpp"

#include <string>
#include <utility>

#include "client/capture.hpp"
#include "client/record.hpp"
#include "client/session.hpp"

namespace seaway {
namespace {

const ArraySpec& no_spec() {
  static const ArraySpec spec;
  return spec;
}

Status empty_array() {
  return invalid_argument("this Array is empty: it was default-made or moved from");
}

/// Sets `sharding`, unless the array is refused or gone.
Status check_readable(client::ArrayCell* cell) {
  if (!cell) return empty_array();
  client::Record& record = cell->record();
  if (Status status = record.error(); !status.ok()) return status;
  return client::check_usable(*cell);
}

}  // namespace

Array::Array(const Array& other) : cell_(other.cell_) {
  if (cell_) cell_->handles.fetch_add(1, std::memory_order_relaxed);
}

Array::~Array() {
  if (cell_) cell_->record().drop_array(cell_->index);
}

std::uint64_t Array::id() const { return cell_ ? cell_->record().array_id(cell_->index) : 0; }

const ArraySpec& Array::spec() const {
  return cell_ ? cell_->record().origin->outputs[cell_->index] : no_spec();
}

Future<void> Array::ready() const {
  if (!cell_) return Future<void>::of(empty_array());
  if (Status status = client::check_usable(*cell_); !status.ok()) return Future<void>::of(status);
  return cell_->record().outcome();
}

Status Array::status() const { return ready().get().status(); }

Status Array::error() const {
  if (!cell_) return empty_array();
  return cell_->record().error();
}

Status Array::check_fetch(DType dtype) const {
  if (Status status = check_readable(cell_); !status.ok()) return status;
  if (dtype != type().dtype) {
    return invalid_argument("to_host of " + std::string(seaway::to_string(dtype)) +
                            " elements from " + to_string() +
                            "; ask for the array's own element type");
  }
  const client::Record& record = cell_->record();
  const std::uint64_t room =
      record.is_local ? UINT64_MAX : record.origin->session->wiring().device_memory;
  if (type().bytes() <= room) return {};
  const std::uint64_t shard_bytes = sharding().shard_type(type()).bytes();
  if (shard_bytes <= room) return {};
  return resource_exhausted("to_host of " + to_string() + ": a shard of it has " +
                            std::to_string(shard_bytes) + " bytes, a device has " +
                            std::to_string(room) +
                            ", so no run can make it; shard it over more devices");
}

Status Array::no_memory() const {
  return resource_exhausted("to_host of " + to_string() + ": this process has no memory for its " +
                            std::to_string(type().bytes()) +
                            " bytes; pass memory of your own to to_host, such as a mapped file");
}

std::shared_ptr<internal::Waiter> Array::waiter() const {
  return cell_->record().origin->session->waiter();
}

void Array::start_fetch(std::shared_ptr<internal::FetchSink> sink,
                        std::span<std::byte> target) const {
  client::Record& record = cell_->record();
  record.origin->session->fetch(record, cell_->index, std::move(sink), target);
}

Future<void> Array::to_host(std::span<std::byte> target) const {
  if (Status status = check_readable(cell_); !status.ok()) return Future<void>::of(status);
  if (target.size() != type().bytes()) {
    return Future<void>::of(invalid_argument("to_host into " + std::to_string(target.size()) +
                                             " bytes from " + to_string() + ", which has " +
                                             std::to_string(type().bytes())));
  }
  auto fetch = std::make_shared<internal::SpanFetch>(waiter());
  start_fetch(fetch, target);
  return Future<void>(std::move(fetch));
}

Result<Array> Array::reshard(const NamedSharding& target, ArrayCopySemantics semantics,
                             Site site) const {
  if (!cell_) return empty_array();
  if (Status status = client::check_usable(*cell_); !status.ok()) return status;
  if (semantics == ArrayCopySemantics::kReuseInput && target == sharding()) return *this;
  client::Record& record = cell_->record();
  client::Session& session = *record.origin->session;
  const bool is_donated = semantics == ArrayCopySemantics::kDonateInput;
  if (Status status = target.validate(type()); !status.ok()) return status;
  auto interned = session.intern({type(), target});
  if (!interned.ok()) return interned.status();
  const auto program = session.cached_program(
      session.reshards(),
      {record.origin->output_specs[cell_->index], (*interned)->id, is_donated ? 1u : 0u},
      [this, &session, &target, is_donated, site] {
        return client::capture_reshard(session, spec(), target, is_donated, site);
      });
  if (!program.ok()) return program.status();
  const Run run = Program(*program).execute({*this}, {}, site);
  if (run.id() == 0) return run.error();
  return run.output(0);
}

void Array::delete_now() {
  if (!cell_) return;
  client::Record& record = cell_->record();
  client::Gone expected = client::Gone::kNo;
  if (!cell_->gone.compare_exchange_strong(expected, client::Gone::kDeleted)) return;
  if (record.first == 0) return;
  client::Session& session = *record.origin->session;
  session.release_array(id(), record.is_imported || session.keeps(id()));
}

bool Array::is_deleted() const {
  return cell_ && cell_->gone.load(std::memory_order_acquire) != client::Gone::kNo;
}

std::string Array::why() const {
  if (!cell_) return empty_array().to_string();
  client::Record& record = cell_->record();
  if (!record.is_pending()) return to_string();
  return record.origin->session->why(id());
}

std::string Array::to_string() const {
  if (!cell_) return "array (empty)";
  const client::Record& record = cell_->record();
  const std::string name = record.first ? client::name_of(id()) : "(refused)";
  return "array " + name + " " + seaway::to_string(spec());
}

namespace internal {

void cancel_fetch(FetchSink& sink) {
  if (const auto session = sink.session.lock()) session->cancel_fetch(sink.request);
}

}  // namespace internal
}  // namespace seaway
