// How runs fail: user code, compilation, cancels, deadlines, and clients that go.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cluster_fixture.hpp"

namespace seaway {
namespace {

using namespace std::chrono_literals;
using ::testing::Test;

bool names(const Status& status, const std::string& what) {
  return status.message().find(what) != std::string::npos;
}

/// Two islands of two devices; `next` adds 1 to a vector of 4.
class Failure : public Test {
 protected:
  Cluster cluster_ = Cluster::start("embedded:islands=2,devices=2,threads=4").value();
  Client client_ = cluster_.connect().value();
  Slice left_ = acquire(client_, 2, 0), right_ = acquire(client_, 2, 1);
  Function next_ = client_.function("next", [](Tensor x) { return x + 1.0f; }, {f32({2})}).value();
  ArraySpec spec_{f32({4}), rows(left_)};

  Program program_of(const Function& function) {
    return client_.program("f", [&](Traced v) { return function(v); }, {spec_}).value();
  }
  Array input() { return client_.put<float>({1, 2, 3, 4}, rows(left_)); }
  Function failing(const std::string& name, std::function<Status()> body) {
    return client_.native(name, copying({f32({2})}, std::move(body))).value();
  }
  /// Drops all handles of the fixture and expects that the cluster is empty.
  void expect_nothing_left_behind() {
    next_ = {};
    left_ = right_ = {};
    client_ = {};
    expect_nothing_left(cluster_);
  }
  void expect_next_works() {
    EXPECT_EQ(read(program_of(next_).execute({input()}).output(0)),
              (std::vector<float>{2, 3, 4, 5}));
  }
};

TEST_F(Failure, AnErrorOfANativeFunctionNamesItAndTheLineOfItsCall) {
  const Function bad = failing("bad", [] { return resource_exhausted("no more of it"); });
  const unsigned line = __LINE__ + 1;
  const Program f = client_.program("f", [&](Traced v) { return next_(bad(v)); }, {spec_}).value();

  const seaway::Run run = f.execute({input()});

  const Status status = run.status().get().status();
  EXPECT_EQ(status.code(), StatusCode::kUserFunctionError) << status.to_string();
  EXPECT_TRUE(names(status, "'bad'")) << status.to_string();
  EXPECT_TRUE(names(status, "no more of it")) << status.to_string();
  EXPECT_TRUE(names(status, "failure_test.cpp:" + std::to_string(line))) << status.to_string();
  EXPECT_EQ(run.output(0).to_host<float>().get().status().code(), StatusCode::kUserFunctionError);
  expect_next_works();
}

TEST_F(Failure, AnExceptionFailsItsOwnRunOnly) {
  const Function bad = failing("bad", []() -> Status { throw std::runtime_error("thrown"); });
  const Program f = program_of(bad), good = program_of(next_);
  const Array in = input();

  const seaway::Run first = f.execute({in}), second = good.execute({in}), third = f.execute({in});

  for (const seaway::Run& run : {first, third}) {
    const Status status = run.status().get().status();
    EXPECT_EQ(status.code(), StatusCode::kUserFunctionError);
    EXPECT_TRUE(names(status, "threw: thrown")) << status.to_string();
    EXPECT_TRUE(names(status, "failure_test.cpp:")) << status.to_string();
  }
  EXPECT_EQ(read(second.output(0)), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(Failure, AValueReadBeforeTheRunEndsNamesTheLineToo) {
  Gate gate;
  const Function bad = failing("bad", [&gate] {
    gate.pass();
    return invalid_argument("wrong");
  });
  const seaway::Run run = program_of(bad).execute({input()});
  auto value = run.output(0).to_host<float>();
  gate.await();

  gate.open();

  const Status status = std::move(value).get().status();
  EXPECT_EQ(status.code(), StatusCode::kUserFunctionError) << status.to_string();
  EXPECT_TRUE(names(status, "failure_test.cpp:")) << status.to_string();
}

TEST_F(Failure, DependentsLoseTheirInputAndNameTheRootCause) {
  const Function bad = failing("bad", [] { return invalid_argument("the root"); });
  const Program f = program_of(bad), good = program_of(next_);

  const seaway::Run root = f.execute({input()});
  std::vector<seaway::Run> chain = {good.execute({root.output(0)})};
  for (int i = 0; i < 100; ++i) chain.push_back(good.execute({chain.back().output(0)}));
  EXPECT_FALSE(root.status().get().ok());
  chain.push_back(good.execute({chain.back().output(0)}));

  for (const seaway::Run& run : chain) {
    const Status status = run.status().get().status();
    EXPECT_EQ(status.code(), StatusCode::kInputLost) << status.to_string();
    EXPECT_TRUE(names(status, "the root")) << status.to_string();
    EXPECT_LT(status.message().size(), 1000u) << status.to_string();
  }
  EXPECT_TRUE(names(chain[50].status().get().status(), "failure_test.cpp:"));
}

TEST_F(Failure, AFailureOnOneIslandPoisonsThePartOnTheOther) {
  const Function bad = failing("bad", [] { return invalid_argument("wrong"); });
  const Program f =
      client_
          .program("f",
                   [&](Traced v) {
                     const Traced far = next_.on(right_)(bad(v));
                     return std::tuple{next_.on(right_)(v), far, next_(far.reshard(rows(left_)))};
                   },
                   {spec_})
          .value();

  for (int i = 0; i < 20; ++i) {
    const seaway::Run run = f.execute({input()});

    EXPECT_EQ(run.status().get().status().code(), StatusCode::kUserFunctionError);
    for (const Array& output : run.outputs()) {
      EXPECT_EQ(output.to_host<float>().get().status().code(), StatusCode::kUserFunctionError);
    }
  }
  expect_next_works();
}

TEST_F(Failure, AQueuedRunningOrFinishedRunIsCancelledOnce) {
  Gate gate;
  const Function slow = failing("slow", [&gate] {
    gate.pass();
    return Status();
  });
  const Program f = program_of(slow), good = program_of(next_);
  const seaway::Run finished = good.execute({input()});
  EXPECT_TRUE(finished.status().get().ok());
  seaway::Run running = f.execute({input()});
  gate.await();
  seaway::Run queued = f.execute({running.output(0)});
  const seaway::Run dependent = good.execute({queued.output(0)});
  seaway::Run done = finished;

  for (int i = 0; i < 3; ++i) {
    queued.cancel();
    done.cancel();
    running.cancel();
  }
  gate.open();

  EXPECT_EQ(queued.status().get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(running.status().get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(dependent.status().get().status().code(), StatusCode::kInputLost);
  EXPECT_TRUE(done.status().get().ok());
  EXPECT_EQ(read(finished.output(0)), (std::vector<float>{2, 3, 4, 5}));
  expect_next_works();
}

TEST_F(Failure, ARunThatHasNoStampIsCancelledAtOnceThoughNothingElseMoves) {
  const Cluster cluster = Cluster::start("embedded:devices=1,threads=4,runs_in_flight=1").value();
  const Client client = cluster.connect().value();
  const Slice slice = acquire(client, 1);
  Gate gate;
  const Function slow = client
                            .native("slow", copying({f32({2})},
                                                    [&gate] {
                                                      gate.pass();
                                                      return Status();
                                                    }))
                            .value();
  const Array in = client.put<float>({1, 2}, rows(slice));
  const seaway::Run running = slow.execute({in});
  gate.await();
  seaway::Run waiting = slow.execute({in});

  waiting.cancel();

  EXPECT_EQ(waiting.status().get().status().code(), StatusCode::kCancelled);
  gate.open();
  EXPECT_TRUE(running.status().get().ok());
}

TEST_F(Failure, CancelsAcrossIslandsLeaveNothingBehind) {
  const Program f =
      client_
          .program("f", [&](Traced v) { return next_.on(left_)(next_.on(right_)(next_(v))); },
                   {spec_})
          .value();
  for (int round = 0; round < 50; ++round) {
    std::vector<seaway::Run> runs;
    Array value = input();
    for (int i = 0; i < 8; ++i) {
      runs.push_back(f.execute({value}));
      value = runs.back().output(0);
    }
    if (round % 2 == 0) (void)runs[0].status().get();
    runs[static_cast<std::size_t>(round % 8)].cancel();

    for (const seaway::Run& run : runs) (void)run.status().get();
  }
  expect_next_works();
  expect_nothing_left_behind();
}

TEST_F(Failure, ADonatedInputOfACancelledRunIsReadByEarlierRunsAndThenFreed) {
  Gate gate;
  const Function slow = failing("slow", [&gate] {
    gate.pass();
    return Status();
  });
  const Program reads = client_
                            .program("reads",
                                     [&](Traced v, Traced w) {
                                       return std::tuple{slow(v), next_(w)};
                                     },
                                     {spec_, spec_})
                            .value();
  const Program takes =
      client_.program("takes", [&](Traced v) { return next_(v); }, {spec_}, {.donated = {0}})
          .value();
  const Array in = input(), donated = input();
  const seaway::Run reader = reads.execute({in, donated});
  gate.await();
  seaway::Run taker = takes.execute({donated});

  taker.cancel();
  gate.open();

  EXPECT_EQ(taker.status().get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(read(reader.output(1)), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(Failure, ARunWithoutAnOutcomeInTimeIsCancelled) {
  Gate gate;
  const Function slow = failing("slow", [&gate] {
    gate.pass();
    return Status();
  });
  const Program f = program_of(slow);

  const seaway::Run run = f.execute({input()}, {.deadline = 5ms});

  const Status status = run.status().get().status();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
  gate.open();
  expect_next_works();
}

TEST_F(Failure, AClientThatGoesMidFlightLeavesNothingBehind) {
  Gate gate;
  {
    Client other = cluster_.connect({.tenant = "other"}).value();
    const Slice near = acquire(other, 2, 0), far = acquire(other, 2, 1);
    const Function slow = other
                              .native("slow", copying({f32({2})},
                                                      [&gate] {
                                                        gate.pass();
                                                        return Status();
                                                      }))
                              .value();
    const Function next =
        other.function("next", [](Tensor x) { return x + 1.0f; }, {f32({2})}).value();
    const Program f = other
                          .program("f", [&](Traced v) { return next.on(far)(next(slow(v))); },
                                   {ArraySpec{f32({4}), rows(near)}})
                          .value();
    const Array in = other.put<float>({1, 2, 3, 4}, rows(near));
    std::vector<seaway::Run> runs;
    for (int i = 0; i < 500; ++i) runs.push_back(f.execute({in}));
    gate.await();
    Future<void> status = runs[0].status();
    other = {};
    EXPECT_EQ(status.get().status().code(), StatusCode::kCancelled);
  }
  gate.open();

  expect_next_works();
  expect_nothing_left_behind();
}

/// Its function reads and writes arrays of the cluster: under the sanitizers this test sees that
/// they are still there.
TEST(ClusterEnd, WaitsForTheFunctionThatStillRuns) {
  Gate gate;
  std::atomic<bool> has_run = false;
  std::optional<Cluster> cluster = Cluster::start("embedded:devices=1,threads=2").value();
  {
    const Client client = cluster->connect().value();
    const Slice slice = acquire(client, 1);
    const Function slow = client
                              .native("slow", copying({f32({1024})},
                                                      [&] {
                                                        gate.pass();
                                                        has_run = true;
                                                        return Status();
                                                      }))
                              .value();
    slow.execute({client.put<float>(counted(1024), {1024}, rows(slice))});
    gate.await();
  }

  std::thread end([&cluster] { cluster.reset(); });
  gate.open();
  end.join();

  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace seaway
