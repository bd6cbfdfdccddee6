// The last handle of a client goes while another thread waits: the wait ends with CANCELLED, and
// then the cluster ends. SEAWAY_ROUNDS: how often each kind of wait is tried.

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cast.hpp"
#include "seaway/seaway.hpp"

namespace seaway::app_test {
namespace {

using namespace std::chrono_literals;

int rounds() {
  const char* const wanted = std::getenv("SEAWAY_ROUNDS");
  return wanted ? std::atoi(wanted) : 5;
}

/// Holds a native function back.
class Latch {
 public:
  void open() {
    std::lock_guard guard(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock guard(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return is_open_; });
  }
  void await_one() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return arrived_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int arrived_ = 0;
};

/// Writes one answer and then waits at a gate.
class Dripper {
 public:
  static void describe(ActorType<Dripper>& type) { type.on(&Dripper::scan); }
  Dripper(const Self&, ActorRef<Gate> gate) : gate_(std::move(gate)) {}
  Task<Status> scan(Request<Scan>, Writer<Answer> writer) {
    const auto written = co_await writer.write([](Answer::Builder m) { m.setNumber(1); });
    if (!written.ok()) co_return written.status();
    const auto opened = co_await gate_.call(&Gate::hold);
    co_return opened.ok() ? Status() : opened.status();
  }

