// Counts by process, and the word of those that have outlived another one.

#include "client/shared_arrays.hpp"

#include <algorithm>

namespace seaway::client {

void SharedArrays::made(Holder by, ArrayId first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    ++arrays_[first + i].counts[by];
    held_[by].insert(first + i);
  }
}

void SharedArrays::grant(Holder from, Holder to, std::uint64_t number, ArrayId array) {
  Sender& sender = senders_[from];
  // It was imported before this was heard.
  if (sender.early.erase(number) > 0) return;
  const auto lost = lost_.find(to.silo);
  if (lost != lost_.end() && to.life != 0 && to.life <= lost->second) return;
  ++arrays_[array].grants;
  sender.grants[number] = {to, array};
}

void SharedArrays::import(Holder to, Holder from, std::uint64_t number, ArrayId array) {
  ++arrays_[array].counts[to];
  held_[to].insert(array);
  Sender& sender = senders_[from];
  if (!sender.grants.contains(number)) {
    sender.early[number] = to.silo;
    return;
  }
  // What was granted to the same receiver before, and has not come until now, does not come.
  std::vector<std::uint64_t> ended;
  for (const auto& [other, grant] : sender.grants) {
    if (other > number) break;
    const bool is_same = grant.to == to || (grant.to.silo == to.silo && grant.to.life == 0);
    if (is_same || other == number) ended.push_back(other);
  }
  for (const std::uint64_t other : ended) end_grant(sender.grants, other);
}

bool SharedArrays::drop(Holder holder, ArrayId array) {
  const auto entry = arrays_.find(array);
  if (entry == arrays_.end()) return false;
  const auto count = entry->second.counts.find(holder);
  if (count == entry->second.counts.end()) return false;
  if (--count->second == 0) {
    entry->second.counts.erase(count);
    held_[holder].erase(array);
    look(array);
  }
  return true;
}

void SharedArrays::lose(Holder holder, std::set<std::uint32_t> heirs) {
  for (auto& [lost, estate] : estates_) {
    if (estate.heirs.erase(holder.silo) > 0) estate.later.insert(holder);
  }
  heirs.erase(holder.silo);
  estates_[holder].heirs = std::move(heirs);
  bury_if_settled(holder);
}

void SharedArrays::settled(Holder lost, std::uint32_t heir) {
  const auto found = estates_.find(lost);
  if (found == estates_.end()) return;
  found->second.heirs.erase(heir);
  bury_if_settled(lost);
}

void SharedArrays::bury_if_settled(Holder holder) {
  const auto found = estates_.find(holder);
  if (found == estates_.end()) return;
  if (!found->second.heirs.empty() || !found->second.later.empty()) return;
  estates_.erase(found);
  bury(holder);
  std::vector<Holder> waited;
  for (auto& [lost, estate] : estates_) {
    if (estate.later.erase(holder) > 0) waited.push_back(lost);
  }
  for (const Holder& lost : waited) bury_if_settled(lost);
}

void SharedArrays::end_grant(std::map<std::uint64_t, Grant>& grants, std::uint64_t number) {
  const auto found = grants.find(number);
  const ArrayId array = found->second.array;
  grants.erase(found);
  --arrays_.find(array)->second.grants;
  look(array);
}

void SharedArrays::bury(Holder holder) {
  lost_[holder.silo] = std::max(lost_[holder.silo], holder.life);
  for (auto& [from, sender] : senders_) {
    std::vector<std::uint64_t> ended;
    for (const auto& [number, grant] : sender.grants) {
      const bool is_later = grant.to.life > holder.life;
      if (grant.to.silo == holder.silo && !is_later) ended.push_back(number);
    }
    for (const std::uint64_t number : ended) end_grant(sender.grants, number);
  }
  if (const auto sender = senders_.find(holder); sender != senders_.end()) {
    while (!sender->second.grants.empty()) {
      end_grant(sender->second.grants, sender->second.grants.begin()->first);
    }
    senders_.erase(sender);
  }
  const auto held = held_.find(holder);
  if (held == held_.end()) return;
  for (const ArrayId array : held->second) {
    arrays_.find(array)->second.counts.erase(holder);
    look(array);
  }
  held_.erase(held);
}

void SharedArrays::look(ArrayId array) {
  const auto found = arrays_.find(array);
  if (found->second.grants > 0 || !found->second.counts.empty()) return;
  arrays_.erase(found);
  released_.push_back(array);
}

}  // namespace seaway::client
