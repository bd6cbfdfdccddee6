// Who sends what to whom, step by step.

#include "collective/exchange_rounds.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.hpp"

namespace seaway::collective {

using function::Collective;
using Kind = Collective::Kind;
using Where = Piece::Where;

namespace {

constexpr std::uint64_t kLine = 64;

/// How to add up neighbours, which begin at `begins` and end where the next one does.
std::vector<std::uint8_t> program_of(const std::vector<std::uint64_t>& begins, std::uint64_t end) {
  std::vector<std::uint8_t> program;
  std::size_t next = 0;
  const auto add = [&](const auto& self, std::uint64_t from, std::uint64_t to) -> void {
    const std::uint64_t first_end = next + 1 < begins.size() ? begins[next + 1] : end;
    SEAWAY_CHECK(begins[next] == from, from, to);
    if (first_end == to) {
      ++next;
      return program.push_back(Fold::kTake);
    }
    const std::uint64_t middle = from + std::bit_ceil(to - from) / 2;
    self(self, from, middle);
    self(self, middle, to);
    program.push_back(Fold::kJoin);
  };
  add(add, begins.front(), end);
  return program;
}

/// The j-th of k parts of [begin, end), in whole `grain`s.
std::pair<std::uint64_t, std::uint64_t> part_of(std::uint64_t begin, std::uint64_t end,
                                                std::uint64_t j, std::uint64_t k,
                                                std::uint64_t grain) {
  const std::uint64_t grains = (end - begin + grain - 1) / grain;
  return {std::min(end, begin + grains * j / k * grain),
          std::min(end, begin + grains * (j + 1) / k * grain)};
}

/// The rounds of one block of one team, on one host.
class Maker {
 public:
  Maker(const Collective& collective, const Team& team, const Extent& extent)
      : c_(collective),
        team_(team),
        extent_(extent),
        unit_(unit_of(collective)),
        columns_(columns_of(collective)),
        self_(*team.self),
        own_(team.places[self_]),
        k_(team.places.size()) {}

  Block make() {
    switch (c_.kind) {
      case Kind::kAllReduce:
        all_reduce();
        break;
      case Kind::kReduceScatter:
        reduce_scatter();
        break;
      default:
        move_only();
    }
    block_.algorithm = team_.algorithm;
    return std::move(block_);
  }

 private:
  std::uint32_t shard(std::size_t group, std::uint64_t member) const {
    return static_cast<std::uint32_t>(c_.groups.shard(group, member));
  }
  Round& round(std::size_t number) {
    if (block_.rounds.size() <= number) block_.rounds.resize(number + 1);
    return block_.rounds[number];
  }
  static std::int32_t add(std::vector<Message>& messages, std::uint32_t host,
                          std::vector<Piece> pieces) {
    messages.push_back({host, std::move(pieces)});
    return static_cast<std::int32_t>(messages.size()) - 1;
  }

  // All-reduce: elements [begin, end) of a shard.
  Piece dense(Where where, std::uint32_t of, std::uint64_t begin, std::uint64_t end) const {
    const std::uint64_t bytes = (end - begin) * unit_;
    return {where, of, begin * unit_, 1, bytes, bytes};
  }
  /// Where a host has the sum of a node's members: what a single one put in, or its place in what
  /// comes out, as the host has added them up there.
  Piece node_piece(std::size_t group, const Node& node, std::uint64_t begin,
                   std::uint64_t end) const {
    const bool is_single = node.end - node.begin == 1;
    return dense(is_single ? Where::kIn : Where::kOut, shard(group, node.begin), begin, end);
  }
  Piece total(std::size_t group, const Place& place, std::uint64_t begin, std::uint64_t end) const {
    return dense(Where::kOut, shard(group, place.begin), begin, end);
  }
  std::vector<Piece> totals(const Place& place, std::uint64_t begin, std::uint64_t end) const {
    std::vector<Piece> pieces;
    for (const std::size_t g : team_.groups) pieces.push_back(total(g, place, begin, end));
    return pieces;
  }

  void all_reduce() {
    add_up_members();
    std::size_t next = 1;
    if (k_ == 1) {
      take_single();
    } else if (team_.algorithm == Algorithm::kTree) {
      next = by_tree(next);
    } else if (team_.algorithm == Algorithm::kHalving) {
      next = by_halving(next);
    } else if (team_.algorithm == Algorithm::kDoubling) {
      next = by_doubling(next);
    } else {
      next = by_parts(next);
    }
    give_to_members(next);
  }

