// One thread, one epoll, and whatever its links have to do.

#include "transport/data_lane.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "base/check.hpp"

namespace seaway::transport {
namespace {

/// What one link moves before the others have their turn.
constexpr std::uint64_t kTurnBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kLookNs = 50'000'000;
constexpr std::uint64_t kFirstPauseNs = 10'000'000;
constexpr int kNice = 10;
/// To sleep and to be woken takes as long on some machines: within a value it looks so long first.
constexpr std::uint64_t kSpinNs = 50'000;
/// Within one machine. What waits there is to be in the caches when it is read; between machines
/// the system finds out by itself how much is under way.
constexpr int kNearBufferBytes = 1 << 20;

bool is_within_machine(int socket) {
  sockaddr_storage here = {}, there = {};
  socklen_t size = sizeof(here);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&here), &size) != 0) return false;
  size = sizeof(there);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&there), &size) != 0) return false;
  if (here.ss_family != there.ss_family) return false;
  if (here.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(here).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(there).sin_addr.s_addr;
  }
  return here.ss_family == AF_INET6 &&
         IN6_ARE_ADDR_EQUAL(&reinterpret_cast<const sockaddr_in6&>(here).sin6_addr,
                            &reinterpret_cast<const sockaddr_in6&>(there).sin6_addr);
}

/// A connection that breaks without a word is given up by the system, too.
void prepare(int socket, std::uint64_t silence_ns) {
  const int on = 1, silence_ms = static_cast<int>(silence_ns / 1'000'000), pause_s = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &pause_s, sizeof(pause_s));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &pause_s, sizeof(pause_s));
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof(silence_ms));
  if (!is_within_machine(socket)) return;
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &kNearBufferBytes, sizeof(kNearBufferBytes));
}

}  // namespace

DataLane::DataLane(const Clock& clock, Options options, Calls calls, Descriptor bell,
                   Descriptor poll)
    : clock_(clock),
      options_(options),
      calls_(std::move(calls)),
      bell_(std::move(bell)),
      poll_(std::move(poll)) {}

Result<std::unique_ptr<DataLane>> DataLane::make(const Clock& clock, Options options, Calls calls) {
  const auto missing = [](const std::string& what) {
    return resource_exhausted("this process cannot move values: " + what +
                              "; end others, or let it open more files (ulimit -n)");
  };
  Descriptor bell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!bell.has_value()) return missing(std::string("eventfd: ") + std::strerror(errno));
  Descriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  if (!poll.has_value()) return missing(std::string("epoll: ") + std::strerror(errno));
  epoll_event event = {};
  event.events = EPOLLIN;
  if (::epoll_ctl(poll.number(), EPOLL_CTL_ADD, bell.number(), &event) != 0) {
    return missing(std::string("epoll: ") + std::strerror(errno));
  }
  std::unique_ptr<DataLane> lane(
      new DataLane(clock, options, std::move(calls), std::move(bell), std::move(poll)));
  try {
    lane->thread_ = std::thread([own = lane.get()] { own->run(); });
  } catch (const std::system_error& error) {
    return missing(std::string("a thread: ") + error.what());
  }
  return lane;
}

DataLane::~DataLane() {
  if (!thread_.joinable()) return;
  tell([this] { is_closed_ = true; });
  thread_.join();
}

void DataLane::tell(std::function<void()> what) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = told_.empty();
    told_.push_back(std::move(what));
  }
  const std::uint64_t one = 1;
  if (is_first) static_cast<void>(!::write(bell_.number(), &one, sizeof(one)));
}

void DataLane::connected(DataPeer peer, std::unique_ptr<DataSocket> socket) {
  tell([this, peer, held = std::make_shared<std::unique_ptr<DataSocket>>(std::move(socket))] {
    Peer& its = peers_[peer];
    if (std::exchange(its.is_dialing, false) && std::exchange(its.had_link, true)) {
      ++counting_.reconnected;
    }
    its.pause_ns = 0;
    if (its.links.size() == options_.links_max) drop(peer, its, its.links.begin());
    DataLink& link = its.links.emplace_back(std::move(*held), [&its](DataKey key) {
      const auto found = its.offers.find(key);
      return found == its.offers.end() ? nullptr : found->second;
    });
    prepare(link.descriptor(), options_.give_up_ns);
    for (const auto& [tenant, weight] : weights_) link.set_weight(tenant, weight);
    epoll_event event = {};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = &link;
    if (::epoll_ctl(poll_.number(), EPOLL_CTL_ADD, link.descriptor(), &event) != 0) {
      its.failure = resource_exhausted(std::string("epoll: ") + std::strerror(errno));
      its.dial_ns = clock_.now_ns() + kFirstPauseNs;
      its.links.pop_back();
    }
    look_after(peer, its, clock_.now_ns());
  });
}

