// The search for an order: operations are tried one after the other, and taken back when stuck.

#include "demos/support/linearizability.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace seaway::demos {
namespace {

using Kind = Operation::Kind;

/// The value after `operation`, if it can see what it saw on `value`.
bool apply(const Operation& operation, std::int64_t& value) {
  // What was never answered may have had any answer.
  const bool is_open = operation.end == Operation::kNever;
  switch (operation.kind) {
    case Kind::kGet:
      return is_open || operation.result == value;
    case Kind::kPut:
      value = operation.value;
      return true;
    case Kind::kSwap:
      const bool is_swapped = value == operation.expected;
      if (is_swapped) value = operation.value;
      return is_open || is_swapped == (operation.result != 0);
  }
  return false;
}

/// The operations of one key, and which of them have been put in order so far.
class Search {
 public:
  /// `operations` as they were asked, those without an answer last.
  explicit Search(std::vector<Operation> operations) : operations_(std::move(operations)) {
    // The calls and the answers in the order of their times; among the first calls of the list, up
    // to the first answer, is the operation that comes next.
    std::vector<std::pair<std::uint64_t, std::size_t>> times;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      times.emplace_back(operations_[i].begin, 2 * i + kCall);
      times.emplace_back(operations_[i].end, 2 * i + kAnswer);
      unanswered_ += operations_[i].end != Operation::kNever;
    }
    std::sort(times.begin(), times.end());
    next_.resize(times.size() + 1);
    previous_.resize(times.size() + 1);
    std::size_t last = head();
    for (const auto& [time, entry] : times) {
      next_[last] = entry;
      previous_[entry] = last;
      last = entry;
    }
    next_[last] = head();
    previous_[head()] = last;
  }

  /// True when each operation that was answered has its place.
  bool run() {
    std::int64_t value = 0;
    std::size_t entry = next_[head()];
    while (unanswered_ > 0) {
      // Past the end there are only operations without an answer, which need not have happened.
      const bool is_call = entry != head() && entry % 2 == kCall;
      if (is_call) {
        const std::size_t operation = entry / 2;
        std::int64_t after = value;
        if (apply(operations_[operation], after) && is_new(operation, after)) {
          steps_.push_back({operation, value});
          value = after;
          take(operation);
          if (steps_.size() > longest_.size()) remember();
          entry = next_[head()];
        } else {
          entry = next_[entry];
        }
        continue;
      }
      // An answer whose operation has no place yet: the last choice was wrong.
      if (steps_.size() >= longest_.size()) stuck_ = entry == head() ? stuck_ : entry / 2;
      if (steps_.empty()) return false;
      const Step step = steps_.back();
      steps_.pop_back();
      value = step.value_before;
      put_back(step.operation);
      entry = next_[2 * step.operation + kCall];
    }
    return true;
  }

  std::string to_string() const {
    std::string text = std::to_string(longest_.size()) + " of " +
                       std::to_string(operations_.size()) + " operations can be put in order";
    const std::size_t begin = longest_.size() > kShown ? longest_.size() - kShown : 0;
    if (begin > 0) text += ", the last of them";
    for (std::size_t i = begin; i < longest_.size(); ++i) {
      text += "\n  " + demos::to_string(operations_[longest_[i]]);
    }
    return text + "\nand no order goes on to\n  " + demos::to_string(operations_[stuck_]);
  }

 private:
  struct Step {
    std::size_t operation = 0;
    std::int64_t value_before = 0;
  };
  static constexpr std::size_t kCall = 0, kAnswer = 1, kShown = 8;

  std::size_t head() const { return 2 * operations_.size(); }

