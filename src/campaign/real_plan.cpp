// One row of slots for each kind of fault: in each slot it happens once, at a drawn time.

#include "campaign/real_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/random.hpp"

namespace seaway::campaign {
namespace {

constexpr std::uint64_t kMs = 1'000'000, kSecond = 1'000'000'000;

constexpr std::array<std::string_view, static_cast<std::size_t>(kLastRealRole) + 1> kRoles = {
    "controller", "scheduler", "host", "client", "annex"};
constexpr std::array<std::string_view, static_cast<std::size_t>(kLastRealFault) + 1> kFaults = {
    "kill",   "again", "machine",  "loop",  "stop", "straggle", "isolate",   "deafen",
    "mute",   "sever", "swizzle",  "delay", "cut",  "reset",    "half-open", "lose",
    "replay", "flip",  "stranger", "flood", "disk", "memory",   "files"};

/// How often a kind comes, and how long it may take.
struct Habit {
  RealFault fault;
  double every_s;
  std::uint64_t least_ns, most_ns;
};
constexpr Habit kKills = {RealFault::kKill, 12, 0, 0};
constexpr std::array kOtherDeaths = {
    Habit{RealFault::kAgain, 40, 0, 0},
    Habit{RealFault::kMachine, 60, 0, 0},
    Habit{RealFault::kLoop, 120, 0, 0},
};
constexpr std::array kStops = {
    Habit{RealFault::kStop, 12, 50 * kMs, 4 * kSecond},
    Habit{RealFault::kStraggle, 30, 500 * kMs, 3 * kSecond},
};
constexpr std::array kLinks = {
    Habit{RealFault::kIsolate, 40, 100 * kMs, 4 * kSecond},
    Habit{RealFault::kDeafen, 60, 100 * kMs, 4 * kSecond},
    Habit{RealFault::kMute, 60, 100 * kMs, 4 * kSecond},
    Habit{RealFault::kSever, 40, 100 * kMs, 4 * kSecond},
    Habit{RealFault::kSwizzle, 20, 50 * kMs, 400 * kMs},
    Habit{RealFault::kDelay, 10, 500 * kMs, 3 * kSecond},
    Habit{RealFault::kCut, 10, 0, 0},
    Habit{RealFault::kReset, 12, 0, 0},
    Habit{RealFault::kHalfOpen, 30, 20 * kMs, 400 * kMs},
    Habit{RealFault::kLose, 12, 0, 0},
    Habit{RealFault::kReplay, 12, 0, 0},
    Habit{RealFault::kFlip, 3, 0, 0},
};
constexpr std::array kStrangers = {
    Habit{RealFault::kStranger, 10, 0, 0},
    Habit{RealFault::kFlood, 30, 500 * kMs, 2 * kSecond},
};
constexpr std::array kDisks = {Habit{RealFault::kDisk, 30, 200 * kMs, 2 * kSecond}};
constexpr std::array kLimits = {
    Habit{RealFault::kMemory, 60, 200 * kMs, 2 * kSecond},
    Habit{RealFault::kFiles, 30, 200 * kMs, 2 * kSecond},
};

/// Roles and islands of one plan.
class Drawer {
 public:
  explicit Drawer(const RealPlanOptions& options) : options_(options) {}

  void draw(const Habit& habit, std::optional<RealRole> role = std::nullopt) {
    const auto period_ns =
        static_cast<std::uint64_t>(habit.every_s * 1e9 / std::max(options_.pace, 1e-3));
    const std::uint64_t stream = static_cast<std::uint64_t>(habit.fault) * 16 +
                                 (role ? static_cast<std::uint64_t>(*role) + 1 : 0);
    for (std::uint64_t slot = 0; slot * period_ns < options_.duration_ns; ++slot) {
      RandomStream random(options_.seed, mix64(stream) + slot);
      RealEvent event;
      event.fault = habit.fault;
      event.at_ns = slot * period_ns + random.below(period_ns);
      if (habit.most_ns > 0) {
        event.for_ns = static_cast<std::uint64_t>(random.between(
            static_cast<std::int64_t>(habit.least_ns), static_cast<std::int64_t>(habit.most_ns)));
      }
      choose(event, role, random);
      if (event.at_ns >= options_.duration_ns) continue;
      event.round = static_cast<std::uint32_t>(event.at_ns / options_.round_ns);
      const std::uint64_t end_ns = (event.round + 1) * options_.round_ns;
      event.for_ns = std::min(event.for_ns, end_ns - event.at_ns);
      events.push_back(event);
    }
  }

