// Lists by need, and what is next by them.

#include "store/spill_tiers.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/probe.hpp"

namespace seaway::store {

SpillTiers::SpillTiers(Limits limits) : limits_(limits), space_(limits.file_bytes) {}

SpillTiers::Need SpillTiers::need_of(ArrayId array, const Entry& entry) const {
  const bool is_read = !entry.readers.empty();
  return {is_read ? *entry.readers.begin() : kNever, is_read ? 0 : UINT64_MAX - entry.use, array};
}

void SpillTiers::leave_lists(ArrayId array, const Entry& entry) {
  in_memory_.erase(need_of(array, entry));
  in_file_.erase(need_of(array, entry));
  wanted_.erase(entry.want_order);
}

void SpillTiers::join_lists(ArrayId array, Entry& entry) {
  if (entry.wanters.empty()) {
    entry.want_order = 0;
    if (entry.place == Place::kMemory) in_memory_.insert(need_of(array, entry));
    // What is larger than all of memory is in nobody's way.
    const bool may_fit = entry.bytes <= limits_.memory_bytes;
    if (entry.place == Place::kFile && !entry.readers.empty() && may_fit) {
      in_file_.insert(need_of(array, entry));
    }
  } else if (entry.place == Place::kFile) {
    if (entry.want_order == 0) entry.want_order = ++last_want_;
    wanted_[entry.want_order] = array;
  }
}

template <class Change>
void SpillTiers::change(ArrayId array, Change&& change) {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) return;
  leave_lists(array, found->second);
  change(found->second);
  join_lists(array, found->second);
}

void SpillTiers::add(ArrayId array, std::uint64_t bytes, const std::vector<Stamp>& readers) {
  const auto [place, is_new] = arrays_.try_emplace(array);
  SEAWAY_CHECK(is_new && bytes > 0, array, bytes);
  Entry& entry = place->second;
  entry.bytes = bytes;
  entry.use = ++last_use_;
  entry.readers.insert(readers.begin(), readers.end());
  counts_.memory_bytes += bytes;
  // Where writing has been given up, each array that comes is a reason to try it once more.
  if (failures_ >= limits_.tries_max) failures_ = limits_.tries_max - 1;
  join_lists(array, entry);
}

void SpillTiers::read_by(ArrayId array, Stamp stamp) {
  change(array, [stamp](Entry& entry) { entry.readers.insert(stamp); });
}

void SpillTiers::want(ArrayId array, Stamp stamp) {
  change(array, [this, stamp](Entry& entry) {
    entry.wanters.insert(stamp);
    entry.use = ++last_use_;
  });
}

void SpillTiers::let_go(ArrayId array, Stamp stamp) {
  change(array, [stamp](Entry& entry) {
    entry.readers.erase(stamp);
    entry.wanters.erase(stamp);
  });
}

void SpillTiers::remove(ArrayId array) {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) return;
  Entry& entry = found->second;
  leave_lists(array, entry);
  if (entry.place == Place::kFile) space_.give_back(entry.extents);
  if (entry.place == Place::kMemory) counts_.memory_bytes -= entry.bytes;
  arrays_.erase(found);
  counts_.file_bytes = space_.used_bytes();
  // What is under way has its memory and its place in the file until it ends.
  for (auto& [ticket, transfer] : transfers_) {
    if (transfer.array != array) continue;
    SEAWAY_PROBE("an array goes while it is on its way to the file or back");
    transfer.array = 0;
  }
}

std::optional<SpillTiers::Transfer> SpillTiers::next(std::uint64_t now_ns) {
  now_ns_ = now_ns;
  auto transfer = next_read();
  if (!transfer) transfer = next_write();
  if (!transfer) return {};
  transfer->ticket = ++last_ticket_;
  ++(transfer->is_write ? writes_ : reads_);
  transfers_[transfer->ticket] = *transfer;
  counts_.file_bytes = space_.used_bytes();
  return transfer;
}

std::optional<SpillTiers::Transfer> SpillTiers::begin_read(ArrayId array) {
  Transfer read;
  change(array, [&read](Entry& entry) {
    entry.place = Place::kReading;
    read.bytes = entry.bytes;
    read.extents = std::move(entry.extents);
  });
  read.array = array;
  counts_.memory_bytes += read.bytes;
  return read;
}

std::optional<SpillTiers::Transfer> SpillTiers::next_read() {
  if (!wanted_.empty()) {
    if (reads_ >= limits_.reads_max) return {};
    SEAWAY_PROBE("an array that is wanted now lies in the file");
    return begin_read(wanted_.begin()->second);
  }
  if (in_file_.empty() || reads_ >= limits_.reads_ahead_max) return {};
  const ArrayId first = in_file_.begin()->array;
  if (counts_.memory_bytes + arrays_.at(first).bytes > limits_.memory_bytes) return {};
  SEAWAY_PROBE("an array is read from the file before it is needed");
  return begin_read(first);
}

