// FakeController: answers a session by the protocol, as a test tells it to.

#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actor/control_engine.hpp"
#include "actor/router.hpp"
#include "base/clock.hpp"
#include "client/session.hpp"
#include "seaway.capnp.h"
#include "seaway/seaway.hpp"
#include "transport/bulk.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::client {

/// What the controller has heard. Copied out under a lock.
struct Heard {
  struct Run {
    std::uint64_t id, program, first;
    std::vector<std::uint64_t> arguments;
  };
  std::vector<std::string> order;  // Kinds of all records and definitions, in order.
  std::vector<Run> runs;
  std::vector<std::uint64_t> releases, cancels, puts, fetches, forgets;
  std::string tenant;
  std::uint32_t weight = 0;
  int frames = 0;
  int spec_definitions = 0;
  bool has_goodbye = false;
};

class FakeController final : public actor::Actor {
 public:
  struct Behaviour {
    bool answers_requests = true;
    bool resolves_runs = true;
    bool resolves_puts = true;
    bool answers_fetches = true;
  };

  FakeController(actor::Engine& engine, actor::Router& router, transport::LocalBulk& bulk)
      : engine_(engine), router_(router), bulk_(bulk) {}

  void receive(const Frame& frame) override {
    const Status status =
        wire::read_frame<wire::Message>(frame, [this](wire::Message::Reader message) {
          std::lock_guard guard(mutex_);
          ++heard_.frames;
          take(message);
        });
    if (!status.ok()) std::abort();
    engine_.notify();
  }

  Heard heard() const {
    std::lock_guard guard(mutex_);
    return heard_;
  }
  void set(Behaviour behaviour) {
    std::lock_guard guard(mutex_);
    behaviour_ = behaviour;
  }
  void answer_requests_with(Status status) {
    std::lock_guard guard(mutex_);
    answer_ = std::move(status);
  }
  /// Bytes that a fetch of `array` gets; else zeros.
  void set_value(std::uint64_t array, std::vector<std::byte> bytes) {
    std::lock_guard guard(mutex_);
    values_[array] = std::move(bytes);
  }
  transport::Payload upload(std::uint64_t array) const {
    std::lock_guard guard(mutex_);
    return uploads_.at(array);
  }

  /// Sends the outcome of a run or upload. Control thread.
  void resolve(ClientId client, std::uint64_t id, const Status& status) {
    wire::FrameBuilder builder;
    auto resolved = builder.init_root<wire::Message>().initResolved(1);
    resolved[0].setId(id);
    resolved[0].setCode(static_cast<std::uint8_t>(status.code()));
    resolved[0].setMessage(status.message());
    router_.send(actor::Role::kClient, client, builder.finish());
  }
  /// A host of another process answers with send_value() and then send_fetched().
  void send_value(ClientId client, std::uint64_t request, std::size_t bytes) {
    wire::FrameBuilder builder;
    auto bulk = builder.init_root<wire::Message>().initBulk();
    bulk.setKind(wire::Bulk::Kind::VALUE);
    bulk.setId(request);
    bulk.initData(static_cast<unsigned>(bytes));
    router_.send(actor::Role::kClient, client, builder.finish());
  }
  /// Host 0 has the value and offers it over a connection for data.
  void send_offer(ClientId client, std::uint64_t request, std::uint32_t offer,
                  std::uint64_t bytes) {
    wire::FrameBuilder builder;
    auto bulk = builder.init_root<wire::Message>().initBulk();
    bulk.setKind(wire::Bulk::Kind::VALUE);
    bulk.setId(request);
    bulk.setEdge(offer);
    bulk.setStreams(bytes);
    router_.send(actor::Role::kClient, client, builder.finish());
  }
  void send_fetched(ClientId client, std::uint64_t request, const Status& status = {}) {
    wire::FrameBuilder builder;
    auto fetched = builder.init_root<wire::Message>().initFetched(1)[0];
    fetched.setRequest(request);
    fetched.setCode(static_cast<std::uint8_t>(status.code()));
    fetched.setMessage(status.message());
    router_.send(actor::Role::kClient, client, builder.finish());
  }
  void finish_fetch(ClientId client, std::uint64_t array, std::uint64_t request) {
    if (const auto target = bulk_.take_target(client, request)) {
      const auto value = values_.find(array);
      if (value != values_.end()) std::memcpy(target->data(), value->second.data(), target->size());
    }
    send_fetched(client, request);
  }

 private:
  void take(wire::Message::Reader message) {
    const ClientId client = message.getClient();
    switch (message.which()) {
      case wire::Message::HELLO:
        heard_.tenant = message.getHello().getTenant().cStr();
        heard_.weight = message.getHello().getWeight();
        reply(client, message.getHello().getRequest());
        break;
      case wire::Message::REQUEST:
        if (message.getRequest().isDefineSpec()) {
          ++heard_.spec_definitions;
          heard_.order.push_back("spec");
        }
        reply(client, message.getRequest().getRequest());
        break;
      case wire::Message::DEFINE_FUNCTION:
        heard_.order.push_back("function");
        break;
      case wire::Message::DEFINE_PROGRAM:
        heard_.order.push_back("program");
        break;
      case wire::Message::RUNS:
        take(client, message.getRuns());
        break;
      case wire::Message::GOODBYE:
        heard_.has_goodbye = true;
        break;
      default:
        std::abort();
    }
  }

