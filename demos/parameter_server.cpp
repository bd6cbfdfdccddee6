// parameter_server: one actor holds a model's parameters, others tell it how to change them. One
// worker is slow, and nobody waits for it: what it says is used unless it is too old.
//
//             <---- push: the derivatives at version 7 ----   worker 0, on a device of its own
//    server                                                   worker 1
//             ----- version 9 of the parameters ---------->   worker 2
//                                                             worker 3, the straggler

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "demos/list.hpp"
#include "demos/parameter_server.capnp.h"
#include "demos/support/perceptron.hpp"
#include "demos/support/report.hpp"
#include "seaway/app.hpp"
#include "seaway/model.hpp"

namespace seaway::demos {
namespace {

using namespace parameter_server;

constexpr std::uint32_t kWorkers = 4;
constexpr std::uint32_t kStraggler = 3;
constexpr auto kPause = std::chrono::milliseconds(10);  // Of the straggler, in each of its steps.
constexpr std::uint64_t kBehindMax = 32;  // Derivatives that have missed more are not used.
constexpr std::uint64_t kUpdates = 1500;
constexpr std::size_t kOwn = Perceptron::kTrain / kWorkers;  // Digits of each worker.
constexpr std::int64_t kBatch = 36;
constexpr double kRate = 0.3;
constexpr double kAccuracyWanted = 0.95;

/// `first`, and the four arrays beside a message: handles, whose values may still be to come.
template <class T>
std::vector<Array> with_arrays(const Message<T>& message, std::vector<Array> first = {}) {
  for (std::uint32_t i = 0; i < Perceptron::kParameters; ++i) {
    first.push_back(message.array(i).value());
  }
  return first;
}

class Server {
 public:
  static void describe(ActorType<Server>& type) { type.on(&Server::pull).on(&Server::push); }

  /// An actor puts arrays and runs programs in the session of whoever spawned it.
  Server(const Self& self, const Slice& slice) {
    const Client client = self.client().value();
    parameters_ = Perceptron::initial(client, slice);
    auto types = Perceptron::types();
    for (const TensorType& derivative : Perceptron::types()) types.push_back(derivative);
    const auto body = [](std::span<const Tensor> in) { return Perceptron::descend(in, kRate); };
    descend_ = client.function("descend", body, types).value().on(slice);
  }

  Reply<Parameters> pull(Request<Pull>) { return newest(false); }

  /// It waits for nothing: neither for other workers, nor for the arrays. A program is dispatched
  /// before its inputs exist, and so are the programs of the workers that read what it makes.
  Result<Reply<Parameters>> push(Request<Push> request) {
    if (is_last() || version_ - request->getVersion() > kBehindMax) return newest(false);
    const Run run = descend_.execute(with_arrays(request, parameters_));
    if (Status status = run.error(); !status.ok()) return status;
    parameters_ = run.outputs();
    ++version_;
    return newest(true);
  }

 private:
  bool is_last() const { return version_ >= kUpdates; }
  Reply<Parameters> newest(bool is_used) const {
    return make<Parameters>([&](Parameters::Builder m, Attached& beside) {
      m.setVersion(version_);
      m.setIsLast(is_last());
      m.setIsUsed(is_used);
      for (const Array& parameter : parameters_) beside.add(parameter);
    });
  }

  std::vector<Array> parameters_;
  Function descend_;
  std::uint64_t version_ = 0;
};

class Worker {
 public:
  static void describe(ActorType<Worker>& type) { type.on(&Worker::train); }

  /// Each of the mesh is given the same; what is its own it finds by its index. What a constructor
  /// throws is what the spawn fails with.
  Worker(Self self, ActorRef<Server> server, const std::vector<Slice>& slices)
      : self_(std::move(self)), server_(std::move(server)), slice_(slices.at(self_.index())) {
    auto digits = load_digits();
    if (!digits.ok()) throw std::runtime_error(digits.status().to_string());
    digits_ = *std::move(digits);
    const auto body = model::value_and_gradients(Perceptron::loss, {0, 1, 2, 3});
    const auto types = Perceptron::types(kBatch);
    derive_ = self_.client().value().function("derive", body, types).value().on(slice_);
  }