/// Who is needed last of all in memory, if that is later than `than`.
std::optional<ArrayId> SpillTiers::victim(const Need& than) const {
  if (in_memory_.empty() || *in_memory_.rbegin() <= than) return {};
  return in_memory_.rbegin()->array;
}

bool SpillTiers::may_write() const {
  return writes_ < limits_.writes_max && now_ns_ >= pause_until_ns_ &&
         failures_ < limits_.tries_max;
}

std::optional<SpillTiers::Transfer> SpillTiers::next_write() {
  if (!may_write()) return {};
  std::optional<ArrayId> chosen;
  if (bytes_to_be() > limits_.memory_bytes) chosen = victim({});
  if (!chosen && !in_file_.empty()) {
    // Whoever is needed later makes room for what is needed next.
    const Need next = *in_file_.begin();
    const std::uint64_t bytes = arrays_.at(next.array).bytes;
    if (bytes_to_be() + bytes > limits_.memory_bytes) chosen = victim(next);
    SEAWAY_PROBE_IF(chosen.has_value(), "an array makes room for one that is needed before");
  }
  if (!chosen) return {};
  std::vector<Extent> extents = space_.take(arrays_.at(*chosen).bytes);
  if (extents.empty()) return {};  // The file has no room for it.
  Transfer write;
  write.is_write = true;
  write.array = *chosen;
  write.extents = std::move(extents);
  change(*chosen, [&write](Entry& entry) {
    entry.place = Place::kWriting;
    write.bytes = entry.bytes;
  });
  writing_bytes_ += write.bytes;
  return write;
}

SpillTiers::Ended SpillTiers::end(std::uint64_t ticket, Outcome outcome, std::uint64_t now_ns) {
  const auto found = transfers_.find(ticket);
  SEAWAY_CHECK(found != transfers_.end(), ticket);
  Transfer transfer = std::move(found->second);
  transfers_.erase(found);
  --(transfer.is_write ? writes_ : reads_);
  if (transfer.is_write) writing_bytes_ -= transfer.bytes;
  counts_.failures += outcome == Outcome::kFailed;
  Ended ended{.array = transfer.array};
  if (transfer.is_write && outcome == Outcome::kOk) failures_ = 0;
  if (transfer.is_write && outcome == Outcome::kFailed) {
    ended.is_first_failure = failures_ == 0;
    pause_until_ns_ = now_ns + (limits_.pause_ns << std::min<std::size_t>(failures_++, 20));
  }
  const bool is_ok = outcome == Outcome::kOk;
  (transfer.is_write ? counts_.writes : counts_.reads) += is_ok;
  bool stays_in_file = false, stays_in_memory = false;
  if (transfer.array != 0) {
    change(transfer.array, [&](Entry& entry) {
      const bool is_wanted = !entry.wanters.empty();
      if (transfer.is_write) {
        SEAWAY_PROBE_IF(is_wanted, "an array is wanted while it is written to the file");
        stays_in_file = is_ok && !is_wanted;
        stays_in_memory = !stays_in_file;
      } else {
        stays_in_memory = is_ok;
        ++(is_wanted ? counts_.reads_waited : counts_.reads_ahead);
      }
      entry.place = stays_in_file ? Place::kFile : Place::kMemory;
      if (stays_in_file) entry.extents = transfer.extents;
      ended.place = stays_in_file || stays_in_memory ? entry.place : Place::kNowhere;
    });
    if (ended.place == Place::kNowhere) {
      leave_lists(transfer.array, arrays_.at(transfer.array));
      arrays_.erase(transfer.array);
    }
  }
  if (!stays_in_memory) counts_.memory_bytes -= transfer.bytes;
  if (!stays_in_file) space_.give_back(transfer.extents);
  counts_.file_bytes = space_.used_bytes();
  return ended;
}

std::optional<std::uint64_t> SpillTiers::resume_ns() const {
  const bool waits = failures_ > 0 && failures_ < limits_.tries_max && writes_ == 0;
  if (!waits || bytes_to_be() <= limits_.memory_bytes || in_memory_.empty()) return {};
  if (pause_until_ns_ <= now_ns_) return {};  // It is not the pause that it waits for.
  return pause_until_ns_;
}

SpillTiers::Place SpillTiers::place_of(ArrayId array) const {
  const auto found = arrays_.find(array);
  return found == arrays_.end() ? Place::kNowhere : found->second.place;
}

}  // namespace seaway::store