  void take(ClientId client, wire::RunBatch::Reader batch) {
    const auto ids = batch.getIds();  // Once: each look at a list counts against the read limit.
    for (const auto record : batch.getRecords()) {
      switch (record.getKind()) {
        case wire::ClientRecord::Kind::RUN: {
          heard_.order.push_back("run");
          Heard::Run run{record.getId(), record.getObject(), record.getFirst(), {}};
          for (unsigned i = 0; i < record.getArgCount(); ++i) {
            run.arguments.push_back(ids[record.getArgBegin() + i]);
          }
          heard_.runs.push_back(std::move(run));
          if (behaviour_.resolves_runs) resolve(client, record.getId(), {});
          break;
        }
        case wire::ClientRecord::Kind::PUT:
          heard_.order.push_back("put");
          heard_.puts.push_back(record.getId());
          // A client that goes takes its bytes back.
          if (auto upload = bulk_.take_upload(record.getId())) {
            uploads_[record.getId()] = *std::move(upload);
          }
          if (behaviour_.resolves_puts) resolve(client, record.getId(), {});
          break;
        case wire::ClientRecord::Kind::RELEASE:
          heard_.releases.push_back(record.getId());
          break;
        case wire::ClientRecord::Kind::FETCH:
          heard_.fetches.push_back(record.getObject());
          if (behaviour_.answers_fetches) finish_fetch(client, record.getId(), record.getObject());
          break;
        case wire::ClientRecord::Kind::CANCEL:
          heard_.cancels.push_back(record.getId());
          break;
        case wire::ClientRecord::Kind::FORGET:
          heard_.forgets.push_back(record.getId());
          break;
        case wire::ClientRecord::Kind::GOT:
          break;
      }
    }
  }

  void reply(ClientId client, std::uint64_t request) {
    if (!behaviour_.answers_requests) return;
    wire::FrameBuilder builder;
    auto reply = builder.init_root<wire::Message>().initReply();
    reply.setRequest(request);
    reply.setCode(static_cast<std::uint8_t>(answer_.code()));
    reply.setMessage(answer_.ok() ? "an answer" : answer_.message());
    router_.send(actor::Role::kClient, client, builder.finish());
  }

  actor::Engine& engine_;
  actor::Router& router_;
  transport::LocalBulk& bulk_;
  mutable std::mutex mutex_;  // Guards what follows.
  Heard heard_;
  Behaviour behaviour_;
  Status answer_;
  std::map<std::uint64_t, std::vector<std::byte>> values_;
  std::map<std::uint64_t, transport::Payload> uploads_;
};

/// An engine, a controller that pretends, and clients of both.
class World {
 public:
  /// `is_process`: the controller and the hosts are in other processes.
  explicit World(ClientOptions options = {}, bool is_process = false,
                 transport::DataPlane* data = nullptr)
      : is_process(is_process), data(data) {
    router.set_elsewhere([](actor::Role, std::uint32_t, const Frame&, transport::Lane) {});
    engine = actor::make_control_engine(clock);
    engine->post([this] { tick(); });
    auto fake = std::make_unique<FakeController>(*engine, router, bulk);
    controller = fake.get();
    router.bind(actor::Role::kController, 0, engine->spawn("controller", std::move(fake)));
    client = connect(1, std::move(options));
  }

  Client connect(ClientId id, ClientOptions options = {}) {
    Wiring wiring;
    wiring.engine = engine.get();
    wiring.router = &router;
    wiring.bulk = &bulk;
    wiring.client = id;
    wiring.is_process = is_process;
    wiring.data = data;
    auto session = make_session(std::move(wiring), std::move(options));
    opened = session->open();
    return make_client(session, nullptr);
  }

  /// Blocks until the controller has heard what `is_enough` wants; false after ten seconds.
  template <class IsEnough>
  bool hears(IsEnough is_enough) {
    return engine->wait([&] { return is_enough(controller->heard()); },
                        clock.now_ns() + 10'000'000'000);
  }
  void resolve(std::uint64_t id, const Status& status = {}) {
    engine->post([this, id, status] { controller->resolve(client.id(), id, status); });
  }

  /// Keeps the control thread from sleeping for ever: one that is told to stop while it has nothing
  /// to do falls asleep once more before it looks.
  void tick() {
    engine->schedule(clock.now_ns() + 1'000'000, [this] { tick(); });
  }

  const bool is_process;
  transport::DataPlane* const data;
  RealClock clock;
  actor::Router router;
  transport::LocalBulk bulk;
  std::unique_ptr<actor::Engine> engine;
  FakeController* controller = nullptr;
  Status opened;
  Client client;
};

/// A client with a slice of two devices and the program x -> 2 x.
class DoublingWorld : public World {
 public:
  explicit DoublingWorld(ClientOptions options = {}, bool is_process = false,
                         transport::DataPlane* data = nullptr)
      : World(std::move(options), is_process, data) {
    slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
    row = NamedSharding(slice.mesh(), P("data"));
    twice = client.function("twice", [](Tensor x) { return 2.0 * x; }, {f32({1})}).value();
    program =
        client.program("double", [this](Traced x) { return twice(x); }, {ArraySpec{f32({2}), row}})
            .value();
  }

  Slice slice;
  NamedSharding row;
  Function twice;
  Program program;
};

}  // namespace seaway::client
