// ProgramCache: programs that are made once for each key, while they are among the latest ones.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace seaway::client {

struct ProgramRecord;

/// Keeps the programs of at most kProgramsMax keys. Guarded by the session that uses it: what
/// insert() and take_all() return is destroyed without its locks.
class ProgramCache {
 public:
  using Key = std::vector<std::uint64_t>;
  using Programs = std::vector<std::shared_ptr<ProgramRecord>>;
  static constexpr std::size_t kProgramsMax = 256;

  /// Null: none.
  std::shared_ptr<ProgramRecord> find(const Key& key) const {
    const auto found = programs_.find(key);
    return found == programs_.end() ? nullptr : found->second;
  }
  /// Requires that find() returns null. Returns what had to go for it.
  std::shared_ptr<ProgramRecord> insert(const Key& key, std::shared_ptr<ProgramRecord> program) {
    std::shared_ptr<ProgramRecord> oldest;
    if (order_.size() == kProgramsMax) {
      oldest = std::move(programs_.extract(order_.front()).mapped());
      order_.pop_front();
    }
    programs_.emplace(key, std::move(program));
    order_.push_back(key);
    return oldest;
  }
  Programs take_all() {
    Programs all;
    for (auto& [key, program] : programs_) all.push_back(std::move(program));
    programs_.clear();
    order_.clear();
    return all;
  }

 private:
  std::map<Key, std::shared_ptr<ProgramRecord>> programs_;
  std::deque<Key> order_;
};

}  // namespace seaway::client
