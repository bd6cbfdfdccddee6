// Bytes on their way between simulated processes.

#include "transport/simulated_wire.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace seaway::transport {
namespace {

constexpr std::size_t kRepeatable = 8;

std::uint64_t stream_of(std::uint64_t kind, ProcessId self, ProcessId peer) {
  return (kind << 48) ^ (std::uint64_t{self} << 24) ^ peer;
}

}  // namespace

SimulatedWires::End::End(std::uint64_t seed, ProcessId self, ProcessId peer, LinkOptions options)
    : link(options),
      latency(seed, stream_of(0x6c61, self, peer)),
      cut(seed, stream_of(0x6375, self, peer)),
      half_open(seed, stream_of(0x6861, self, peer)),
      flip(seed, stream_of(0x666c, self, peer)),
      repeat(seed, stream_of(0x7265, self, peer)),
      death(seed, stream_of(0x6465, self, peer)) {}

SimulatedWires::SimulatedWires(std::uint32_t processes, WireOptions options, const Clock& clock,
                               Schedule schedule)
    : processes_(processes),
      options_(options),
      clock_(clock),
      schedule_(std::move(schedule)),
      silent_(processes, false),
      is_here_(std::make_shared<bool>(true)) {
  SEAWAY_CHECK(options.latency_min_ns <= options.latency_max_ns);
  ends_.reserve(std::size_t{processes} * processes);
  for (ProcessId self = 0; self < processes; ++self) {
    for (ProcessId peer = 0; peer < processes; ++peer) {
      ends_.emplace_back(options.seed, self, peer, LinkOptions{0, options.bytes_per_second});
    }
  }
}

SimulatedWires::~SimulatedWires() { *is_here_ = false; }

void SimulatedWires::attach(ProcessId self, ProcessId peer, WirePort port) {
  End& own = end(self, peer);
  own.port = std::move(port);
  own.is_attached = true;
  own.is_open = own.is_dropped = false;
  silent_[self] = false;
}

void SimulatedWires::detach(ProcessId self, bool is_silent) {
  silent_[self] = is_silent;
  for (ProcessId peer = 0; peer < processes_; ++peer) {
    End& own = end(self, peer);
    // What the system has taken over already it perhaps still sends.
    own.is_dropped = own.death.chance(50);
    if (own.is_open && !is_silent) close(self, peer);
    own.is_attached = own.is_open = false;
    own.port = {};
    own.written.clear();
  }
}

/// When what leaves now arrives: after all that left before.
std::uint64_t SimulatedWires::arrival_ns(End& from, std::size_t bytes) {
  const std::uint64_t range_ns = options_.latency_max_ns - options_.latency_min_ns;
  // Most are fast and some are slow, as in real networks.
  const std::uint64_t extra_ns = from.latency.below(1 + from.latency.below(1 + range_ns));
  const std::uint64_t sent_ns = from.link.depart(clock_.now_ns(), bytes);
  from.last_arrival_ns =
      std::max(from.last_arrival_ns, sent_ns + options_.latency_min_ns + extra_ns);
  return from.last_arrival_ns;
}

void SimulatedWires::arrive(std::uint64_t at_ns, std::function<void()> work) {
  schedule_(at_ns, [here = is_here_, work = std::move(work)] {
    if (*here) work();
  });
}

void SimulatedWires::join(ProcessId self, ProcessId peer) {
  End& own = end(self, peer);
  End& other = end(peer, self);
  own.connection = other.connection = ++last_connection_;
  own.is_open = other.is_open = true;
  ++counts_.connections;
}

void SimulatedWires::connect(ProcessId self, ProcessId peer) {
  End& own = end(self, peer);
  End& other = end(peer, self);
  if (own.is_open) close(self, peer);
  const std::uint32_t connection = ++last_connection_;
  own.connection = connection;
  own.is_stuck = false;
  if (own.is_blocked || other.is_blocked || is_silent(peer)) return;
  arrive(arrival_ns(own, 0), [this, self, peer, connection] {
    End& asking = end(self, peer);
    End& asked = end(peer, self);
    // Whoever asks last is the one who counts.
    if (!asking.is_attached || asking.connection != connection || is_silent(peer)) return;
    if (!asked.is_attached) {
      return arrive(clock_.now_ns() + options_.latency_min_ns, [this, self, peer, connection] {
        End& refused = end(self, peer);
        if (refused.is_attached && refused.connection == connection) refused.port.on_refused();
      });
    }
    ++counts_.connections;
    const bool replaces = asked.is_open;
    asked.connection = connection;
    asked.is_open = asking.is_open = true;
    asked.is_stuck = false;
    if (replaces) asked.port.on_closed();
    asked.port.on_connected();
    if (asking.is_attached && asking.is_open && asking.connection == connection) {
      asking.port.on_connected();
    }
  });
}

