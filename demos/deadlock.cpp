// deadlock: two clients whose collectives reach two devices in opposite order. With a queue per
// device they wait for each other for ever; Seaway's scheduler puts them into one order.

#include <barrier>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "demos/list.hpp"
#include "demos/support/fifo_devices.hpp"
#include "demos/support/report.hpp"
#include "seaway/inspect.hpp"
#include "seaway/seaway.hpp"

namespace seaway::demos {
namespace {

Status wrong(std::string what) { return Status(StatusCode::kDataCorruption, std::move(what)); }

/// (a) A queue for each device: device 0 hears of red first, device 1 of blue.
Status hang_with_queues() {
  FifoDevices devices(2);
  devices.enqueue(0, "red");
  devices.enqueue(0, "blue");
  devices.enqueue(1, "blue");
  devices.enqueue(1, "red");
  const auto ran = devices.run();
  const events::WaitGraph graph = devices.waiting();

  std::printf("With a queue per device, device 0 = [red blue], device 1 = [blue red]:\n");
  std::printf("%zu of 2 gangs ran.\n%s\n", ran.size(), graph.explain().c_str());
  if (!ran.empty() || devices.is_done()) return wrong("the queues were to hang, and did not");
  if (graph.find_cycle().empty()) return wrong("the hang has no cycle of waiting");
  return {};
}

/// One client that swaps two numbers between two devices, again and again, by a collective.
struct Swapper {
  std::string name;
  Client client;
  Slice slice;
  Program swap;
  Array value;
  Status failure;

  static Result<Swapper> make(const Cluster& cluster, std::string name,
                              const std::function<Tensor(Tensor)>& body) {
    Swapper made;
    made.name = name;
    auto client = cluster.connect({.tenant = name});
    if (!client.ok()) return client.status();
    made.client = *client;
    auto slice = made.client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}});
    if (!slice.ok()) return slice.status();
    made.slice = *slice;
    const NamedSharding row(made.slice.mesh(), P("data"));
    FunctionOptions options;
    options.mesh = made.slice.mesh();
    const auto function = made.client.function(name, body, {f32({1})}, options);
    if (!function.ok()) return function.status();
    auto swap = made.client.program(name, [&](const Traced& x) { return (*function)(x); },
                                    {ArraySpec{f32({2}), row}});
    if (!swap.ok()) return swap.status();
    made.swap = *swap;
    made.value = made.client.put<float>({1, 2}, row);
    return made;
  }

  void enqueue(int runs) {
    for (int i = 0; i < runs && failure.ok(); ++i) {
      const Run run = swap.execute({value});
      failure = run.error();
      value = run.output(0);
      // Lets the other client come between, also where there is one core.
      if (i % 3 == 2) std::this_thread::yield();
    }
  }

  Status check(int runs) const {
    if (!failure.ok()) return failure;
    const auto numbers = value.to_host<float>().get();
    if (!numbers.ok()) return numbers.status();
    const auto expected = runs % 2 == 0 ? std::vector<float>{1, 2} : std::vector<float>{2, 1};
    return *numbers == expected ? Status() : wrong(name + " ended with other numbers");
  }
};

/// Gangs of one order never overlap on a device that they share.
Status check_order(const std::vector<GangRecord>& gangs) {
  for (std::size_t i = 1; i < gangs.size(); ++i) {
    if (gangs[i].begin_ns < gangs[i - 1].end_ns) return wrong("two gangs ran at the same time");
  }
  return {};
}

/// (b) The same on Seaway: two clients in two threads, so that nobody knows whose run comes first.
Status run_with_seaway(const DemoOptions& options) {
  const int runs = options.quick ? 200 : 2000;
  const auto cluster = Cluster::start(
      options.cluster.empty() ? "embedded:islands=1,devices=2,events=262144" : options.cluster);
  if (!cluster.ok()) return cluster.status();
  // Both swap: one by a sum over both devices, the other by sending to the neighbour.
  auto red = Swapper::make(*cluster, "red", [](Tensor x) { return all_reduce(x, "data") - x; });
  if (!red.ok()) return red.status();
  auto blue = Swapper::make(*cluster, "blue", [](Tensor x) {
    return permute(x, "data", {{0, 1}, {1, 0}});
  });
  if (!blue.ok()) return blue.status();

  std::barrier start(2);
  const auto enqueue = [&start, runs](Swapper& swapper) {
    start.arrive_and_wait();
    swapper.enqueue(runs);
  };
  std::thread first([&enqueue, &red] { enqueue(*red); });
  std::thread second([&enqueue, &blue] { enqueue(*blue); });
  first.join();
  second.join();
  if (Status status = red->check(runs); !status.ok()) return status;
  if (Status status = blue->check(runs); !status.ok()) return status;

  std::printf(
      "With Seaway, %d runs of each client on the same two devices, all with the right "
      "result.\n",
      runs);
  if (!options.cluster.empty()) return {};  // Its hosts keep to themselves in which order it was.
  const auto gangs = recent_gangs(*cluster);
  if (!gangs.ok()) return gangs.status();
  std::string order;
  int changes = 0;
  for (std::size_t i = 0; i < gangs->size(); ++i) {
    if (i > 0 && (*gangs)[i].tenant != (*gangs)[i - 1].tenant) ++changes;
    if (i < 60) order += (*gangs)[i].tenant[0];
  }
  std::printf("The one order of both devices (r: red, b: blue; %d changes in %zu gangs):\n%s...\n",
              changes, gangs->size(), order.c_str());
  if (Status status = check_order(*gangs); !status.ok()) return status;
  return write_trace(*cluster, "deadlock", options);
}

Status deadlock(const DemoOptions& options) {
  if (Status status = hang_with_queues(); !status.ok()) return status;
  return run_with_seaway(options);
}

}  // namespace

int run_deadlock(const DemoOptions& options) { return finish("deadlock", deadlock(options)); }

}  // namespace seaway::demos
