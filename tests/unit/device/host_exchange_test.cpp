// Two hosts that exchange values, in any order that their mailboxes allow, with failures, cancels
// and slow copies anywhere: each edge ends exactly once at each end (HO-3), and nothing is left.

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

using Done = HostOutbox::Done;
using Edge = HostOutbox::Edge;

constexpr Stamp kRuns = 6;
constexpr std::uint32_t kThere = 7, kBack = 8;

/// Island 0 makes a value, island 1 adds to it, island 0 adds again and keeps it.
PartMaker near_part() {
  PartMaker part(1, {0});
  const std::uint32_t made = part.inner(), back = part.receive(kBack, 1);
  part.gang({}, {made}, {.cost_ns = kSlow}).gang({back}, {part.output()});
  return part.send(made, kThere, 1);
}
PartMaker far_part() {
  PartMaker part(2, {0});
  const std::uint32_t in = part.receive(kThere, 0), made = part.inner();
  part.gang({in}, {made});
  return part.send(made, kBack, 0);
}

/// Both hosts, and three mailboxes for each: of the controller, of the scheduler, of the other.
class Exchange {
 public:
  explicit Exchange(std::uint64_t seed) : random_(seed, 0) {
    for (HostWorld& host : hosts_) host.backend.holds_copies = true;
    for (HostId h = 0; h < 2; ++h) {
      for (Stamp stamp = 1; stamp <= kRuns; ++stamp) {
        boxes_[h][0].push_back([this, h, stamp] {
          hosts_[h].launch(stamp, h == 0 ? near_part() : far_part(), {60 + stamp});
        });
        order(h, stamp);
      }
    }
  }

  /// One more thing happens; false when nothing can.
  bool step() {
    std::vector<std::function<void()>> choices;
    for (HostId h = 0; h < 2; ++h) {
      for (auto& box : boxes_[h]) {
        if (!box.empty()) choices.push_back([&box] { take(box)(); });
      }
      FakeBackend& backend = hosts_[h].backend;
      if (backend.copies() > 0) choices.push_back([&backend] { backend.end_copy(); });
      if (backend.jobs() > 0) {
        choices.push_back([this, &backend] {
          backend.end_job(0, random_.below(5) == 0 ? user_function_error("broken") : Status());
        });
      }
    }
    if (choices.empty()) return false;
    choices[random_.below(choices.size())]();
    for (HostId h = 0; h < 2; ++h) {
      if (random_.below(3) == 0) hosts_[h].core.advance();
      listen(h);
    }
    return true;
  }
  /// What they say to each other from now on is lost, and each is told so in its own time.
  void cut() {
    is_cut_ = true;
    for (Stamp stamp = 1; stamp <= kRuns; ++stamp) {
      bulk_.take_edge(stamp, kThere);
      bulk_.take_edge(stamp, kBack);
    }
    for (HostId h = 0; h < 2; ++h) {
      boxes_[h][2].clear();
      boxes_[h][0].push_back([this, h] {
        hosts_[h].core.cut_edges(1 - h, kRuns, {StatusCode::kHostLost, "they lost each other"});
      });
    }
  }
  /// Until nothing can happen any more.
  void run() {
    for (bool is_moving = true; is_moving;) {
      while (step()) {
      }
      is_moving = false;
      for (HostId h = 0; h < 2; ++h) {
        hosts_[h].core.advance();
        is_moving |= listen(h) || hosts_[h].backend.jobs() > 0;
      }
    }
  }

  void expect_all_ended() {
    for (Stamp stamp = 1; stamp <= kRuns; ++stamp) {
      for (const std::uint32_t edge : {kThere, kBack}) {
        const auto count = [this, stamp, edge](Edge::Kind kind) {
          return edges_[{stamp, edge, kind}];
        };
        EXPECT_EQ(count(Edge::Kind::kArmed) + count(Edge::Kind::kDeclined), 1) << stamp << edge;
        EXPECT_EQ(count(Edge::Kind::kDelivered), count(Edge::Kind::kArmed)) << stamp << edge;
        EXPECT_EQ(count(Edge::Kind::kConsumed), count(Edge::Kind::kArmed)) << stamp << edge;
        EXPECT_EQ((received_[{stamp, edge}]), 1) << stamp << edge;
      }
      EXPECT_EQ((gangs_[{0, stamp}]), (placed_[{0, stamp}])) << stamp;
      EXPECT_EQ((gangs_[{1, stamp}]), (placed_[{1, stamp}])) << stamp;
    }
    expect_nothing_left();
  }
  void expect_nothing_left() {
    EXPECT_EQ(fenced_, cancelled_);
    EXPECT_EQ(bulk_.size(), 0u);
    for (HostWorld& host : hosts_) EXPECT_TRUE(host.core.is_idle()) << host.core.why(1);
  }
  /// Values of runs that nobody cancelled and that did not fail.
  std::set<std::string> values() {
    std::set<std::string> found;
    for (Stamp stamp = 1; stamp <= kRuns; ++stamp) {
      if (failed_.contains(stamp)) continue;
      if (cancelled_.contains({0, stamp}) || cancelled_.contains({1, stamp})) continue;
      found.insert(hosts_[0].value(60 + stamp));
    }
    return found;
  }
  void free_all() {
    for (Stamp stamp = 1; stamp <= kRuns; ++stamp) hosts_[0].free(60 + stamp);
  }
  std::uint64_t used() { return hosts_[0].used() + hosts_[1].used(); }

