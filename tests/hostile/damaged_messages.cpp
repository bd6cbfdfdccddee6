// damaged_messages [--flips N] [--kind KIND]... [--seed N] [--first N] [--seconds S]: every kind of
// message that a client, a host or an annex sends to another role is damaged, N times each, and no
// third role notices.
//
//   --flips N      damaged messages of each kind; default 20
//   --kind KIND    only this one, such as "host>island:dones"; may be repeated
//   --first N      seeds count from here
//   --seed N       with --kind: one world, which prints each message that it sends
//   --seconds S    ends after so long, and says which kinds have too few; SIGTERM ends it, too
//
// Messages that their receiver refuses as it reads them end a session and nothing else: 3 % of them
// are sent (column `sent`), the rest only counted (column `refused`). See refusals.hpp.
//
// Each world is a process of its own: one that ends early is an effect. Ends with a table of kinds
// and `N flips, N effects`; exits with 1 if there were effects, or if a kind could not be sent.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hostile/damaged_world.hpp"

namespace {

/// More than any honest allocation of these worlds: a number of a message has asked for it.
constexpr std::size_t kAllocationMax = std::size_t{64} << 20;
constexpr std::size_t kMemoryMax = std::size_t{4} << 30;
constexpr unsigned kCpuSecondsMax = 120;  // Of one world.

volatile std::sig_atomic_t is_to_end = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (bytes > kAllocationMax) {
    std::fprintf(stderr, "allocates %zu bytes at once\n", bytes);
    std::abort();
  }
  void* const made = alignment <= alignof(std::max_align_t)
                         ? std::malloc(bytes)
                         : std::aligned_alloc(alignment, (bytes + alignment - 1) & -alignment);
  if (!made) {
    std::fprintf(stderr, "memory is exhausted\n");
    std::abort();
  }
  return made;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes == 0 ? 1 : bytes, 1); }
