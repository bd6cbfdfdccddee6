// One loop over all sockets, a millisecond at a time.

#include "fault_proxy.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "benchmarks/support/measure.hpp"

namespace seaway::tools {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::size_t kWaitingBytesMax = std::size_t{8} << 20;
constexpr int kPollMs = 1, kAcceptsMax = 16;
constexpr std::uint64_t kHalfOpenNs = 300'000'000;

sockaddr_in address_of(const char* host, std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

int open_socket() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket;
}

}  // namespace

FaultProxy::FaultProxy(std::uint64_t seed, NameOf name_of)
    : name_of_(std::move(name_of)), draws_(seed, 0x70726f7879) {
  thread_ = std::thread([this] { run(); });
}

FaultProxy::~FaultProxy() {
  is_over_ = true;
  thread_.join();
  for (Line& line : lines_) end(line, false);
  for (const Listening& listening : listening_) ::close(listening.socket);
}

Status FaultProxy::listen(const std::string& name, std::uint16_t port) {
  const int socket = open_socket();
  const sockaddr_in here = address_of(kHost, port);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&here), sizeof(here)) != 0 ||
      ::listen(socket, 128) != 0) {
    ::close(socket);
    return resource_exhausted("cannot listen at " + std::string(kHost) + ":" +
                              std::to_string(port) + ": " + std::strerror(errno));
  }
  const std::lock_guard lock(mutex_);
  listening_.push_back({name, port, socket});
  return {};
}

void FaultProxy::hold(const Where& where, std::uint64_t for_ns, std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  rules_.push_back({where, true, 0, benchmarks::now_ns() + for_ns, id, false});
}

void FaultProxy::delay(const Where& where, std::uint64_t most_ns, std::uint64_t for_ns,
                       std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  rules_.push_back({where, false, most_ns, benchmarks::now_ns() + for_ns, id, false});
}

void FaultProxy::calm() {
  const std::lock_guard lock(mutex_);
  rules_.clear();
  for (Line& line : lines_) {
    for (Stream& stream : line.streams) {
      // One that is half open has lost bytes already, and can only end.
      std::erase_if(stream.blows, [](const Stream::Struck& one) { return one.until_ns == 0; });
      for (Piece& piece : stream.waiting) piece.due_ns = 0;
    }
  }
}

std::vector<std::uint64_t> FaultProxy::take_fired() {
  const std::lock_guard lock(mutex_);
  return std::exchange(fired_, {});
}

void FaultProxy::fire(Rule& rule) {
  if (!rule.has_fired) fired_.push_back(rule.id);
  rule.has_fired = true;
}

bool FaultProxy::strike(const Where& where, Blow blow, std::uint64_t bytes, std::uint64_t count,
                        std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  std::vector<Stream*> meant;
  for (Line& line : lines_) {
    for (int direction = 0; direction < 2; ++direction) {
      if (!line.is_over && is_meant(where, line, direction))
        meant.push_back(&line.streams[direction]);
    }
  }
  if (meant.empty()) return false;
  // Values are where most has passed, and only half of the flips are to meet a word of control.
  const bool is_of_values = blow == Blow::kFlip && draws_.below(2) == 0;
  Stream* const busiest =
      *std::max_element(meant.begin(), meant.end(),
                        [](const Stream* a, const Stream* b) { return a->passed < b->passed; });
  Stream& stream = is_of_values ? *busiest : *meant[draws_.below(meant.size())];
  stream.blows.push_back({blow, stream.passed + bytes, count, 0, id});
  return true;
}

FaultProxy::Counts FaultProxy::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

bool FaultProxy::is_meant(const Where& where, const Line& line, int direction) const {
  const std::string& speaker = direction == 0 ? line.caller : line.callee;
  const std::string& hearer = direction == 0 ? line.callee : line.caller;
  const bool is_said = where.says && speaker == where.one;
  const bool is_heard = where.hears && hearer == where.one;
  if (!is_said && !is_heard) return false;
  return where.other.empty() || (is_said ? hearer : speaker) == where.other;
}

