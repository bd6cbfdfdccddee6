// DataPlane: values that another process fetches, over connections that carry nothing else.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::transport {

/// Another process, as whoever makes a data plane numbers them.
using DataPeer = std::uint32_t;

/// Which value, between two processes: an edge of a run.
struct DataKey {
  std::uint64_t id = 0;
  std::uint32_t part = 0;
  friend auto operator<=>(const DataKey&, const DataKey&) = default;
};

/// Bytes that another process may have.
struct DataSource {
  std::uint64_t bytes = 0;
  /// Adds where bytes [begin, end) lie. Any thread.
  std::function<void(std::uint64_t begin, std::uint64_t end,
                     std::vector<std::span<const std::byte>>& pieces)>
      pieces;
  std::shared_ptr<const void> owner;  // Of the memory. Given up on the control thread.
  std::uint32_t tenant = 0;           // Who shares a connection with others.
};

/// Where bytes of another process go. Both functions: any thread, one call at a time.
struct DataTarget {
  std::uint64_t bytes = 0;
  /// Where those from `begin` on go, if they lie densely and nowhere else; at most `most`. Empty:
  /// they are to be scattered.
  std::function<std::span<std::byte>(std::uint64_t begin, std::uint64_t most)> place;
  std::function<void(std::uint64_t begin, std::span<const std::byte> bytes)> scatter;
};

/// One process's end of all its connections for data. The reader asks for bytes when it has room
/// for them, and nothing is sent that was not asked for: what it asks for is the credit. So no
/// value waits for another one, and what breaks is asked for again from where it broke, without a
/// word to who made it. Control thread only.
class DataPlane {
 public:
  virtual ~DataPlane() = default;

  /// Smaller values had better go with the frames that announce them.
  virtual std::uint64_t bytes_min() const = 0;

  /// `reader` may have it, until it is withdrawn. Once for each key and reader.
  virtual void offer(DataPeer reader, DataKey key, DataSource source) = 0;
  /// Nothing more of it is sent, soon: what is being sent now keeps `owner` until then.
  virtual void withdraw(DataPeer reader, DataKey key) = 0;

  /// Fetches what `from` offers. `done` is called once, later, after which nothing is written
  /// there: ok when all of it is there and was not changed on the way. What is not offered, yet or
  /// any more, is asked for again: whoever withdraws it says so elsewhere. Errors: kInputLost when
  /// it is shorter; kHostLost when nothing of it has come for long; kCancelled. Once for each key
  /// at a time.
  virtual void fetch(DataPeer from, DataKey key, DataTarget target,
                     std::function<void(Status)> done) = 0;
  /// `done` is called soon, if it was not. Unknown ones: nothing.
  virtual void cancel(DataPeer from, DataKey key) = 0;

  /// What others share a connection by: a tenant of weight 2 gets twice the bytes of one of weight
  /// 1, while both have some to send. 1 unless it was said.
  virtual void set_weight(std::uint32_t tenant, std::uint32_t weight) = 0;

  /// `peer`, which cannot be called, waits for a connection to this process.
  virtual void meet(DataPeer) {}
  /// It is lost: nothing is offered to it or fetched from it any more, and its connections end.
  virtual void forget(DataPeer) {}

  /// Offers that were not withdrawn, and fetches that have not ended.
  virtual std::size_t open() const = 0;

  struct Counts {
    std::uint64_t fetches = 0;      // That were asked for here,
    std::uint64_t bytes = 0;        // and bytes that have come for them;
    std::uint64_t reconnected = 0;  // connections that were made in the place of broken ones;
    std::uint64_t changed = 0;      // chunks that came with another checksum;
    std::uint64_t extra_bytes = 0;  // memory that it has beside what it reads and writes, at most.
  };
  virtual Counts counts() const = 0;
};

}  // namespace seaway::transport
