// pipeline_feed: actors read, decode and batch a file for a program that trains on four devices.
// They run ahead of it, but never further than they have credit.
//
//    reader 0 --+  a stream: batches as they come,
//    reader 1 --+---------------------------------->  one training step each, on a slice
//    reader 2 --+  <-- credit, as they are consumed

#include "demos/pipeline_feed.hpp"

#include <deque>
#include <utility>
#include <vector>

#include "demos/list.hpp"
#include "demos/pipeline_feed.capnp.h"
#include "demos/support/perceptron.hpp"
#include "demos/support/pipeline_feed_check.hpp"
#include "demos/support/simulated.hpp"
#include "seaway/host_main.hpp"
#include "seaway/model.hpp"

namespace seaway::demos {
namespace {

using namespace pipeline_feed;  // The messages.

constexpr std::uint32_t kReaders = 3, kDevices = 4;
constexpr std::uint32_t kCredit = 8;  // Batches of each reader that nobody has consumed yet.
constexpr std::size_t kRunAhead = 4;  // Steps without an outcome.
constexpr std::int64_t kBatch = 32;

class Reader {
 public:
  /// look() is answered also while read() waits at a co_await.
  static void describe(ActorType<Reader>& type) {
    type.on(&Reader::read).on(&Reader::look, Interleave::kYes);
  }
  /// What a constructor throws, as of a file that is not there, is what the spawn fails with.
  explicit Reader(Self self) : self_(std::move(self)) {}

  /// A handler with a Writer answers often. Each write waits until there is credit, so that nothing
  /// here has to know how fast batches are consumed.
  Task<Status> read(Request<Read> request, Writer<Batch> out) {
    for (std::uint32_t epoch = 0; epoch < request->getEpochs(); ++epoch) {
      for (const auto& lines : file_.batches(self_.index(), kReaders, kBatch, epoch)) {
        const auto digits = parse_digits(file_.text(lines));
        if (!digits.ok()) co_return digits.status();
        const std::uint32_t number = made_++;
        const auto is_taken = co_await out.write([&](Batch::Builder m, Attached& beside) {
          m.setNumber(number);
          m.setLines(kj::arrayPtr(lines.data(), lines.size()));
          m.setImages(beside.add(to_bytes(digits->images)));
          m.setLabels(beside.add(to_bytes(digits->labels)));
        });
        if (!is_taken.ok()) co_return is_taken.status();
      }
    }
    co_return Status();
  }

  Reply<Made> look(Request<Look>) {
    return make<Made>([this](Made::Builder m) { m.setBatches(made_); });
  }

 private:
  Self self_;
  const DigitFile file_;
  std::uint32_t made_ = 0;
};

/// Parameters, and on each device its rows of a batch -> parameters after one step.
std::vector<Tensor> step(std::span<const Tensor> in) {
  const auto found = model::value_and_gradients(Perceptron::loss, {0, 1, 2, 3})(in);
  std::vector<Tensor> both(in.begin(), in.begin() + Perceptron::kParameters);
  for (std::size_t i = 1; i < found.size(); ++i) {
    both.push_back(all_reduce(found[i], "data") * (1.0 / kDevices));
  }
  return Perceptron::descend(both);
}

}  // namespace

Status feed_to(const Client& client, std::uint32_t epochs) {
  const auto slice = client.acquire_slice({.devices = kDevices, .mesh = {{"data", kDevices}}});
  if (!slice.ok()) return slice.status();
  const P whole, rows("data");
  const auto function = client.function("step", step, Perceptron::types(kBatch / kDevices),
                                        {.mesh = slice->mesh(),
                                         .in = {whole, whole, whole, whole, rows, rows},
                                         .out = {whole, whole, whole, whole}});
  if (!function.ok()) return function.status();
  // On three hosts, or on as many as there are.
  Placement places{.axes = {{"reader", kReaders}}, .hosts = {}};
  while (places.hosts.size() < kReaders) {
    places.hosts.push_back(static_cast<std::uint32_t>(places.hosts.size() % client.hosts().size()));
  }
  const auto readers = client.spawn<Reader>(places);
  if (!readers.ok()) return readers.status();

  const auto batches = readers->stream(
      &Reader::read, [=](Read::Builder m) { m.setEpochs(epochs); },
      CallOptions{.deadline = std::chrono::minutes(5), .credit = kCredit});
  FeedCheck check(kReaders, kCredit, [&](std::uint32_t reader) -> Result<std::uint32_t> {
    const auto made = readers->at(reader).call(&Reader::look).get();
    if (!made.ok()) return made.status();
    return (*made)->getBatches();
  });
  if (Status status = check.all_are_full(); !status.ok()) return status;
  const NamedSharding row(slice->mesh(), P("data"));
  std::vector<Array> parameters = Perceptron::initial(client, *slice);
  std::deque<Run> runs;
  while (true) {
    const auto next = batches.next().get();
    if (!next.ok()) return next.status();
    if (!*next) break;  // All readers are at their ends.
    const auto& batch = (*next)->reply;
    if (!batch.ok()) return batch.status();
    std::vector<Array> arguments = parameters;
    const auto images = from_bytes<float>(batch->bytes((*batch)->getImages()).value());
    const auto labels = from_bytes<std::int32_t>(batch->bytes((*batch)->getLabels()).value());
    arguments.push_back(client.put(images, {kBatch, Digits::kPixels}, row));
    arguments.push_back(client.put(labels, {kBatch}, row));
    runs.push_back(function->execute(arguments));
    parameters = runs.back().outputs();
    // What is enqueued is consumed; so that it is not all of them, an older step is waited for.
    if (runs.size() > kRunAhead) {
      if (const auto done = runs.front().status().get(); !done.ok()) return done.status();
      runs.pop_front();
    }
    Status status = check.consumed((*next)->position, **batch);
    if (!status.ok()) return status;
  }
  if (Status status = check.all_were_seen(epochs); !status.ok()) return status;
  return Perceptron::check(client, *slice, parameters);
}

void register_pipeline_feed(Registry& registry) { registry.actor<Reader>(); }

int run_pipeline_feed(const DemoOptions& options) {
  // In the simulator one thread computes for all devices.
  const std::uint32_t epochs = options.simulation_seed ? 10 : 40;
  return run_app("pipeline_feed", "embedded:islands=3,devices=4", options,
                 [=](const Client& client) { return feed_to(client, epochs); });
}

}  // namespace seaway::demos