  /// Lowe: what was once tried from the same place with the same value leads nowhere again.
  bool is_new(std::size_t operation, std::int64_t after) {
    add(operation);
    std::vector<std::uint64_t> place = {static_cast<std::uint64_t>(after), first_};
    place.insert(place.end(), beyond_.begin(), beyond_.end());
    remove(operation);
    return tried_.insert(std::move(place)).second;
  }
  void add(std::size_t operation) {
    beyond_.insert(operation);
    while (beyond_.erase(first_) > 0) ++first_;
  }
  void remove(std::size_t operation) {
    for (; first_ > operation; --first_) beyond_.insert(first_ - 1);
    beyond_.erase(operation);
  }
  void unlink(std::size_t entry) {
    next_[previous_[entry]] = next_[entry];
    previous_[next_[entry]] = previous_[entry];
  }
  void link(std::size_t entry) { next_[previous_[entry]] = previous_[next_[entry]] = entry; }
  void take(std::size_t operation) {
    add(operation);
    unanswered_ -= operations_[operation].end != Operation::kNever;
    unlink(2 * operation + kCall);
    unlink(2 * operation + kAnswer);
  }
  /// In the opposite order of take(), so that the links are those from before.
  void put_back(std::size_t operation) {
    link(2 * operation + kAnswer);
    link(2 * operation + kCall);
    unanswered_ += operations_[operation].end != Operation::kNever;
    remove(operation);
  }
  void remember() {
    longest_.clear();
    for (const Step& step : steps_) longest_.push_back(step.operation);
  }

  const std::vector<Operation> operations_;
  // A list of entries by their numbers: twice an operation's, plus one for its answer.
  std::vector<std::size_t> next_, previous_;
  std::size_t unanswered_ = 0;  // Operations with an answer that have no place yet.
  std::vector<Step> steps_;
  // Those in steps_: all before first_, and the few in beyond_. What is tried stays small so.
  std::size_t first_ = 0;
  std::set<std::size_t> beyond_;
  std::set<std::vector<std::uint64_t>> tried_;
  std::vector<std::size_t> longest_;
  std::size_t stuck_ = 0;
};

}  // namespace

std::string to_string(const Operation& operation) {
  std::string text = "client " + std::to_string(operation.client) + ": ";
  const std::string key = "key " + std::to_string(operation.key);
  switch (operation.kind) {
    case Kind::kGet:
      text += "get " + key;
      break;
    case Kind::kPut:
      text += "put " + key + " to " + std::to_string(operation.value);
      break;
    case Kind::kSwap:
      text += "swap " + key + " from " + std::to_string(operation.expected) + " to " +
              std::to_string(operation.value);
      break;
  }
  const std::string begin = " [" + std::to_string(operation.begin) + ", ";
  if (operation.end == Operation::kNever) return text + ", never answered" + begin + "..]";
  if (operation.kind != Kind::kPut) text += " = " + std::to_string(operation.result);
  return text + begin + std::to_string(operation.end) + "]";
}

std::size_t History::begin(Operation operation) {
  std::lock_guard guard(mutex_);
  operation.begin = ++now_;
  operation.end = Operation::kNever;
  operations_.push_back(operation);
  return operations_.size() - 1;
}

void History::end(std::size_t number, std::int64_t result) {
  std::lock_guard guard(mutex_);
  operations_.at(number).end = ++now_;
  operations_[number].result = result;
}

std::vector<Operation> History::operations() const {
  std::lock_guard guard(mutex_);
  return operations_;
}

Status check_linearizable(std::span<const Operation> history) {
  std::map<std::uint64_t, std::vector<Operation>> keys;
  for (const Operation& operation : history) keys[operation.key].push_back(operation);
  for (auto& [key, operations] : keys) {
    std::stable_sort(operations.begin(), operations.end(), [](const auto& a, const auto& b) {
      const bool is_open_a = a.end == Operation::kNever, is_open_b = b.end == Operation::kNever;
      return is_open_a != is_open_b ? is_open_b : a.begin < b.begin;
    });
    Search search(std::move(operations));
    if (!search.run()) {
      return {StatusCode::kDataCorruption, "the history of key " + std::to_string(key) +
                                               " is not linearizable: " + search.to_string()};
    }
  }
  return {};
}

}  // namespace seaway::demos
