// Metrics: plain counters of one process, read by `status`, by tests and by benchmarks.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace seaway::events {

/// Who a message or a byte of payload passes through.
enum class Role : std::uint8_t { kClient, kController, kIsland, kHost };
constexpr std::size_t kRoles = 4;
/// "client", "controller", "island", "host".
std::string_view to_string(Role role);

/// Counters that only rise. A value: the difference of two is what happened between them. The
/// control thread alone writes it.
struct Metrics {
  /// Kinds of messages that are told apart: the numbers of the schema's union, from 0.
  static constexpr std::size_t kMessageKinds = 64;

  std::array<std::uint64_t, kMessageKinds> messages{};
  /// Bytes of array data that a role has read or written. The controller's stays 0, always.
  std::array<std::uint64_t, kRoles> payload_bytes{};
  std::uint64_t runs_submitted = 0, runs_ok = 0, runs_failed = 0, runs_cancelled = 0;
  std::uint64_t gangs_run = 0, gangs_skipped = 0;
  std::uint64_t bytes_between_islands = 0, bytes_within_islands = 0;
  std::uint64_t bytes_spilled = 0, bytes_loaded = 0, bytes_uploaded = 0, bytes_fetched = 0;

  /// Counts `count` messages of `kind`; kinds too large for the table share its last place.
  void count_message(std::size_t kind, std::uint64_t count = 1) {
    messages[kind < kMessageKinds ? kind : kMessageKinds - 1] += count;
  }
  void count_payload(Role role, std::uint64_t bytes) {
    payload_bytes[static_cast<std::size_t>(role)] += bytes;
  }
  std::uint64_t messages_total() const;

  /// Counter by counter; requires that `earlier` is an earlier value of the same counters.
  Metrics since(const Metrics& earlier) const;

  /// Names a kind of message for people.
  using MessageName = std::string_view (*)(std::size_t kind);
  /// One counter a line; counters that are 0 are left out. `name` may be null: numbers then.
  std::string to_string(MessageName name = nullptr) const;
  /// One JSON object a line, {"metric":..., "value":...}, all counters, of messages those not 0.
  std::string to_json_lines(MessageName name = nullptr) const;

  friend bool operator==(const Metrics&, const Metrics&) = default;
};

}  // namespace seaway::events
