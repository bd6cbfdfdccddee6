// The actors that are measured: whom they call, what they send, and who does so.

#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "benchmarks/actors/command.hpp"
#include "benchmarks/support/measure.hpp"
#include "seaway/app.hpp"

namespace seaway::benchmarks {

class Server {
 public:
  static void describe(ActorType<Server>& type) { type.on(&Server::handle).on(&Server::relay); }
  explicit Server(const Self&) {}

  Reply<Done> handle(Request<Command> request) {
    const std::uint64_t sum = sum_of(*request);
    return make<Done>([sum](Done::Builder done) { done.setNumber(sum); });
  }
  Reply<Done> relay(Request<Done> request) {
    const std::uint64_t number = request->getNumber() + 1;
    return make<Done>([number](Done::Builder done) { done.setNumber(number); });
  }
};

class Sink {
 public:
  static void describe(ActorType<Sink>& type) {
    type.on(&Sink::take).on(&Sink::sum).mailbox_max(4096);
  }
  explicit Sink(const Self&) {}

  void take(Request<Command> request) { sum_ += sum_of(*request); }
  Reply<Done> sum(Request<Done>) {
    return make<Done>([this](Done::Builder done) { done.setNumber(sum_); });
  }

 private:
  std::uint64_t sum_ = 0;
};

constexpr std::uint32_t kHops = 128;

/// Calls `relays` in turn, each on the result of the one before, which is not there yet.
inline auto chain_of(const ActorMesh<Server>& relays) {
  auto last = relays.at(0).call(&Server::relay, [](Done::Builder done) { done.setNumber(0); });
  for (std::uint32_t i = 1; i < kHops; ++i) last = relays.at(i).call(&Server::relay, last);
  return last;
}

/// Measures from inside: one actor that asks others on its own host.
class Driver {
 public:
  enum Kind : std::uint32_t { kCall, kSend, kBroadcast, kSleep, kChain };

  static void describe(ActorType<Driver>& type) { type.on(&Driver::go); }
  Driver(Self self, ActorMesh<Server> servers, ActorMesh<Sink> sinks)
      : self_(std::move(self)),
        servers_(std::move(servers)),
        server_(servers_.at(0)),
        sinks_(std::move(sinks)) {}

  Task<Reply<Seconds>> go(Request<Go> request) {
    const std::uint32_t count = request->getCount();
    const std::uint64_t begin_ns = now_ns();
    switch (request->getKind()) {
      case kCall:
        for (std::uint32_t i = count; i > 0; --i) {
          const auto done = co_await server_.call(
              &Server::handle, [i](Command::Builder command) { fill_command(command, i); });
          if (!done.ok()) co_return done.status();
        }
        break;
      case kSend: {
        const ActorRef<Sink> sink = sinks_.at(0);
        for (std::uint32_t i = 0; i < count; ++i) {
          const Status sent =
              sink.send(&Sink::take, [i](Command::Builder command) { fill_command(command, i); });
          if (!sent.ok()) co_return sent;
          if (i % 512 == 511) static_cast<void>(co_await sink.call(&Sink::sum));
        }
        static_cast<void>(co_await sink.call(&Sink::sum));
        break;
      }
      case kBroadcast:
        for (std::uint32_t i = 0; i < count; ++i) {
          const Status sent = sinks_.broadcast(
              &Sink::take, [i](Command::Builder command) { fill_command(command, i); });
          if (!sent.ok()) co_return sent;
          if (i % 4 == 3) static_cast<void>(co_await sinks_.at(sinks_.size() - 1).call(&Sink::sum));
        }
        static_cast<void>(co_await sinks_.at(sinks_.size() - 1).call(&Sink::sum));
        break;
      case kChain:
        for (std::uint32_t i = 0; i < count; i += kHops) {
          const auto end = co_await chain_of(servers_);
          if (!end.ok()) co_return end.status();
          if ((*end)->getNumber() != kHops) co_return invalid_argument("the chain lost a hop");
        }
        break;
      case kSleep: {
        std::vector<Future<void>> sleeps;
        sleeps.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) {
          sleeps.push_back(self_.sleep(std::chrono::seconds(100) + std::chrono::milliseconds(i)));
        }
        for (Future<void>& sleep : sleeps) sleep.cancel();
        break;
      }
    }
    const auto elapsed_ns = static_cast<double>(now_ns() - begin_ns);
    co_return make<Seconds>([=](Seconds::Builder m) { m.setNanoseconds(elapsed_ns / count); });
  }

 private:
  Self self_;
  ActorMesh<Server> servers_;
  ActorRef<Server> server_;
  ActorMesh<Sink> sinks_;
};

}  // namespace seaway::benchmarks