void* operator new[](std::size_t bytes) { return allocate(bytes == 0 ? 1 : bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace seaway::hostile {
namespace {

constexpr std::uint64_t kProbesOfWorld = 1'000;
constexpr std::uint64_t kDiscoveries = 12;  // Worlds without damage, which show the kinds.
constexpr std::size_t kPrintedOfEffect = 3;
/// Worlds in a row that send none.
constexpr std::uint64_t kEmptyMax = 100;

struct Wanted {
  std::uint64_t flips = 20, first = 1, seconds = 0;
  std::optional<std::uint64_t> seed;
  std::vector<MessageKind> kinds;
};

struct Counts {
  std::uint64_t flips = 0, refused = 0, refused_sent = 0, decoded = 0, taken = 0, effects = 0,
                worlds = 0;
  std::uint64_t empty = 0;  // Worlds since the last that sent one.
};

/// What a world's process says, line by line: a letter, a blank, and the rest.
void say(std::FILE* out, char what, const std::string& text) {
  std::fprintf(out, "%c %s\n", what, text.c_str());
  std::fflush(out);
}

[[noreturn]] void be_world(int output, std::uint64_t seed, const std::optional<MessageKind>& kind,
                           std::uint64_t probes) {
  dup2(output, STDERR_FILENO);
  const rlimit memory{kMemoryMax, kMemoryMax}, time{kCpuSecondsMax, kCpuSecondsMax}, core{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_CORE, &core);
  std::FILE* const out = fdopen(output, "w");
  {
    DamagedWorld::Report report;
    report.sends = [out](const std::string& what) { say(out, 'S', what); };
    report.refused = [out] { std::fputs("R\n", out); };
    report.fate = [out](Fate fate) { say(out, 'F', std::to_string(static_cast<int>(fate))); };
    report.effect = [out](const std::string& what) { say(out, 'E', what); };
    std::set<MessageKind> seen;
    report.seen = [out, &seen](const MessageKind& one, const DamagedWorld::Pair&) {
      if (seen.insert(one).second) say(out, 'K', to_string(one));
    };
    std::set<DamagedWorld::Pair> pairs;
    if (kind) pairs = DamagedWorld::pairs_of(seed, *kind);
    if (!kind || !pairs.empty()) DamagedWorld(seed, kind, pairs, std::move(report)).run(probes);
  }
  say(out, 'D', "done");
  std::_Exit(0);
}

/// Without its numbers: what is equal then is one mistake, most likely.
std::string signature(const std::string& effect) {
  std::string made;
  for (const char each : effect) {
    const bool is_digit = each >= '0' && each <= '9';
    if (!is_digit) made += each;
    if (is_digit && (made.empty() || made.back() != '#')) made += '#';
  }
  return made.substr(0, 160);
}

class Search {
 public:
  explicit Search(Wanted wanted) : wanted_(std::move(wanted)) {}

  int run() {
    for (const MessageKind& kind : wanted_.kinds) counts_[kind];
    if (wanted_.kinds.empty()) discover();
    std::uint64_t seed = wanted_.seed.value_or(wanted_.first);
    do {
      for (auto& [kind, counts] : counts_) {
        if (is_late()) break;
        if (!is_open(counts)) continue;
        run_world(seed++, kind, counts);
      }
    } while (!wanted_.seed && !is_late() && has_open());
    return print();
  }

 private:
  /// The controller and the schedulers decide what all others do: nobody can go on without them.
  static bool is_looked_at(const MessageKind& kind) {
    return kind.from != actor::Role::kController && kind.from != actor::Role::kIsland;
  }
  bool is_open(const Counts& counts) const {
    return counts.flips < wanted_.flips && counts.empty < kEmptyMax;
  }
  bool has_open() const {
    for (const auto& [kind, counts] : counts_) {
      if (is_open(counts)) return true;
    }
    return false;
  }
  bool is_late() const {
    const auto so_far = std::chrono::steady_clock::now() - begin_;
    return is_to_end != 0 ||
           (wanted_.seconds > 0 && so_far > std::chrono::seconds(wanted_.seconds));
  }

  void discover() {
    for (std::uint64_t seed = 1; seed <= kDiscoveries && !is_late(); ++seed) {
      Counts counts;
      run_world(seed, std::nullopt, counts);
      unharmed_ += counts.effects;
    }
  }

  void run_world(std::uint64_t seed, const std::optional<MessageKind>& kind, Counts& counts) {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) std::abort();
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      close(pipe_ends[0]);
      const std::uint64_t left = wanted_.seed ? kProbesOfWorld : wanted_.flips - counts.flips;
      be_world(pipe_ends[1], seed, kind, std::min(kProbesOfWorld, left));
    }
    close(pipe_ends[1]);
    std::FILE* const in = fdopen(pipe_ends[0], "r");
    const std::string name = kind ? to_string(*kind) : "no damage";
    const std::string world = name + ", seed " + std::to_string(seed);
    std::string last, said;
    bool is_done = false, is_sent = false;
    std::set<std::string> effects;  // One world repeats itself.
    const std::uint64_t before = counts.flips;
    ++counts.worlds;
    char* line = nullptr;
    std::size_t room = 0;
    while (getline(&line, &room, in) > 0) {
      std::string text(line);
      while (!text.empty() && text.back() == '\n') text.pop_back();
      if (wanted_.seed) std::printf("%s\n", text.c_str());
      const char what = text == "R" || (text.size() > 1 && text[1] == ' ') ? text[0] : ' ';
      const std::string rest = text.size() > 2 ? text.substr(2) : "";
      switch (what) {
        case 'S':
          ++counts.flips;
          is_sent = true;
          last = rest;
          break;
        case 'R':
          ++counts.flips;
          ++counts.refused;
          break;
        case 'F':
          is_sent = false;
          (rest == "0" ? counts.refused_sent : rest == "1" ? counts.decoded : counts.taken)++;
          break;
        case 'E':
          if (effects.insert(signature(rest)).second) note(rest, world + ", " + last, counts);
          break;
        case 'K': {
          MessageKind seen;
          if (parse(rest, seen) && is_looked_at(seen)) counts_[seen];
          break;
        }
        case 'D':
          is_done = true;
          break;
        default:
          if (said.size() < 4096) said += text + " ";
      }
    }
    std::free(line);
    std::fclose(in);
    int status = 0;
    waitpid(child, &status, 0);
    if (is_sent) ++counts.taken;
    counts.empty = counts.flips == before ? counts.empty + 1 : 0;
    if (is_done) return;
    const std::string how = WIFSIGNALED(status)
                                ? std::string("signal ") + strsignal(WTERMSIG(status))
                                : "exit " + std::to_string(WEXITSTATUS(status));
    note("the process ends: " + how + ": " + said, world + ", " + last, counts);
  }

  void note(const std::string& effect, const std::string& where, Counts& counts) {
    ++counts.effects;
    auto& known = effects_[signature(effect)];
    ++known.count;
    known.kinds.insert(where.substr(0, where.find(',')));
    if (known.count > kPrintedOfEffect) return;
    std::printf("effect: %s\n    %s\n", effect.c_str(), where.c_str());
    std::fflush(stdout);
  }

  int print() const {
    std::printf("\n%-44s %8s %8s %8s %8s %8s %8s\n", "kind", "flips", "refused", "sent", "decoded",
                "taken", "effects");
    Counts all;
    bool is_missing = false;
    for (const auto& [kind, counts] : counts_) {
      std::printf("%-44s %8lu %8lu %8lu %8lu %8lu %8lu%s\n", to_string(kind).c_str(), counts.flips,
                  counts.refused, counts.refused_sent, counts.decoded, counts.taken, counts.effects,
                  counts.flips < wanted_.flips && !wanted_.seed ? "  too few" : "");
      all.flips += counts.flips;
      all.effects += counts.effects;
      is_missing |= counts.empty == kEmptyMax;
    }
    if (!effects_.empty()) std::printf("\neffects:\n");
    for (const auto& [what, known] : effects_) {
      std::printf("%6lu  %s\n       ", known.count, what.c_str());
      std::size_t left = 6;
      for (const std::string& kind : known.kinds) {
        if (left-- == 0) break;
        std::printf(" %s", kind.c_str());
      }
      std::printf("%s\n", known.kinds.size() > 6 ? " .." : "");
    }
    all.effects += unharmed_;
    std::printf("%zu kinds, %lu flips, %lu effects\n", counts_.size(), all.flips, all.effects);
    return all.effects == 0 && !is_missing ? 0 : 1;
  }

  struct Known {
    std::uint64_t count = 0;
    std::set<std::string> kinds;
  };
  const Wanted wanted_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::map<MessageKind, Counts> counts_;
  std::map<std::string, Known> effects_;
  std::uint64_t unharmed_ = 0;  // Effects of worlds without damage.
};

int run(int argc, char** argv) {
  Wanted wanted;
  for (int at = 1; at < argc; at += 2) {
    const std::string flag = argv[at];
    const char* const value = at + 1 < argc ? argv[at + 1] : nullptr;
    if (!value) return std::fprintf(stderr, "%s needs a value\n", argv[at]), 2;
    const std::uint64_t number = std::strtoull(value, nullptr, 10);
    if (flag == "--flips") {
      wanted.flips = number;
    } else if (flag == "--first") {
      wanted.first = number;
    } else if (flag == "--seed") {
      wanted.seed = number;
    } else if (flag == "--seconds") {
      wanted.seconds = number;
    } else if (flag == "--kind") {
      MessageKind kind;
      if (!parse(value, kind)) return std::fprintf(stderr, "no kind: %s\n", value), 2;
      wanted.kinds.push_back(std::move(kind));
    } else {
      return std::fprintf(stderr, "unknown flag %s\n", argv[at]), 2;
    }
  }
  std::signal(SIGTERM, [](int) { is_to_end = 1; });
  return Search(std::move(wanted)).run();
}

}  // namespace
}  // namespace seaway::hostile

int main(int argc, char** argv) { return seaway::hostile::run(argc, argv); }
