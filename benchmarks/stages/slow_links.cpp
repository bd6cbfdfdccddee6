// Pieces of bytes with the time at which they may go on, and a loop over all sockets.

#include "benchmarks/stages/slow_links.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "benchmarks/stages/overhearing.hpp"
#include "benchmarks/support/measure.hpp"

namespace seaway::benchmarks {
namespace {

using transport::ProcessId;

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr int kBacklog = 256;
constexpr std::size_t kEventsMax = 64;
constexpr std::uint64_t kLookNs = 1'000'000;

/// Closes it.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

Descriptor open_socket() {
  return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// False for a path that is too long.
bool name_of(const std::string& path, sockaddr_un& name) {
  name = {};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path)) return false;
  std::memcpy(name.sun_path, path.data(), path.size());
  return true;
}

struct Piece {
  std::uint64_t due_ns = 0;
  std::vector<std::byte> bytes;
  std::size_t written = 0;
  std::uint32_t depth = 0;       // Of its frames; 0: it ends none.
  std::uint64_t generation = 0;  // Of depths.
};

/// From one of the two ends to the other.
struct Way {
  std::deque<Piece> pieces;
  Overhearing ear;
  bool has_ended = false;  // Its sender says nothing more.
  bool is_over = false;    // And its reader knows.
};

struct Connection {
  Connection(Descriptor caller, Descriptor called) : ends{std::move(caller), std::move(called)} {}
  std::array<Descriptor, 2> ends;
  std::array<Way, 2> ways;  // From that end.

  /// The process at that end, as whoever called has said.
  std::optional<ProcessId> process(std::size_t end) const {
    const auto& talk = ways[0].ear.talk();
    if (!talk) return std::nullopt;
    return end == 0 ? talk->from : talk->to;
  }
};

struct Door {
  Descriptor listener;
  std::string process_path;
};

}  // namespace