bool FaultProxy::is_held(const Line& line, int direction, std::uint64_t now_ns) {
  bool is_any = false;
  for (Rule& rule : rules_) {
    if (!rule.holds || now_ns >= rule.until_ns || !is_meant(rule.where, line, direction)) continue;
    is_any = true;
    if (!line.streams[direction].waiting.empty()) fire(rule);
  }
  return is_any;
}

void FaultProxy::run() {
  while (!is_over_) {
    std::vector<pollfd> polls;
    {
      const std::lock_guard lock(mutex_);
      for (const Listening& listening : listening_) polls.push_back({listening.socket, POLLIN, 0});
      for (const Line& line : lines_) {
        for (const Stream& stream : line.streams) {
          const bool has_room = stream.waiting_bytes < kWaitingBytesMax && !stream.is_over;
          if (has_room) polls.push_back({stream.from, POLLIN, 0});
        }
      }
    }
    ::poll(polls.data(), polls.size(), kPollMs);
    const std::lock_guard lock(mutex_);
    const std::uint64_t now_ns = benchmarks::now_ns();
    std::erase_if(rules_, [now_ns](const Rule& rule) { return now_ns >= rule.until_ns; });
    for (const Listening& listening : listening_) accept(listening);
    for (Line& line : lines_) {
      for (int direction = 0; direction < 2 && !line.is_over; ++direction) {
        while (reads(line, direction, now_ns)) continue;
        if (!line.is_over) writes(line, direction, now_ns);
      }
      if (!line.is_over && line.streams[0].is_shut && line.streams[1].is_shut) end(line, false);
    }
    std::erase_if(lines_, [](const Line& line) { return line.is_over; });
  }
}

/// A few at a time: to find out who they are takes long, and others wait.
void FaultProxy::accept(const Listening& listening) {
  for (int i = 0; i < kAcceptsMax; ++i) {
    sockaddr_in caller = {};
    socklen_t size = sizeof(caller);
    const int near = ::accept4(listening.socket, reinterpret_cast<sockaddr*>(&caller), &size,
                               SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (near < 0) return;
    // Of whoever has waited for too long others may wait behind him.
    const auto name = name_of_(ntohs(caller.sin_port), listening.port);
    if (!name) {
      ::close(near);
      continue;
    }
    const int far = open_socket();
    const int on = 1;
    ::setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    const sockaddr_in there = address_of("127.0.0.1", listening.port);
    if (::connect(far, reinterpret_cast<const sockaddr*>(&there), sizeof(there)) != 0 &&
        errno != EINPROGRESS) {
      ::close(far);
      ::close(near);
      continue;
    }
    Line& line = lines_.emplace_back();
    line.caller = *name;
    line.callee = listening.name;
    line.streams[0].from = line.streams[1].to = near;
    line.streams[0].to = line.streams[1].from = far;
    ++counts_.connections;
  }
}

/// False: nothing more now.
bool FaultProxy::reads(Line& line, int direction, std::uint64_t now_ns) {
  Stream& stream = line.streams[direction];
  if (line.is_over || stream.is_over || stream.waiting_bytes >= kWaitingBytesMax) return false;
  // Most have nothing to say: room for them costs nothing, and is not cleared.
  std::array<char, kReadBytes> room;
  const ssize_t count = ::recv(stream.from, room.data(), room.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN)) return false;
  if (count < 0) {
    end(line, true);
    return false;
  }
  if (count == 0) {
    stream.is_over = true;
    return false;
  }
  std::vector<char> bytes(room.begin(), room.begin() + count);
  counts_.bytes += bytes.size();
  harm(line, stream, bytes, now_ns);
  if (line.is_over || bytes.empty()) return !line.is_over;
  std::uint64_t due_ns = now_ns;
  for (Rule& rule : rules_) {
    if (!rule.holds && is_meant(rule.where, line, direction)) {
      fire(rule);
      due_ns = std::max(due_ns, now_ns + draws_.below(rule.most_ns + 1));
    }
  }
  if (!stream.waiting.empty()) due_ns = std::max(due_ns, stream.waiting.back().due_ns);
  stream.waiting_bytes += bytes.size();
  stream.last = bytes;
  stream.waiting.push_back({std::move(bytes), due_ns});
  return true;
}

