// pipeline_feed: actors read, decode and batch a file for a program that trains on four devices.
// They run ahead of it, but never further than they have credit.
//
//    reader 0 --+  a stream: batches as they come,
//    reader 1 --+---------------------------------->  one training step each, on a slice
//    reader 2 --+  <-- credit, as they are consumed

#include <algorithm>
#include <cstdio>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/list.hpp"
#include "demos/pipeline_feed.capnp.h"
#include "demos/support/perceptron.hpp"
#include "demos/support/report.hpp"
#include "seaway/app.hpp"
#include "seaway/model.hpp"

namespace seaway::demos {
namespace {

using namespace pipeline_feed;

constexpr std::uint32_t kReaders = 3;
constexpr std::size_t kOwn = Perceptron::kTrain / kReaders;  // Lines of each reader.
constexpr std::uint32_t kCredit = 8;  // Batches of each reader that nobody has consumed yet.
constexpr std::uint32_t kAheadMax = kCredit + 1;  // One more is in its hands, and waits for credit.
constexpr std::size_t kRunAhead = 4;              // Steps without an outcome.
constexpr std::uint32_t kEpochs = 40;
constexpr std::int64_t kBatch = 32;
constexpr std::uint32_t kDevices = 4;
constexpr double kRate = 0.3;
constexpr double kAccuracyWanted = 0.95;

class Reader {
 public:
  /// look() is answered also while read() waits at a co_await.
  static void describe(ActorType<Reader>& type) {
    type.on(&Reader::read).on(&Reader::look, Interleave::kYes);
  }

  Reader(Self self, const Slice& slice) : self_(std::move(self)), rows_(slice.mesh(), P("data")) {
    const auto path = find_data("digits.csv.gz");
    auto text = path.ok() ? read_gzip(*path, 1 << 24) : path.status();
    if (!text.ok()) throw std::runtime_error(text.status().to_string());
    text_ = *std::move(text);
    for (std::size_t begin = 0, end = 0; begin < text_.size(); begin = end) {
      end = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
      lines_.push_back(std::string_view(text_).substr(begin, end - begin));
    }
  }

