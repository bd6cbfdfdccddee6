// BulkLane: large frames of a conversation, cut into chunks, beside its control frames.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/frame.hpp"
#include "seaway/status.hpp"

namespace seaway::transport {

/// A frame, and whom in the receiving process it is for.
struct Letter {
  std::uint32_t channel = 0;
  Frame frame;
};

/// Which way a frame goes. Frames of one lane arrive in order; control overtakes bulk.
enum class Lane : std::uint8_t { kControl, kBulk };

/// The same at both ends: a reader answers in time for the credit that it believes in.
struct BulkLaneOptions {
  std::size_t chunk_bytes = std::size_t{64} << 10;  // Of a frame, in one packet; a whole word.
  /// The credit: what may be under way, sent and not acknowledged, beside one chunk. So much at
  /// most is ahead of a control frame in buffers between the two processes.
  std::size_t credit_bytes = std::size_t{512} << 10;
  std::size_t credit_chunks = 64;
  /// What waits here; more is refused.
  std::size_t waiting_bytes_max = std::size_t{4} << 30;
  /// The longest frame that is received.
  std::size_t frame_bytes_max = std::size_t{1} << 30;
};

/// One end's bulk frames, in both directions. Part of a Conversation, which says when there is a
/// connection, numbers no chunk itself and keeps time; a pure core, a copy goes on by itself.
///
/// Chunks are numbered from 1 in each direction, kept until they are acknowledged, and sent again
/// on the next connection. Each begins with one word: how many words of its frame are still to
/// come, its own included. Memory grows with what has come, never with what was announced.
class BulkLane {
 public:
  BulkLane() = default;
  explicit BulkLane(BulkLaneOptions options) : options_(options) {}

  /// Takes a frame over. kResourceExhausted when too much waits.
  Status send(std::uint32_t channel, Frame frame);

  struct Chunk {
    std::uint64_t number = 0;
    std::uint32_t channel = 0;
    Frame frame;
  };
  /// The next one to be sent, as long as there is credit.
  std::optional<Chunk> next();
  /// A connection begins: what its other end has not received is sent again. False when that is
  /// more than was ever said.
  bool resume(std::uint32_t received);
  /// The same word on an open connection; `received` counts modulo 2^32.
  bool acknowledge(std::uint32_t received);

  enum class Taken : std::uint8_t { kNew, kRepeated, kGap, kWrong };
  /// A chunk has come. What is whole then is in `letters`. kGap: something before it is missing;
  /// kWrong: it does not go on from the one before, or its frame is above the limit.
  Taken take(const Chunk& chunk, std::vector<Letter>& letters);

  /// What the other end is to be told, and whether it waits for that: half of its credit is used.
  std::uint32_t received() const { return static_cast<std::uint32_t>(received_); }
  bool owes_acknowledgement() const;
  bool has_news() const { return received_ != told_; }
  void told();

  void clear();
  /// Bytes of frames that are not acknowledged.
  std::size_t waiting_bytes() const { return waiting_bytes_; }
  std::uint64_t hash() const;

 private:
  struct Outgoing {
    Letter letter;
    std::uint64_t first = 0, last = 0;  // Its chunks.
  };
  std::uint64_t chunks_of(const Frame& frame) const;
  Chunk chunk(const Outgoing& outgoing, std::uint64_t number) const;

  BulkLaneOptions options_;
  std::deque<Outgoing> outgoing_;
  std::size_t waiting_bytes_ = 0;
  std::uint64_t last_ = 0;             // Chunks of all frames that were taken over.
  std::uint64_t said_ = 0;             // On this connection, or known to have been received.
  std::uint64_t acknowledged_ = 0;     // By the other end.
  std::deque<std::size_t> under_way_;  // Bytes of each that was said and is not acknowledged.
  std::size_t under_way_bytes_ = 0;
  std::uint64_t received_ = 0;        // From the other end,
  std::uint64_t told_ = 0;            // of which it was told so many,
  std::size_t untold_bytes_ = 0;      // and these bytes were not.
  std::vector<std::uint64_t> words_;  // Of the frame that is coming.
  std::size_t missing_words_ = 0;     // What is still to come of it.
};

}  // namespace seaway::transport
