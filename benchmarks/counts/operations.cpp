// What each operation is, in a world that is made for it.

#include "benchmarks/counts/operations.hpp"

#include <array>
#include <utility>
#include <vector>

#include "benchmarks/actors/driver.hpp"
#include "benchmarks/counts/adder.hpp"
#include "benchmarks/counts/embedded_world.hpp"
#include "benchmarks/counts/process_world.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::uint32_t kAhead = 64;  // Runs without a known outcome, where several are.

/// A call that waits for its value.
class Call final : public Operation {
 public:
  Status begin(std::uint32_t devices) {
    if (Status status = world_.begin(devices); !status.ok()) return status;
    return adder_.begin(world_.client(), world_.slice(), devices);
  }
  Status run(std::uint32_t count) override {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (Status status = Adder::check(adder_.run().output(0), 42); !status.ok()) return status;
    }
    return {};
  }
  Traffic traffic() const override { return world_.traffic(); }

 private:
  EmbeddedWorld world_;
  Adder adder_;
};

/// Runs of which some are ahead of the last outcome: each on the same input, or on the output of
/// the one before.
class Runs final : public Operation {
 public:
  explicit Runs(bool is_chain) : is_chain_(is_chain) {}

  Status begin(std::uint32_t devices) {
    if (Status status = world_.begin(devices); !status.ok()) return status;
    if (Status status = adder_.begin(world_.client(), world_.slice(), devices); !status.ok()) {
      return status;
    }
    value_ = adder_.input();
    return {};
  }
  Status run(std::uint32_t count) override {
    for (std::uint32_t i = 1; i <= count; ++i) {
      Array output = adder_.run(is_chain_ ? value_ : adder_.input()).output(0);
      if (is_chain_) value_ = output;
      if (i % kAhead != 0 && i != count) continue;
      if (Status status = output.status(); !status.ok()) return status;
    }
    return world_.client().drain();
  }
  Traffic traffic() const override { return world_.traffic(); }

 private:
  const bool is_chain_;
  EmbeddedWorld world_;
  Adder adder_;
  Array value_;
};

/// Arrays of 64 bytes that stay: by an upload, or as the output of a run.
class Arrays final : public Operation {
 public:
  explicit Arrays(bool by_put) : by_put_(by_put) {}

  Status begin(std::uint32_t devices) {
    if (Status status = world_.begin(devices); !status.ok()) return status;
    const Client& client = world_.client();
    replicated_ = NamedSharding(world_.slice().mesh(), P());
    auto next = client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({kElements})});
    if (!next.ok()) return next.status();
    auto program = client.program("next", [&next](Traced x) { return (*next)(x); },
                                  {ArraySpec{f32({kElements}), replicated_}});
    if (!program.ok()) return program.status();
    program_ = *std::move(program);
    input_ = put();
    arrays_.reserve(kArraysMax);
    return {};
  }
  Status run(std::uint32_t count) override {
    for (std::uint32_t i = 1; i <= count; ++i) {
      arrays_.push_back(by_put_ ? put() : program_.execute({input_}).output(0));
      if (i % kAhead != 0 && i != count) continue;
      if (Status status = arrays_.back().status(); !status.ok()) return status;
    }
    return world_.client().drain();
  }
  Traffic traffic() const override { return world_.traffic(); }

 private:
  static constexpr std::int64_t kElements = 16;
  static constexpr std::size_t kArraysMax = 1 << 16;
  Array put() const {
    return world_.client().put<float>(std::vector<float>(kElements), {kElements}, replicated_);
  }

  const bool by_put_;
  EmbeddedWorld world_;
  NamedSharding replicated_;
  Program program_;
  Array input_;
  std::vector<Array> arrays_;
};

/// Calls or one-way messages of one actor to another on its host.
class Messages final : public Operation {
 public:
  explicit Messages(Driver::Kind kind) : kind_(kind) {}

  Status begin(std::uint32_t devices) {
    if (Status status = world_.begin(devices); !status.ok()) return status;
    const Client& client = world_.client();
    auto servers = client.spawn<Server>(client.hosts());
    if (!servers.ok()) return servers.status();
    auto sinks = client.spawn<Sink>(client.hosts());
    if (!sinks.ok()) return sinks.status();
    auto driver = client.spawn<Driver>(client.hosts(), *servers, *sinks);
    if (!driver.ok()) return driver.status();
    driver_ = *std::move(driver);
    return {};
  }
  Status run(std::uint32_t count) override {
    const auto done = driver_.call_one(&Driver::go, [this, count](Go::Builder go) {
      go.setKind(kind_);
      go.setCount(count);
    });
    return done.get().status();
  }
  Traffic traffic() const override { return world_.traffic(); }

 private:
  const Driver::Kind kind_;
  EmbeddedWorld world_;
  ActorMesh<Driver> driver_;
};

/// One gang of a cluster of processes, whose value its client waits for.
class ProcessGang final : public Operation {
 public:
  explicit ProcessGang(std::uint32_t idle_clients) : world_(begin, idle_clients) {}
  Status run(std::uint32_t count) override { return world_.run(count); }
  Traffic traffic() const override { return world_.traffic(); }

 private:
  static Result<ProcessWorld::Work> begin(const Client& client) {
    auto slice = client.acquire_slice({.devices = 1, .mesh = {{"data", 1}}});
    if (!slice.ok()) return slice.status();
    const auto adder = std::make_shared<Adder>();
    if (Status status = adder->begin(client, *slice, 1); !status.ok()) return status;
    return ProcessWorld::Work([adder] { return Adder::check(adder->run().output(0), 42); });
  }

  ProcessWorld world_;
};

template <class Made, class... Arguments>
auto make(std::uint32_t devices, Arguments... arguments) {
  return [=]() -> Result<std::unique_ptr<Operation>> {
    auto made = std::make_unique<Made>(arguments...);
    if (Status status = made->begin(devices); !status.ok()) return status;
    return std::unique_ptr<Operation>(std::move(made));
  };
}

std::function<Result<std::unique_ptr<Operation>>()> make_gang(std::uint32_t idle_clients) {
  return [idle_clients]() -> Result<std::unique_ptr<Operation>> {
    return std::unique_ptr<Operation>(std::make_unique<ProcessGang>(idle_clients));
  };
}

}  // namespace

std::span<const OperationKind> operation_kinds() {
  static const std::array<OperationKind, 12> kAll = {{
      {"call", make<Call>(1), 256},
      {"run.1_device", make<Runs>(1, false), 256},
      {"run.8_devices", make<Runs>(8, false), 256},
      {"run.64_devices", make<Runs>(64, false), 128},
      {"run.512_devices", make<Runs>(512, false), 64},
      {"run.op_by_op", make<Runs>(1, true), 256},
      {"array.by_put", make<Arrays>(1, true), 1024},
      {"array.by_run", make<Arrays>(1, false), 1024},
      {"actor.call", make<Messages>(1, Driver::kCall), 512},
      {"actor.one_way", make<Messages>(1, Driver::kSend), 512},
      {"process.gang", make_gang(0), 64},
      {"process.gang_of_64_clients", make_gang(63), 64},
  }};
  return kAll;
}

}  // namespace seaway::benchmarks
