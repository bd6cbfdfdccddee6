// Overheard: what the controller tells its clients, and frames said in a client's name.

#pragma once

#include <gtest/gtest.h>
#include <seaway.capnp.h>

#include <map>
#include <utility>

#include "cluster_fixture.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway {

/// Sees what the controller sends to clients, for as long as it lives.
class Overheard {
 public:
  explicit Overheard(const Cluster& cluster) : cluster_(cluster) {
    on_control(cluster_, [this] {
      cluster_.state()->embedded->router().observe(
          [this](actor::Role role, std::uint32_t, const Frame& frame) {
            if (role != actor::Role::kClient) return;
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

 private:
  void take(wire::Message::Reader message) {
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
