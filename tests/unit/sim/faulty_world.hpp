// FaultyWorld: a cluster in virtual time with faults of its devices, and a program to run on it.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actor/seeded_engine.hpp"
#include "cluster/embedded.hpp"
#include "seaway/client.hpp"
#include "seaway/function.hpp"
#include "seaway/program.hpp"
#include "sim/sim_backend.hpp"
#include "sim/world.hpp"

namespace seaway::sim {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// Kernels take a thousand times what they say. Complaints of devices fail the test.
class FaultyWorld {
 public:
  FaultyWorld(std::uint64_t seed, const cluster::EmbeddedOptions& options, DeviceFaults faults)
      : engine(actor::make_seeded_engine(seed)),
        embedded(options, *engine, events_,
                 [this, seed, faults](IslandId island, std::function<void()> on_progress) {
                   return std::make_unique<SimBackend>(*engine, seed, island, cost(),
                                                       std::move(on_progress), complain,
                                                       faults.of(island));
                 }) {}
  ~FaultyWorld() { engine.reset(); }

  void run(const std::function<void(Client client)>& body) {
    engine->spawn_body("user", [this, body] { body(embedded.connect({}).value()); });
    engine->run_until_idle(kStepsMax);
    EXPECT_EQ(engine->unfinished_bodies(), std::vector<std::string>());
  }
  void advance_to(std::uint64_t at_ns) {
    EXPECT_FALSE(engine->wait([] { return false; }, at_ns));
  }
  /// How often events of `kind` named `device` of island 0.
  std::size_t count(events::EventKind kind, DeviceId device) const {
    std::size_t count = 0;
    for (const events::Event& event : events_.ring().snapshot()) {
      count += event.kind == kind && event.place == device;
    }
    return count;
  }
  std::uint64_t used(IslandId island, DeviceId device) {
    return embedded.host(island).device(device).used_bytes;
  }

 private:
  static constexpr std::uint64_t kStepsMax = 1'000'000;
  static CostModel cost() {
    CostModel model;
    model.kernel_factor = 1000;
    model.kernel_jitter_ns = 0;
    return model;
  }
  static void complain(std::string text) { ADD_FAILURE() << text; }
  events::EventStream events_{1 << 14};

 public:
  std::unique_ptr<actor::SeededEngine> engine;
  cluster::Embedded embedded;
};

inline cluster::EmbeddedOptions islands_of(std::uint32_t islands, std::uint32_t devices) {
  cluster::EmbeddedOptions options;
  options.islands = islands;
  options.devices = devices;
  return options;
}

/// Adds one to each of two numbers, one a device.
struct Increment {
  Increment(const Client& client, const SliceRequest& request)
      : slice(client.acquire_slice(request).value()),
        row(slice.mesh(), P("x")),
        function(client.function("increment", [](Tensor x) { return x + 1; }, {f32({1})}).value()),
        program(client
                    .program("step", [this](Traced x) { return function(x); },
                             {ArraySpec{f32({request.devices}), row}})
                    .value()) {}

  Array run(const Array& array) const { return program.execute({array}).output(0); }

  Slice slice;
  NamedSharding row;
  Function function;
  Program program;
};

inline std::string said(const Array& array) {
  const auto value = array.to_host<float>().get();
  if (!value.ok()) return value.status().to_string();
  std::string text;
  for (const float number : *value) text += (text.empty() ? "" : " ") + std::to_string(int(number));
  return text;
}

inline SliceRequest two_devices(std::int32_t island) {
  return {.devices = 2, .mesh = {{"x", 2}}, .island = island};
}

}  // namespace seaway::sim
