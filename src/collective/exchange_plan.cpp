// Teams of groups, blocks of them, and the rounds of a block.

#include "collective/exchange_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "base/check.hpp"

namespace seaway::collective {

using function::Collective;
using Kind = Collective::Kind;

namespace {

constexpr std::uint64_t kLine = 64;

/// Of the tree over `members`: whether [begin, end) is all that is under one of its nodes. Nodes of
/// level l begin at multiples of 2^l; the last one of a level may have less under it.
bool is_node(std::uint64_t begin, std::uint64_t end, std::uint64_t members) {
  const std::uint64_t size = std::bit_ceil(end - begin);
  return begin % size == 0 && end == std::min(begin + size, members);
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  constexpr std::array<std::string_view, 5> kNames = {"direct", "tree", "halving", "ring",
                                                      "doubling"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

/// `seaway bench collectives`: hosts of one machine with two cores, medians; a few hosts have most
/// to gain from few steps, many from few words.
Algorithm usual_algorithm(std::uint64_t bytes, std::size_t hosts) {
  struct Row {
    std::size_t hosts_max;
    std::uint64_t bytes_max;
    Algorithm algorithm;
  };
  constexpr std::uint64_t kAny = UINT64_MAX;
  constexpr std::array<Row, 7> kTable = {{
      {2, 256 << 10, Algorithm::kDoubling},
      {2, kAny, Algorithm::kDirect},
      {4, 4096, Algorithm::kDirect},
      {4, 1 << 20, Algorithm::kHalving},
      {4, kAny, Algorithm::kRing},
      {SIZE_MAX, 64 << 10, Algorithm::kTree},
      {SIZE_MAX, kAny, Algorithm::kHalving},
  }};
  const auto row = std::find_if(kTable.begin(), kTable.end(), [=](const Row& one) {
    return hosts <= one.hosts_max && bytes <= one.bytes_max;
  });
  return row->algorithm;
}

std::uint64_t Message::size() const {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.size();
  return bytes;
}

ExchangePlan::ExchangePlan(const Collective& collective, const std::vector<HostShards>& hosts,
                           std::uint32_t self, std::uint64_t block_bytes,
                           std::optional<Algorithm> algorithm)
    : collective_(collective), unit_(unit_of(collective)), columns_(columns_of(collective)) {
  if (columns_ == 0 || collective.rows == 0) return;
  make_teams(hosts, self);
  std::uint32_t blocks = 0;
  for (Team& team : teams_) {
    const std::size_t bytes = team.groups.size() * columns_ * unit_;
    team.algorithm = algorithm.value_or(usual_algorithm(bytes, team.places.size()));
    if (!keeps_order(team, team.algorithm)) team.algorithm = Algorithm::kDirect;
    cut(team, block_bytes);
    team.first_block = blocks;
    blocks += team.blocks;
    for (std::uint32_t b = team.first_block; team.self && b < blocks; ++b) blocks_.push_back(b);
  }
}

void ExchangePlan::make_teams(const std::vector<HostShards>& hosts, std::uint32_t self) {
  const auto& groups = collective_.groups;
  const auto host_of = [&hosts](std::size_t shard) {
    const auto found =
        std::upper_bound(hosts.begin(), hosts.end(), shard,
                         [](std::size_t s, const HostShards& host) { return s < host.end; });
    SEAWAY_CHECK(found != hosts.end(), shard);
    return found->host;
  };
  using Key = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // Hosts, and where they end.
  std::map<Key, std::size_t> known;
  for (std::size_t g = 0; g < groups.groups; ++g) {
    Key key;
    for (std::size_t member = 0; member < groups.size; ++member) {
      const std::uint32_t host = host_of(groups.shard(g, member));
      if (key.empty() || key.back().first != host) key.emplace_back(host, member);
      key.back().second = member + 1;
    }
    const auto [found, is_new] = known.try_emplace(key, teams_.size());
    if (is_new) {
      Team team;
      std::uint64_t begin = 0;
      for (const auto& [host, end] : key) {
        if (host == self) team.self = team.places.size();
        Place place{host, begin, end, {}};
        while (begin < end) {
          std::uint64_t size = std::uint64_t{1} << std::countr_zero(begin | std::bit_ceil(end));
          while (std::min<std::uint64_t>(begin + size, groups.size) > end) size /= 2;
          const std::uint64_t next = std::min<std::uint64_t>(begin + size, groups.size);
          place.nodes.push_back({begin, next});
          begin = next;
        }
        team.places.push_back(std::move(place));
      }
      teams_.push_back(std::move(team));
    }
    teams_[found->second].groups.push_back(g);
  }
}

/// Whether whatever it joins is a node of the tree.
bool ExchangePlan::keeps_order(const Team& team, Algorithm algorithm) const {
  const std::size_t k = team.places.size();
  if (algorithm == Algorithm::kDirect || algorithm == Algorithm::kRing) return true;
  if (collective_.kind != Kind::kAllReduce) return false;
  const bool pairs = algorithm == Algorithm::kHalving || algorithm == Algorithm::kDoubling;
  if (pairs && !std::has_single_bit(k)) return false;
  for (std::size_t d = 1; d < 2 * k; d *= 2) {
    for (std::size_t i = 0; i < k; i += d) {
      const std::size_t last = std::min(i + d, k) - 1;
      if (!is_node(team.places[i].begin, team.places[last].end, collective_.groups.size)) {
        return false;
      }
    }
  }
  return true;
}

void ExchangePlan::cut(Team& team, std::uint64_t block_bytes) {
  const bool is_wide =
      collective_.kind == Kind::kAllGather || collective_.kind == Kind::kReduceScatter;
  const std::uint64_t of_column =
      unit_ * team.groups.size() * (is_wide ? collective_.groups.size : 1);
  const std::uint64_t grain = std::max<std::uint64_t>(1, kLine / unit_) * team.places.size();
  const std::uint64_t rows = collective_.rows;
  team.columns_at_once = columns_;
  team.rows_at_once = std::clamp<std::uint64_t>(block_bytes / (of_column * columns_), 1, rows);
  if (of_column * columns_ > block_bytes) {
    const std::uint64_t wanted = (block_bytes / of_column + grain - 1) / grain * grain;
    team.columns_at_once = std::clamp<std::uint64_t>(wanted, 1, columns_);
  }
  team.column_blocks = (columns_ + team.columns_at_once - 1) / team.columns_at_once;
  const std::uint64_t row_blocks = (rows + team.rows_at_once - 1) / team.rows_at_once;
  team.blocks = static_cast<std::uint32_t>(team.column_blocks * row_blocks);
}

bool ExchangePlan::has_peers() const {
  return std::any_of(teams_.begin(), teams_.end(),
                     [](const Team& team) { return team.self && team.places.size() > 1; });
}

Block ExchangePlan::block(std::uint32_t number) const {
  const auto team = std::find_if(teams_.begin(), teams_.end(), [number](const Team& one) {
    return number < one.first_block + one.blocks;
  });
  SEAWAY_CHECK(team != teams_.end() && team->self, number);
  const std::uint64_t index = number - team->first_block;
  Extent extent;
  extent.r0 = index / team->column_blocks * team->rows_at_once;
  extent.r1 = std::min<std::uint64_t>(extent.r0 + team->rows_at_once, collective_.rows);
  extent.x0 = index % team->column_blocks * team->columns_at_once;
  extent.x1 = std::min(extent.x0 + team->columns_at_once, columns_);
  Block block = make_block(collective_, *team, extent);
  block.number = number;
  return block;
}

}  // namespace seaway::collective
