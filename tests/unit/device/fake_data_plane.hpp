// FakeDataPlane: values that hosts of a test fetch from each other when it says so.

#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "transport/data_plane.hpp"

namespace seaway::device {

/// What hosts of one test offer each other, fetched when the test says so.
class FakeDataPlane final : public transport::DataPlane {
 public:
  using Network = std::map<transport::DataPeer, FakeDataPlane*>;
  FakeDataPlane(transport::DataPeer self, Network& network) : self_(self), network_(network) {
    network_[self] = this;
  }

  std::uint64_t bytes_min() const override { return 1; }
  void offer(transport::DataPeer reader, transport::DataKey key,
             transport::DataSource source) override {
    EXPECT_TRUE(names_.insert({reader, key}).second) << "it was offered before";
    offers_[{reader, key}] = std::move(source);
  }
  void withdraw(transport::DataPeer reader, transport::DataKey key) override {
    const auto found = offers_.find({reader, key});
    ASSERT_NE(found, offers_.end());
    withdrawn.push_back(std::move(found->second));
    offers_.erase(found);
  }
  void fetch(transport::DataPeer from, transport::DataKey key, transport::DataTarget target,
             std::function<void(Status)> done) override {
    fetches_.push_back({from, key, std::move(target), std::move(done), false});
  }
  void cancel(transport::DataPeer from, transport::DataKey key) override {
    for (Fetch& one : fetches_) one.is_cancelled |= one.from == from && one.key == key;
  }
  void set_weight(std::uint32_t tenant, std::uint32_t weight) override { weights[tenant] = weight; }
  std::size_t open() const override { return offers_.size() + fetches_.size(); }
  Counts counts() const override { return {}; }

  /// Ends the first fetch. False: there is none.
  bool step() {
    if (fetches_.empty()) return false;
    Fetch one = std::move(fetches_.front());
    fetches_.pop_front();
    if (one.is_cancelled) {
      one.done({StatusCode::kCancelled, "cancelled"});
      return true;
    }
    if (fails) {
      one.done({StatusCode::kHostLost, "nothing came"});
      return true;
    }
    const auto& offers = network_.at(one.from)->offers_;
    const auto found = offers.find({self_, one.key});
    if (found == offers.end()) {  // It is asked for again.
      fetches_.push_back(std::move(one));
      return false;
    }
    std::vector<std::span<const std::byte>> pieces;
    EXPECT_EQ(found->second.bytes, one.target.bytes);
    found->second.pieces(0, found->second.bytes, pieces);
    std::vector<std::byte> all;
    for (const auto piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
    for (std::uint64_t at = 0; at < all.size();) {
      const std::span<std::byte> to = one.target.place(at, all.size() - at);
      EXPECT_FALSE(to.empty());
      std::memcpy(to.data(), all.data() + at, to.size());
      at += to.size();
    }
    one.done({});
    return true;
  }

  bool fails = false;
  std::vector<transport::DataSource> withdrawn;  // Which connections go on to read.
  std::map<std::uint32_t, std::uint32_t> weights;

 private:
  struct Fetch {
    transport::DataPeer from;
    transport::DataKey key;
    transport::DataTarget target;
    std::function<void(Status)> done;
    bool is_cancelled;
  };
  const transport::DataPeer self_;
  Network& network_;
  std::map<std::pair<transport::DataPeer, transport::DataKey>, transport::DataSource> offers_;
  std::set<std::pair<transport::DataPeer, transport::DataKey>> names_;
  std::deque<Fetch> fetches_;
};

}  // namespace seaway::device
