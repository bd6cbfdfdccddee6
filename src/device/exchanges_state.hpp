// What is known of an exchange that has begun. For the files of Exchanges alone.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/exchanges.hpp"

namespace seaway::device {

/// A block under way.
struct Exchanges::Running {
  collective::Block block;
  store::Slab work;
  std::size_t round = 0;
  bool has_begun = false, is_computing = false;

  struct Arrival {
    bool is_known = false, is_here = false;
    bool is_owed = false;  // Its sender keeps it until it is told.
    collective::Received received;
    std::vector<std::byte> data;                  // If it came packed;
    std::shared_ptr<const transport::Loan> loan;  // if it was lent;
    store::Slab room;                             // if it is fetched, and not right to its place.
    std::uint64_t offer = 0;                      // While it is.

    /// As it was packed.
    void read_from(const std::byte* next, const collective::Message& message) {
      for (const collective::Piece& piece : message.pieces) {
        received.pieces.push_back(next);
        next += piece.size();
      }
    }
  };
  std::vector<Arrival> arrivals;  // Of this round.

  const collective::Round& now() const { return block.rounds[round]; }
  bool is_over() const { return round == block.rounds.size(); }
};

/// An exchange that has begun here. What works on its memory keeps it.
struct Exchanges::Active {
  Wanted wanted;
  Done done;
  collective::ExchangePlan plan;
  std::size_t next_block = 0;  // Of plan.blocks().
  std::map<std::uint32_t, std::shared_ptr<Running>> running;
  std::map<Slot, ExchangeWord> waiting;  // For rounds to come.
  struct Sent {
    collective::Message message;
    collective::ExchangeMemory memory;
    std::optional<transport::NearMemory::Place> loan;
    std::uint64_t offer = 0;
  };
  std::map<Slot, Sent> sent;  // Not taken yet.
  bool is_advancing = false;
  std::size_t work = 0;  // Fetches, and rounds that are computed.
  std::optional<Status> ending;

  Active(Wanted what, Done when_done, std::uint32_t self, const ExchangeOptions& options)
      : wanted(std::move(what)),
        done(std::move(when_done)),
        plan(wanted.collective, wanted.hosts, self, options.block_bytes, options.algorithm) {}

  collective::ExchangeMemory memory(const Running& block) const {
    return {wanted.in, wanted.out, block.work.base()};
  }
  /// Others may still read its work space.
  bool has_sent(const Running& block) const;
};

}  // namespace seaway::device