  std::vector<RealEvent> events;

 private:
  std::uint32_t count(RealRole role) const {
    if (role == RealRole::kController) return 1;
    return role == RealRole::kClient ? options_.clients : options_.islands;
  }
  RealProcess one_of(RealRole role, RandomStream& random) const {
    RealProcess process{role, static_cast<std::uint32_t>(random.below(count(role)))};
    if (role == RealRole::kAnnex) {
      process.host = static_cast<std::uint32_t>(1 + random.below(options_.hosts - 1));
    }
    return process;
  }
  RealProcess anyone(RandomStream& random) const {
    return one_of(kDrawn[random.below(options_.hosts > 1 ? 5 : 4)], random);
  }
  RealProcess listener(RandomStream& random) const {
    const std::uint64_t drawn = random.below(options_.hosts > 1 ? 4 : 3);
    return one_of(drawn == 3 ? RealRole::kAnnex : kDrawn[drawn], random);
  }

  void choose(RealEvent& event, std::optional<RealRole> role, RandomStream& random) const {
    using enum RealFault;
    switch (event.fault) {
      case kKill:
        event.target = one_of(*role, random);
        return;
      case kAgain:
        event.target = one_of(RealRole::kHost, random);
        event.peer = listener(random);
        event.amount = random.below(500) * kMs;
        return;
      case kMachine:
      case kLoop:
      case kMemory:
        event.target = one_of(RealRole::kHost, random);
        return;
      case kDisk:
        event.target = {};
        return;
      case kStop:
      case kIsolate:
      case kDeafen:
      case kMute:
      case kSwizzle:
        event.target = anyone(random);
        return;
      case kFiles:
        event.target = listener(random);
        return;
      case kStraggle:
        event.target = listener(random);
        event.amount = (5 + random.below(75)) * kMs;
        return;
      case kStranger:
        event.target = listener(random);
        event.amount = random.next() >> 1;  // What it says.
        return;
      case kFlood:
        event.target = listener(random);
        event.amount = 16 + random.below(240);
        return;
      case kDelay:
        choose_link(event, random);
        event.amount = (1 + random.below(300)) * kMs;
        return;
      case kFlip:
        choose_link(event, random);
        event.amount = std::uint64_t{1} << random.below(14);
        return;
      case kSever:
      case kCut:
      case kReset:
      case kHalfOpen:
      case kLose:
      case kReplay:
        choose_link(event, random);
        event.amount = random.below(std::uint64_t{1} << random.below(15)) + 1;
        return;
    }
  }
  void choose_link(RealEvent& event, RandomStream& random) const {
    event.target = listener(random);
    event.peer = anyone(random);
    // Nobody talks with itself, and clients not with one another.
    while (*event.peer == event.target) event.peer = anyone(random);
    event.from_peer = random.chance(50);
  }

  static constexpr RealRole kDrawn[] = {RealRole::kController, RealRole::kScheduler,
                                        RealRole::kHost, RealRole::kClient, RealRole::kAnnex};

