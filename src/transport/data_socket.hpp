// DataSocket: a connection that its owner reads and writes himself, without a loop.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "seaway/status.hpp"
#include "transport/memory_file.hpp"

namespace seaway::transport {

/// One end of a connection that has been introduced: a socket that does not block, bare or within
/// TLS. Of one thread at a time, any one.
class DataSocket {
 public:
  virtual ~DataSocket() = default;

  struct Step {
    std::size_t bytes = 0;
    bool is_blocked = false;  // Nothing more now: the system says when. Not so: perhaps.
    bool has_ended = false;   // Nothing more at all.
  };
  using Piece = std::span<std::byte>;
  using ConstPiece = std::span<const std::byte>;
  /// Fills the pieces in their order, as far as bytes have come.
  virtual Step read(std::span<const Piece> pieces) = 0;
  /// Writes of the pieces in their order what there is room for. What was not taken is said again
  /// next time, at whatever place it lies then.
  virtual Step write(std::span<const ConstPiece> pieces) = 0;
  /// For who waits until it can be read or written.
  virtual int descriptor() const = 0;
};

/// `socket`: connected, and does not block.
std::unique_ptr<DataSocket> make_data_socket(Descriptor socket);

}  // namespace seaway::transport
