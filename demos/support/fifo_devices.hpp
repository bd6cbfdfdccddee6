// FifoDevices: a small stand-in for a runtime whose devices each have a queue of their own and no
// common order. It shows what Seaway's order is for.

#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "events/wait_graph.hpp"

namespace seaway::demos {

/// Devices that run what is in their queue in the order in which it came. A gang, known by its
/// name, runs when it is at the head of all queues that it is in. A value.
class FifoDevices {
 public:
  explicit FifoDevices(std::size_t devices) : queues_(devices) {}

  /// Shard of `gang` arrives at `device`, which is one of those given to the constructor.
  void enqueue(std::size_t device, std::string gang);
  /// Runs what can run, until nothing can. Returns the names of the gangs that ran, in order.
  std::vector<std::string> run();
  /// True when all queues are empty.
  bool is_done() const;
  /// Who waits for whom now: gangs for the devices on which they are not at the head, devices for
  /// the gang at their head.
  events::WaitGraph waiting() const;

 private:
  bool is_at_all_heads(const std::string& gang) const;

  std::vector<std::deque<std::string>> queues_;
};

}  // namespace seaway::demos
