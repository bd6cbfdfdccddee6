// Sockets by their addresses.

#include "transport/socket_address.hpp"

#include <kj/debug.h>
#include <kj/thread.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/address_text.hpp"
#include "transport/caller_places.hpp"
#include "transport/io_loop_state.hpp"
#include "transport/socket_stream.hpp"

namespace seaway::transport {
namespace {

constexpr int kBacklog = 256;
constexpr unsigned kAcceptedAtOnce = 16;  // Accepting costs little beside a handshake.
constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTcp = "tcp:";
constexpr std::string_view kTls = "tls:";
static_assert(kTcp.size() == kTls.size());

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  bool is_unix() const { return storage.ss_family == AF_UNIX; }
};

Status failure(const std::string& what, const std::string& address, int error) {
  const std::string text = "cannot " + what + " " + address + ": " + std::strerror(error);
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return {StatusCode::kPermissionDenied, text};
    case ENOENT:
    case ENOTDIR:
    case EADDRNOTAVAIL:
      return invalid_argument(text);
    default:
      return resource_exhausted(text);
  }
}

Status no_address(const std::string& address) {
  return invalid_argument(
      "\"" + address +
      "\" is no address; it is unix:PATH, tls:HOST:PORT or tcp:HOST:PORT, as in "
      "unix:/run/seaway/host0 and tls:10.0.0.7:4711");
}

Result<Address> unix_address(const std::string& address) {
  const std::string path = address.substr(kUnix.size());
  Address result;
  auto& name = reinterpret_cast<sockaddr_un&>(result.storage);
  if (path.empty() || path.find('\0') != std::string::npos) return no_address(address);
  if (path.size() >= sizeof(name.sun_path)) {
    return invalid_argument(address + " is too long: the path of a Unix socket has at most " +
                            std::to_string(sizeof(name.sun_path) - 1) +
                            " bytes; choose a shorter directory");
  }
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), path.size());
  result.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return result;
}

/// All that `address` stands for; with AI_NUMERICHOST in `flags`, without asking anybody.
Result<std::vector<Address>> tcp_addresses(const std::string& address, int flags) {
  std::string host;
  std::string port;
  if (!split_host(address, host, port)) return no_address(address);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return invalid_argument("cannot find " + address + ": " + ::gai_strerror(error));
  }
  std::vector<Address> all;
  for (const addrinfo* one = found; one; one = one->ai_next) {
    Address result;
    std::memcpy(&result.storage, one->ai_addr, one->ai_addrlen);
    result.size = one->ai_addrlen;
    all.push_back(result);
  }
  ::freeaddrinfo(found);
  return all;
}

std::string to_string(const Address& address) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  ::getnameinfo(address.get(), address.size, host, sizeof(host), port, sizeof(port),
                NI_NUMERICHOST | NI_NUMERICSERV);
  const bool is_long = address.storage.ss_family == AF_INET6;
  return std::string(kTcp) + (is_long ? "[" : "") + host + (is_long ? "]:" : ":") + port;
}

bool is_loopback(const Address& address) {
  if (address.storage.ss_family == AF_INET) {
    const auto& name = reinterpret_cast<const sockaddr_in&>(address.storage);
    return ntohl(name.sin_addr.s_addr) >> 24 == 127;
  }
  const auto& name = reinterpret_cast<const sockaddr_in6&>(address.storage);
  return address.storage.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&name.sin6_addr);
}

Status not_encrypted(const std::string& address) {
  return invalid_argument(address +
                          " is not encrypted, and not of this machine alone: name tls:HOST:PORT");
}