void DataLane::unreachable(DataPeer peer, Status why) {
  tell([this, peer, why = std::move(why)] {
    Peer& its = peers_[peer];
    its.is_dialing = false;
    its.failure = why;
    its.pause_ns = std::clamp(its.pause_ns * 2, kFirstPauseNs, options_.dial_ns_max);
    its.dial_ns = clock_.now_ns() + its.pause_ns;
  });
}

void DataLane::offer(DataPeer reader, DataKey key, std::shared_ptr<const DataSource> source) {
  tell([this, reader, key, source = std::move(source)]() mutable {
    peers_[reader].offers[key] = std::move(source);
  });
}

void DataLane::withdraw(DataPeer reader, DataKey key) {
  tell([this, reader, key] {
    Peer& peer = peers_[reader];
    peer.offers.erase(key);
    for (DataLink& link : peer.links) link.withdraw(key);
  });
}

void DataLane::fetch(DataPeer from, std::uint64_t ticket, DataFetch fetch) {
  tell([this, from, ticket, fetch = std::move(fetch)]() mutable {
    Peer& peer = peers_[from];
    Fetch& its = peer.fetches[ticket];
    its.fetch = std::move(fetch);
    its.begin_ns = clock_.now_ns();
    ++counting_.fetches;
    look_after(from, peer, its.begin_ns);
  });
}

void DataLane::cancel(DataPeer from, std::uint64_t ticket) {
  tell([this, from, ticket] {
    end(peers_[from], ticket, {StatusCode::kCancelled, "it is not wanted any more"});
  });
}

void DataLane::set_weight(std::uint32_t tenant, std::uint32_t weight) {
  tell([this, tenant, weight] {
    weights_[tenant] = weight;
    for (auto& [id, peer] : peers_) {
      for (DataLink& link : peer.links) link.set_weight(tenant, weight);
    }
  });
}

void DataLane::meet(DataPeer peer) {
  tell([this, peer] {
    Peer& its = peers_[peer];
    const bool has_link = std::any_of(its.links.begin(), its.links.end(),
                                      [](const DataLink& link) { return !link.has_ended(); });
    if (!has_link && !std::exchange(its.is_dialing, true)) calls_.dial(peer);
  });
}

void DataLane::forget(DataPeer peer) {
  tell([this, peer] {
    const auto found = peers_.find(peer);
    if (found == peers_.end()) return;
    while (!found->second.fetches.empty()) {
      end(found->second, found->second.fetches.begin()->first,
          {StatusCode::kCancelled, "the other process is lost"});
    }
    for (const DataLink& link : found->second.links) counting_.changed += link.changed();
    peers_.erase(found);
  });
}

DataPlane::Counts DataLane::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void DataLane::run() {
  pthread_setname_np(pthread_self(), "seaway-data");
  // Whoever plays a role on its core has his turn as soon as he wakes up, and it has what is left.
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice));
  for (;;) {
    wait();
    if (!take_told()) break;
    move();
    const std::uint64_t now_ns = clock_.now_ns();
    const bool looks = now_ns >= looked_ns_ + kLookNs;
    if (looks) looked_ns_ = now_ns;
    for (auto& [id, peer] : peers_) {
      reap(id, peer, now_ns);
      if (!looks) continue;
      look_after(id, peer, now_ns);
      give_up(id, peer, now_ns);
    }
    count();
  }
  peers_.clear();
}

bool DataLane::take_told() {
  std::deque<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex_);
    told.swap(told_);
  }
  for (const auto& what : told) what();
  return !is_closed_;
}

/// A turn for each link.
void DataLane::move() {
  is_busy_ = has_moved_ = false;
  for (auto& [id, peer] : peers_) {
    for (DataLink& link : peer.links) {
      is_busy_ = link.run(kTurnBytes) || is_busy_;
      has_moved_ = has_moved_ || link.is_within();
    }
  }
}

void DataLane::wait() {
  const auto waits = [](const auto& entry) { return !entry.second.fetches.empty(); };
  const bool has_fetches = std::any_of(peers_.begin(), peers_.end(), waits);
  std::array<epoll_event, 64> events;
  const int most_ms = is_busy_ ? 0 : has_fetches ? static_cast<int>(kLookNs / 1'000'000) : -1;
  const auto look = [&](int ms) {
    return ::epoll_wait(poll_.number(), events.data(), static_cast<int>(events.size()), ms);
  };
  int count = look(0);
  const std::uint64_t spins_ns = count == 0 && most_ms != 0 && has_moved_ ? kSpinNs : 0;
  if (spins_ns > 0) {
    const std::uint64_t until_ns = clock_.now_ns() + spins_ns;
    while (count == 0 && clock_.now_ns() < until_ns) count = look(0);
  }
  if (count == 0 && most_ms != 0) count = look(most_ms);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    auto* const link = static_cast<DataLink*>(event.data.ptr);
    if (!link) {
      std::uint64_t rings = 0;
      static_cast<void>(!::read(bell_.number(), &rings, sizeof(rings)));
      continue;
    }
    if (event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) link->readable();
    if (event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) link->writable();
  }
}

