// parameter_server: one actor holds a model's parameters, others tell it how to change them. One
// worker is slow, and nobody waits for it: what it says is used unless it is too old.
//
//             <---- push: the derivatives at version 7 ----   workers 0 to 2,
//    server                                                   each on a device of its own
//             ----- version 9 of the parameters ---------->   worker 3, the straggler

#include "demos/parameter_server.hpp"

#include <utility>

#include "demos/list.hpp"
#include "demos/parameter_server.capnp.h"
#include "demos/support/parameter_server_check.hpp"
#include "demos/support/perceptron.hpp"
#include "demos/support/simulated.hpp"
#include "seaway/app.hpp"
#include "seaway/host_main.hpp"

namespace seaway::demos {
namespace {
using namespace parameter_server;  // The messages.

constexpr std::uint32_t kStraggler = 3;
constexpr auto kPause = std::chrono::milliseconds(10);  // Of the straggler, and thrice its step.
constexpr std::uint64_t kLagMax = 32;  // Derivatives that have missed more are not used.
constexpr std::int64_t kBatch = 36;

class Server {
 public:
  static void describe(ActorType<Server>& type) { type.on(&Server::pull).on(&Server::push); }
  /// It puts arrays and runs programs in the session of whoever spawned it.
  Server(const Self& self, const Slice& slice, std::uint64_t updates)
      : updates_(updates),
        parameters_(Perceptron::initial(self.client().value(), slice)),
        descend_(Perceptron::descend_on(self.client().value(), slice)) {}

  Reply<Parameters> pull(Request<Pull>) { return newest(false); }

  /// It waits for nothing: neither for other workers, nor for the arrays. A program is dispatched
  /// before its inputs exist, and so are the programs of the workers that read what it makes.
  Result<Reply<Parameters>> push(Request<Push> request) {
    if (version_ >= updates_ || version_ - request->getVersion() > kLagMax) return newest(false);
    std::vector<Array> arguments = parameters_;
    for (const Array& derivative : Perceptron::arrays(request)) arguments.push_back(derivative);
    const Run run = descend_.execute(arguments);
    if (!run.error().ok()) return run.error();
    parameters_ = run.outputs();
    ++version_;
    return newest(true);
  }

 private:
  Reply<Parameters> newest(bool is_used) const {
    return make<Parameters>([&](Parameters::Builder m, Attached& beside) {
      m.setVersion(version_);
      m.setIsLast(version_ >= updates_);
      m.setIsUsed(is_used);
      for (const Array& parameter : parameters_) beside.add(parameter);
    });
  }

  const std::uint64_t updates_;
  std::vector<Array> parameters_;
  const Function descend_;
  std::uint64_t version_ = 0;
};

class Worker {
 public:
  static void describe(ActorType<Worker>& type) { type.on(&Worker::train); }
  Worker(Self self, ActorRef<Server> server, const std::vector<Slice>& slices)
      : self_(std::move(self)),
        server_(std::move(server)),
        slice_(slices.at(self_.index())),
        lessons_({.part = self_.index(), .parts = self_.mesh_size(), .rows = kBatch}),
        derive_(Perceptron::derive_on(self_.client().value(), slice_, kBatch)) {}

  Task<Reply<Trained>> train(Request<Train>) {
    Tally tally;
    auto parameters = co_await server_.call(&Server::pull);
    if (!parameters.ok()) co_return parameters.status();
    while (!(*parameters)->getIsLast()) {
      const auto began = self_.now();
      const Run run = step(*parameters);  // Others here go on meanwhile: only this handler waits.
      if (const auto done = co_await run.status(); !done.ok()) co_return done.status();
      if (self_.index() == kStraggler)
        static_cast<void>(co_await self_.sleep(kPause + 3 * (self_.now() - began)));
      const std::uint64_t version = (*parameters)->getVersion();
      parameters = co_await server_.call(&Server::push, [&](Push::Builder m, Attached& beside) {
        m.setVersion(version);
        for (std::uint32_t i = 0; i < Perceptron::kParameters; ++i) beside.add(run.output(1 + i));
      });
      if (!parameters.ok()) co_return parameters.status();
      tally.count(version, **parameters);
    }
    co_return tally.message();
  }

 private:
  /// Enqueues the derivatives. The parameters are copied on the way from the server's device.
  Run step(const Message<Parameters>& parameters) {
    auto arguments = Perceptron::arrays(parameters);
    lessons_.append_next(arguments, self_.client().value(), slice_);
    return derive_.execute(arguments);
  }

  Self self_;
  ActorRef<Server> server_;
  Slice slice_;
  Lessons lessons_;
  const Function derive_;
};

}  // namespace

Status train_on(const Client& client, std::uint64_t updates) {
  // On each island a device for the worker there, on the same host, and one more for the server.
  std::vector<Slice> slices;
  Placement places{.axes = {{"worker", kStraggler + 1}}, .hosts = {}};
  for (const int island : {0, 1, 2, 3, 0}) {
    const auto slice = client.acquire_slice({.island = island});
    if (!slice.ok()) return slice.status();
    if (slices.size() <= kStraggler) places.hosts.push_back(slice->hosts().hosts.at(0));
    slices.push_back(*slice);
  }
  const auto server = client.spawn<Server>(slices.back().hosts(), slices.back(), updates);
  if (!server.ok()) return server.status();
  const auto workers = client.spawn<Worker>(places, server->at(0), slices);
  if (!workers.ok()) return workers.status();
  const auto all = workers->call(&Worker::train, CallOptions{.deadline = std::chrono::minutes(5)});
  if (Status status = check_steps(all.get(), kStraggler, updates); !status.ok()) return status;
  const auto last = server->call_one(&Server::pull).get();
  if (!last.ok()) return last.status();
  return Perceptron::check(client, slices.back(), Perceptron::arrays(*last));
}

void register_parameter_server(Registry& registry) {
  registry.actor<Server, Slice, std::uint64_t>();
  registry.actor<Worker, ActorRef<Server>, std::vector<Slice>>();
}

int run_parameter_server(const DemoOptions& options) {
  // In the simulator one thread computes for all devices.
  const std::uint64_t updates = options.simulation_seed ? 800 : 1500;
  return run_app("parameter_server", "embedded:islands=4,devices=2", options,
                 [=](const Client& client) { return train_on(client, updates); });
}

}  // namespace seaway::demos