  Task<Reply<Trained>> train(Request<Train>) {
    std::uint64_t steps = 0, used = 0, behind_max = 0;
    auto parameters = co_await server_.call(&Server::pull);
    if (!parameters.ok()) co_return parameters.status();
    while (!(*parameters)->getIsLast()) {
      const Run run = step(*parameters);
      // Other actors of this host go on meanwhile: only this handler waits.
      if (const auto done = co_await run.status(); !done.ok()) co_return done.status();
      if (self_.index() == kStraggler) static_cast<void>(co_await self_.sleep(kPause));
      const std::uint64_t version = (*parameters)->getVersion();
      parameters = co_await server_.call(&Server::push, [&](Push::Builder m, Attached& beside) {
        m.setVersion(version);
        for (std::uint32_t i = 0; i < Perceptron::kParameters; ++i) beside.add(run.output(1 + i));
      });
      if (!parameters.ok()) co_return parameters.status();
      const bool is_used = (*parameters)->getIsUsed();
      steps += 1;
      used += is_used;
      behind_max = std::max(behind_max, (*parameters)->getVersion() - version - is_used);
    }
    co_return make<Trained>([&](Trained::Builder m) {
      m.setSteps(steps);
      m.setUsed(used);
      m.setBehindMax(behind_max);
    });
  }

 private:
  /// Enqueues the derivatives for the next of its own digits. The parameters are on the server's
  /// device: they are copied on the way, without passing the server.
  Run step(const Message<Parameters>& parameters) {
    const auto own = std::span(order_).subspan(self_.index() * kOwn, kOwn);
    const Digits batch = select(digits_, own.subspan(next_, kBatch));
    next_ = (next_ + kBatch) % kOwn;
    const Client client = self_.client().value();
    const NamedSharding here(slice_.mesh(), P());
    std::vector<Array> arguments = with_arrays(parameters);
    arguments.push_back(client.put(batch.images, {kBatch, Digits::kPixels}, here));
    arguments.push_back(client.put(batch.labels, {kBatch}, here));
    return derive_.execute(arguments);
  }

  Self self_;
  ActorRef<Server> server_;
  Slice slice_;
  Digits digits_;
  Function derive_;
  const std::vector<std::int32_t> order_ = Perceptron::order();
  std::size_t next_ = 0;
};

Status wrong(const std::string& what) { return Status(StatusCode::kDataCorruption, what); }

Status train() {
  const auto client = connect("embedded:islands=4,devices=2");
  if (!client.ok()) return client.status();
  // On each island a device for the worker there, and one more for the server.
  std::vector<Slice> slices;
  for (std::int32_t i = 0; i <= static_cast<std::int32_t>(kWorkers); ++i) {
    const auto slice = client->acquire_slice({.island = i % static_cast<std::int32_t>(kWorkers)});
    if (!slice.ok()) return slice.status();
    slices.push_back(*slice);
  }
  const Slice& own = slices.back();
  const auto server = client->spawn<Server>(own.hosts(), own);
  if (!server.ok()) return server.status();
  const auto workers = client->spawn<Worker>(client->hosts(), server->at(0), slices);
  if (!workers.ok()) return workers.status();

  const auto all = workers->call(&Worker::train, CallOptions{.deadline = std::chrono::minutes(5)});
  std::uint64_t used = 0;
  std::vector<std::uint64_t> steps;
  for (const auto& trained : all.get()) {
    if (!trained.ok()) return trained.status();
    const auto worker = **trained;
    std::printf("worker %zu  %4d steps, %4d used; at most %3d updates behind%s\n", steps.size(),
                static_cast<int>(worker.getSteps()), static_cast<int>(worker.getUsed()),
                static_cast<int>(worker.getBehindMax()),
                steps.size() == kStraggler ? " (the straggler)" : "");
    used += worker.getUsed();
    steps.push_back(worker.getSteps());
  }
  const auto last = server->call_one(&Server::pull).get();
  if (!last.ok()) return last.status();
  const auto accuracy = Perceptron::accuracy(*client, own, with_arrays(*last));
  if (!accuracy.ok()) return accuracy.status();
  std::printf("accuracy  %.2f %% after %d updates\n", 100 * *accuracy, static_cast<int>(used));

  if (used != kUpdates) return wrong("the workers count other updates than the server");
  const std::uint64_t fewest = std::ranges::min(std::span(steps).first(kStraggler));
  if (2 * steps[kStraggler] > fewest) return wrong("somebody has waited for the straggler");
  if (*accuracy < kAccuracyWanted) return wrong("the model reads too few digits rightly");
  return {};
}

}  // namespace

int run_parameter_server(const DemoOptions&) { return finish("parameter_server", train()); }

}  // namespace seaway::demos
