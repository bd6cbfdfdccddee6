// Wires: connections between processes, as streams of bytes in both directions, which break.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace seaway::transport {

using ProcessId = std::uint32_t;

/// What one process hears of its connection to another one.
struct WirePort {
  std::function<void()> on_connected;
  std::function<void(std::span<const std::byte>)> on_bytes;
  std::function<void()> on_closed;
  /// Nobody is there, and the machine says so.
  std::function<void()> on_refused;
};

/// At most one connection between each two processes. Bytes of one direction arrive in their order,
/// or the connection ends. Ports are called from the owner's loop, never from within a call. `self`
/// is the process that calls: of real wires there is only one. Not thread-safe.
class Wires {
 public:
  virtual ~Wires() = default;

  /// `self` lives, and hears of its connections to `peer` through `port`, in the place of an
  /// earlier one.
  virtual void attach(ProcessId self, ProcessId peer, WirePort port) = 0;
  /// Begins a new connection in the place of an old one. Both ends hear of it, or `self` that it
  /// was refused, or nobody does.
  virtual void connect(ProcessId self, ProcessId peer) = 0;
  /// Without a connection it is lost.
  virtual void write(ProcessId self, ProcessId peer, std::vector<std::byte> bytes) = 0;
  /// `self` closes its end, and hears nothing more of it; the other one hears that it is closed.
  virtual void close(ProcessId self, ProcessId peer) = 0;
  /// Closes it, and takes the port back: as if `peer` had never been attached.
  virtual void forget(ProcessId self, ProcessId peer) = 0;
  /// After on_refused it goes on looking for `peer` by itself, until it is there or is closed.
  /// Otherwise a process that begins connects to all that are there.
  virtual bool goes_on_looking() const { return false; }
  /// After on_refused: whether `peer` is there, and does not let `self` in any more.
  virtual bool is_barred(ProcessId, ProcessId) const { return false; }
};

}  // namespace seaway::transport
