// Budgets of bytes for authenticated connections, of time for callers.

#include "transport/read_scheduler.hpp"

#include <algorithm>
#include <utility>

namespace seaway::transport {

bool ReadScheduler::may_read(Reader& reader) {
  if (!reader.is_authenticated) return std::exchange(reader.has_turn, false);
  if (reader.iteration != iteration_) {
    reader.iteration = iteration_;
    reader.bytes = 0;
  }
  if (reader.bytes >= limits_.bytes_max) return false;
  if (reads_ < limits_.untimed_reads) return true;
  const std::uint64_t now_ns = clock_.now_ns();
  if (!timed_ns_) timed_ns_ = now_ns;
  return now_ns - *timed_ns_ < limits_.iteration_ns;
}

void ReadScheduler::count(Reader& reader, std::size_t bytes) {
  if (!reader.is_authenticated) return;
  reader.bytes += bytes;
  ++reads_;
}

void ReadScheduler::wait(Reader& reader, Grant grant) {
  if (!reader.is_authenticated) {
    if (reader.age == 0) reader.age = ++last_age_;
    callers_[reader.group].emplace(reader.age, std::move(grant));
    return;
  }
  (reader.bytes == 0 ? without_turn_ : with_turn_).push_back(std::move(grant));
}

void ReadScheduler::begin_iteration() {
  ++iteration_;
  reads_ = 0;
  timed_ns_.reset();
  if (without_turn_.empty() && with_turn_.empty()) return;
  for (const Grant& grant : std::exchange(without_turn_, {})) grant();
  for (const Grant& grant : std::exchange(with_turn_, {})) grant();
}

bool ReadScheduler::grant_caller() {
  if (callers_.empty() && !is_granting_) return false;
  const std::uint64_t now_ns = clock_.now_ns(), work_ns = work_.now_ns();
  const bool begins_slice = !is_granting_;
  if (!begins_slice) {
    const std::uint64_t used_ns = work_ns - granted_ns_;
    charge(now_ns, used_ns);
    slice_ns_ += used_ns;
  }
  const bool is_over = !begins_slice && slice_ns_ >= limits_.caller_slice_ns;
  is_granting_ = !is_over && paid_ns_ <= now_ns + credit_ns() && grant_next();
  granted_ns_ = work_ns;
  if (begins_slice && is_granting_) {
    const std::uint64_t before_ns = std::exchange(queued_ns_, queue_.now_ns());
    const std::uint64_t most_ns = std::exchange(slice_ns_, 0) * limits_.caller_queue_factor;
    charge(now_ns, std::min(queued_ns_ - before_ns, most_ns));
  }
  return is_granting_;
}

void ReadScheduler::charge(std::uint64_t now_ns, std::uint64_t used_ns) {
  paid_ns_ = std::max(paid_ns_, now_ns) + used_ns * limits_.caller_share;
}

bool ReadScheduler::grant_next() {
  while (!callers_.empty()) {
    auto group = callers_.upper_bound(last_group_);
    if (group == callers_.end()) group = callers_.begin();
    last_group_ = group->first;
    bool is_granted = false;
    while (!is_granted && !group->second.empty()) {
      const auto oldest = group->second.extract(group->second.begin());
      is_granted = oldest.mapped()();
    }
    if (group->second.empty()) callers_.erase(group);
    if (is_granted) return true;
  }
  return false;
}

std::uint64_t ReadScheduler::wait_ns() const {
  if (!without_turn_.empty() || !with_turn_.empty()) return 0;
  if (callers_.empty()) return UINT64_MAX;
  const std::uint64_t now_ns = clock_.now_ns();
  return paid_ns_ <= now_ns + credit_ns() ? 0 : paid_ns_ - (now_ns + credit_ns());
}

}  // namespace seaway::transport
