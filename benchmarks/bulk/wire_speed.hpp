// How fast bytes come over connections for data, beside a bare socket, and what waits meanwhile.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace seaway::benchmarks {

/// One size, over and over: what is fetched from another process, and the same bytes over a bare
/// socket of TCP, one after the other. In microseconds, from the question to the last byte.
struct WireSpeed {
  std::vector<double> fetch_us, raw_us;
  std::uint64_t extra_bytes = 0;  // That the reader has needed beside the value's own.
};
/// `socket`: "tcp" or "tls". Each process stays on a core of its own. Empty when they do not meet.
/// Forks: not while other threads run.
WireSpeed wire_speed(const std::string& socket, std::uint64_t bytes, int runs);

/// Round trips of messages of 64 bytes between two processes, a thousand a second, in microseconds:
/// while nothing else happens, and while one fetches `bytes` from the other, again and again.
struct ControlDelay {
  std::vector<double> idle_us, busy_us;
  double bytes_per_second = 0;  // That were fetched meanwhile.
};
ControlDelay control_delay(const std::string& socket, std::uint64_t bytes, int messages);

}  // namespace seaway::benchmarks
