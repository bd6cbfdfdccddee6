// explore: walks every state that a small world can come to, in whatever order things happen.

#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace seaway::exhaustive {

/// What explore() needs of a world. It is a value: each move is tried on a copy.
template <class World>
concept Explorable = requires(World world, const World& seen, const typename World::Move& move,
                              std::vector<typename World::Move>& moves) {
  /// What is fixed about it, in words.
  { seen.setting() } -> std::convertible_to<std::string>;
  /// Appends everything that may come next, always in the same order.
  world.moves(moves);
  world.take(move);
  /// What should never be, if the last move has brought it about; or empty.
  { seen.violation() } -> std::convertible_to<std::string>;
  /// Whether everything has come to its end. A world that has no move but faults, and has not, is
  /// stuck.
  { seen.is_done() } -> std::same_as<bool>;
  /// Equal for states with equal futures. Two states that differ share one with a chance of 2^-64.
  { seen.hash() } -> std::same_as<std::uint64_t>;
  /// Whether `move` may as well never come.
  { seen.is_fault(move) } -> std::same_as<bool>;
  /// `move` in a few words, and who waits for what.
  { seen.describe(move) } -> std::convertible_to<std::string>;
  { seen.to_string() } -> std::convertible_to<std::string>;
};

struct Limits {
  std::uint64_t states_max = 1'000'000;
};

/// All that was found in one world.
struct Exploration {
  std::uint64_t states = 0;   // That differ.
  std::uint64_t moves = 0;    // Tried, also those that led to a state that was known.
  std::uint64_t faults = 0;   // Of these, faults: each at another place.
  std::uint64_t ends = 0;     // States in which all has come to its end.
  std::uint64_t deepest = 0;  // Most moves in a row.
  bool complete = true;       // False: states_max was reached, and nothing is said of the rest.
  std::string failure;        // Empty, or the world, the moves that led there, and who waits.
};

/// While a world is explored: says what has been done in it, for whoever reports a crash.
class RunningStory {
 public:
  explicit RunningStory(std::function<std::string()> tell);
  ~RunningStory();
  RunningStory(const RunningStory&) = delete;
  RunningStory& operator=(const RunningStory&) = delete;

 private:
  const std::function<std::string()> tell_;
};
/// The moves of the world that is explored now, one a line; empty when there is none.
std::string story_so_far();

namespace exploring {

/// How a world is copied for the next move: those whose copies are dear say so themselves.
template <class World>
World fork(World& world) {
  if constexpr (requires { world.fork(); }) {
    return world.fork();
  } else {
    return world;
  }
}

/// What is wrong with a state, or empty.
template <class World>
std::string fault_of(const World& world, const std::vector<typename World::Move>& moves) {
  if (!world.violation().empty()) return "VIOLATION: " + world.violation();
  for (const auto& move : moves)
    if (!world.is_fault(move)) return {};
  return world.is_done() ? "" : "DEADLOCK";
}

template <class World>
std::string story_of(const World& world, const std::vector<std::string>& lines,
                     const std::string& end) {
  std::string story = world.setting();
  for (std::size_t i = 0; i < lines.size(); ++i)
    story += "  " + std::to_string(i + 1) + ". " + lines[i] + "\n";
  return story + end + "\n" + world.to_string();
}

/// The story with the fewest moves that ends in a violation or a deadlock; empty when none is
/// within the limits.
template <class World>
std::string shortest_story(const World& start, Limits limits) {
  using Move = typename World::Move;
  struct Step {
    std::size_t before = 0;
    std::string line;
  };
  struct Open {
    World world;
    std::size_t step = 0;
  };
  std::vector<Step> steps(1);
  std::deque<Open> open;
  std::unordered_set<std::uint64_t> seen{start.hash()};
  open.push_back({start, 0});
  std::vector<Move> moves, next;
  while (!open.empty() && seen.size() < limits.states_max) {
    Open now = std::move(open.front());
    open.pop_front();
    moves.clear();
    now.world.moves(moves);
    for (const Move& move : moves) {
      World after = now.world;
      const std::string line = after.describe(move);
      after.take(move);
      if (!seen.insert(after.hash()).second && after.violation().empty()) continue;
      steps.push_back({now.step, line});
      next.clear();
      if (after.violation().empty()) after.moves(next);
      if (const std::string fault = fault_of(after, next); !fault.empty()) {
        std::vector<std::string> lines;
        for (std::size_t at = steps.size() - 1; at != 0; at = steps[at].before)
          lines.insert(lines.begin(), steps[at].line);
        return story_of(after, lines, fault);
      }
      open.push_back({std::move(after), steps.size() - 1});
    }
  }
  return {};
}

}  // namespace exploring

/// Tries every move in every state that `start` can come to, depth first; a state that is known is
/// not entered again. Stops at the first that is stuck, violates something, or that a world of
/// finite work has come back to; then it looks for the shortest way to a failure. Each state of a
/// world whose copies are values costs a copy and one of the moves' work; memory is that of the
/// deepest path, and some 40 bytes a state.
template <Explorable World>
Exploration explore(World start, Limits limits = {}) {
  using Move = typename World::Move;
  struct Frame {
    World world;
    std::uint64_t hash = 0;
    std::vector<Move> moves;
    std::size_t next = 0;
  };
  Exploration found;
  std::unordered_map<std::uint64_t, bool> seen;  // Whether it is on the path now.
  std::vector<Frame> path;
  const World origin = start;
  const auto lines_so_far = [&path] {
    std::vector<std::string> lines;
    for (const Frame& frame : path)
      if (frame.next > 0) lines.push_back(frame.world.describe(frame.moves[frame.next - 1]));
    return lines;
  };
  const RunningStory running([&] { return exploring::story_of(origin, lines_so_far(), "CRASH"); });
  const auto fail = [&](const World& world, const std::string& fault) {
    found.failure = exploring::story_of(world, lines_so_far(), fault);
  };
  const auto enter = [&](World world, std::uint64_t hash) {
    ++found.states;
    path.push_back({std::move(world), hash, {}, 0});
    Frame& frame = path.back();
    found.deepest = std::max<std::uint64_t>(found.deepest, path.size() - 1);
    frame.world.moves(frame.moves);
    if (frame.world.is_done()) ++found.ends;
    const std::string fault = exploring::fault_of(frame.world, frame.moves);
    if (!fault.empty()) fail(frame.world, fault);
  };
  const std::uint64_t first = start.hash();
  seen[first] = true;
  enter(std::move(start), first);
  while (!path.empty() && found.failure.empty()) {
    Frame& frame = path.back();
    if (frame.next == frame.moves.size()) {
      seen[frame.hash] = false;
      path.pop_back();
      continue;
    }
    if (found.states >= limits.states_max) {
      found.complete = false;
      break;
    }
    World after = exploring::fork(frame.world);
    const Move move = frame.moves[frame.next++];
    after.take(move);
    ++found.moves;
    found.faults += frame.world.is_fault(move);
    if (!after.violation().empty()) {
      fail(after, exploring::fault_of(after, {}));
      continue;
    }
    const std::uint64_t hash = after.hash();
    const auto [state, is_new] = seen.emplace(hash, true);
    if (is_new) {
      enter(std::move(after), hash);
    } else if (state->second) {
      fail(after, "CIRCLE: this state was there before, so it may go on for ever");
    }
  }
  if (found.failure.empty()) return found;
  const std::string shortest = exploring::shortest_story(origin, limits);
  if (!shortest.empty()) found.failure = shortest;
  return found;
}

}  // namespace seaway::exhaustive
