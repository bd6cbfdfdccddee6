// Overheard: what clients and the controller tell each other, and frames said in a client's name.

#pragma once

#include <gtest/gtest.h>
#include <seaway.capnp.h>

#include <map>
#include <utility>
#include <vector>

#include "cluster_fixture.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway {

/// Sees what passes between the controller and clients, for as long as it lives.
class Overheard {
 public:
  explicit Overheard(const Cluster& cluster) : cluster_(cluster) {
    on_control(cluster_, [this] {
      cluster_.state()->embedded->router().observe(
          [this](actor::Role role, std::uint32_t, const Frame& frame) {
            if (role != actor::Role::kClient && role != actor::Role::kController) return;
            const Status status = wire::read_frame<wire::Message>(
                frame, [this](wire::Message::Reader message) { take(message); });
            EXPECT_TRUE(status.ok()) << status.to_string();
          });
    });
  }
  ~Overheard() {
    on_control(cluster_, [this] { cluster_.state()->embedded->router().observe({}); });
  }

  /// Says something to the controller in somebody's name, and waits until it has been heard.
  void say(const Client& client, Frame frame) {
    on_control(cluster_, [this, &frame] {
      cluster_.state()->embedded->router().send(actor::Role::kController, 0, std::move(frame));
    });
    EXPECT_TRUE(client.drain().ok());  // Its answer comes behind those to all before.
  }

  std::map<std::uint64_t, Status> replies, outcomes;
  struct Wish {
    bool contiguous = false, spread = false;

    friend bool operator==(const Wish&, const Wish&) = default;
  };
  std::vector<Wish> wishes;  // Of slices.

 private:
  void take(wire::Message::Reader message) {
    if (message.isRequest() && message.getRequest().isAcquireSlice()) {
      const auto acquire = message.getRequest().getAcquireSlice();
      wishes.push_back({acquire.getContiguous(), acquire.getSpread()});
    }
    if (message.isReply()) {
      const auto reply = message.getReply();
      replies[reply.getRequest()] = wire::read_status(reply.getCode(), reply.getMessage());
    }
    if (!message.isResolved()) return;
    for (const auto resolved : message.getResolved()) {
      outcomes[resolved.getId()] = wire::read_status(resolved.getCode(), resolved.getMessage());
    }
  }

  const Cluster& cluster_;
};

}  // namespace seaway