  /// Nodes of several members, in round 0.
  void add_up_members() {
    for (const Node& node : own_.nodes) {
      if (node.end - node.begin == 1) continue;
      std::vector<std::uint64_t> begins;
      for (std::uint64_t member = node.begin; member < node.end; ++member) begins.push_back(member);
      for (const std::size_t g : team_.groups) {
        Fold fold{{}, program_of(begins, node.end), total_of(g, node)};
        for (const std::uint64_t member : begins) {
          fold.inputs.push_back(
              {Input::kOwn, 0, dense(Where::kIn, shard(g, member), extent_.x0, extent_.x1)});
        }
        round(0).folds.push_back(std::move(fold));
      }
    }
  }
  Piece total_of(std::size_t group, const Node& node) const {
    return dense(Where::kOut, shard(group, node.begin), extent_.x0, extent_.x1);
  }

  /// A group of one member.
  void take_single() {
    if (c_.groups.size > 1) return;
    for (const std::size_t g : team_.groups) {
      round(0).copies.push_back(
          {{Input::kOwn, 0, dense(Where::kIn, shard(g, 0), extent_.x0, extent_.x1)},
           total(g, own_, extent_.x0, extent_.x1)});
    }
  }

  std::pair<std::uint64_t, std::uint64_t> part(std::size_t of) const {
    return part_of(extent_.x0, extent_.x1, of, k_, std::max<std::uint64_t>(1, kLine / unit_));
  }
  std::vector<Piece> nodes_of(const Place& place, std::uint64_t begin, std::uint64_t end) const {
    std::vector<Piece> pieces;
    for (const std::size_t g : team_.groups) {
      for (const Node& node : place.nodes) pieces.push_back(node_piece(g, node, begin, end));
    }
    return pieces;
  }

  /// kDirect and kRing.
  std::size_t by_parts(std::size_t next) {
    Round& gathering = round(next);
    const auto [begin, end] = part(self_);
    std::vector<std::int32_t> messages(k_, Input::kOwn);
    for (std::size_t step = 1; step < k_; ++step) {
      const std::size_t to = (self_ + step) % k_, from = (self_ + k_ - step) % k_;
      const auto [to_begin, to_end] = part(to);
      if (to_begin < to_end) {
        add(gathering.sends, team_.places[to].host, nodes_of(own_, to_begin, to_end));
      }
      if (begin < end) {
        messages[from] = add(gathering.receives, team_.places[from].host,
                             nodes_of(team_.places[from], begin, end));
      }
    }
    if (begin < end) add_up_nodes(gathering, messages, begin, end);
    return team_.algorithm == Algorithm::kRing ? send_around(next + 1) : send_to_all(next + 1);
  }
  void add_up_nodes(Round& at, const std::vector<std::int32_t>& messages, std::uint64_t begin,
                    std::uint64_t end) {
    std::vector<std::uint64_t> begins;
    for (const Place& place : team_.places) {
      for (const Node& node : place.nodes) begins.push_back(node.begin);
    }
    const auto program = program_of(begins, c_.groups.size);
    for (std::size_t g = 0; g < team_.groups.size(); ++g) {
      Fold fold{{}, program, total(team_.groups[g], own_, begin, end)};
      for (std::size_t host = 0; host < k_; ++host) {
        const std::vector<Node>& nodes = team_.places[host].nodes;
        for (std::size_t n = 0; n < nodes.size(); ++n) {
          fold.inputs.push_back({messages[host], static_cast<std::uint32_t>(g * nodes.size() + n),
                                 node_piece(team_.groups[g], nodes[n], begin, end)});
        }
      }
      at.folds.push_back(std::move(fold));
    }
  }
  void receive_totals(Round& at, std::size_t from, std::uint64_t begin, std::uint64_t end) {
    const std::int32_t message =
        add(at.receives, team_.places[from].host, totals(team_.places[from], begin, end));
    for (std::size_t g = 0; g < team_.groups.size(); ++g) {
      at.copies.push_back(
          {{message, static_cast<std::uint32_t>(g), {}}, total(team_.groups[g], own_, begin, end)});
    }
  }
  std::size_t send_to_all(std::size_t next) {
    Round& at = round(next);
    const auto [begin, end] = part(self_);
    for (std::size_t step = 1; step < k_; ++step) {
      const std::size_t to = (self_ + step) % k_, from = (self_ + k_ - step) % k_;
      if (begin < end) add(at.sends, team_.places[to].host, totals(own_, begin, end));
      const auto [from_begin, from_end] = part(from);
      if (from_begin < from_end) receive_totals(at, from, from_begin, from_end);
    }
    return next + 1;
  }
  std::size_t send_around(std::size_t next) {
    const std::size_t right = (self_ + 1) % k_, left = (self_ + k_ - 1) % k_;
    for (std::size_t step = 0; step + 1 < k_; ++step) {
      Round& at = round(next + step);
      const auto [begin, end] = part((self_ + k_ - step) % k_);
      if (begin < end) add(at.sends, team_.places[right].host, totals(own_, begin, end));
      const auto [from_begin, from_end] = part((left + k_ - step) % k_);
      if (from_begin < from_end) receive_totals(at, left, from_begin, from_end);
    }
    return next + k_ - 1;
  }

