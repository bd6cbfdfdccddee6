// DataLink: one connection for data: what its two ends ask each other for, and what they get.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "transport/data_header.hpp"
#include "transport/data_socket.hpp"
#include "transport/fair_share.hpp"

namespace seaway::transport {

/// What is fetched over one connection after the other: bytes [next, end) of it are still to come.
struct DataFetch {
  DataKey key;
  std::shared_ptr<const DataTarget> target;
  std::uint64_t next = 0, end = 0;
};

/// Both halves of one end. Whoever asks names a range of bytes; the other end cuts it into chunks,
/// which take turns with those of other values, tenant by tenant and value by value. A chunk is
/// written from where its value lies, and read right to where it belongs if that is in one place.
///
/// After has_ended() nothing of it is right any more; what was fetched goes on from `next` over
/// another connection. Of one thread.
class DataLink {
 public:
  /// What the other end may have, or null.
  using Find = std::function<std::shared_ptr<const DataSource>(DataKey key)>;
  DataLink(std::unique_ptr<DataSocket> socket, Find find);
  ~DataLink();

  /// `fetch` outlives it, or is stopped.
  void ask(DataFetch& fetch);
  /// Nothing is written for it from here on. Unknown ones: nothing.
  void stop(const DataFetch& fetch);
  /// Nothing more of it is read, but for a chunk that has been begun.
  void withdraw(DataKey key);
  void set_weight(std::uint32_t tenant, std::uint32_t weight) { share_.set_weight(tenant, weight); }

  /// The system has said that more can be read, or written.
  void readable() { may_read_ = true; }
  void writable() { may_write_ = true; }
  /// Moves about `bytes` in each direction. True: there is more to do at once.
  bool run(std::uint64_t bytes);

  /// Whether the last turn has moved bytes, and there are more to come or to be sent.
  bool is_within() const { return has_moved_ && (!fetches_.empty() || serves_count_ > 0); }

  /// What has come to its end since the last call.
  struct Ended {
    DataFetch* fetch;
    Status status;
    bool is_gone = false;  // The other end does not offer it now.
  };
  std::vector<Ended> take_ended() { return std::exchange(ended_, {}); }

  bool has_ended() const { return has_ended_; }
  int descriptor() const { return socket_->descriptor(); }
  std::uint64_t changed() const { return changed_; }  // Chunks with another checksum.
  /// Bytes for fetches since the last call.
  std::uint64_t take_received() { return std::exchange(received_, 0); }
  std::uint64_t extra_bytes() const { return bounce_.size(); }

 private:
  /// What the other end has asked for.
  struct Serve {
    DataKey key;
    std::shared_ptr<const DataSource> source;
    std::uint64_t next = 0, end = 0;
  };

  void say(const DataHeader& header);
  bool gather();
  void gather_chunk();
  void end_serve(std::list<Serve>::iterator serve);
  bool write(std::uint64_t bytes);

  bool read(std::uint64_t bytes);
  void hear(const DataHeader& header);
  void begin_chunk(const DataHeader& header);
  void end_chunk();
  void on_asked(const DataHeader& header);
  void fail() { has_ended_ = true; }

  const std::unique_ptr<DataSocket> socket_;
  const Find find_;
  bool may_read_ = true, may_write_ = true;
  bool has_ended_ = false;
  bool has_moved_ = false;
  std::uint64_t changed_ = 0, received_ = 0;

  // What is said.
  FairShare share_;
  std::map<std::uint32_t, std::list<Serve>> serves_;  // By tenant; the first of each is next.
  std::size_t serves_count_ = 0;
  std::set<DataKey> asked_;  // Of serves_: each once.
  std::deque<DataHeader::Bytes> sayings_;
  DataHeader::Bytes chunk_header_ = {};
  std::shared_ptr<const DataSource> written_;  // Whose chunk is being written.
  std::vector<std::span<const std::byte>> unwritten_;
  std::size_t unwritten_begin_ = 0;  // Pieces before it are said.
  std::size_t sayings_written_ = 0;  // Of `sayings_`, those that are pieces now.

  // What is heard.
  std::map<DataKey, DataFetch*> fetches_;
  std::vector<Ended> ended_;
  DataHeader::Bytes header_ = {};
  std::size_t header_bytes_ = 0;  // Of `header_`, that have come.
  std::optional<DataHeader> chunk_;
  DataFetch* fetch_ = nullptr;                // Whose chunk comes; null: nobody's.
  bool bounces_ = false;                      // It comes to `bounce_` first.
  std::vector<std::span<std::byte>> places_;  // Of the chunk, all of them;
  std::size_t places_begin_ = 0;              // those before it are full,
  std::size_t place_bytes_ = 0;               // and so many bytes of it.
  std::vector<std::byte> bounce_;
};

}  // namespace seaway::transport