 private:
  ActorRef<Gate> gate_;
};

/// What a thread waits for, without a handle of the client.
using Wait = std::function<Status()>;
/// Makes it wait already, or be about to.
using Begin = std::function<Wait(Client&)>;

/// Each round has a cluster of its own.
void expect_cancelled(const Begin& begin) {
  for (int round = 0; round < rounds(); ++round) {
    std::optional<Client> client = connect("embedded:islands=2,devices=2,threads=2",
                                           {.runs_in_flight_max = 1, .when_full = WhenFull::kWait})
                                       .value();
    Wait wait = begin(*client);
    std::promise<void> begun;
    std::promise<Status> outcome;
    std::thread waiting([&] {
      begun.set_value();
      outcome.set_value(wait());
      wait = nullptr;
    });
    begun.get_future().wait();

    client.reset();
    waiting.join();

    const Status status = outcome.get_future().get();
    EXPECT_EQ(status.code(), StatusCode::kCancelled)
        << "round " << round << ": " << status.to_string();
  }
}

template <class T>
auto shared(T value) {
  return std::make_shared<T>(std::move(value));
}

ActorMesh<Gate> gates_of(const Client& client) {
  return client.spawn<Gate>(client.hosts()).value();
}

TEST(Ends, OfACall) {
  expect_cancelled([](Client& client) -> Wait {
    const auto gate = gates_of(client).at(1);
    auto call = shared(gate.call(&Gate::hold, hold("x")));
    EXPECT_EQ(said(gate, &Gate::held), "x");
    return [call] { return call->get().status(); };
  });
}

TEST(Ends, OfACallThatIsStillOnItsWay) {
  expect_cancelled([](Client& client) -> Wait {
    const auto gate = gates_of(client).at(1);
    return [gate] { return gate.call(&Gate::hold).get().status(); };
  });
}

/// The session ends between any two steps of a call.
TEST(Ends, OfCallsOneAfterTheOther) {
  expect_cancelled([](Client& client) -> Wait {
    const auto gate = gates_of(client).at(1);
    return [gate] {
      for (;;) {
        const Status status = gate.call(&Gate::held).get().status();
        if (!status.ok()) return status;
      }
    };
  });
}

TEST(Ends, OfCallsOfAllMembers) {
  expect_cancelled([](Client& client) -> Wait {
    auto calls = shared(gates_of(client).call(&Gate::hold));
    return [calls] {
      const auto answers = calls->get();
      EXPECT_EQ(answers.at(0).status().code(), StatusCode::kCancelled);
      return answers.at(1).status();
    };
  });
}

TEST(Ends, OfAReduction) {
  expect_cancelled([](Client& client) -> Wait {
    const auto gates = gates_of(client);
    auto sum = shared(gates.reduce(
        &Gate::hold, [](Answer::Reader left, Answer::Reader right, Answer::Builder out) {
          out.setNumber(left.getNumber() + right.getNumber());
        }));
    return [sum] { return sum->get().status(); };
  });
}

TEST(Ends, OfAStream) {
  expect_cancelled([](Client& client) -> Wait {
    const auto gate = gates_of(client).at(0);
    const auto dripper = client.spawn<Dripper>(client.hosts(), gate).value().at(1);
    auto stream = shared(dripper.stream(&Dripper::scan, [](Scan::Builder m) { m.setCount(2); }));
    const auto first = stream->next().get();
    EXPECT_TRUE(first.ok() && *first && (*first)->reply.ok());
    return [stream] {
      const auto next = stream->next().get();
      if (!next.ok()) return next.status();
      return *next ? (*next)->reply.status() : Status();
    };
  });
}

TEST(Ends, OfAStop) {
  expect_cancelled([](Client& client) -> Wait {
    const auto gates = gates_of(client);
    static_cast<void>(gates.at(0).call(&Gate::hold, hold("x")));
    EXPECT_EQ(said(gates.at(0), &Gate::held), "x");
    auto stop = shared(gates.stop(1h));
    return [stop] { return stop->get().status(); };
  });
}

/// A program whose one function waits until the latch is open.
struct Held {
  std::shared_ptr<Latch> latch = std::make_shared<Latch>();
  Program program;
  Array argument;
};

Held held_program(const Client& client) {
  Held held;
  NativeFunction native{.parameters = {f32({1})}, .outputs = {f32({1})}};
  native.cost_ns = 10'000'000;  // In a thread of its own.
  native.body = [latch = held.latch](auto operands, auto outputs, std::byte*) {
    latch->pass();
    std::memcpy(outputs[0], operands[0], sizeof(float));
    return Status();
  };
  const Slice slice = client.acquire_slice({.devices = 1}).value();
  const NamedSharding whole(slice.mesh(), P());
  const Function function = client.native("held", native).value();
  held.program =
      client.program("p", [&](Traced v) { return function(v); }, {ArraySpec{f32({1}), whole}})
          .value();
  held.argument = client.put<float>({1}, whole);
  return held;
}

/// A wait ends before what runs does: the arena ends only when the latch is open.
Wait opening(const std::shared_ptr<Latch>& latch, Wait wait) {
  return [latch, wait = std::move(wait)] {
    Status status = wait();
    latch->open();
    return status;
  };
}

TEST(Ends, OfARun) {
  expect_cancelled([](Client& client) -> Wait {
    const Held held = held_program(client);
    auto run = shared(held.program.execute({held.argument}));
    held.latch->await_one();
    return opening(held.latch, [run] { return run->status().get().status(); });
  });
}

TEST(Ends, OfAnArray) {
  expect_cancelled([](Client& client) -> Wait {
    const Held held = held_program(client);
    const Array output = held.program.execute({held.argument}).output(0);
    held.latch->await_one();
    return opening(held.latch, [output] { return output.ready().get().status(); });
  });
}

TEST(Ends, OfAFetch) {
  expect_cancelled([](Client& client) -> Wait {
    const Held held = held_program(client);
    const Array output = held.program.execute({held.argument}).output(0);
    held.latch->await_one();
    return opening(held.latch, [output] {
      auto fetch = output.to_host<float>();
      Status status = fetch.get().status();
      auto again = output.to_host<float>();  // Behind the end of the session, and given up.
      again.cancel();
      return status;
    });
  });
}

TEST(Ends, OfAWaitForAPlaceAmongTheRuns) {
  expect_cancelled([](Client& client) -> Wait {
    const Held held = held_program(client);
    auto first = shared(held.program.execute({held.argument}));
    held.latch->await_one();
    return opening(held.latch,
                   [held, first] { return held.program.execute({held.argument}).error(); });
  });
}

TEST(Ends, OfAQuestionToTheController) {
  expect_cancelled([](Client& client) -> Wait {
    const Held held = held_program(client);
    const Array output = held.program.execute({held.argument}).output(0);
    held.latch->await_one();
    return opening(held.latch, [output] {
      // One question is under way when the session ends, or comes behind.
      while (!output.ready().ready()) static_cast<void>(output.why());
      static_cast<void>(output.why());
      return output.error();
    });
  });
}

}  // namespace
}  // namespace seaway::app_test