void SimulatedWires::write(ProcessId self, ProcessId peer, std::vector<std::byte> bytes) {
  End& own = end(self, peer);
  if (!own.is_open || bytes.empty()) return;
  ++counts_.writes;
  counts_.bytes += bytes.size();
  const auto happens = [](RandomStream& random, std::uint32_t per_mille) {
    return random.below(1000) < per_mille;
  };
  // Each stream is drawn from once for each write, whatever the others say.
  const bool is_cut = happens(own.cut, faults_.cut);
  const bool is_half_open = happens(own.half_open, faults_.half_open);
  const bool is_flipped = happens(own.flip, faults_.flip);
  const bool is_repeated = happens(own.repeat, faults_.repeat);
  const std::vector<std::byte> clean = bytes;
  if (is_repeated && !own.written.empty()) {
    ++counts_.repeats;
    const auto& again = own.written[own.repeat.below(own.written.size())];
    bytes.insert(bytes.end(), again.begin(), again.end());
  }
  if (is_flipped) {
    ++counts_.flips;
    for (std::uint64_t i = own.flip.below(3) + 1; i > 0; --i) {
      bytes[own.flip.below(bytes.size())] ^= std::byte{1} << own.flip.below(8);
    }
  }
  if (is_cut) bytes.resize(own.cut.below(bytes.size()));
  own.written.push_back(clean);
  if (own.written.size() > kRepeatable) own.written.erase(own.written.begin());
  const std::uint64_t at_ns = arrival_ns(own, bytes.size());
  hash_ = mix64(hash_ ^ at_ns ^ (std::uint64_t{self} << 48) ^ (std::uint64_t{peer} << 56));
  for (const std::byte one : bytes) hash_ = hash_ * 31 + static_cast<std::uint64_t>(one);
  deliver(self, peer, std::move(bytes), at_ns);
  if (is_cut) {
    ++counts_.cuts;
    close_at(peer, self, own.connection, at_ns);
    close_at(self, peer, own.connection, clock_.now_ns());
  } else if (is_half_open) {
    ++counts_.half_opens;
    own.is_stuck = true;
    close_at(self, peer, own.connection, clock_.now_ns());
    if (options_.keepalive_ns > 0) {
      close_at(peer, self, own.connection, at_ns + options_.keepalive_ns);
    }
  }
}

void SimulatedWires::deliver(ProcessId self, ProcessId peer, std::vector<std::byte> bytes,
                             std::uint64_t at_ns) {
  End& own = end(self, peer);
  const bool is_lost = own.is_blocked || own.is_stuck || is_silent(peer);
  if (watch_) watch_(self, peer, bytes.size(), is_lost ? 0 : at_ns);
  if (is_lost) {
    // A stream with a hole: nothing behind it arrives either.
    own.is_stuck = true;
    ++counts_.lost;
    return;
  }
  arrive(at_ns, [this, self, peer, connection = own.connection, bytes = std::move(bytes)] {
    End& from = end(self, peer);
    End& to = end(peer, self);
    const bool is_of_the_dead = from.is_dropped && !from.is_open;
    if (!to.is_open || to.connection != connection || from.is_blocked || is_of_the_dead) {
      if (from.is_blocked) from.is_stuck = true;
      ++counts_.lost;
      return;
    }
    to.port.on_bytes(bytes);
  });
}

/// The end of `self` hears at `at_ns` that this connection is over, if it still has it.
void SimulatedWires::close_at(ProcessId self, ProcessId peer, std::uint32_t connection,
                              std::uint64_t at_ns) {
  arrive(at_ns, [this, self, peer, connection] {
    End& own = end(self, peer);
    if (!own.is_attached || !own.is_open || own.connection != connection) return;
    own.is_open = false;
    own.port.on_closed();
  });
}

void SimulatedWires::close(ProcessId self, ProcessId peer) {
  End& own = end(self, peer);
  if (!own.is_open) return;
  own.is_open = false;
  // A connection that lost something has lost this word, too.
  if (own.is_blocked || own.is_stuck || is_silent(peer)) return;
  close_at(peer, self, own.connection, arrival_ns(own, 0));
}

void SimulatedWires::forget(ProcessId self, ProcessId peer) {
  close(self, peer);
  End& own = end(self, peer);
  own.is_attached = false;
  own.port = {};
}

void SimulatedWires::block(ProcessId from, ProcessId to, bool is_blocked) {
  End& own = end(from, to);
  own.is_blocked = is_blocked;
  if (is_blocked) own.is_stuck = true;
}

}  // namespace seaway::transport
