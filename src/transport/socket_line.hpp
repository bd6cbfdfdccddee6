// SocketLine: one connection of SocketWires: its stream, what waits to be written to it, its end.

#pragma once

#include <kj/async-io.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/caller.hpp"
#include "transport/caller_places.hpp"
#include "transport/read_scheduler.hpp"
#include "transport/socket_wires.hpp"

namespace seaway::transport {

/// One of however many there are.
class Counted {
 public:
  explicit Counted(std::size_t& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::size_t& count_;
};

/// Held by the tasks that use it: who drops a line says that it is over, and its tasks come to
/// their ends. So nothing is destroyed that is running.
struct SocketLine {
  static constexpr std::size_t kReadBytes = std::size_t{64} << 10;

  SocketLine(kj::Own<kj::AsyncIoStream> connected, Caller who, std::size_t& all_lines)
      : stream(kj::mv(connected)), caller(std::move(who)), counted(all_lines) {}

  /// Both directions end now, whatever still waits.
  void cut();
  /// The other end sees the end of what was written.
  void end_writing();
  /// The other end has hung up, without a look at what it has said before.
  bool has_gone() const;
  /// Waits to be written, behind what waits already.
  void push(std::vector<std::byte> bytes);

  kj::Own<kj::AsyncIoStream> stream;
  Caller caller;
  std::string channel;  // Of TLS.
  ProcessId peer = 0;
  bool is_over = false;       // Nothing of it is told any more.
  bool is_writing = false;    // The stream has what was taken from `unwritten`, or it will soon.
  bool is_gathering = false;  // That is: what its owner says until his turn ends.
  std::vector<std::vector<std::byte>> unwritten;
  std::size_t unwritten_bytes = 0;
  std::unique_ptr<std::byte[]> read_bytes;
  bool is_drained = false;  // Whatever comes is dropped; so is the line when it ends.
  const Counted counted;
  std::unique_ptr<CallerPlaces::Place> leaves;  // It is told why it is refused.
  /// Of a connection that another process has made; null: this one made it.
  std::shared_ptr<ReadScheduler::Reader> reader;
};

}  // namespace seaway::transport
