// A queue per device, and who waits for whom in it.

#include "demos/support/fifo_devices.hpp"

#include <algorithm>
#include <utility>

namespace seaway::demos {

using events::WaitKind;

void FifoDevices::enqueue(std::size_t device, std::string gang) {
  queues_[device].push_back(std::move(gang));
}

bool FifoDevices::is_at_all_heads(const std::string& gang) const {
  return std::all_of(queues_.begin(), queues_.end(), [&gang](const auto& queue) {
    return std::find(queue.begin(), queue.end(), gang) == queue.end() || queue.front() == gang;
  });
}

std::vector<std::string> FifoDevices::run() {
  std::vector<std::string> ran;
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& queue : queues_) {
      if (queue.empty() || !is_at_all_heads(queue.front())) continue;
      const std::string gang = queue.front();
      for (auto& other : queues_) {
        if (!other.empty() && other.front() == gang) other.pop_front();
      }
      ran.push_back(gang);
      moved = true;
    }
  }
  return ran;
}

bool FifoDevices::is_done() const {
  return std::all_of(queues_.begin(), queues_.end(), [](const auto& q) { return q.empty(); });
}

events::WaitGraph FifoDevices::waiting() const {
  events::WaitGraph graph;
  for (std::size_t index = 0; index < queues_.size(); ++index) {
    const auto& queue = queues_[index];
    if (queue.empty()) continue;
    const auto device = graph.node(WaitKind::kDevice, std::to_string(index));
    const auto head = graph.node(WaitKind::kGang, queue.front());
    graph.add_edge(device, head, "it is at the head of the queue and has begun to wait here");
    for (std::size_t place = 1; place < queue.size(); ++place) {
      graph.add_edge(graph.node(WaitKind::kGang, queue[place]), device,
                     "its shard there is behind " + std::to_string(place) + " other in the queue");
    }
  }
  return graph;
}

}  // namespace seaway::demos
