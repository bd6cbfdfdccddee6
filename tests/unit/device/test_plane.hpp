// A data plane that does what a test says.

#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "transport/data_plane.hpp"

namespace seaway::device {

/// Between a host and one other process; one value comes at a time.
class TestPlane final : public transport::DataPlane {
 public:
  explicit TestPlane(transport::DataPeer peer) : peer_(peer) {}

  std::uint64_t bytes_min() const override { return 1; }
  void offer(transport::DataPeer reader, transport::DataKey key,
             transport::DataSource source) override {
    EXPECT_EQ(reader, peer_);
    EXPECT_TRUE(offers.emplace(key, std::move(source)).second);
  }
  void withdraw(transport::DataPeer reader, transport::DataKey key) override {
    EXPECT_EQ(reader, peer_);
    EXPECT_EQ(offers.erase(key), 1u);
  }
  void fetch(transport::DataPeer from, transport::DataKey key, transport::DataTarget wanted,
             std::function<void(Status)> done) override {
    EXPECT_EQ(from, peer_);
    fetched = key;
    target = std::move(wanted);
    end = std::move(done);
  }
  void cancel(transport::DataPeer from, transport::DataKey key) override {
    EXPECT_EQ(from, peer_);
    EXPECT_EQ(key, fetched);
    ++cancels;
  }
  void set_weight(std::uint32_t, std::uint32_t) override {}
  void forget(transport::DataPeer peer) override { forgotten.push_back(peer); }
  std::size_t open() const override { return offers.size(); }
  Counts counts() const override { return {}; }

  /// The first number of what is offered under `key`.
  float offered(transport::DataKey key) const {
    std::vector<std::span<const std::byte>> pieces;
    offers.at(key).pieces(0, sizeof(float), pieces);
    float value = 0;
    std::memcpy(&value, pieces.at(0).data(), sizeof(value));
    return value;
  }

  std::map<transport::DataKey, transport::DataSource> offers;
  transport::DataKey fetched;
  std::optional<transport::DataTarget> target;
  std::function<void(Status)> end;
  int cancels = 0;
  std::vector<transport::DataPeer> forgotten;

 private:
  const transport::DataPeer peer_;
};

}  // namespace seaway::device