 private:
  using Box = std::deque<std::function<void()>>;

  static std::function<void()> take(Box& box) {
    std::function<void()> first = std::move(box.front());
    box.pop_front();
    return first;
  }

  /// Admits and places one part, or cancels it somewhere in between.
  void order(HostId h, Stamp stamp) {
    const std::uint32_t gangs = h == 0 ? 2 : 1;
    Box& box = boxes_[h][1];
    const std::uint64_t cancel_at = random_.below(10);  // Before, between or behind; mostly never.
    const auto cancel = [this, h, stamp] {
      cancelled_.insert({h, stamp});
      boxes_[h][1].push_back([this, h, stamp] { hosts_[h].cancel(stamp); });
    };
    if (cancel_at == 0) return cancel();
    box.push_back([this, h, stamp] { hosts_[h].admit(stamp); });
    for (std::uint32_t gang = 0; gang < gangs; ++gang) {
      if (cancel_at == 1 + gang) return cancel();
      ++placed_[{h, stamp}];
      box.push_back([this, h, stamp, gang] { hosts_[h].place(stamp, gang, gang + 1); });
    }
    if (cancel_at == 3) cancel();
  }

  /// Passes on what a host says, and counts it. True if it said anything.
  bool listen(HostId h) {
    HostOutbox& outbox = hosts_[h].core.outbox();
    const bool has_words = !outbox.edges.empty() || !outbox.dones.empty();
    for (const Edge& edge : outbox.edges) {
      ++edges_[{edge.stamp, edge.edge, edge.kind}];
      EXPECT_EQ(edge.peer, 1 - h);
      if (is_cut_) {
        if (edge.kind == Edge::Kind::kDelivered) bulk_.take_edge(edge.stamp, edge.edge);
        continue;
      }
      boxes_[1 - h][2].push_back([this, edge, h] {
        hosts_[1 - h].core.edge(edge.kind, edge.stamp, edge.edge, h, edge.status);
      });
    }
    for (const Done& done : outbox.dones) {
      if (done.kind == Done::Kind::kGangs) gangs_[{h, done.id}] += done.last - done.first;
      if (done.kind == Done::Kind::kReceived) ++received_[{done.id, done.first}];
      if (done.kind != Done::Kind::kFenced) continue;
      EXPECT_TRUE(fenced_.insert({h, done.id}).second) << done.id;
    }
    for (const auto& failure : outbox.failures) failed_.insert(failure.stamp);
    outbox.edges.clear();
    outbox.dones.clear();
    outbox.failures.clear();
    return has_words;
  }

  RandomStream random_;
  transport::LocalBulk bulk_;
  std::array<HostWorld, 2> hosts_ = {HostWorld(1, 1 << 20, 0, &bulk_),
                                     HostWorld(1, 1 << 20, 1, &bulk_)};
  std::array<std::array<Box, 3>, 2> boxes_;
  std::map<std::tuple<Stamp, std::uint32_t, Edge::Kind>, int> edges_;
  std::map<std::pair<Stamp, std::uint32_t>, int> received_;
  std::map<std::pair<HostId, Stamp>, std::uint32_t> placed_, gangs_;
  std::set<std::pair<HostId, Stamp>> cancelled_, fenced_;
  std::set<Stamp> failed_;
  bool is_cut_ = false;
};

TEST(HostExchange, EachEdgeEndsOnceAndNothingIsLeftWhateverComesFirst) {
  std::set<std::string> values;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Exchange exchange(seed);

    exchange.run();

    exchange.expect_all_ended();
    values.merge(exchange.values());
    exchange.free_all();
    EXPECT_EQ(exchange.used(), 0u);
    if (HasFailure()) break;
  }
  EXPECT_EQ(values, std::set<std::string>{"3"});
}

TEST(HostExchange, WhatIsCutOffEndsOnBothSidesAndNothingIsLeft) {
  std::set<std::string> values;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Exchange exchange(seed);
    for (std::uint64_t i = seed % 60; i > 0; --i) exchange.step();

    exchange.cut();
    exchange.run();

    exchange.expect_nothing_left();
    values.merge(exchange.values());
    exchange.free_all();
    EXPECT_EQ(exchange.used(), 0u);
    if (HasFailure()) break;
  }
  // Some had all that they needed before; the others have no value, and none has another one.
  EXPECT_EQ(values, std::set<std::string>{"3"});
}

}  // namespace
}  // namespace seaway::device