  /// What this host has of all members that it has heard of: its own node, and later the total.
  Piece current(std::size_t group, bool has_joined, const Place& place, std::uint64_t begin,
                std::uint64_t end) const {
    return has_joined ? total(group, place, begin, end)
                      : node_piece(group, place.nodes.front(), begin, end);
  }
  std::vector<Piece> currents(bool has_joined, const Place& place, std::uint64_t begin,
                              std::uint64_t end) const {
    std::vector<Piece> pieces;
    for (const std::size_t g : team_.groups) {
      pieces.push_back(current(g, has_joined, place, begin, end));
    }
    return pieces;
  }
  void join(Round& at, std::int32_t message, bool is_below, bool has_joined, std::uint64_t begin,
            std::uint64_t end) {
    for (std::size_t g = 0; g < team_.groups.size(); ++g) {
      const Input theirs{message, static_cast<std::uint32_t>(g), {}};
      const Input ours{Input::kOwn, 0, current(team_.groups[g], has_joined, own_, begin, end)};
      at.folds.push_back({is_below ? std::vector{theirs, ours} : std::vector{ours, theirs},
                          {Fold::kTake, Fold::kTake, Fold::kJoin},
                          total(team_.groups[g], own_, begin, end)});
    }
  }

  std::size_t by_halving(std::size_t next) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> kept = {{extent_.x0, extent_.x1}};
    const std::uint64_t grain = std::max<std::uint64_t>(1, kLine / unit_);
    for (std::size_t d = 1; d < k_; d *= 2, ++next) {
      const std::size_t partner = self_ ^ d;
      const bool is_upper = (self_ & d) != 0;
      const auto [begin, end] = kept.back();
      const auto ours = part_of(begin, end, is_upper ? 1 : 0, 2, grain);
      const auto theirs = part_of(begin, end, is_upper ? 0 : 1, 2, grain);
      Round& at = round(next);
      const Place& other = team_.places[partner];
      if (theirs.first < theirs.second) {
        add(at.sends, other.host, currents(d > 1, own_, theirs.first, theirs.second));
      }
      if (ours.first < ours.second) {
        const std::int32_t message =
            add(at.receives, other.host, currents(d > 1, other, ours.first, ours.second));
        join(at, message, is_upper, d > 1, ours.first, ours.second);
      }
      kept.push_back(ours);
    }
    for (std::size_t d = k_ / 2; d > 0; d /= 2, ++next) {
      const std::size_t partner = self_ ^ d;
      const auto ours = kept.back();
      kept.pop_back();
      const auto [begin, end] = kept.back();
      const auto theirs = ours.first == begin && ours.second != end ? std::pair(ours.second, end)
                                                                    : std::pair(begin, ours.first);
      Round& at = round(next);
      if (ours.first < ours.second) {
        add(at.sends, team_.places[partner].host, totals(own_, ours.first, ours.second));
      }
      if (theirs.first < theirs.second) receive_totals(at, partner, theirs.first, theirs.second);
    }
    return next;
  }

