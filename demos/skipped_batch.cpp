// skipped_batch: a training loop that learns from each batch once, unless a step has to be
// repeated.
//
// The weights lie on a device, which may be lost; the client keeps a copy of them behind each
// fourth batch, and goes on from there. The mistake: the batch of the step that failed is read once
// more, and those between the copy and that step are not.

#include <string>
#include <utility>

#include "demos/list.hpp"
#include "demos/support/explored.hpp"
#include "seaway/seaway.hpp"

namespace seaway::demos {
namespace {

constexpr int kBatches = 8, kCopyEach = 4, kFailuresMax = 20;

/// Hands out batches: the one of number i holds 2^i, so that a sum says which were in it.
class Reader {
 public:
  bool is_at_end() const { return next_ == kBatches; }
  float next() { return static_cast<float>(1 << next_++); }
  int position() const { return next_; }
  void go_to(int position) { next_ = position; }

 private:
  int next_ = 0;
};

/// One step is one run of `learn`, whose gradient is the batch itself.
void train(Simulation& world, bool is_fixed) {
  Client client = world.connect().value();
  const auto slice = client.acquire_slice({.mesh = {{"x", 1}}});
  const auto learn = client.function("learn", [](Tensor w, Tensor batch) { return w + batch; },
                                     {f32({1}), f32({1})});
  if (!slice.ok() || !learn.ok()) return;
  const NamedSharding whole(slice->mesh(), P("x"));
  const ArraySpec one{f32({1}), whole};
  const auto step = client.program(
      "step", [&](const Traced& w, const Traced& batch) { return (*learn)(w, batch); }, {one, one});
  if (!step.ok()) return;

  Reader reader;
  float copy = 0;     // Of the weights,
  int copied_at = 0;  // behind so many batches.
  Array weights = client.put<float>({copy}, whole);
  int failures = 0;
  float value = 0;
  while (!reader.is_at_end()) {
    const Array batch = client.put<float>({reader.next()}, whole);
    weights = step->execute({weights, batch}).output(0);
    const auto present = weights.to_host<float>().get();
    if (present.ok()) {
      value = (*present)[0];
      if (reader.position() % kCopyEach != 0) continue;
      copy = value;
      copied_at = reader.position();
      continue;
    }
    if (++failures == kFailuresMax) return;  // No device is left.
    weights = client.put<float>({copy}, whole);
    reader.go_to(is_fixed ? copied_at : reader.position() - 1);
  }
  const auto all = static_cast<float>((1 << kBatches) - 1);
  world.expect(value == all, "each batch is learnt from once",
               "the weights are " + std::to_string(value) + ", not " + std::to_string(all));
}

}  // namespace

sim::ExploreReport explore_skipped_batch(bool is_fixed, const sim::ExploreOptions& options) {
  return sim::explore(options, {.cluster = "embedded:islands=2,devices=2"},
                      [is_fixed](Simulation& world) { train(world, is_fixed); });
}

int run_skipped_batch(const DemoOptions& options) {
  return run_mistake("skipped_batch", options, explore_skipped_batch);
}

}  // namespace seaway::demos
