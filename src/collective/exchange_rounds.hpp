// The rounds of one block of an exchange, on one host. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collective/exchange_block.hpp"
#include "function/collective.hpp"

namespace seaway::collective {

/// Members [begin, end) of a group are on a host: nodes of the tree that are there as a whole.
struct Node {
  std::uint64_t begin = 0, end = 0;
};
struct Place {
  std::uint32_t host = 0;
  std::uint64_t begin = 0, end = 0;
  std::vector<Node> nodes;
};
/// Groups that lie on the same hosts in the same way.
struct Team {
  std::vector<Place> places;
  std::vector<std::size_t> groups;
  std::optional<std::size_t> self;  // Which of the places.
  Algorithm algorithm = Algorithm::kDirect;
  std::uint64_t rows_at_once = 1, columns_at_once = 1, column_blocks = 1;
  std::uint32_t first_block = 0, blocks = 0;
};
/// Rows [r0, r1) and elements [x0, x1) of each run.
struct Extent {
  std::uint64_t r0 = 0, r1 = 1, x0 = 0, x1 = 0;
  std::uint64_t rows() const { return r1 - r0; }
};

/// Bytes of what a run is counted in: elements, where they are added up.
std::uint64_t unit_of(const function::Collective& collective);
/// How many of these a run has.
std::uint64_t columns_of(const function::Collective& collective);

/// Requires that its own host is one of the team's places.
Block make_block(const function::Collective& collective, const Team& team, const Extent& extent);

}  // namespace seaway::collective