  /// Each step has work space of its own, as its partner may read what was sent until the end.
  std::size_t by_doubling(std::size_t next) {
    std::vector<Piece> ours;
    for (const std::size_t g : team_.groups) {
      ours.push_back(next_work());
      const Piece own = node_piece(g, own_.nodes.front(), extent_.x0, extent_.x1);
      round(0).copies.push_back({{Input::kOwn, 0, own}, ours.back()});
    }
    for (std::size_t d = 1; d < k_; d *= 2, ++next) {
      Round& at = round(next);
      const std::uint32_t partner = team_.places[self_ ^ d].host;
      add(at.sends, partner, ours);
      const std::int32_t message = add(at.receives, partner, ours);  // It has them elsewhere.
      for (std::size_t g = 0; g < team_.groups.size(); ++g) {
        const Input mine{Input::kOwn, 0, ours[g]},
            theirs{message, static_cast<std::uint32_t>(g), {}};
        const bool is_last = 2 * d == k_;
        ours[g] = is_last ? total(team_.groups[g], own_, extent_.x0, extent_.x1) : next_work();
        at.folds.push_back(
            {(self_ & d) != 0 ? std::vector{theirs, mine} : std::vector{mine, theirs},
             {Fold::kTake, Fold::kTake, Fold::kJoin},
             ours[g]});
      }
    }
    return next;
  }

  std::size_t by_tree(std::size_t next) {
    const std::uint64_t begin = extent_.x0, end = extent_.x1;
    std::size_t joined = 0, top = 1;
    for (std::size_t d = 1; d < k_; d *= 2, ++next) {
      top = d;
      round(next);
      if (self_ % (2 * d) == d) {
        const Place& to = team_.places[self_ - d];
        add(round(next).sends, to.host, currents(joined > 0, own_, begin, end));
      } else if (self_ % (2 * d) == 0 && self_ + d < k_) {
        const Place& from = team_.places[self_ + d];
        // It has joined somebody itself, if there was somebody.
        const bool has_joined = d > 1 && self_ + d + 1 < k_;
        const std::int32_t message =
            add(round(next).receives, from.host, currents(has_joined, from, begin, end));
        join(round(next), message, false, joined > 0, begin, end);
        ++joined;
      }
    }
    for (std::size_t d = top; d > 0; d /= 2, ++next) {
      round(next);
      if (self_ % (2 * d) == 0 && self_ + d < k_) {
        add(round(next).sends, team_.places[self_ + d].host, totals(own_, begin, end));
      } else if (self_ % (2 * d) == d) {
        receive_totals(round(next), self_ - d, begin, end);
      }
    }
    return next;
  }

  void give_to_members(std::size_t next) {
    for (const std::size_t g : team_.groups) {
      for (std::uint64_t member = own_.begin + 1; member < own_.end; ++member) {
        round(next).copies.push_back(
            {{Input::kOwn, 0, total(g, own_, extent_.x0, extent_.x1)},
             dense(Where::kOut, shard(g, member), extent_.x0, extent_.x1)});
      }
    }
  }

  /// Of what a shard has put in, the run of member `of`.
  Piece run_in(std::uint32_t from, std::uint64_t of) const {
    const std::uint64_t run = columns_, unit = unit_;
    return {Where::kIn,
            from,
            ((extent_.r0 * c_.groups.size + of) * run + extent_.x0) * unit,
            extent_.rows(),
            (extent_.x1 - extent_.x0) * unit,
            c_.groups.size * run * unit};
  }