  /// A handler with a Writer answers often. Each write waits until there is credit, so that nothing
  /// here has to know how fast batches are consumed.
  Task<Status> read(Request<Read> request, Writer<Batch> out) {
    const auto all = Perceptron::order();
    const auto own = std::span(all).subspan(self_.index() * kOwn, kOwn);
    for (std::uint32_t epoch = 0; epoch < request->getEpochs(); ++epoch) {
      const auto order = model::permutation(kOwn, epoch, self_.index());
      for (std::size_t begin = 0; begin < kOwn; begin += kBatch) {
        std::vector<std::uint32_t> lines;
        std::string text;
        for (const std::int32_t i : std::span(order).subspan(begin, kBatch)) {
          lines.push_back(static_cast<std::uint32_t>(own[static_cast<std::size_t>(i)]));
          text += lines_.at(lines.back());
        }
        const auto digits = parse_digits(text);
        if (!digits.ok()) co_return digits.status();
        const auto client = self_.client();
        if (!client.ok()) co_return client.status();
        const Array images = client->put(digits->images, {kBatch, Digits::kPixels}, rows_);
        const Array labels = client->put(digits->labels, {kBatch}, rows_);
        const std::uint32_t number = made_++;
        const auto is_taken = co_await out.write([&](Batch::Builder m, Attached& beside) {
          m.setNumber(number);
          m.setLines(kj::arrayPtr(lines.data(), lines.size()));
          m.setImages(beside.add(images));
          m.setLabels(beside.add(labels));
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
  NamedSharding rows_;
  std::string text_;
  std::vector<std::string_view> lines_;
  std::uint32_t made_ = 0;
};

/// Parameters, and on each device its rows of a batch -> parameters after one step.
std::vector<Tensor> step(std::span<const Tensor> in) {
  const auto found = model::value_and_gradients(Perceptron::loss, {0, 1, 2, 3})(in);
  std::vector<Tensor> both(in.begin(), in.begin() + Perceptron::kParameters);
  for (std::size_t i = 1; i < found.size(); ++i) {
    both.push_back(all_reduce(found[i], "data") * (1.0 / kDevices));
  }
  return Perceptron::descend(both, kRate);
}

Status wrong(const std::string& what) { return Status(StatusCode::kDataCorruption, what); }

/// How many batches the reader has made.
std::uint32_t made(const ActorRef<Reader>& reader) {
  return reader.call(&Reader::look).get().value()->getBatches();
}

/// While nobody consumes, a reader comes as far as its credit, and then no further.
Status check_full(const ActorRef<Reader>& reader) {
  for (int looks = 0, full = 0; full < 100; ++looks) {
    const std::uint32_t batches = made(reader);
    if (batches == kAheadMax) ++full;
    if (batches > kAheadMax) return wrong(reader.to_string() + " overdraws its credit");
    if (looks == 1'000'000) return wrong(reader.to_string() + " does not use its credit up");
  }
  return {};
}

/// Trains on what comes, until nothing more comes, and returns how far a reader was ahead at most.
Result<std::uint32_t> train(const ActorMesh<Reader>& readers, const Stream<Batch>& batches,
                            const Function& step, std::vector<Array>& parameters) {
  const auto lines = Perceptron::order();
  std::vector<std::uint32_t> consumed(kReaders), seen(lines.size());
  std::deque<Run> runs;
  std::uint32_t ahead_max = 0;
  for (auto next = batches.next().get(); next.ok() && *next; next = batches.next().get()) {
    const std::uint32_t reader = (*next)->position;
    const auto& batch = (*next)->reply;
    if (!batch.ok()) return batch.status();
    if ((*batch)->getNumber() != consumed[reader]++) return wrong("batches are out of order");
    for (const std::uint32_t line : (*batch)->getLines()) ++seen.at(line);
    std::vector<Array> arguments = parameters;
    arguments.push_back(batch->array((*batch)->getImages()).value());
    arguments.push_back(batch->array((*batch)->getLabels()).value());
    runs.push_back(step.execute(arguments));
    parameters = runs.back().outputs();
    // What is enqueued is consumed; so that it is not all of them, an older step is waited for.
    if (runs.size() > kRunAhead) {
      if (const auto done = runs.front().status().get(); !done.ok()) return done.status();
      runs.pop_front();
    }
    const std::uint32_t ahead = made(readers.at(reader)) - consumed[reader];
    if (ahead > kAheadMax) return wrong("a reader is " + std::to_string(ahead) + " batches ahead");
    ahead_max = std::max(ahead_max, ahead);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (seen[static_cast<std::size_t>(lines[i])] == (i < Perceptron::kTrain ? kEpochs : 0))
      continue;
    return wrong("line " + std::to_string(lines[i]) + " was not seen once in each epoch");
  }
  return ahead_max;
}

Status feed() {
  const auto client = connect("embedded:islands=3,devices=4");
  if (!client.ok()) return client.status();
  const auto slice = client->acquire_slice({.devices = kDevices, .mesh = {{"data", kDevices}}});
  if (!slice.ok()) return slice.status();
  const P whole, rows("data");
  const auto function = client->function("step", step, Perceptron::types(kBatch / kDevices),
                                         {.mesh = slice->mesh(),
                                          .in = {whole, whole, whole, whole, rows, rows},
                                          .out = {whole, whole, whole, whole}});
  if (!function.ok()) return function.status();
  const auto readers = client->spawn<Reader>(client->hosts(), *slice);
  if (!readers.ok()) return readers.status();

  const auto batches = readers->stream(
      &Reader::read, [](Read::Builder m) { m.setEpochs(kEpochs); },
      CallOptions{.deadline = std::chrono::minutes(5), .credit = kCredit});
  for (std::uint32_t i = 0; i < kReaders; ++i) {
    if (Status status = check_full(readers->at(i)); !status.ok()) return status;
  }
  std::vector<Array> parameters = Perceptron::initial(*client, *slice);
  const auto ahead_max = train(*readers, batches, *function, parameters);
  if (!ahead_max.ok()) return ahead_max.status();
  const auto accuracy = Perceptron::accuracy(*client, *slice, parameters);
  if (!accuracy.ok()) return accuracy.status();
  std::printf("readers   at most %u batches ahead: credit for %u, and one in their hands\n",
              *ahead_max, kCredit);
  std::printf("accuracy  %.2f %% after each of %d digits was seen %u times\n", 100 * *accuracy,
              static_cast<int>(Perceptron::kTrain), kEpochs);
  if (*accuracy < kAccuracyWanted) return wrong("the model reads too few digits rightly");
  return {};
}

}  // namespace

int run_pipeline_feed(const DemoOptions&) { return finish("pipeline_feed", feed()); }

}  // namespace seaway::demos
