// Names of the event kinds and of what their fields mean.

#include "events/event.hpp"

namespace seaway::events {
namespace {

/// What the shared fields mean in one kind; null where the kind does not use the field.
struct Words {
  const char* kind;
  const char* object;
  const char* value;
  const char* position;
  const char* place;
};

constexpr Words kWords[kEventKinds] = {
    {"submit", "run", nullptr, nullptr, nullptr},
    {"resolve", "run", nullptr, nullptr, nullptr},
    {"stamp", "run", nullptr, nullptr, nullptr},
    {"launch", "run", nullptr, nullptr, nullptr},
    {"prepare", "plan", "newest", nullptr, nullptr},
    {"admit", nullptr, "bytes", nullptr, nullptr},
    {"place", nullptr, "last", "first", nullptr},
    {"gang_start", nullptr, nullptr, "position", "group"},
    {"gang_end", nullptr, "start_ns", "position", "group"},
    {"gangs_end", "last", "start_ns", "first", "group"},
    {"gang_noop", nullptr, nullptr, "position", "group"},
    {"array_allocate", "array", "bytes", "position", "group"},
    {"array_free", "array", "bytes", nullptr, "group"},
    {"array_spill", "array", "bytes", nullptr, "group"},
    {"array_load", "array", "bytes", nullptr, "group"},
    {"array_poison", "array", nullptr, nullptr, nullptr},
    {"send", nullptr, "bytes", "edge", "peer"},
    {"receive", nullptr, "bytes", "edge", "peer"},
    {"exists", nullptr, nullptr, "edge", "peer"},
    {"finished", nullptr, nullptr, nullptr, nullptr},
    {"cancel", "run", nullptr, nullptr, nullptr},
    {"room", "most", "bytes", nullptr, "device"},
    {"upload", "array", "bytes", nullptr, nullptr},
    {"fetch", "array", "bytes", nullptr, nullptr},
    {"message", nullptr, "count", "message", "role"},
    {"device_lost", nullptr, nullptr, nullptr, "device"},
    {"host_joined", nullptr, "epoch", nullptr, nullptr},
    {"host_lost", nullptr, nullptr, nullptr, nullptr},
    {"scheduler_lost", nullptr, nullptr, nullptr, nullptr},
    {"island_failed", nullptr, "for_ns", nullptr, nullptr},
    {"view", "parts", "number", nullptr, nullptr},
    {"launch_failed", "run", "times", "position", "device"},
    {"gang_given_up", "run", "start_ns", "position", "device"},
    {"gang_late", "run", "start_ns", "position", "device"},
    {"straggler", "run", "waited_ns", "position", "device"},
    {"rerun", "run", "stamp_before", nullptr, nullptr},
    {"damage", "array", nullptr, "value", "device"},
    {"miscompute", "run", nullptr, "position", "device"},
    {"spill_write", "array", "bytes", nullptr, nullptr},
    {"spill_read", "array", "bytes", nullptr, nullptr},
};

void append(std::string& text, const char* name, std::uint64_t number) {
  text += ' ';
  text += name;
  text += '=';
  text += std::to_string(number);
}

/// Kinds that belong to the controller or a client and not to an island.
bool has_island(EventKind kind) {
  return kind != EventKind::kSubmit && kind != EventKind::kResolve && kind != EventKind::kStamp &&
         kind != EventKind::kMessage && kind != EventKind::kRerun;
}

}  // namespace

std::string_view to_string(EventKind kind) {
  const auto index = static_cast<unsigned>(kind);
  return index < kEventKinds ? kWords[index].kind : "unknown";
}

std::string to_string(const Event& event) {
  std::string text(to_string(event.kind));
  text += " at " + std::to_string(event.time_ns) + " ns:";
  if (static_cast<unsigned>(event.kind) >= kEventKinds) return text;
  const Words& words = kWords[static_cast<unsigned>(event.kind)];
  if (has_island(event.kind)) append(text, "island", event.island);
  if (event.stamp != 0) append(text, "stamp", event.stamp);
  if (words.position) append(text, words.position, event.position);
  if (words.place) append(text, words.place, event.place);
  if (words.object) append(text, words.object, event.object);
  if (words.value) append(text, words.value, event.value);
  if (event.tenant != 0) append(text, "tenant", event.tenant);
  if (event.code != StatusCode::kOk) text += " code=" + std::string(seaway::to_string(event.code));
  return text;
}

}  // namespace seaway::events
