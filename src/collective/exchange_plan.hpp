// ExchangePlan: which bytes go from host to host, and what becomes of them, when the shards of a
// gang are on several hosts and exchange values. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collective/exchange_block.hpp"
#include "collective/exchange_rounds.hpp"
#include "function/collective.hpp"

namespace seaway::collective {

/// Which shards of a gang are on a host: neighbours.
struct HostShards {
  std::uint32_t host = 0;
  std::uint32_t begin = 0, end = 0;
};

/// What is usually fastest for `bytes` bytes on each of `hosts` hosts: a table that
/// `seaway bench collectives` has measured.
Algorithm usual_algorithm(std::uint64_t bytes, std::size_t hosts);

/// One exchange, as one host sees it. Each host works it out alone, from the same numbers.
class ExchangePlan {
 public:
  /// About what one block has of all shards together.
  static constexpr std::uint64_t kBlockBytes = std::uint64_t{4} << 20;

  /// `hosts`: all shards of the gang, in order. `algorithm`: not the usual one; where it cannot
  /// keep the order of the tree, kDirect is taken.
  ExchangePlan(const function::Collective& collective, const std::vector<HostShards>& hosts,
               std::uint32_t self, std::uint64_t block_bytes = kBlockBytes,
               std::optional<Algorithm> algorithm = std::nullopt);

  const function::Collective& collective() const { return collective_; }
  /// Those that this host has a part in.
  const std::vector<std::uint32_t>& blocks() const { return blocks_; }
  /// Some of it is on other hosts.
  bool has_peers() const;
  Block block(std::uint32_t number) const;

 private:
  void make_teams(const std::vector<HostShards>& hosts, std::uint32_t self);
  void cut(Team& team, std::uint64_t block_bytes);
  bool keeps_order(const Team& team, Algorithm algorithm) const;

  const function::Collective collective_;
  const std::uint64_t unit_, columns_;  // See unit_of(), columns_of().
  std::vector<Team> teams_;
  std::vector<std::uint32_t> blocks_;
};

}  // namespace seaway::collective
