// Counts the records in all frames of a cluster, by kind.

#pragma once

#include <seaway.capnp.h>

#include <map>
#include <string>

#include "cluster_fixture.hpp"
#include "wire/frame_reader.hpp"

namespace seaway {

/// How many records of each kind were sent; "launch to island" apart from "launch to host".
using RecordCounts = std::map<std::string, std::uint64_t>;

inline void count_records(actor::Role role, const Frame& frame, RecordCounts& counts) {
  using wire::Message;
  const Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    switch (message.which()) {
      case Message::LAUNCHES:
        counts[role == actor::Role::kHost ? "prepare" : "launch"] +=
            message.getLaunches().getRecords().size();
        break;
      case Message::ORDERS:
        ++counts["order frame"];
        counts["order"] += message.getOrders().size();
        break;
      case Message::DONES:
        ++counts["done frame"];
        counts["done"] += message.getDones().getRecords().size();
        break;
      case Message::EXISTS:
        counts["exists"] += message.getExists().size();
        break;
      case Message::FINISHED:
        counts["finished"] += message.getFinished().size();
        break;
      case Message::RESOLVED:
        counts["resolved"] += message.getResolved().size();
        break;
      case Message::EDGES:
        for (const auto edge : message.getEdges()) {
          constexpr const char* kNames[] = {"armed", "declined", "delivered", "consumed"};
          ++counts[kNames[static_cast<int>(edge.getKind())]];
        }
        break;
      case Message::FORGET:
        ++counts["forget frame"];
        break;
      default:
        ++counts["other"];
    }
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.to_string();
}

/// Whether it tells a host to compile a function.
inline bool is_compile(const Frame& frame) {
  bool is_one = false;
  const Status status = wire::read_frame<wire::Message>(frame, [&](wire::Message::Reader message) {
    is_one = message.isCompile();
    return Status();
  });
  return status.ok() && is_one;
}

/// Counts from now until stop(), or its end.
class RecordCounter {
 public:
  explicit RecordCounter(Cluster cluster) : cluster_(std::move(cluster)) {
    on_control(cluster_, [this] {
      cluster_.state()->embedded->router().observe(
          [this](actor::Role role, std::uint32_t, const Frame& frame) {
            count_records(role, frame, counts_);
          });
    });
  }
  ~RecordCounter() { stop(); }
  RecordCounts stop() {
    on_control(cluster_, [this] { cluster_.state()->embedded->router().observe(nullptr); });
    return counts_;
  }

 private:
  Cluster cluster_;
  RecordCounts counts_;
};

}  // namespace seaway