class SlowLinks::Loop {
 public:
  Loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    watch(wake_.get(), EPOLLIN);
  }
  ~Loop() {
    is_over_ = true;
    const std::uint64_t one = 1;
    static_cast<void>(::write(wake_.get(), &one, sizeof(one)));
    if (thread_.joinable()) thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Status listen(const Place& place) {
    Descriptor listener = open_socket();
    sockaddr_un name;
    if (!name_of(place.path, name) ||
        ::bind(listener.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)) != 0 ||
        ::listen(listener.get(), kBacklog) != 0) {
      return resource_exhausted("cannot listen at " + place.path);
    }
    const int number = listener.get();
    doors_.emplace(number, Door{std::move(listener), place.process_path});
    watch(number, EPOLLIN);
    return {};
  }
  void start() {
    thread_ = std::thread([this] { run(); });
  }

  std::atomic<std::uint64_t> delay_ns = 0;
  std::atomic<std::uint64_t> last_frame_ns = 0;
  mutable std::mutex mutex;  // Of these two.
  std::uint64_t generation = 0;
  std::map<ProcessId, std::uint32_t> depths;

 private:
  void run() {
    ::prctl(PR_SET_TIMERSLACK, 1);
    std::array<epoll_event, kEventsMax> events;
    while (!is_over_) {
      wait();
      const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsMax, 0);
      for (int i = 0; i < count; ++i) look(events[static_cast<std::size_t>(i)].data.fd);
      pass_on_what_is_due();
    }
  }

  /// For something that happens, or until something is due.
  void wait() const {
    pollfd any{epoll_.get(), POLLIN, 0};
    if (due_.empty()) {
      ::ppoll(&any, 1, nullptr, nullptr);
      return;
    }
    const std::uint64_t time_ns = now_ns();
    const std::uint64_t due_ns = std::get<0>(*due_.begin());
    const std::uint64_t rest_ns = due_ns - std::min(due_ns, time_ns);
    const timespec rest{static_cast<time_t>(rest_ns / 1'000'000'000),
                        static_cast<long>(rest_ns % 1'000'000'000)};
    ::ppoll(&any, 1, &rest, nullptr);
  }

  /// Edges only: whoever is told reads, or writes, until there is no more.
  void watch(int descriptor, std::uint32_t events) {
    epoll_event event = {};
    event.events = events;
    event.data.fd = descriptor;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
  }

  void look(int descriptor) {
    if (const auto door = doors_.find(descriptor); door != doors_.end())
      return accept(door->second);
    const auto found = connections_.find(descriptor);
    if (found == connections_.end()) return;
    const std::shared_ptr<Connection> connection = found->second;
    const std::size_t end = descriptor == connection->ends[0].get() ? 0 : 1;
    if (read(connection, end) && write(*connection, 1 - end)) return;
    drop(*connection);
  }

  void accept(const Door& door) {
    for (;;) {
      Descriptor caller(
          ::accept4(door.listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (caller.get() < 0) return;
      Descriptor called = open_socket();
      sockaddr_un name;
      // He hears that nobody is there by the end of his connection.
      if (!name_of(door.process_path, name) ||
          ::connect(called.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)) != 0) {
        continue;
      }
      const auto connection = std::make_shared<Connection>(std::move(caller), std::move(called));
      for (const Descriptor& end : connection->ends) {
        connections_[end.get()] = connection;
        watch(end.get(), EPOLLIN | EPOLLOUT | EPOLLET);
      }
    }
  }

  /// All that is there; false when the connection broke.
  bool read(const std::shared_ptr<Connection>& connection, std::size_t end) {
    Way& way = connection->ways[end];
    while (!way.has_ended) {
      const ssize_t count = ::read(connection->ends[end].get(), room_.data(), room_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno == EAGAIN;
      Piece piece;
      piece.due_ns = now_ns() + delay_ns;
      // In their order, also when the delay has become less.
      if (!way.pieces.empty()) piece.due_ns = std::max(piece.due_ns, way.pieces.back().due_ns);
      way.has_ended = count == 0;
      const auto bytes = std::span(room_).first(static_cast<std::size_t>(count));
      piece.bytes.assign(bytes.begin(), bytes.end());
      if (way.ear.hear(bytes) > 0) count_sent(*connection, end, piece);
      due_.emplace(piece.due_ns, connection, end);
      way.pieces.push_back(std::move(piece));
    }
    return true;
  }

  void pass_on_what_is_due() {
    const std::uint64_t time_ns = now_ns();
    while (!due_.empty() && std::get<0>(*due_.begin()) <= time_ns) {
      const auto [due_ns, connection, end] = *due_.begin();
      due_.erase(due_.begin());
      if (!write(*connection, end)) drop(*connection);
    }
  }

  /// What is due of that end's; false when the connection broke, or is over.
  bool write(Connection& connection, std::size_t end) {
    Way& way = connection.ways[end];
    const int target = connection.ends[1 - end].get();
    const std::uint64_t time_ns = now_ns();
    while (!way.pieces.empty() && way.pieces.front().due_ns <= time_ns) {
      Piece& piece = way.pieces.front();
      if (piece.bytes.empty()) {
        ::shutdown(target, SHUT_WR);
        way.is_over = true;
      }
      // Before its reader can say what it has brought.
      if (piece.depth > 0) count_heard(connection, 1 - end, piece);
      while (piece.written < piece.bytes.size()) {
        const ssize_t count = ::send(target, piece.bytes.data() + piece.written,
                                     piece.bytes.size() - piece.written, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN;
        piece.written += static_cast<std::size_t>(count);
      }
      way.pieces.pop_front();
    }
    return !connection.ways[0].is_over || !connection.ways[1].is_over;
  }

  void drop(const Connection& connection) {
    // Its last bytes may still be due; they find no connection.
    for (const Descriptor& end : connection.ends) {
      ::shutdown(end.get(), SHUT_RDWR);
      connections_.erase(end.get());
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, end.get(), nullptr);
    }
  }

  void count_sent(const Connection& connection, std::size_t end, Piece& piece) {
    const auto process = connection.process(end);
    if (!process) return;
    last_frame_ns = now_ns();
    const std::lock_guard lock(mutex);
    piece.generation = generation;
    piece.depth = depths[*process] + 1;
  }
  void count_heard(const Connection& connection, std::size_t end, const Piece& piece) {
    last_frame_ns = now_ns();
    const std::lock_guard lock(mutex);
    if (piece.generation != generation) return;
    std::uint32_t& depth = depths[*connection.process(end)];
    depth = std::max(depth, piece.depth);
  }

  const Descriptor epoll_, wake_;
  std::atomic<bool> is_over_ = false;
  std::map<int, Door> doors_;
  std::map<int, std::shared_ptr<Connection>> connections_;  // By each end.
  std::set<std::tuple<std::uint64_t, std::shared_ptr<Connection>, std::size_t>> due_;
  std::vector<std::byte> room_ = std::vector<std::byte>(kReadBytes);
  std::thread thread_;  // All but what is public.
};

SlowLinks::SlowLinks(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
SlowLinks::~SlowLinks() = default;

Result<std::unique_ptr<SlowLinks>> SlowLinks::make(const std::vector<Place>& places) {
  auto loop = std::make_unique<Loop>();
  for (const Place& place : places) {
    if (Status status = loop->listen(place); !status.ok()) return status;
  }
  loop->start();
  return std::unique_ptr<SlowLinks>(new SlowLinks(std::move(loop)));
}

void SlowLinks::delay(std::uint64_t delay_ns) { loop_->delay_ns = delay_ns; }

void SlowLinks::begin_counting() {
  const std::lock_guard lock(loop_->mutex);
  ++loop_->generation;
  loop_->depths.clear();
}

std::uint32_t SlowLinks::depth_of(ProcessId process) const {
  const std::lock_guard lock(loop_->mutex);
  const auto found = loop_->depths.find(process);
  return found == loop_->depths.end() ? 0 : found->second;
}

Status SlowLinks::wait_for_quiet(std::uint64_t quiet_ns, double most_s) const {
  const std::uint64_t begin_ns = now_ns();
  const std::uint64_t until_ns = begin_ns + static_cast<std::uint64_t>(most_s * 1e9);
  for (std::uint64_t time_ns = begin_ns; time_ns < until_ns; time_ns = now_ns()) {
    if (time_ns >= std::max(begin_ns, loop_->last_frame_ns.load()) + quiet_ns) return {};
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLookNs));
  }
  return deadline_exceeded("frames went on for " + std::to_string(most_s) + " s without a pause");
}

}  // namespace seaway::benchmarks
