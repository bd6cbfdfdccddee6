// Clients that ask for much: for shares, and for more than there is.

#include "sim/share_checker.hpp"
#include "sim/simulated_client.hpp"

namespace seaway::sim {

/// Ten runs where others have one action, and no look at what came of them before the end.
void SimulatedClient::flood() {
  constexpr int kTimes = 10;
  for (int i = 0; i < kTimes && verdict_.ok(); ++i) {
    execute();
    while (held_.size() > kHeldMax) drop();
  }
}

/// Hands in equal runs, one after another and all at once, so that some wait all the time.
void SimulatedClient::compete() {
  // All devices, so that both clients want the same ones.
  const std::uint32_t devices = world_.cluster.devices;
  auto slice = client_.acquire_slice({.devices = devices, .mesh = {{"x", devices}}, .island = 0});
  if (!slice.ok()) return complain("I3", "a slice was refused: " + slice.status().to_string());
  slices_.push_back(*slice);
  const NamedSharding sharding(slice->mesh(), P());
  const TensorType type{DType::kI32, {world_.rows, kColumns}};
  auto step =
      client_.function(name_of("step", 0), [](Tensor x) { return minimum(x + 1, 9); }, {type});
  if (!step.ok()) return complain("I3", "a function was refused: " + step.status().to_string());
  const auto body = [&](Traced value) {
    for (std::uint32_t i = 0; i < world_.chain; ++i) value = (*step)(value);
    return value;
  };
  specs_.push_back({type, sharding});
  auto program = client_.program(name_of("program", 0), body, {specs_[0]});
  if (!program.ok()) {
    return complain("I3", "a program was refused: " + program.status().to_string());
  }
  programs_.push_back(*program);
  const Held argument = put_value(specs_[0]);
  traits_.emplace_back();
  auto expected = oracle_.evaluate(*program, {argument.value});
  if (!expected.ok()) return complain("I3", "the oracle: " + expected.status().to_string());
  // Compiled, loaded and warm before it counts.
  if (Status status = program->execute({argument.array}).status().get().status(); !status.ok()) {
    return complain("I3", "a run failed: " + status.to_string());
  }
  count(&Counts::runs);
  count(&Counts::ok);
  begin_();
  // The one with the smaller share must not be alone before enough gangs were counted.
  const std::uint64_t runs = 2 * ShareChecker::kGangs / world_.chain;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const CallId written = write_run(0, {argument});
    Run run = program->execute({argument.array});
    scribe_.watch(written, run.status());
    count(&Counts::runs);
    flights_.push_back({run.status(), Expectation::kValue, "run " + std::to_string(i), {}});
    flights_.back().written = written;
    if (i % 64 != 0) continue;
    held_.push_back({run.output(0), Expectation::kValue, (*expected)[0]});
    held_.back().written = scribe_.history().output(written, 0);
  }
}

}  // namespace seaway::sim