  void reduce_scatter() {
    add_up_runs();
    Round& at = round(1);
    std::vector<std::int32_t> messages(k_, Input::kOwn);
    for (std::size_t step = 1; step < k_; ++step) {
      const std::size_t to = (self_ + step) % k_, from = (self_ + k_ - step) % k_;
      add(at.sends, team_.places[to].host, runs_for(team_.places[to]));
      messages[from] = add(at.receives, team_.places[from].host, runs_of(team_.places[from]));
    }
    std::vector<std::uint64_t> begins;
    for (std::size_t host = 0; host < k_; ++host) {
      const Place& place = team_.places[host];
      if (host != self_) {
        for (const Node& node : place.nodes) begins.push_back(node.begin);
        continue;
      }
      for (std::uint64_t m = place.begin; m < place.end; ++m) begins.push_back(m);
    }
    const auto program = program_of(begins, c_.groups.size);
    for (std::size_t g = 0; g < team_.groups.size(); ++g) {
      for (std::uint64_t member = own_.begin; member < own_.end; ++member) {
        Fold fold{{}, program, run_out(team_.groups[g], member)};
        for (std::size_t host = 0; host < k_; ++host) {
          add_inputs(fold, host, messages[host], g, member);
        }
        at.folds.push_back(std::move(fold));
      }
    }
  }
  Piece run_out(std::size_t group, std::uint64_t member) const {
    const std::uint64_t run = columns_, unit = unit_;
    return {Where::kOut,
            shard(group, member),
            (extent_.r0 * run + extent_.x0) * unit,
            extent_.rows(),
            (extent_.x1 - extent_.x0) * unit,
            run * unit};
  }
  void add_inputs(Fold& fold, std::size_t host, std::int32_t message, std::size_t g,
                  std::uint64_t member) const {
    const Place& place = team_.places[host];
    if (host == self_) {
      for (std::uint64_t m = place.begin; m < place.end; ++m) {
        fold.inputs.push_back({Input::kOwn, 0, run_in(shard(team_.groups[g], m), member)});
      }
      return;
    }
    const std::uint64_t mine = own_.end - own_.begin;
    for (std::size_t n = 0; n < place.nodes.size(); ++n) {
      const std::uint64_t index = (g * place.nodes.size() + n) * mine + (member - own_.begin);
      fold.inputs.push_back({message, static_cast<std::uint32_t>(index), {}});
    }
  }
  /// What others get of members that are added up here first: into the work space, for each other
  /// host's members, in order.
  void add_up_runs() {
    for (const std::size_t g : team_.groups) {
      for (const Node& node : own_.nodes) {
        if (node.end - node.begin == 1) continue;
        std::vector<std::uint64_t> begins;
        for (std::uint64_t m = node.begin; m < node.end; ++m) begins.push_back(m);
        for (std::uint64_t of = 0; of < c_.groups.size; ++of) {
          if (of >= own_.begin && of < own_.end) continue;
          Fold fold{{}, program_of(begins, node.end), next_work()};
          for (const std::uint64_t m : begins) {
            fold.inputs.push_back({Input::kOwn, 0, run_in(shard(g, m), of)});
          }
          work_[{g, node.begin, of}] = fold.to;
          round(0).folds.push_back(std::move(fold));
        }
      }
    }
  }
  Piece next_work() {
    const std::uint64_t bytes = (extent_.x1 - extent_.x0) * unit_;
    const Piece piece{Where::kWork, 0, block_.work_bytes, extent_.rows(), bytes, bytes};
    block_.work_bytes += (piece.size() + kLine - 1) / kLine * kLine;
    return piece;
  }
  std::vector<Piece> runs_for(const Place& to) const {
    std::vector<Piece> pieces;
    for (const std::size_t g : team_.groups) {
      for (const Node& node : own_.nodes) {
        for (std::uint64_t of = to.begin; of < to.end; ++of) {
          const auto found = work_.find({g, node.begin, of});
          pieces.push_back(found != work_.end() ? found->second : run_in(shard(g, node.begin), of));
        }
      }
    }
    return pieces;
  }
  /// What another host sends to this one. Where in its work space does not matter here.
  std::vector<Piece> runs_of(const Place& from) const {
    std::vector<Piece> pieces;
    for (const std::size_t g : team_.groups) {
      for (const Node& node : from.nodes) {
        for (std::uint64_t of = own_.begin; of < own_.end; ++of) {
          Piece piece = run_in(shard(g, node.begin), of);
          if (node.end - node.begin > 1) {
            piece.where = Where::kWork;
            piece.stride = piece.bytes;
          }
          pieces.push_back(piece);
        }
      }
    }
    return pieces;
  }

