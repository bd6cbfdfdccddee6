// Records and their counts: who keeps what alive, and who is told of an outcome.

#include "client/record.hpp"

#include <new>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "client/session.hpp"

namespace seaway::client {
namespace {

static_assert(sizeof(Record) % alignof(ArrayCell) == 0);
static_assert(alignof(Record) >= alignof(ArrayCell));
/// A live array costs its client this much, beside the allocator's own word or two.
static_assert(sizeof(Record) + sizeof(ArrayCell) <= 112);

/// Stands in `waiting` once the outcome is known.
Record::Waiting* closed() {
  static Record::Waiting mark{nullptr, nullptr};
  return &mark;
}

}  // namespace

Record* Record::make(std::shared_ptr<const Origin> origin, std::size_t size) {
  void* block = ::operator new(sizeof(Record) + size * sizeof(ArrayCell));
  auto* record = new (block) Record(std::move(origin), size);
  for (std::uint32_t i = 0; i < size; ++i) new (record->cells() + i) ArrayCell(i);
  record->references = static_cast<std::uint32_t>(size) + 2;
  return record;
}

Record* Record::make_failed(std::shared_ptr<const Origin> origin, std::size_t size, Status status) {
  Record* record = make(std::move(origin), size);
  record->complete(std::move(status), internal::Wake::kLater);
  record->unreference();
  return record;
}

Record::~Record() {
  Waiting* rest = waiting.load(std::memory_order_relaxed);
  SEAWAY_CHECK(rest == nullptr || rest == closed(), id);
}

Status Record::error() const {
  if (phase.load(std::memory_order_acquire) != Phase::kFailed) return {};
  return details->failure;
}

bool Record::complete(Status status, internal::Wake wake) {
  Phase expected = Phase::kPending;
  if (!phase.compare_exchange_strong(expected, Phase::kCompleting, std::memory_order_acq_rel)) {
    return false;
  }
  if (status.ok()) {
    phase.store(Phase::kDone, std::memory_order_release);
  } else {
    if (!details) details = std::make_unique<Details>();
    details->failure = std::move(status);
    phase.store(Phase::kFailed, std::memory_order_release);
  }
  Waiting* list = waiting.exchange(closed(), std::memory_order_acq_rel);
  Waiting* in_order = nullptr;
  while (list) {
    Waiting* next = list->next;
    list->next = in_order;
    in_order = list;
    list = next;
  }
  while (in_order) {
    std::unique_ptr<Waiting> one(in_order);
    in_order = one->next;
    one->state->complete(error(), wake);
  }
  return true;
}

void Record::add_waiting(std::shared_ptr<internal::FutureState<void>> state) {
  auto one = std::make_unique<Waiting>(Waiting{nullptr, std::move(state)});
  Waiting* head = waiting.load(std::memory_order_acquire);
  while (head != closed()) {
    one->next = head;
    if (waiting.compare_exchange_weak(head, one.get(), std::memory_order_acq_rel)) {
      static_cast<void>(one.release());
      return;
    }
  }
  // Nobody can wait for it yet.
  one->state->complete(error(), internal::Wake::kLater);
}

Future<void> Record::outcome() {
  auto state = std::make_shared<internal::FutureState<void>>(origin->session->waiter());
  add_waiting(state);
  if (is_imported && is_pending()) origin->session->ask_outcome(*this);
  return Future<void>(std::move(state));
}

void Record::unreference() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  this->~Record();
  ::operator delete(this);
}

void Record::drop_array(std::uint32_t index) {
  ArrayCell& cell = cells()[index];
  if (cell.handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (first != 0) {
    const Gone gone = cell.gone.load(std::memory_order_acquire);
    const bool is_kept = is_imported || origin->session->keeps(array_id(index));
    // A keeper has counted one that was donated, too.
    const bool is_said = gone == Gone::kNo || (gone == Gone::kDonated && is_kept);
    if (is_said) origin->session->release_array(array_id(index), is_kept);
  }
  unreference();
}

void Record::drop_run() {
  if (run_handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (std::uint32_t i = 0; i < size; ++i) drop_array(i);
  unreference();
}

std::string Record::to_string() const {
  const Status status = error();
  return (id ? name_of(id) : std::string("refused")) + " of " + origin->name + ": " +
         (is_pending()  ? "pending"
          : status.ok() ? "done"
                        : status.to_string());
}

std::string name_of(std::uint64_t id) {
  return std::to_string(sequence_of(id)) + " of client " + std::to_string(client_of(id));
}

std::string to_text(const std::source_location& site) {
  std::string_view file = site.file_name();
  if (const auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  return std::string(file) + ":" + std::to_string(site.line());
}

Status check_usable(ArrayCell& cell) {
  Record& record = cell.record();
  switch (cell.gone.load(std::memory_order_acquire)) {
    case Gone::kNo:
      return {};
    case Gone::kDeleted:
      return invalid_argument("array " + name_of(record.array_id(cell.index)) +
                              " was deleted with delete_now(); put or compute it again");
    case Gone::kDonated:
      return invalid_argument("array " + name_of(record.array_id(cell.index)) +
                              " was donated as parameter " + std::to_string(cell.parameter) +
                              " of the run at " + to_text(cell.site) +
                              "; use that run's output instead, or do not donate it");
  }
  return {};
}

}  // namespace seaway::client
