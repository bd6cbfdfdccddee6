// FaultProxy: connections between processes of one machine, through which a campaign harms them.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "seaway/status.hpp"

namespace seaway::tools {

/// Listens for others at an address of its own, with their ports, and hands on what is said. It has
/// a thread. Thread-safe.
class FaultProxy {
 public:
  /// Everybody is reached at it by who means to be harmed; they themselves are at 127.0.0.1.
  static constexpr const char* kHost = "127.0.1.1";

  /// `name_of`: whose process has a connection from a port to one of the proxy's, on the proxy's
  /// thread; empty: nobody knows; nothing: it is over already.
  using NameOf =
      std::function<std::optional<std::string>(std::uint16_t port, std::uint16_t to_port)>;
  FaultProxy(std::uint64_t seed, NameOf name_of);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  /// Who comes to `port` is for `name`. Errors: kResourceExhausted when the port is taken.
  Status listen(const std::string& name, std::uint16_t port);

  /// Which directions of which connections: all that `one` has, or those that it has with `other`;
  /// what it says, what it hears, or both.
  struct Where {
    std::string one, other = {};
    bool says = true, hears = true;
  };
  /// Nothing passes until now + `for_ns`, and then all of it does. `id`: by which take_fired()
  /// names it, as in the following.
  void hold(const Where& where, std::uint64_t for_ns, std::uint64_t id);
  /// Everything is late by up to `most_ns`, in its order.
  void delay(const Where& where, std::uint64_t most_ns, std::uint64_t for_ns, std::uint64_t id);
  /// What happens to one connection, if there is one: all of them happen when another `bytes` bytes
  /// have passed. False: there is none.
  enum class Blow : std::uint8_t {
    kCut,       // It ends in both directions.
    kReset,     // It does, and both hear of an error.
    kHalfOpen,  // What one says is dropped from then on, for a while, and then it ends.
    kLose,      // The next bytes are dropped, and it goes on.
    kReplay,    // What has passed last passes again.
    kFlip,      // A bit changes in each of the next so many bytes.
  };
  bool strike(const Where& where, Blow blow, std::uint64_t bytes, std::uint64_t count,
              std::uint64_t id);
  /// What has not happened yet never does, and nothing is held or late any more.
  void calm();
  /// What has harmed a byte since this was asked for the last time; some maybe twice.
  std::vector<std::uint64_t> take_fired();

  struct Counts {
    std::uint64_t connections = 0, bytes = 0, flipped = 0, lost = 0, replayed = 0, ended = 0;
  };
  Counts counts() const;

 private:
  struct Piece {
    std::vector<char> bytes;
    std::uint64_t due_ns = 0;
  };
  /// One direction.
  struct Stream {
    int from = -1, to = -1;
    std::deque<Piece> waiting;
    std::size_t said = 0;  // Of the first one.
    std::size_t waiting_bytes = 0;
    std::uint64_t passed = 0;
    std::vector<char> last;  // That has passed.
    bool is_over = false;    // `from` says nothing more.
    bool is_shut = false;    // `to` was told so.
    struct Struck {
      Blow blow;
      std::uint64_t at = 0;  // When so many bytes have passed.
      std::uint64_t count = 0;
      std::uint64_t until_ns = 0;
      std::uint64_t id = 0;
    };
    std::vector<Struck> blows;
  };
  struct Line {
    std::string caller, callee;
    Stream streams[2];  // Of the caller; of the callee.
    bool is_over = false;
  };
  struct Rule {
    Where where;
    bool holds = false;
    std::uint64_t most_ns = 0, until_ns = 0;
    std::uint64_t id = 0;
    bool has_fired = false;
  };
  struct Listening {
    std::string name;
    std::uint16_t port = 0;
    int socket = -1;
  };

  void run();
  void accept(const Listening& listening);
  bool reads(Line& line, int direction, std::uint64_t now_ns);
  void writes(Line& line, int direction, std::uint64_t now_ns);
  void harm(Line& line, Stream& stream, std::vector<char>& bytes, std::uint64_t now_ns);
  void end(Line& line, bool is_reset);
  bool is_meant(const Where& where, const Line& line, int direction) const;
  bool is_held(const Line& line, int direction, std::uint64_t now_ns);
  void fire(Rule& rule);

  const NameOf name_of_;
  std::atomic<bool> is_over_ = false;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  RandomStream draws_;
  std::list<Listening> listening_;
  std::list<Line> lines_;
  std::vector<Rule> rules_;
  std::vector<std::uint64_t> fired_;
  Counts counts_;
  std::thread thread_;
};

}  // namespace seaway::tools
