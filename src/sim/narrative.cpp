// What matters, and how each kind of event reads.

#include "sim/narrative.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

namespace seaway::sim {
namespace {

using events::Event;
using events::EventKind;

/// The numbers that stand behind `word` in `text`.
std::vector<std::uint64_t> numbers_behind(std::string_view text, std::string_view word) {
  std::vector<std::uint64_t> numbers;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if (at > 0 && is_letter(text[at - 1])) continue;
    const std::size_t begin = at + word.size();
    if (begin >= text.size() || text[begin] != ' ') continue;
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data() + begin + 1, end, number).ec == std::errc()) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

bool is_of_run(EventKind kind) {
  switch (kind) {
    case EventKind::kSubmit:
    case EventKind::kResolve:
    case EventKind::kStamp:
    case EventKind::kLaunch:
    case EventKind::kCancel:
    case EventKind::kRerun:
      return true;
    default:
      return false;
  }
}

bool is_of_array(EventKind kind) {
  switch (kind) {
    case EventKind::kArrayAllocate:
    case EventKind::kArrayFree:
    case EventKind::kArraySpill:
    case EventKind::kArrayLoad:
    case EventKind::kArrayPoison:
    case EventKind::kUpload:
    case EventKind::kFetch:
    case EventKind::kDamage:
      return true;
    default:
      return false;
  }
}

bool has_island(EventKind kind) {
  return kind != EventKind::kSubmit && kind != EventKind::kResolve && kind != EventKind::kStamp &&
         kind != EventKind::kRerun;
}

/// Sums that would crowd out what happened.
bool is_bookkeeping(EventKind kind) {
  return kind == EventKind::kMessage || kind == EventKind::kRoom;
}

/// How close an event is to the violation: 2, it names what that is about; 1, its island; 0.
int relevance(const Event& event, const Concern& concern) {
  if (event.stamp != 0 && concern.stamps.contains(event.stamp)) return 2;
  if (is_of_run(event.kind) && concern.runs.contains(event.object)) return 2;
  if (is_of_array(event.kind) && concern.arrays.contains(event.object)) return 2;
  const bool is_here = has_island(event.kind) && concern.islands.contains(event.island);
  const bool is_loss = event.kind == EventKind::kDeviceLost || event.kind == EventKind::kHostLost ||
                       event.kind == EventKind::kSchedulerLost ||
                       event.kind == EventKind::kIslandFailed;
  if (is_here && is_loss) return 2;
  return is_here ? 1 : 0;
}

std::string text(std::uint64_t number) { return std::to_string(number); }

std::string code_of(const Event& event) { return std::string(seaway::to_string(event.code)); }

std::string time_of(const Event& event) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.3f ms: ", static_cast<double>(event.time_ns) / 1e6);
  return digits;
}

std::string ms(std::uint64_t ns) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.3f ms", static_cast<double>(ns) / 1e6);
  return digits;
}