/// What has come over its links, and those that have ended.
void DataLane::reap(DataPeer id, Peer& peer, std::uint64_t now_ns) {
  for (auto next = peer.links.begin(); next != peer.links.end();) {
    const auto link = next++;
    const std::uint64_t received = link->take_received();
    if (received > 0) peer.heard_ns = now_ns;
    counting_.bytes += received;
    for (const DataLink::Ended& ended : link->take_ended()) {
      const auto found =
          std::find_if(peer.fetches.begin(), peer.fetches.end(),
                       [&ended](auto& entry) { return &entry.second.fetch == ended.fetch; });
      SEAWAY_CHECK(found != peer.fetches.end(), id);
      found->second.link = nullptr;
      if (!ended.is_gone) {
        end(peer, found->first, ended.status);
        continue;
      }
      found->second.again_ns = now_ns + kLookNs;
      peer.failure = ended.status;
    }
    counting_.extra_bytes = std::max(counting_.extra_bytes, link->extra_bytes());
    if (link->has_ended()) drop(id, peer, link);
  }
}

/// What was fetched over it goes on over another one.
void DataLane::drop(DataPeer id, Peer& peer, std::list<DataLink>::iterator link) {
  counting_.changed += link->changed();
  for (auto& [ticket, fetch] : peer.fetches) {
    if (fetch.link == &*link) fetch.link = nullptr;
  }
  peer.links.erase(link);
  look_after(id, peer, clock_.now_ns());
}

/// Fetches that wait for a connection get one, or the wish for one.
void DataLane::look_after(DataPeer id, Peer& peer, std::uint64_t now_ns) {
  const auto link = std::find_if(peer.links.begin(), peer.links.end(),
                                 [](const DataLink& it) { return !it.has_ended(); });
  for (auto& [ticket, fetch] : peer.fetches) {
    if (fetch.link || now_ns < fetch.again_ns) continue;
    if (link != peer.links.end()) {
      fetch.link = &*link;
      link->ask(fetch.fetch);
      is_busy_ = true;
    } else if (!peer.is_dialing && now_ns >= peer.dial_ns) {
      peer.is_dialing = true;
      calls_.dial(id);
    }
  }
}

/// Those that get nothing are asked for elsewhere, and end at last.
void DataLane::give_up(DataPeer id, Peer& peer, std::uint64_t now_ns) {
  std::vector<std::uint64_t> given_up;
  DataLink* silent = nullptr;
  for (const auto& [ticket, fetch] : peer.fetches) {
    const std::uint64_t since_ns = std::max(fetch.begin_ns, peer.heard_ns);
    if (now_ns >= since_ns + options_.give_up_ns) given_up.push_back(ticket);
    const std::uint64_t again_ns = std::max(since_ns, peer.replaced_ns) + options_.again_ns;
    if (fetch.link && now_ns >= again_ns) silent = fetch.link;
  }
  for (const std::uint64_t ticket : given_up) {
    const DataFetch& fetch = peer.fetches.at(ticket).fetch;
    const std::string why = peer.failure.ok() ? "" : "; " + peer.failure.to_string();
    end(peer, ticket,
        {StatusCode::kHostLost, "process " + std::to_string(id) + " has sent " +
                                    std::to_string(fetch.next) + " of " +
                                    std::to_string(fetch.end) + " bytes, and nothing more for " +
                                    std::to_string(options_.give_up_ns / 1'000'000) + " ms" + why});
  }
  if (!silent) return;
  peer.replaced_ns = now_ns;
  const auto link = std::find_if(peer.links.begin(), peer.links.end(),
                                 [silent](const DataLink& it) { return &it == silent; });
  drop(id, peer, link);
}

void DataLane::end(Peer& peer, std::uint64_t ticket, Status status) {
  const auto found = peer.fetches.find(ticket);
  if (found == peer.fetches.end()) return;
  if (found->second.link) found->second.link->stop(found->second.fetch);
  peer.fetches.erase(found);
  count();  // Whoever hears of it finds it counted.
  calls_.ended(ticket, std::move(status));
}

void DataLane::count() {
  const std::lock_guard lock(mutex_);
  counts_ = counting_;
}

}  // namespace seaway::transport