/// What is to happen within `bytes`, which pass now.
void FaultProxy::harm(Line& line, Stream& stream, std::vector<char>& bytes, std::uint64_t now_ns) {
  const std::uint64_t begin = stream.passed;
  stream.passed += bytes.size();
  for (auto one = stream.blows.begin(); one != stream.blows.end();) {
    if (one->at >= stream.passed) {
      ++one;
      continue;
    }
    const std::size_t at = one->at > begin ? static_cast<std::size_t>(one->at - begin) : 0;
    if (one->until_ns == 0) fired_.push_back(one->id);
    switch (one->blow) {
      case Blow::kCut:
      case Blow::kReset: {
        // What came before still passes, as far as there is room.
        const auto part = std::min(at, bytes.size());
        if (stream.waiting.empty()) {
          static_cast<void>(::send(stream.to, bytes.data(), part, MSG_NOSIGNAL));
        }
        return end(line, one->blow == Blow::kReset);
      }
      case Blow::kHalfOpen:
        if (one->until_ns == 0) one->until_ns = now_ns + kHalfOpenNs;
        counts_.lost += bytes.size();
        bytes.clear();
        if (now_ns >= one->until_ns) return end(line, false);
        return;
      case Blow::kLose: {
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at, bytes.size()));
        const auto lost =
            std::min<std::uint64_t>(one->count, static_cast<std::uint64_t>(bytes.end() - first));
        counts_.lost += lost;
        bytes.erase(first, first + static_cast<std::ptrdiff_t>(lost));
        break;
      }
      case Blow::kReplay:
        counts_.replayed += stream.last.size();
        bytes.insert(bytes.end(), stream.last.begin(), stream.last.end());
        break;
      case Blow::kFlip:
        for (std::size_t i = std::min(at, bytes.size()); i < bytes.size() && one->count > 0; ++i) {
          bytes[i] = static_cast<char>(bytes[i] ^ (1 << draws_.below(8)));
          --one->count;
          ++counts_.flipped;
        }
        if (one->count > 0) {
          ++one;
          continue;
        }
        break;
    }
    one = stream.blows.erase(one);
  }
}

void FaultProxy::writes(Line& line, int direction, std::uint64_t now_ns) {
  Stream& stream = line.streams[direction];
  if (is_held(line, direction, now_ns)) return;
  for (Stream::Struck& one : stream.blows) {
    if (one.blow == Blow::kHalfOpen && one.until_ns > 0 && now_ns >= one.until_ns) {
      return end(line, false);
    }
  }
  while (!stream.waiting.empty() && stream.waiting.front().due_ns <= now_ns) {
    const Piece& piece = stream.waiting.front();
    const ssize_t count = ::send(stream.to, piece.bytes.data() + stream.said,
                                 piece.bytes.size() - stream.said, MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN)) return;
    if (count < 0) return end(line, true);
    stream.said += static_cast<std::size_t>(count);
    stream.waiting_bytes -= static_cast<std::size_t>(count);
    if (stream.said < piece.bytes.size()) return;
    stream.waiting.pop_front();
    stream.said = 0;
  }
  if (stream.is_over && stream.waiting.empty() && !stream.is_shut) {
    ::shutdown(stream.to, SHUT_WR);
    stream.is_shut = true;
  }
}

void FaultProxy::end(Line& line, bool is_reset) {
  if (line.is_over) return;
  line.is_over = true;
  ++counts_.ended;
  for (const Stream& stream : line.streams) {
    // An end without a word: what was not read yet is lost, and the other end hears of an error.
    const linger now = {1, 0};
    if (is_reset) ::setsockopt(stream.from, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    ::close(stream.from);
  }
}

}  // namespace seaway::tools
