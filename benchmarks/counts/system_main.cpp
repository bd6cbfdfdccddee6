// system_counts: what the system does for operations of real processes, as a JSON object a line:
// messages between two of them over each kind of socket, and calls and runs of an embedded cluster.
// See tools/counts.py.

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "benchmarks/counts/adder.hpp"
#include "benchmarks/counts/system_calls.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/wire/round_trips.hpp"

namespace seaway::benchmarks {
namespace {

/// A batch that nothing disturbs costs the least: in others a thread waits for a core, or a
/// heartbeat is due. The first one is not counted.
constexpr int kBatches = 40, kOfBatch = 250, kAhead = 50;

struct Cost {
  std::uint64_t system_calls = UINT64_MAX, written_bytes = UINT64_MAX, wake_ups = UINT64_MAX;
};

/// Of this process and of `other`, if there is one.
std::uint64_t all_wake_ups(pid_t other) {
  return wake_ups(::getpid()) + (other > 0 ? wake_ups(other) : 0);
}

/// Prints the least of what a batch of `times` operations has cost.
Status print_least(const std::string& operation, int times, pid_t other,
                   const std::function<Status()>& batch) {
  Cost least;
  for (int i = 0; i < kBatches; ++i) {
    // Reading wake-ups takes system calls as well: it is done outside of what is counted.
    const std::uint64_t wake_ups_before = all_wake_ups(other);
    const SystemCalls before = system_calls();
    if (Status status = batch(); !status.ok()) return status;
    const SystemCalls after = system_calls();
    const std::uint64_t wake_ups_after = all_wake_ups(other);
    if (i == 0) continue;
    least = {std::min(least.system_calls, after.count - before.count),
             std::min(least.written_bytes, after.written_bytes - before.written_bytes),
             std::min(least.wake_ups, wake_ups_after - wake_ups_before)};
  }
  const nlohmann::ordered_json line = {{"operation", operation},
                                       {"times", times},
                                       {"system_calls", least.system_calls},
                                       {"written_bytes", least.written_bytes},
                                       {"wake_ups", least.wake_ups}};
  std::printf("%s\n", line.dump().c_str());
  return {};
}

/// Round trips of a message.
Status count_messages(const std::string& socket, const std::string& directory) {
  ActorRoundTrips trips(socket, directory, {});
  return print_least("message." + socket, 2 * kOfBatch, trips.other(), [&trips]() -> Status {
    if (trips.measure_us(kOfBatch).size() == kOfBatch) return {};
    return deadline_exceeded("a message was not answered within 60 s; see benchmarks/wire");
  });
}

/// Calls that wait for their value; and runs, some ahead of the last outcome.
Status count_runs() {
  auto client = connect("embedded:islands=1,devices=1");
  if (!client.ok()) return client.status();
  const auto slice = client->acquire_slice({.devices = 1, .mesh = {{"data", 1}}});
  if (!slice.ok()) return slice.status();
  Adder adder;
  if (Status status = adder.begin(*client, *slice, 1); !status.ok()) return status;
  Status status = print_least("embedded.call", kOfBatch, 0, [&adder]() -> Status {
    for (int i = 0; i < kOfBatch; ++i) {
      if (Status one = Adder::check(adder.run().output(0), 42); !one.ok()) return one;
    }
    return {};
  });
  if (!status.ok()) return status;
  return print_least("embedded.run", kOfBatch, 0, [&]() -> Status {
    for (int i = 1; i <= kOfBatch; ++i) {
      const Array output = adder.run().output(0);
      if (i % kAhead != 0) continue;
      if (Status one = output.status(); !one.ok()) return one;
    }
    return client->drain();
  });
}

Status count_all() {
  std::string directory =
      (std::filesystem::temp_directory_path() / "seaway-counts-XXXXXX").string();
  if (!::mkdtemp(directory.data())) return resource_exhausted("there is no room for a socket");
  Status status;
  // Before there are threads: the other end is forked.
  for (const char* const socket : {"unix", "tcp", "tls"}) {
    if (status.ok()) status = count_messages(socket, directory);
  }
  std::filesystem::remove_all(directory);
  return status.ok() ? count_runs() : status;
}

}  // namespace
}  // namespace seaway::benchmarks

int main() {
  // On one core an end never answers before the other one has gone to sleep: as often as it happens
  // to do that where each has a core of its own, wake-ups would differ.
  if (!seaway::benchmarks::stay_on(::getpid(), ::sched_getcpu())) return 1;
  seaway::benchmarks::start_counting();
  const seaway::Status status = seaway::benchmarks::count_all();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