kj::AutoCloseFd open_socket(const Address& address) {
  return kj::AutoCloseFd(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void send_at_once(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/// What the system says of whoever is at the other end, who has `address`.
Caller caller_of(int descriptor, const Address& address) {
  Caller caller;
  if (address.storage.ss_family != AF_UNIX) {
    caller.name = to_string(address).substr(kTcp.size());
    caller.host = host_of(to_string(address));
    return caller;
  }
  ucred credentials = {};
  socklen_t size = sizeof(credentials);
  caller.is_local = true;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
    caller.user = credentials.uid;
    caller.process = static_cast<std::uint32_t>(credentials.pid);
    caller.is_own_user = credentials.uid == ::geteuid();
  }
  caller.name =
      "user " + std::to_string(caller.user) + ", process " + std::to_string(caller.process);
  return caller;
}

/// Whether the file of a Unix socket is a leftover; an error says what it is instead.
Status check_stale(const Address& address, const std::string& text) {
  struct stat file = {};
  const auto& name = reinterpret_cast<const sockaddr_un&>(address.storage);
  if (::lstat(name.sun_path, &file) == 0 && !S_ISSOCK(file.st_mode)) {
    return invalid_argument("cannot listen at " + text +
                            ": a file of that name exists and is no socket; choose another path");
  }
  const kj::AutoCloseFd probe = open_socket(address);
  if (probe.get() < 0) return failure("listen at", text, errno);
  if (::connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED) return {};
  return resource_exhausted("cannot listen at " + text +
                            ": another process listens there; end it, or choose another path");
}

kj::Promise<Dialed> dial_one(IoLoop& loop, const std::string& text, const Address& address) {
  const auto fail = [text](int error) {
    return Dialed{nullptr,
                  {StatusCode::kHostLost, "cannot reach " + text + ": " + std::strerror(error)},
                  error == ECONNREFUSED || error == ENOENT};
  };
  kj::AutoCloseFd descriptor = open_socket(address);
  if (descriptor.get() < 0) return fail(errno);
  if (!address.is_unix()) send_at_once(descriptor.get());
  const auto wrap = [&loop](kj::AutoCloseFd&& connected) {
    return Dialed{wrap_socket(loop, kj::mv(connected)), {}, false};
  };
  if (::connect(descriptor.get(), address.get(), address.size) == 0)
    return wrap(kj::mv(descriptor));
  if (errno != EINPROGRESS) return fail(errno);
  using Observer = kj::UnixEventPort::FdObserver;
  // In this order: an observer ends before what it observes.
  struct Attempt {
    kj::AutoCloseFd descriptor;
    kj::Own<Observer> observer;
  };
  auto attempt = kj::heap<Attempt>();
  attempt->observer =
      kj::heap<Observer>(loop.state().port, descriptor.get(), Observer::OBSERVE_WRITE);
  attempt->descriptor = kj::mv(descriptor);
  auto connected = attempt->observer->whenBecomesWritable();
  return connected.then([attempt = kj::mv(attempt), wrap, fail]() mutable {
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(attempt->descriptor.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    attempt->observer = nullptr;  // Before another one observes the same socket.
    return error == 0 ? wrap(kj::mv(attempt->descriptor)) : fail(error);
  });
}

/// Tries one address after the other.
kj::Promise<Dialed> dial_any(IoLoop& loop, std::string text, std::vector<Address> all,
                             std::size_t index) {
  const Address address = all[index];
  if (text.starts_with(kTcp) && !is_loopback(address)) {
    return Dialed{nullptr, not_encrypted(text), false};
  }
  return dial_one(loop, text, address)
      .then([&loop, text, all = std::move(all),
             index](Dialed&& dialed) mutable -> kj::Promise<Dialed> {
        if (dialed.status.ok() || index + 1 == all.size()) return kj::mv(dialed);
        return dial_any(loop, text, std::move(all), index + 1);
      });
}

/// Looks the name up on a thread of its own, which may take as long as it likes.
kj::Promise<Dialed> dial_name(IoLoop& loop, const std::string& address) {
  using Found = Result<std::vector<Address>>;
  auto found = kj::newPromiseAndCrossThreadFulfiller<Found>();
  kj::Thread([address, tell = kj::mv(found.fulfiller)]() mutable {
    tell->fulfill(tcp_addresses(address, AI_ADDRCONFIG));
  }).detach();
  return found.promise.then([&loop, address](Found&& all) -> kj::Promise<Dialed> {
    // As a machine that is not there (yet): names come and go with machines.
    if (!all.ok()) return Dialed{nullptr, {StatusCode::kHostLost, all.status().message()}, false};
    return dial_any(loop, address, std::move(*all), 0);
  });
}

/// Shakes hands with whoever is there.
kj::Promise<Dialed> secure(Dialed&& dialed, std::shared_ptr<const Tls> tls, std::string address) {
  KJ_IF_MAYBE (stream, dialed.stream) {
    auto shaken = shake_hands(*tls, kj::mv(*stream), host_of(address));
    return shaken.then([tls, address](TlsOutcome&& outcome) {
      const bool is_client = outcome.peer.role.starts_with("client/");
      if (outcome.status.ok() && is_client) {
        outcome.status = {StatusCode::kUnauthenticated,
                          address + " shows the certificate of " + outcome.peer.role +
                              ", which is nobody to call; let it listen with one of its own"};
      }
      if (!outcome.status.ok()) {
        return Dialed{nullptr,
                      {outcome.status.code(),
                       "cannot talk with " + address + ": " + outcome.status.message()},
                      false};
      }
      return Dialed{kj::mv(outcome.stream), {}, false, std::move(outcome.channel)};
    });
  }
  return kj::mv(dialed);
}

kj::Promise<Dialed> dial_network(IoLoop& loop, const std::string& address,
                                 std::shared_ptr<const Tls> tls) {
  std::string host;
  std::string port;
  if (!is_of_network(address) || !split_host(address, host, port)) {
    return Dialed{nullptr, no_address(address), false};
  }
  const bool is_tls = address.starts_with(kTls);
  if (is_tls && !tls) {
    return Dialed{nullptr,
                  invalid_argument("to talk with " + address +
                                   " this process needs the certificate of the cluster's "
                                   "authority: name it by ca_file, or SEAWAY_CA_FILE"),
                  false};
  }
  auto all = tcp_addresses(address, AI_NUMERICHOST);
  auto dialed = all.ok() ? dial_any(loop, address, std::move(*all), 0) : dial_name(loop, address);
  if (!is_tls) return dialed;
  return dialed.then([tls = std::move(tls), address](Dialed&& reached) mutable {
    return secure(kj::mv(reached), std::move(tls), std::move(address));
  });
}

}  // namespace

Listener::Listener(IoLoop& loop, std::string address, kj::AutoCloseFd&& descriptor,
                   std::string path)
    : loop_(loop),
      address_(std::move(address)),
      descriptor_(kj::mv(descriptor)),
      observer_(kj::heap<kj::UnixEventPort::FdObserver>(
          loop.state().port, descriptor_.get(), kj::UnixEventPort::FdObserver::OBSERVE_READ)),
      path_(std::move(path)),
      reader_{.is_authenticated = false, .group = address_} {
  struct stat file = {};
  if (!path_.empty() && ::lstat(path_.c_str(), &file) == 0) {
    device_ = file.st_dev;
    file_ = file.st_ino;
  }
}

Listener::Listener(Listener&& other) noexcept
    : loop_(other.loop_),
      address_(std::move(other.address_)),
      descriptor_(kj::mv(other.descriptor_)),
      observer_(kj::mv(other.observer_)),
      path_(std::exchange(other.path_, {})),
      reader_(std::move(other.reader_)),
      device_(other.device_),
      file_(other.file_) {}

Listener::~Listener() {
  struct stat file = {};
  if (path_.empty() || ::lstat(path_.c_str(), &file) != 0) return;
  if (file.st_dev == device_ && file.st_ino == file_) ::unlink(path_.c_str());
}

Result<Listener> Listener::make(IoLoop& loop, const std::string& text) {
  std::string path;
  Address address;
  if (text.starts_with(kUnix)) {
    auto one = unix_address(text);
    if (!one.ok()) return one.status();
    address = *one;
    path = text.substr(kUnix.size());
  } else if (is_of_network(text)) {
    auto all = tcp_addresses(text, AI_PASSIVE);
    if (!all.ok()) return all.status();
    address = all->front();
    if (text.starts_with(kTcp) && !is_loopback(address)) return not_encrypted(text);
  } else {
    return no_address(text);
  }
  kj::AutoCloseFd descriptor = open_socket(address);
  if (descriptor.get() < 0) return failure("listen at", text, errno);
  if (path.empty()) {
    const int on = 1;
    ::setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    send_at_once(descriptor.get());
  } else {
    // The file has these rights from its first moment.
    ::fchmod(descriptor.get(), S_IRUSR | S_IWUSR);
  }
  int bound = ::bind(descriptor.get(), address.get(), address.size);
  if (bound != 0 && errno == EADDRINUSE && !path.empty()) {
    const Status stale = check_stale(address, text);
    if (!stale.ok()) return stale;
    ::unlink(path.c_str());
    bound = ::bind(descriptor.get(), address.get(), address.size);
  }
  if (bound != 0 || ::listen(descriptor.get(), kBacklog) != 0) {
    return failure("listen at", text, errno);
  }
  std::string real = text;
  if (path.empty()) {
    address.size = sizeof(address.storage);
    ::getsockname(descriptor.get(), address.get(), &address.size);
    real = text.substr(0, kTcp.size()) + to_string(address).substr(kTcp.size());
  }
  try {
    return Listener(loop, std::move(real), kj::mv(descriptor), std::move(path));
  } catch (const kj::Exception& exception) {
    return resource_exhausted("cannot listen at " + text + ": " +
                              exception.getDescription().cStr());
  }
}

kj::Promise<Listener::Accepted> Listener::accept() {
  if (!is_ready_) {
    return observer_->whenBecomesReadable().then([this]() {
      is_ready_ = true;
      left_ = 0;
      return accept();
    });
  }
  if (left_ == 0) {
    if (!loop_.state().scheduler.may_read(reader_)) {
      return loop_.state().next_turn(reader_).then([this]() { return accept(); });
    }
    left_ = kAcceptedAtOnce;
  }
  --left_;
  Address address;
  address.size = sizeof(address.storage);
  kj::AutoCloseFd stranger(
      ::accept4(descriptor_.get(), address.get(), &address.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (stranger.get() >= 0) {
    Caller caller = caller_of(stranger.get(), address);
    if (!caller.is_local) send_at_once(stranger.get());
    auto reader = std::make_shared<ReadScheduler::Reader>();
    *reader = {.is_authenticated = false, .group = caller_group(caller)};
    auto stream = wrap_socket(loop_, kj::mv(stranger), reader);
    return Accepted{kj::mv(stream), std::move(caller), std::move(reader)};
  }
  is_ready_ = errno != EAGAIN;
  // Who has gone before he was heard leaves an error behind.
  if (!is_ready_ || errno == ECONNABORTED || errno == EINTR || errno == EPROTO) return accept();
  return KJ_EXCEPTION(OVERLOADED, "cannot accept", std::strerror(errno));
}

kj::Promise<Dialed> dial(IoLoop& loop, std::string address, std::shared_ptr<const Tls> tls) {
  return kj::evalNow([&]() -> kj::Promise<Dialed> {
           if (!address.starts_with(kUnix)) return dial_network(loop, address, std::move(tls));
           auto one = unix_address(address);
           if (!one.ok()) return Dialed{nullptr, one.status(), false};
           return dial_one(loop, address, *one);
         })
      .catch_([address](kj::Exception&& exception) {
        return Dialed{nullptr,
                      {StatusCode::kHostLost,
                       "cannot reach " + address + ": " + exception.getDescription().cStr()},
                      false};
      });
}

}  // namespace seaway::transport