  const RealPlanOptions& options_;
};

std::string seconds(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f s", static_cast<double>(ns) / 1e9);
  return text;
}

/// Takes `before` and a number off the front.
bool take_number(char before, std::string_view& text, std::uint32_t& number) {
  if (!text.starts_with(before)) return false;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return error == std::errc();
}

}  // namespace

std::string_view to_string(RealRole role) { return kRoles[static_cast<std::size_t>(role)]; }
std::string_view to_string(RealFault fault) { return kFaults[static_cast<std::size_t>(fault)]; }

std::string to_string(const RealProcess& process) {
  const std::string role(to_string(process.role));
  if (process.role == RealRole::kController) return role;
  const std::string host = process.host == 0 ? "" : "." + std::to_string(process.host);
  return role + " " + std::to_string(process.index) + host;
}

std::optional<RealProcess> parse_real_process(std::string_view text) {
  if (text == kRoles[0]) return RealProcess{};
  for (std::size_t role = 1; role < kRoles.size(); ++role) {
    if (!text.starts_with(kRoles[role])) continue;
    std::string_view rest = text.substr(kRoles[role].size());
    RealProcess process{static_cast<RealRole>(role)};
    const bool is_annex = process.role == RealRole::kAnnex;
    const bool is_read = take_number(' ', rest, process.index) &&
                         (!is_annex || take_number('.', rest, process.host)) && rest.empty();
    if (is_read && is_annex == (process.host > 0)) return process;
  }
  return std::nullopt;
}

std::optional<RealFault> parse_real_fault(std::string_view text) {
  const auto found = std::find(kFaults.begin(), kFaults.end(), text);
  if (found == kFaults.end()) return std::nullopt;
  return static_cast<RealFault>(found - kFaults.begin());
}

bool is_of_links(RealFault fault) {
  return fault >= RealFault::kIsolate && fault <= RealFault::kFlip;
}

bool is_of_partition(RealFault fault) {
  return fault >= RealFault::kIsolate && fault <= RealFault::kSwizzle;
}

bool is_of_death(RealFault fault) { return fault <= RealFault::kLoop; }

bool is_of_loss(RealFault fault) {
  using enum RealFault;
  switch (fault) {
    case kKill:
    case kAgain:
    case kMachine:
    case kLoop:
    case kStop:
    case kIsolate:
    case kDeafen:
    case kMute:
    case kSever:
    case kMemory:
    case kFiles:
      return true;
    default:
      return false;
  }
}

bool is_of_shortage(RealFault fault) {
  return fault == RealFault::kMemory || fault == RealFault::kFiles;
}

std::string to_string(const RealEvent& event) {
  std::string text = seconds(event.at_ns) + ": " + std::string(to_string(event.fault));
  const bool is_link = is_of_links(event.fault) && event.peer;
  text += (is_link ? " between " : " of ") + to_string(event.target);
  if (event.peer) text += (is_link ? " and " : ", then of ") + to_string(*event.peer);
  if (event.amount > 0) text += ", amount " + std::to_string(event.amount);
  if (is_link) text += event.from_peer ? ", of what the second says" : ", of what the first says";
  if (event.for_ns > 0) text += ", for " + seconds(event.for_ns);
  return text;
}

std::vector<RealEvent> draw_real_plan(const RealPlanOptions& options) {
  Drawer drawer(options);
  for (const RealRole role : options.kills) {
    if (role != RealRole::kAnnex || options.hosts > 1) drawer.draw(kKills, role);
  }
  if (options.kills.contains(RealRole::kHost)) {
    for (const Habit& habit : kOtherDeaths) drawer.draw(habit);
  }
  if (options.stops) {
    for (const Habit& habit : kStops) drawer.draw(habit);
    for (const Habit& habit : kLimits) drawer.draw(habit);
  }
  for (const Habit& habit : kLinks) {
    const bool is_made = options.net == RealNet::kProxy ||
                         (options.net == RealNet::kNetns && is_of_partition(habit.fault));
    if (is_made) drawer.draw(habit);
  }
  if (options.strangers) {
    for (const Habit& habit : kStrangers) drawer.draw(habit);
  }
  if (options.disk) {
    for (const Habit& habit : kDisks) drawer.draw(habit);
  }
  std::stable_sort(drawer.events.begin(), drawer.events.end(),
                   [](const RealEvent& a, const RealEvent& b) { return a.at_ns < b.at_ns; });
  return std::move(drawer.events);
}

}  // namespace seaway::campaign
