// Reading the counters: totals, differences, text and JSON.

#include "events/metrics.hpp"

#include "base/check.hpp"

namespace seaway::events {
namespace {

/// Calls visit(name, member) for each plain counter, in the order in which people read them.
template <class Visit>
void for_each_counter(Visit&& visit) {
  visit("runs.submitted", &Metrics::runs_submitted);
  visit("runs.ok", &Metrics::runs_ok);
  visit("runs.failed", &Metrics::runs_failed);
  visit("runs.cancelled", &Metrics::runs_cancelled);
  visit("gangs.run", &Metrics::gangs_run);
  visit("gangs.skipped", &Metrics::gangs_skipped);
  visit("bytes.between_islands", &Metrics::bytes_between_islands);
  visit("bytes.within_islands", &Metrics::bytes_within_islands);
  visit("bytes.spilled", &Metrics::bytes_spilled);
  visit("bytes.loaded", &Metrics::bytes_loaded);
  visit("bytes.uploaded", &Metrics::bytes_uploaded);
  visit("bytes.fetched", &Metrics::bytes_fetched);
}

std::string message_name(Metrics::MessageName name, std::size_t kind) {
  return "messages." + (name ? std::string(name(kind)) : std::to_string(kind));
}

std::string payload_name(std::size_t role) {
  return "payload_bytes." + std::string(to_string(static_cast<Role>(role)));
}

}  // namespace

std::string_view to_string(Role role) {
  constexpr std::string_view kNames[kRoles] = {"client", "controller", "island", "host"};
  const auto index = static_cast<std::size_t>(role);
  return index < kRoles ? kNames[index] : "unknown";
}

std::uint64_t Metrics::messages_total() const {
  std::uint64_t total = 0;
  for (const std::uint64_t count : messages) total += count;
  return total;
}

Metrics Metrics::since(const Metrics& earlier) const {
  Metrics difference = *this;
  const auto subtract = [](std::uint64_t& now, std::uint64_t before) {
    SEAWAY_CHECK(before <= now, before, now);
    now -= before;
  };
  for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
    subtract(difference.messages[kind], earlier.messages[kind]);
  }
  for (std::size_t role = 0; role < kRoles; ++role) {
    subtract(difference.payload_bytes[role], earlier.payload_bytes[role]);
  }
  for_each_counter([&](const char*, std::uint64_t Metrics::*counter) {
    subtract(difference.*counter, earlier.*counter);
  });
  return difference;
}

std::string Metrics::to_string(MessageName name) const {
  std::string text;
  const auto line = [&](const std::string& metric, std::uint64_t value) {
    if (value != 0) text += metric + " " + std::to_string(value) + "\n";
  };
  for_each_counter(
      [&](const char* metric, std::uint64_t Metrics::*counter) { line(metric, this->*counter); });
  for (std::size_t role = 0; role < kRoles; ++role) line(payload_name(role), payload_bytes[role]);
  for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
    line(message_name(name, kind), messages[kind]);
  }
  return text;
}

std::string Metrics::to_json_lines(MessageName name) const {
  std::string text;
  const auto line = [&](const std::string& metric, std::uint64_t value) {
    text += "{\"metric\":\"" + metric + "\",\"value\":" + std::to_string(value) + "}\n";
  };
  for_each_counter(
      [&](const char* metric, std::uint64_t Metrics::*counter) { line(metric, this->*counter); });
  for (std::size_t role = 0; role < kRoles; ++role) line(payload_name(role), payload_bytes[role]);
  for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
    if (messages[kind] != 0) line(message_name(name, kind), messages[kind]);
  }
  return text;
}

}  // namespace seaway::events
