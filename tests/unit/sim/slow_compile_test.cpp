// A function whose compilation takes hours of virtual time: nobody but its own callers waits.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actor/seeded_engine.hpp"
#include "cluster/embedded.hpp"
#include "seaway/seaway.hpp"
#include "sim/sim_backend.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kHourNs = 3'600'000'000'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kStepsMax = 1'000'000;

/// Functions called "slow" are compiled by devices that take about a hundred hours for it; the
/// others, and all gangs, by those that take what is usual.
class SlowToCompile final : public device::Backend {
 public:
  SlowToCompile(actor::SeededEngine& engine, std::uint64_t seed, std::uint64_t island,
                std::function<void()> on_progress)
      : usual_(engine, seed, island, {}, on_progress, complain),
        slow_(engine, seed, island, hours_to_compile(), on_progress, complain) {}

  void watch(device::DeviceLost lost) override { usual_.watch(std::move(lost)); }
  void compile(function::Graph graph, function::AxisSizes axes, device::CompileDone done) override {
    SimBackend& backend = graph.name == "slow" ? slow_ : usual_;
    backend.compile(std::move(graph), std::move(axes), std::move(done));
  }
  bool runs_inline(std::uint64_t cost_ns) const override { return usual_.runs_inline(cost_ns); }
  Status run(const device::GangWork& work, std::optional<DeviceId>& unlaunched_on) override {
    return usual_.run(work, unlaunched_on);
  }
  void start(const device::GangWork& work, std::uint64_t cost_ns, device::GangDone done) override {
    usual_.start(work, cost_ns, std::move(done));
  }
  std::optional<DeviceId> give_up(std::span<const DeviceId> devices) override {
    return usual_.give_up(devices);
  }
  void copy(std::uint64_t bytes, std::function<void()> body, std::function<void()> done) override {
    usual_.copy(bytes, std::move(body), std::move(done));
  }

 private:
  static CostModel hours_to_compile() {
    CostModel cost;
    cost.compile_ns = 100 * kHourNs;
    return cost;
  }
  static void complain(std::string text) { ADD_FAILURE() << text; }

  SimBackend usual_, slow_;
};

/// Two islands in virtual time.
class SlowWorld {
 public:
  explicit SlowWorld(std::uint64_t seed)
      : engine(actor::make_seeded_engine(seed)),
        embedded(options_of(seed), *engine, events_,
                 [this, seed](IslandId island, std::function<void()> on_progress) {
                   return std::make_unique<SlowToCompile>(*engine, seed, island,
                                                          std::move(on_progress));
                 }) {}
  ~SlowWorld() { engine.reset(); }

 private:
  static cluster::EmbeddedOptions options_of(std::uint64_t seed) {
    cluster::EmbeddedOptions options;
    options.islands = options.devices = 2;
    options.policy = seed % 2 == 0 ? island::Policy::kFifo : island::Policy::kShares;
    return options;
  }
  events::EventStream events_{1 << 10};

 public:
  std::unique_ptr<actor::SeededEngine> engine;
  cluster::Embedded embedded;
};

/// A client of two devices of island 0, which all of them share.
struct User {
  explicit User(cluster::Embedded& embedded)
      : client(embedded.connect({}).value()),
        slice(client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}, .island = 0}).value()),
        row(slice.mesh(), P("data")) {}

  Function increment(const std::string& name) const {
    return client.function(name, [](Tensor x) { return x + 1; }, {f32({1})}).value();
  }
  Array put(float first, float second) const { return client.put<float>({first, second}, row); }

  Client client;
  Slice slice;
  NamedSharding row;
};

std::vector<float> value_of(const Array& array) {
  auto value = array.to_host<float>().get();
  EXPECT_TRUE(value.ok()) << value.status().to_string();
  return value.ok() ? *value : std::vector<float>();
}

class SlowCompile : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SlowCompile, DelaysNeitherOtherClientsNorOtherProgramsOfItsOwn) {
  SlowWorld world(GetParam());
  std::vector<float> of_other, of_own, of_slow;
  std::uint64_t others_done_ns = 0, slow_done_ns = 0;
  bool was_slow_ready = true;
  world.engine->spawn_body("user", [&] {
    const User user(world.embedded);
    const User other(world.embedded);
    const seaway::Run slow = user.increment("slow").execute({user.put(1, 2)});

    of_other = value_of(other.increment("other").execute({other.put(3, 4)}).output(0));
    of_own = value_of(user.increment("own").execute({user.put(5, 6)}).output(0));
    others_done_ns = world.engine->now_ns();
    was_slow_ready = slow.status().ready();
    of_slow = value_of(slow.output(0));
    slow_done_ns = world.engine->now_ns();
  });

  world.engine->run_until_idle(kStepsMax);

  EXPECT_EQ(world.engine->unfinished_bodies(), std::vector<std::string>());
  EXPECT_EQ(of_other, (std::vector<float>{4, 5}));
  EXPECT_EQ(of_own, (std::vector<float>{6, 7}));
  EXPECT_LT(others_done_ns, kSecondNs);
  EXPECT_FALSE(was_slow_ready);
  EXPECT_EQ(of_slow, (std::vector<float>{2, 3}));
  EXPECT_GT(slow_done_ns, kHourNs);
}

INSTANTIATE_TEST_SUITE_P(Orders, SlowCompile, testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace seaway::sim
