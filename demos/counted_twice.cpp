// counted_twice: a function that counts, and says that running it twice does no harm.
//
// A program calls `count` on one slice and `work` on another one. When a device is lost while the
// second one runs, all of the program is run again, for its functions are declared idempotent; and
// what `count` has done outside of its outputs is done twice. The fix: it says what it is. Then a
// run of which nobody knows whether it has counted ends with MAYBE_EXECUTED, and its client
// decides.

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "demos/list.hpp"
#include "demos/support/explored.hpp"
#include "seaway/seaway.hpp"

namespace seaway::demos {
namespace {

constexpr std::size_t kRuns = 8, kCountEach = 4;

/// How often each run was counted: what its input says is its number.
using Counts = std::array<std::uint32_t, kRuns>;

Result<Function> counting(const Client& client, const std::shared_ptr<Counts>& counts,
                          bool is_fixed) {
  NativeFunction count;
  count.parameters = {f32({1})};
  count.outputs = {f32({1})};
  count.idempotent = !is_fixed;  // The mistake: it is not.
  count.body = [counts](auto operands, auto outputs, std::byte*) {
    float number = 0;
    std::memcpy(&number, operands[0], sizeof(number));
    std::memcpy(outputs[0], operands[0], sizeof(number));
    ++counts->at(static_cast<std::size_t>(number));
    return Status();
  };
  return client.native("count", std::move(count));
}

/// Works eight times, and each fourth time counts.
void run_and_count(Simulation& world, bool is_fixed) {
  Client client = world.connect().value();
  const auto counts = std::make_shared<Counts>();
  const auto first = client.acquire_slice({.mesh = {{"x", 1}}, .island = 0});
  const auto second = client.acquire_slice({.mesh = {{"x", 1}}, .island = 1});
  const auto count = counting(client, counts, is_fixed);
  NativeFunction slow{.parameters = {f32({1})}, .outputs = {f32({1})}, .cost_ns = 100'000};
  slow.body = [](auto, auto, std::byte*) { return Status(); };
  const auto work = client.native("work", std::move(slow));
  if (!first.ok() || !second.ok() || !count.ok() || !work.ok()) return;
  const NamedSharding whole(first->mesh(), P("x"));
  const auto program = client.program(
      "count and work", [&](const Traced& x) { return work->on(*second)(count->on(*first)(x)); },
      {ArraySpec{f32({1}), whole}});
  const auto plain = client.program("work", [&](const Traced& x) { return work->on(*second)(x); },
                                    {ArraySpec{f32({1}), whole}});
  if (!program.ok() || !plain.ok()) return;
  for (std::size_t i = 0; i < kRuns; ++i) {
    // A run whose input is still there can be run again.
    const Array input = client.put<float>({static_cast<float>(i)}, whole);
    const bool is_counted = (i + 1) % kCountEach == 0;
    const Run run = (is_counted ? *program : *plain).execute({input});
    const auto value = run.output(0).to_host<float>().get();
    world.expect(
        counts->at(i) <= 1, "a run is counted once",
        "run " + std::to_string(i) + " was counted " + std::to_string(counts->at(i)) + " times");
    world.expect(!value.ok() || !is_counted || counts->at(i) > 0, "a run that succeeds is counted",
                 "run " + std::to_string(i) + " was not");
  }
}

}  // namespace

sim::ExploreReport explore_counted_twice(bool is_fixed, const sim::ExploreOptions& options) {
  return sim::explore(options, {.cluster = "embedded:islands=2,devices=2"},
                      [is_fixed](Simulation& world) { run_and_count(world, is_fixed); });
}

int run_counted_twice(const DemoOptions& options) {
  return run_mistake("counted_twice", options, explore_counted_twice);
}

}  // namespace seaway::demos