  /// kAllGather and kPermute: each member's value, or a block of it, goes to whoever wants it.
  void move_only() {
    Round& at = round(0);
    std::vector<std::map<std::pair<std::size_t, std::uint64_t>, std::uint32_t>> sent(k_);
    std::vector<std::int32_t> messages(k_, Input::kOwn);
    for (std::size_t step = 1; step < k_; ++step) {
      const std::size_t to = (self_ + step) % k_, from = (self_ + k_ - step) % k_;
      std::vector<Piece> out = wanted(own_, team_.places[to], nullptr);
      if (!out.empty()) add(at.sends, team_.places[to].host, std::move(out));
      std::vector<Piece> in = wanted(team_.places[from], own_, &sent[from]);
      if (!in.empty()) messages[from] = add(at.receives, team_.places[from].host, std::move(in));
    }
    for (const std::size_t g : team_.groups) {
      for (std::uint64_t member = own_.begin; member < own_.end; ++member) {
        for (std::uint64_t of = 0; of < c_.groups.size; ++of) {
          const std::int64_t source = source_of(member, of);
          if (source == kNobody) continue;
          at.copies.push_back({input_of(g, source, messages, sent), place_of(g, member, of)});
        }
      }
    }
  }
  static constexpr std::int64_t kNobody = -2;
  /// Whose value a member gets as its `of`-th; negative: zeros.
  std::int64_t source_of(std::uint64_t member, std::uint64_t of) const {
    if (c_.kind == Kind::kAllGather) return static_cast<std::int64_t>(of);
    return of == member ? std::max<std::int64_t>(c_.sources[member], -1) : kNobody;
  }
  Piece value_of(std::uint32_t of) const {
    const std::uint64_t run = columns_;
    return {Where::kIn, of, extent_.r0 * run + extent_.x0, extent_.rows(), extent_.x1 - extent_.x0,
            run};
  }
  Piece place_of(std::size_t group, std::uint64_t member, std::uint64_t of) const {
    Piece piece = value_of(shard(group, member));
    piece.where = Where::kOut;
    if (c_.kind == Kind::kAllGather) {
      const std::uint64_t run = columns_;
      piece.offset = (extent_.r0 * c_.groups.size + of) * run + extent_.x0;
      piece.stride = c_.groups.size * run;
    }
    return piece;
  }
  /// What members at `from` have that members at `to` get, each once.
  std::vector<Piece> wanted(
      const Place& from, const Place& to,
      std::map<std::pair<std::size_t, std::uint64_t>, std::uint32_t>* indices) const {
    std::vector<Piece> pieces;
    for (const std::size_t g : team_.groups) {
      for (std::uint64_t source = from.begin; source < from.end; ++source) {
        bool is_wanted = c_.kind == Kind::kAllGather;
        for (std::uint64_t member = to.begin; member < to.end && !is_wanted; ++member) {
          is_wanted = c_.sources[member] == static_cast<std::int64_t>(source);
        }
        if (!is_wanted) continue;
        if (indices) (*indices)[{g, source}] = static_cast<std::uint32_t>(pieces.size());
        pieces.push_back(value_of(shard(g, source)));
      }
    }
    return pieces;
  }
  Input input_of(std::size_t group, std::int64_t source, const std::vector<std::int32_t>& messages,
                 const std::vector<std::map<std::pair<std::size_t, std::uint64_t>, std::uint32_t>>&
                     sent) const {
    if (source < 0) return {Input::kZeros, 0, {}};
    const auto member = static_cast<std::uint64_t>(source);
    const auto at = static_cast<std::size_t>(
        std::find_if(team_.places.begin(), team_.places.end(),
                     [member](const Place& place) { return member < place.end; }) -
        team_.places.begin());
    if (at == self_) return {Input::kOwn, 0, value_of(shard(group, member))};
    return {messages[at], sent[at].at({group, member}), {}};
  }

  const Collective& c_;
  const Team& team_;
  const Extent extent_;
  const std::uint64_t unit_, columns_;
  const std::size_t self_;
  const Place& own_;
  const std::size_t k_;
  Block block_;
  /// Sums of a node for a member of another host, by group, the node's first member, and that one.
  std::map<std::tuple<std::size_t, std::uint64_t, std::uint64_t>, Piece> work_;
};

}  // namespace

std::uint64_t unit_of(const Collective& collective) {
  const bool adds = collective.kind == Kind::kAllReduce || collective.kind == Kind::kReduceScatter;
  return adds ? size_of(collective.dtype) : 1;
}

std::uint64_t columns_of(const Collective& collective) {
  return unit_of(collective) == 1 && collective.kind != Kind::kAllReduce ? collective.run_bytes
                                                                         : collective.run_elements;
}

Block make_block(const Collective& collective, const Team& team, const Extent& extent) {
  return Maker(collective, team, extent).make();
}

}  // namespace seaway::collective
