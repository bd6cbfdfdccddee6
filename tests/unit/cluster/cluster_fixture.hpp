// What tests of whole clusters share: a look inside, gates for native functions, and short words.

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster.hpp"
#include "seaway/seaway.hpp"

namespace seaway {

/// Runs `work` on the control thread and waits for it.
inline void on_control(const Cluster& cluster, const std::function<void()>& work) {
  actor::Engine& engine = *cluster.state()->engine;
  std::atomic<bool> is_done = false;
  engine.post([&] {
    work();
    is_done = true;
    engine.notify();
  });
  engine.wait([&is_done] { return is_done.load(); }, 0);
}

template <class T>
T ask(const Cluster& cluster, const std::function<T(cluster::Embedded&)>& question) {
  T answer{};
  on_control(cluster, [&] { answer = question(*cluster.state()->embedded); });
  return answer;
}

/// Looks until `holds`; false when it still does not after very many looks.
inline bool eventually(const Cluster& cluster,
                       const std::function<bool(cluster::Embedded&)>& holds) {
  const std::uint64_t until_ns = cluster.state()->clock.now_ns() + 10'000'000'000;
  while (cluster.state()->clock.now_ns() < until_ns) {
    if (ask<bool>(cluster, holds)) return true;
  }
  return false;
}

/// Everything that clients left behind, in words; empty when nothing is.
inline std::string leftovers(cluster::Embedded& embedded) {
  std::string text;
  const auto add = [&text](const std::string& what, std::uint64_t count) {
    if (count > 0) text += what + ": " + std::to_string(count) + "; ";
  };
  add("unfinished runs", embedded.controller().runs_unfinished());
  add("arrays of the controller", embedded.controller().array_count());
  add("entries of the bulk channel", embedded.bulk().size());
  for (IslandId island = 0; island < embedded.options().islands; ++island) {
    const std::string at = " of island " + std::to_string(island);
    add("parts" + at, embedded.scheduler(island).counters().parts);
    add("scheduled arrays" + at, embedded.scheduler(island).array_count());
    add("host arrays" + at, embedded.host(island).array_count());
    add("host work" + at, embedded.host(island).is_idle() ? 0 : 1);
    for (DeviceId device = 0; device < embedded.options().devices; ++device) {
      const std::string on = at + ", device " + std::to_string(device);
      add("reserved bytes" + on, embedded.scheduler(island).used_bytes(device));
      add("used bytes" + on, embedded.host(island).device(device).used_bytes);
    }
    add("spilled bytes" + at, embedded.scheduler(island).counters().spilled_bytes);
    add("send room" + at, embedded.scheduler(island).counters().send_room_used_bytes);
  }
  return text;
}

/// Requires that all clients and handles are gone.
inline void expect_nothing_left(const Cluster& cluster) {
  EXPECT_TRUE(eventually(cluster, [](auto& embedded) { return leftovers(embedded).empty(); }))
      << ask<std::string>(cluster, leftovers);
}

inline std::uint64_t peak_bytes(const Cluster& cluster, IslandId island = 0, DeviceId device = 0) {
  return ask<std::uint64_t>(cluster, [=](cluster::Embedded& embedded) {
    return embedded.host(island).device(device).peak_bytes;
  });
}

/// Holds native functions back until it is opened, or gone.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    std::lock_guard guard(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  /// In the function.
  void pass() {
    std::unique_lock guard(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return is_open_; });
  }
  /// In the test: until `count` calls stand before the gate.
  void await(int count = 1) {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this, count] { return arrived_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int arrived_ = 0;
};

/// A native function on f32 shards that runs in a thread of its own (its cost says so).
inline NativeFunction copying(std::vector<TensorType> types, std::function<Status()> before) {
  NativeFunction native;
  native.parameters = types;
  native.outputs = types;
  native.cost_ns = 10'000'000;
  native.body = [types, before = std::move(before)](auto operands, auto outputs, std::byte*) {
    if (Status status = before(); !status.ok()) return status;
    for (std::size_t i = 0; i < types.size(); ++i) {
      std::memcpy(outputs[i], operands[i], types[i].bytes());
    }
    return Status();
  };
  return native;
}

inline std::vector<float> counted(std::size_t size, float first = 0) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), first);
  return values;
}

inline Slice acquire(const Client& client, std::uint32_t devices, std::int32_t island = -1) {
  return client.acquire_slice({.devices = devices, .mesh = {{"data", devices}}, .island = island})
      .value();
}

inline NamedSharding rows(const Slice& slice) { return {slice.mesh(), P("data")}; }

inline std::vector<float> read(const Array& array) {
  auto value = array.to_host<float>().get();
  EXPECT_TRUE(value.ok()) << value.status().to_string();
  return value.ok() ? *value : std::vector<float>();
}

}  // namespace seaway