/// Who does what, without the time.
std::string sentence(const Event& event) {
  const std::string run = "run " + text(event.object);
  const std::string array = "array " + text(event.object);
  const std::string island = "island " + text(event.island);
  const std::string stamp = "stamp " + text(event.stamp);
  const std::string gang = "gang " + text(event.position) + " of " + stamp;
  const std::string edge = "edge " + text(event.position) + " of " + stamp;
  const std::string device = "device " + text(event.place) + " of " + island;
  const std::string peer = "island " + text(event.place);
  const std::string bytes = text(event.value) + " bytes";
  switch (event.kind) {
    case EventKind::kSubmit:
      return "a client of tenant " + text(event.tenant) + " submits " + run;
    case EventKind::kResolve:
      return "the client learns of " + run + ": " + code_of(event);
    case EventKind::kStamp:
      return "the controller gives " + run + " " + stamp;
    case EventKind::kLaunch:
      return island + " receives its part of " + run + ", " + stamp;
    case EventKind::kPrepare:
      return "the host of " + island + " prepares its part of " + stamp;
    case EventKind::kAdmit:
      return island + " admits its part of " + stamp + " and reserves " + bytes;
    case EventKind::kPlace:
      if (event.value == event.position + 1) {
        return island + " places gang number " + text(event.position) + " of its part of " + stamp;
      }
      return island + " places gangs number " + text(event.position) + " to " +
             text(event.value - 1) + " of its part of " + stamp;
    case EventKind::kGangStart:
      return island + " starts " + gang;
    case EventKind::kGangEnd:
      return island + " ends " + gang + ", begun at " + ms(event.value);
    case EventKind::kGangsEnd:
      return island + " ends gangs number " + text(event.position) + " to " +
             text(event.object - 1) + " of its part of " + stamp;
    case EventKind::kGangNoop:
      return island + " passes over " + gang + ": " + code_of(event);
    case EventKind::kArrayAllocate:
      return array + " gets " + bytes + " on each device of " + island + ", for " + gang;
    case EventKind::kArrayFree:
      return array + " gives back " + bytes + " on each device of " + island;
    case EventKind::kArraySpill:
      return array + " moves from the devices of " + island + " to its host";
    case EventKind::kArrayLoad:
      return array + " moves from the host of " + island + " to its devices";
    case EventKind::kArrayPoison:
      return array + " on " + island + " will never have a value: " + code_of(event);
    case EventKind::kSend:
      return island + " sends " + edge + " to " + peer + ", " + bytes;
    case EventKind::kReceive:
      return island + " has received " + edge + " from " + peer + ", " + bytes;
    case EventKind::kExists:
      return island + " hears that " + edge + " exists on " + peer;
    case EventKind::kFinished:
      return "the part of " + stamp + " on " + island + " is finished: " + code_of(event);
    case EventKind::kCancel:
      return island + " hears that " + run + ", " + stamp + ", is cancelled: " + code_of(event);
    case EventKind::kRoom:
      return device + " has " + bytes + " in use";
    case EventKind::kUpload:
      return "a client's " + array + " is in the host room of " + island + ", " + bytes;
    case EventKind::kFetch:
      return "a client reads " + array + " on " + island;
    case EventKind::kMessage:
      return text(event.value) + " messages of kind " + text(event.position) + " to role " +
             text(event.place);
    case EventKind::kDeviceLost:
      return device + " is lost, and its memory with it";
    case EventKind::kHostJoined:
      return "a new host joins as that of " + island + ", epoch " + text(event.value);
    case EventKind::kHostLost:
      return "the controller knows that the host of " + island + " is lost";
    case EventKind::kSchedulerLost:
      return "the controller knows that the scheduler of " + island + " is lost";
    case EventKind::kIslandFailed:
      return event.value == 0 ? island + ", which had failed, is used again"
                              : island + " has failed, and is left alone for " + ms(event.value);
    case EventKind::kView:
      return "the scheduler of " + island + " begins anew with " + text(event.object) +
             " parts of its host";
    case EventKind::kLaunchFailed:
      return device + " does not launch " + gang + ", for the " + text(event.value) + ". time";
    case EventKind::kGangGivenUp:
      return island + " gives up " + gang + ", which " + device + " keeps from ending";
    case EventKind::kGangLate:
      return gang + " on " + island + " ends after all, though it was given up";
    case EventKind::kStraggler:
      return device + " is late in " + gang + ": the others waited for " + ms(event.value);
    case EventKind::kRerun:
      return run + ", which had stamp " + text(event.value) +
             ", is to be run again: " + code_of(event);
    case EventKind::kDamage:
      return (event.object != 0 ? array : "value " + text(event.position) + " of " + stamp) +
             " is found to have changed on " + device;
    case EventKind::kMiscompute:
      return device + " gave two results for " + gang;
    case EventKind::kSpillWrite:
      return array +
             (event.code == StatusCode::kOk ? " goes to the file of the host of "
                                            : " cannot be written to the file of the host of ") +
             island;
    case EventKind::kSpillRead:
      return array +
             (event.code == StatusCode::kOk ? " comes back from the file of the host of "
                                            : " is lost in the file of the host of ") +
             island + (event.code == StatusCode::kOk ? "" : ": " + code_of(event));
  }
  return events::to_string(event);
}

}  // namespace

Concern concern_of(std::span<const Violation> violations, std::span<const Event> events) {
  Concern concern;
  for (const Violation& violation : violations) {
    const std::string_view text = violation.text;
    for (const std::uint64_t number : numbers_behind(text, "stamp")) concern.stamps.insert(number);
    for (const std::uint64_t number : numbers_behind(text, "run")) concern.runs.insert(number);
    for (const std::uint64_t number : numbers_behind(text, "array")) concern.arrays.insert(number);
    for (const std::uint64_t number : numbers_behind(text, "island")) {
      concern.islands.insert(static_cast<IslandId>(number));
    }
  }
  Concern whole = concern;
  for (const Event& event : events) {
    if (event.kind != EventKind::kStamp && event.kind != EventKind::kLaunch) continue;
    if (concern.stamps.contains(event.stamp)) whole.runs.insert(event.object);
    if (concern.runs.contains(event.object)) whole.stamps.insert(event.stamp);
  }
  return whole;
}

std::string tell(const Event& event) { return time_of(event) + sentence(event); }

std::string narrate(std::span<const Event> events, std::span<const Violation> violations,
                    std::size_t lines_max, std::uint64_t first_number) {
  const Concern concern = concern_of(violations, events);
  const int relevance_min = concern == Concern{} ? 0 : 1;
  std::vector<std::size_t> chosen;
  for (int wanted = 2; wanted >= relevance_min; --wanted) {
    for (std::size_t i = events.size(); i-- > 0 && chosen.size() < lines_max;) {
      if (is_bookkeeping(events[i].kind)) continue;
      if (relevance(events[i], concern) == wanted) chosen.push_back(i);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  std::string lines;
  for (const std::size_t i : chosen) {
    const std::string number = first_number > 0 ? "#" + std::to_string(first_number + i) + " " : "";
    lines += "    " + number + tell(events[i]) + "\n";
  }
  return lines;
}

}  // namespace seaway::sim
