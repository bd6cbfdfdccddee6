// Arrays and slices that come from another process, and what is said of those that go there.

#include <algorithm>
#include <utility>

#include "client/imported_array.hpp"
#include "client/session.hpp"

namespace seaway::client {

TravellingArray describe(const Array& array) {
  TravellingArray said;
  ArrayCell* const cell = array.cell();
  if (!cell) return said;
  Record& record = cell->record();
  said.client = record.origin->session->id();
  said.spec = array.spec();
  said.is_known = !record.is_pending();
  said.outcome = record.error();
  // It is of no use there either, and nobody is to count it.
  if (Status gone = check_usable(*cell); !gone.ok()) {
    said.is_known = true;
    said.outcome = std::move(gone);
    return said;
  }
  if (record.first == 0) return said;
  said.id = record.array_id(cell->index);
  said.run = record.id;
  if (record.is_imported) said.maker = record.details->imported.maker;
  return said;
}

std::shared_ptr<SliceRecord> Session::adopt_slice(const Mesh& mesh,
                                                  std::vector<std::uint32_t> binding) {
  std::lock_guard guard(names_mutex_);
  // A sub-mesh does not say how many devices its slice has.
  const bool is_new = mesh.devices().empty() && !was_released(mesh.slice());
  if (!is_new && !slices_.contains(mesh.slice())) return nullptr;
  auto& record = slices_[mesh.slice()];
  if (!record) {
    record = std::make_shared<SliceRecord>();
    record->session = shared_from_this();
    record->mesh = mesh;
  }
  std::lock_guard lock(record->mutex);
  if (record->binding.empty()) record->binding = std::move(binding);
  return record;
}

Array Session::import_array(const TravellingArray& from) {
  const auto failed = [this, &from](Status why) {
    auto origin = std::make_shared<Origin>();
    origin->session = shared_from_this();
    origin->outputs = {from.spec};
    origin->output_specs = {0};
    origin->name = "import";
    Record* record = Record::make_failed(std::move(origin), 1, std::move(why));
    record->is_run = false;
    record->run_handles = 0;
    record->unreference();
    return Array(record->cells());
  };
  if (from.id == 0) return failed(from.outcome);
  const Mesh& mesh = from.spec.sharding.mesh();
  if (!is_closed() && mesh.slice() != 0) adopt_slice(mesh, {});
  auto spec = intern(from.spec);
  if (!spec.ok()) {
    // It came as all others, and goes as they do.
    release_array(from.id, true);
    return failed(spec.status());
  }
  Record* record = Record::make(*spec, 1);
  record->is_run = false;
  record->is_imported = true;
  record->id = from.run;
  record->first = from.id;
  record->details = std::make_unique<Record::Details>();
  record->details->imported = {from.maker, false};
  if (from.is_known) record->complete(from.outcome, internal::Wake::kLater);
  // It is in no table, and there is no handle of its run.
  record->run_handles = 0;
  record->unreference();
  record->unreference();
  return Array(record->cells());
}

void Session::ask_outcome(Record& record) {
  const std::uint64_t request = next_request_.fetch_add(1, std::memory_order_relaxed);
  bool was_asked = false;
  const bool is_said = say([&](Outbox& outbox) {
    was_asked = std::exchange(record.details->imported.is_asked, true);
    if (was_asked) return;
    record.references.fetch_add(1, std::memory_order_relaxed);
    asked_[request] = &record;
    outbox.asked.push_back({request, record.id, record.first});
  });
  if (!is_said) record.complete(closed_status(), internal::Wake::kLater);
}

void Session::on_told(std::uint64_t request, Status outcome) {
  Record* record = nullptr;
  {
    std::lock_guard guard(mutex_);
    const auto found = asked_.find(request);
    if (found == asked_.end()) return;
    record = found->second;
    asked_.erase(found);
  }
  record->complete(std::move(outcome), internal::Wake::kLater);
  record->unreference();
  waiter_->notify();
}

bool Session::say_for_delegate(std::span<Said> said, std::span<const ArrayId> arguments) {
  return say([&](Outbox& outbox) {
    for (Said& one : said) {
      if (one.kind == Said::Kind::kRun) one.id = next_id();
      outbox.said.push_back(one);
    }
    outbox.arguments.insert(outbox.arguments.end(), arguments.begin(), arguments.end());
  });
}

void Session::flush() {
  if (flush_) flush_();
}

Status Session::no_ids() const {
  return resource_exhausted("the delegate of client " + std::to_string(id()) +
                            " in this host's process has used up its ids, and more have not come "
                            "from the client yet; try again, and name fewer things at once");
}

}  // namespace seaway::client
