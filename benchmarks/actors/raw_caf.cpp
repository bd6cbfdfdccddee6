// CAF actors that exchange frames as Seaway's own roles do: one type of message, one handler.

#include "benchmarks/actors/raw_caf.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <memory>
#include <vector>

#include "actor/caf_coordinator.hpp"
#include "benchmarks/actors/command.hpp"
#include "benchmarks/support/measure.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(seaway::Frame)

namespace seaway::benchmarks {
namespace {

class Coordinator final : public actor::JobCoordinator {
 public:
  using JobCoordinator::JobCoordinator;
  void enqueue(caf::resumable* job) override { jobs.push_back(job); }
  void run_all() {
    while (!jobs.empty()) {
      caf::resumable* const job = jobs.front();
      jobs.pop_front();
      run(job, 64);
    }
  }
};

/// One actor system whose thread is the caller's.
class System {
 public:
  System() : system_(config_), coordinator_(dynamic_cast<Coordinator&>(system_.scheduler())) {
    system_.await_actors_before_shutdown(false);
  }
  ~System() { coordinator_.run_all(); }
  caf::actor_system& operator*() { return system_; }
  void run_all() { coordinator_.run_all(); }

 private:
  actor::CoordinatorConfig<Coordinator> config_;
  caf::actor_system system_;
  Coordinator& coordinator_;
};

Frame command(std::uint64_t number) {
  wire::FrameBuilder builder;
  fill_command(builder.init_root<Command>(), number);
  return builder.finish();
}

Frame done(std::uint64_t number) {
  wire::FrameBuilder builder;
  builder.init_root<Done>().setNumber(number);
  return builder.finish();
}

std::uint64_t read_command(const Frame& frame) {
  std::uint64_t sum = 0;
  static_cast<void>(
      wire::read_frame<Command>(frame, [&sum](Command::Reader root) { sum = sum_of(root); }));
  return sum;
}

std::uint64_t read_done(const Frame& frame) {
  std::uint64_t number = 0;
  static_cast<void>(
      wire::read_frame<Done>(frame, [&number](Done::Reader root) { number = root.getNumber(); }));
  return number;
}

caf::behavior server(caf::event_based_actor*) {
  return {[](const Frame& frame) { return done(read_command(frame)); }};
}

caf::behavior sink(caf::event_based_actor*, std::uint64_t* sum) {
  return {[sum](const Frame& frame) { *sum += read_command(frame); }};
}

/// With the deadline that each request of Seaway's has, too.
void ask(caf::event_based_actor* self, const caf::actor& to, std::uint32_t left) {
  self->request(to, caf::infinite, command(left)).then([self, to, left](const Frame& answer) {
    if (read_done(answer) != 0 && left > 1) ask(self, to, left - 1);
  });
}

caf::behavior skynet(caf::event_based_actor* self, caf::actor parent, std::uint64_t first,
                     std::uint64_t size) {
  struct State {
    std::uint64_t sum = 0;
    std::uint32_t left = 10;
  };
  if (size == 1) {
    self->send(parent, done(first));
    self->quit();
    return {[](int) {}};
  }
  for (std::uint64_t i = 0; i < 10; ++i) {
    self->spawn(skynet, caf::actor_cast<caf::actor>(self), first + i * (size / 10), size / 10);
  }
  auto state = std::make_shared<State>();
  return {[self, parent, state](const Frame& frame) {
    state->sum += read_done(frame);
    if (--state->left > 0) return;
    self->send(parent, done(state->sum));
    self->quit();
  }};
}

}  // namespace

double caf_call_ns(std::uint32_t calls) {
  System system;
  const caf::actor to = (*system).spawn(server);
  const std::uint64_t begin_ns = now_ns();
  (*system).spawn([&to, calls](caf::event_based_actor* self) { ask(self, to, calls); });
  system.run_all();
  const auto ns = static_cast<double>(now_ns() - begin_ns) / calls;
  caf::anon_send_exit(to, caf::exit_reason::user_shutdown);
  return ns;
}

double caf_broadcast_ns(std::uint32_t members, std::uint32_t broadcasts) {
  System system;
  std::uint64_t sum = 0;
  std::vector<caf::actor> to;
  for (std::uint32_t i = 0; i < members; ++i) to.push_back((*system).spawn(sink, &sum));
  constexpr std::uint32_t kWindow = 512;  // Messages under way at most.
  const std::uint32_t batch = std::max(1u, kWindow / members);
  const std::uint64_t begin_ns = now_ns();
  for (std::uint32_t begin = 0; begin < broadcasts; begin += batch) {
    (*system).spawn([&, begin](caf::event_based_actor* self) {
      for (std::uint32_t i = begin; i < begin + batch && i < broadcasts; ++i) {
        const caf::message message = caf::make_message(command(i));
        for (const caf::actor& one : to) self->send(one, message);
      }
    });
    system.run_all();
  }
  const auto ns = static_cast<double>(now_ns() - begin_ns) / broadcasts / members;
  for (const caf::actor& one : to) caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  return sum > 0 ? ns : 0;
}

double caf_skynet_ns(std::uint64_t leaves) {
  System system;
  std::uint64_t sum = 0;
  const std::uint64_t begin_ns = now_ns();
  const caf::actor root = (*system).spawn([&sum](caf::event_based_actor* self) -> caf::behavior {
    return {[self, &sum](const Frame& frame) {
      sum = read_done(frame);
      self->quit();
    }};
  });
  (*system).spawn(skynet, root, std::uint64_t{0}, leaves);
  system.run_all();
  const auto ns = static_cast<double>(now_ns() - begin_ns) / static_cast<double>(leaves);
  return sum == leaves * (leaves - 1) / 2 ? ns : 0;
}

}  // namespace seaway::benchmarks
