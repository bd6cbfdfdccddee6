// A session against a controller that pretends: order, limits, outcomes, and what is given back.

#include "client/session.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>

#include "actor/handler_scope.hpp"
#include "client/upload.hpp"
#include "fake_controller.hpp"

namespace seaway::client {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Whose handler a test runs in.
class Counter final : public actor::Handling {
  std::string describe() const override { return "actor \"counter\" 17"; }
};

TEST(Session, SaysHelloWithItsTenant) {
  World world({.tenant = "blue", .weight = 3});

  const Heard heard = world.controller->heard();

  EXPECT_TRUE(world.opened.ok()) << world.opened.to_string();
  EXPECT_EQ(heard.tenant, "blue");
  EXPECT_EQ(heard.weight, 3u);
}

TEST(Session, ARunGoesOutInOrderAndItsValueComesBack) {
  DoublingWorld world;

  const Array x = world.client.put<float>({1, 2}, world.row);
  const seaway::Run run = world.program.execute({x});
  world.controller->set_value(run.output(0).id(), bytes_of<float>({2, 4}));
  const auto value = run.output(0).to_host<float>().get();

  EXPECT_EQ(value.value(), (std::vector<float>{2, 4}));
  EXPECT_TRUE(run.status().get().ok());
  const Heard heard = world.controller->heard();
  EXPECT_EQ(heard.order, (std::vector<std::string>{"function", "program", "spec", "put", "run"}));
  ASSERT_EQ(heard.runs.size(), 1u);
  EXPECT_EQ(heard.runs[0].program, world.program.id());
  EXPECT_EQ(heard.runs[0].arguments, std::vector<std::uint64_t>{x.id()});
  EXPECT_EQ(heard.runs[0].first, run.output(0).id());
  EXPECT_EQ(client_of(x.id()), 1u);
}

TEST(Session, AFailureReachesTheRunAndItsOutputs) {
  DoublingWorld world;
  world.controller->set({.resolves_runs = false});
  const seaway::Run run = world.program.execute({world.client.put<float>({1, 2}, world.row)});

  world.resolve(run.id(), user_function_error("fig2.cpp:7: bad luck"));

  EXPECT_EQ(run.status().get().status(), user_function_error("fig2.cpp:7: bad luck"));
  EXPECT_EQ(run.output(0).status(), user_function_error("fig2.cpp:7: bad luck"));
  EXPECT_EQ(run.output(0).to_host<float>().get().status().code(), StatusCode::kUserFunctionError);
}

TEST(Session, ThousandsOfDependentRunsAreEnqueuedBeforeTheFirstIsDone) {
  constexpr std::size_t kRuns = 10'000;
  DoublingWorld world;
  world.controller->set({.resolves_runs = false});

  Array x = world.client.put<float>({1, 2}, world.row);
  std::vector<seaway::Run> runs;
  for (std::size_t i = 0; i < kRuns; ++i) {
    runs.push_back(world.program.execute({x}));
    x = runs.back().output(0);
  }
  const std::size_t in_flight = world.client.session().in_flight();
  ASSERT_TRUE(world.hears([](const Heard& heard) { return heard.runs.size() == kRuns; }));
  for (const seaway::Run& run : runs) world.resolve(run.id());

  EXPECT_EQ(in_flight, kRuns);
  for (const seaway::Run& run : runs) EXPECT_TRUE(run.status().get().ok());
  const Heard heard = world.controller->heard();
  for (std::size_t i = 1; i < kRuns; ++i) {
    ASSERT_EQ(heard.runs[i].arguments[0], heard.runs[i - 1].first);
  }
  EXPECT_EQ(world.client.session().in_flight(), 0u);
}

TEST(Session, RefusesRunsBeyondItsLimit) {
  DoublingWorld world({.runs_in_flight_max = 2});
  world.controller->set({.resolves_runs = false});
  const Array x = world.client.put<float>({1, 2}, world.row);

  const seaway::Run first = world.program.execute({x});
  const seaway::Run second = world.program.execute({x});
  const seaway::Run third = world.program.execute({x});

  EXPECT_TRUE(second.error().ok());
  EXPECT_EQ(third.error(),
            resource_exhausted("program \"double\" refused: 2 of 2 runs are in flight; wait for "
                               "one, use WhenFull::kWait, or raise "
                               "ClientOptions::runs_in_flight_max"));
  EXPECT_EQ(third.output(0).error().code(), StatusCode::kResourceExhausted);
  world.resolve(first.id());
  EXPECT_TRUE(first.status().get().ok());
  EXPECT_TRUE(world.program.execute({x}).error().ok());
}

TEST(Session, WaitsAtItsLimitWhenToldTo) {
  DoublingWorld world({.runs_in_flight_max = 1, .when_full = WhenFull::kWait});
  world.controller->set({.resolves_runs = false});
  const Array x = world.client.put<float>({1, 2}, world.row);
  const seaway::Run first = world.program.execute({x});

  std::thread other([&world, &first] {
    world.hears([](const Heard& heard) { return heard.runs.size() == 1; });
    world.resolve(first.id());
  });
  const seaway::Run second = world.program.execute({x});
  other.join();

  EXPECT_TRUE(second.error().ok());
  EXPECT_TRUE(first.status().ready());
}

/// Whether a thread of this process waits for something; 0 is none.
bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t end = line.rfind(')');
  return end != std::string::npos && line.substr(end, 4) == ") S ";
}

TEST(Session, WaitsAtItsLimitForSeveralPlacesAtOnce) {
  DoublingWorld world({.runs_in_flight_max = 16, .when_full = WhenFull::kWait});
  world.controller->set({.resolves_runs = false});
  const Array x = world.client.put<float>({1, 2}, world.row);
  std::vector<seaway::Run> runs;
  for (int i = 0; i < 16; ++i) runs.push_back(world.program.execute({x}));
  std::atomic<bool> is_in = false;
  std::atomic<pid_t> thread = 0;

  std::thread other([&] {
    thread = gettid();
    const seaway::Run one_more = world.program.execute({x});
    is_in = true;
    EXPECT_TRUE(one_more.error().ok());
  });
  while (!is_asleep(thread)) std::this_thread::yield();
  for (int i = 0; i < 2; ++i) {
    world.resolve(runs[static_cast<std::size_t>(i)].id());
    EXPECT_TRUE(runs[static_cast<std::size_t>(i)].status().get().ok());
  }
  // Time enough for somebody who was woken.
  for (int i = 0; i < 20'000 && !is_in; ++i) std::this_thread::yield();
  EXPECT_FALSE(is_in);
  world.resolve(runs[2].id());
  other.join();

  EXPECT_TRUE(is_in);
}

TEST(Session, RefusesAtItsLimitInAHandlerThoughToldToWait) {
  DoublingWorld world({.runs_in_flight_max = 1, .when_full = WhenFull::kWait});
  world.controller->set({.resolves_runs = false});
  const Array x = world.client.put<float>({1, 2}, world.row);
  const seaway::Run first = world.program.execute({x});
  const Counter counter;
  const actor::HandlerScope scope(counter);

  const seaway::Run second = world.program.execute({x});

  EXPECT_EQ(second.error(),
            resource_exhausted("program \"double\" refused: 1 of 1 runs are in flight; wait for "
                               "one, use WhenFull::kWait, or raise "
                               "ClientOptions::runs_in_flight_max (waiting would block actor "
                               "\"counter\" 17, and with it every actor of its worker)"));
  EXPECT_TRUE(first.error().ok());
}

TEST(Session, TheLastHandleOfAnArrayReleasesIt) {
  DoublingWorld world;
  Array x = world.client.put<float>({1, 2}, world.row);
  const std::uint64_t id = x.id();

  std::vector<Array> copies(3, x);
  x = Array();
  copies.pop_back();
  ASSERT_TRUE(world.client.drain().ok());
  const std::size_t before = world.controller->heard().releases.size();
  copies.clear();

  EXPECT_EQ(before, 0u);
  EXPECT_TRUE(world.hears([](const Heard& heard) { return heard.releases.size() == 1; }));
  EXPECT_EQ(world.controller->heard().releases[0], id);
}

TEST(Session, ARunReleasesTheOutputsThatNobodyAskedFor) {
  DoublingWorld world;
  const auto pair = world.client.program("pair",
                                         [&](Traced x) {
                                           return std::pair{world.twice(x), x};
                                         },
                                         {ArraySpec{f32({2}), world.row}});
  const Array x = world.client.put<float>({1, 2}, world.row);

  seaway::Run run = pair->execute({x});
  const Array kept = run.output(1);
  const std::uint64_t first = run.output(0).id();
  run = seaway::Run();

  ASSERT_TRUE(world.hears([](const Heard& heard) { return heard.releases.size() == 1; }));
  EXPECT_EQ(world.controller->heard().releases[0], first);
  EXPECT_EQ(kept.id(), first + 1);
}

TEST(Session, CancelIsSaidOnceTheRunIs) {
  DoublingWorld world;
  world.controller->set({.resolves_runs = false});
  seaway::Run run = world.program.execute({world.client.put<float>({1, 2}, world.row)});

  run.cancel();
  ASSERT_TRUE(world.hears([](const Heard& heard) { return heard.cancels.size() == 1; }));
  world.resolve(run.id(), cancelled("by its client"));

  EXPECT_EQ(world.controller->heard().cancels[0], run.id());
  EXPECT_EQ(run.status().get().status(), cancelled("by its client"));
}

/// Number of timers that the session keeps.
std::size_t time_limits(const World& world) {
  const client::Session& session = world.client.session();
  const auto answer = std::make_shared<internal::FutureState<std::size_t>>(session.waiter());
  world.engine->post([&session, answer] { answer->complete(session.time_limits()); });
  return Future<std::size_t>(answer).get().value();
}

TEST(Session, ADeadlineEndsARunAndCancelsIt) {
  DoublingWorld world;
  world.controller->set({.resolves_runs = false});
  const Array x = world.client.put<float>({1, 2}, world.row);

  const seaway::Run run = world.program.execute({x}, {.deadline = std::chrono::milliseconds(2)});
  const seaway::Run late = world.program.execute({x}, {.deadline = std::chrono::milliseconds(0)});
  const Status status = run.status().get().status();

  EXPECT_EQ(status, deadline_exceeded("run " + name_of(run.id()) +
                                      " of program \"double\" had no outcome after 2 ms and was "
                                      "cancelled"));
  EXPECT_EQ(late.error().code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(world.hears([](const Heard& heard) { return heard.cancels.size() == 1; }));
  EXPECT_EQ(world.client.session().in_flight(), 0u);
  EXPECT_EQ(time_limits(world), 0u);
}

TEST(Session, AControllerThatDoesNotAnswerIsNamedInTheRefusal) {
  World world({.request_timeout = std::chrono::milliseconds(2)});
  world.controller->set({.answers_requests = false});

  const auto slice = world.client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}});

  EXPECT_EQ(slice.status(),
            deadline_exceeded("the controller did not answer client 1's \"acquire a slice of 2 "
                              "devices, mesh(data=2)\" within 2 ms; what became of it is unknown"));
  EXPECT_EQ(time_limits(world), 0u);
}

TEST(Session, AnswersAreHandedOn) {
  World world;
  const auto stats = world.client.stats();
  world.controller->answer_requests_with(resource_exhausted("4 of 4 devices are taken"));

  const auto slice = world.client.acquire_slice({.devices = 1});

  EXPECT_EQ(stats.value(), "an answer");
  EXPECT_EQ(slice.status(), resource_exhausted("4 of 4 devices are taken"));
  EXPECT_EQ(world.client.why(), "RESOURCE_EXHAUSTED: 4 of 4 devices are taken");
}

TEST(Session, AskingFromTheControlThreadIsRefused) {
  World world;
  auto answer =
      std::make_shared<internal::FutureState<std::string>>(world.client.session().waiter());

  world.engine->post([&world, answer] { answer->complete(world.client.why()); });

  EXPECT_EQ(Future<std::string>(answer).get().value(),
            "INVALID_ARGUMENT: \"why\" would block the control thread, which has to answer it; ask "
            "from another thread");
}

TEST(Session, AskingInAHandlerIsRefused) {
  World world;
  const Counter counter;
  const actor::HandlerScope scope(counter);

  const auto slice = world.client.acquire_slice({.devices = 1});

  EXPECT_EQ(slice.status(),
            invalid_argument("\"acquire a slice of 1 devices, mesh()\" would block actor "
                             "\"counter\" 17, and with it every actor of its worker; ask from a "
                             "thread of your own"));
}

TEST(Session, ClosingCompletesWhatIsPendingAndSaysGoodbye) {
  DoublingWorld world;
  world.controller->set({.resolves_runs = false, .resolves_puts = false, .answers_fetches = false});
  const Array x = world.client.put<float>({1, 2}, world.row);
  const seaway::Run run = world.program.execute({x});
  Future<void> ready = x.ready();
  Future<std::vector<float>> fetched = run.output(0).to_host<float>();

  world.client = Client();

  const Status closed = cancelled("client 1 has been closed");
  EXPECT_EQ(run.status().get().status(), closed);
  EXPECT_EQ(ready.get().status(), closed);
  EXPECT_EQ(fetched.get().status(), closed);
  EXPECT_EQ(world.program.execute({x}).error().code(), StatusCode::kCancelled);
  EXPECT_TRUE(world.hears([](const Heard& heard) { return heard.has_goodbye; }));
}

TEST(Session, FuturesAndArraysMayOutliveTheCluster) {
  Array array;
  Future<void> future;
  {
    DoublingWorld world;
    world.controller->set({.resolves_runs = false});
    const seaway::Run run = world.program.execute({world.client.put<float>({1, 2}, world.row)});
    array = run.output(0);
    future = run.status();
    world.client = Client();
  }

  EXPECT_EQ(future.get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(array.status().code(), StatusCode::kCancelled);
}

// Fetches.

TEST(Fetch, GoesIntoTheCallersMemory) {
  DoublingWorld world;
  const Array x = world.client.put<float>({1, 2}, world.row);
  world.controller->set_value(x.id(), bytes_of<float>({5, 6}));
  std::vector<float> target(2);

  const auto good = x.to_host(std::as_writable_bytes(std::span(target))).get();
  const auto bad = x.to_host(std::span<std::byte>()).get();

  EXPECT_TRUE(good.ok());
  EXPECT_EQ(target, (std::vector<float>{5, 6}));
  EXPECT_EQ(bad.status().message(), "to_host into 0 bytes from " + x.to_string() + ", which has 8");
}

TEST(Fetch, CancelWithdrawsTheTargetSoThatNothingIsWritten) {
  DoublingWorld world;
  world.controller->set({.answers_fetches = false});
  const Array x = world.client.put<float>({1, 2}, world.row);
  std::vector<float> target(2, 9);

  Future<void> future = x.to_host(std::as_writable_bytes(std::span(target)));
  future.cancel();

  EXPECT_EQ(future.get().status(), cancelled("the fetch was given up with cancel()"));
  ASSERT_TRUE(world.hears([](const Heard& heard) { return heard.fetches.size() == 1; }));
  EXPECT_EQ(world.bulk.size(), 0u);
}

TEST(Fetch, OfAnotherElementTypeIsRefused) {
  DoublingWorld world;
  const Array x = world.client.put<float>({1, 2}, world.row);

  EXPECT_EQ(x.to_host<std::int32_t>().get().status(),
            invalid_argument("to_host of i32 elements from " + x.to_string() +
                             "; ask for the array's own element type"));
}

// Uploads.

TEST(Upload, IsSplitIntoShardsByItsSharding) {
  World world;
  const Slice slice =
      world.client.acquire_slice({.devices = 4, .mesh = {{"x", 2}, {"y", 2}}}).value();
  const NamedSharding tiled(slice.mesh(), P("y", "x"));
  std::vector<float> data(16);
  std::iota(data.begin(), data.end(), 0.0f);

  const Array array = world.client.put(data, {4, 4}, tiled);
  ASSERT_TRUE(array.status().ok()) << array.status().to_string();
  const transport::Payload payload = world.controller->upload(array.id());

  // Device 1 is x=0, y=1: rows 2 and 3, columns 0 and 1.
  float shard[4];
  std::memcpy(shard, payload.base + payload.stride, sizeof(shard));
  EXPECT_EQ(std::vector<float>(shard, shard + 4), (std::vector<float>{8, 9, 12, 13}));
  EXPECT_EQ(payload.stride, 64u);
  std::vector<float> joined(16);
  join(array.spec(), payload, std::as_writable_bytes(std::span(joined)));
  EXPECT_EQ(joined, data);
}

TEST(Upload, StridesAvoidPageMultiples) {
  EXPECT_EQ(stride_of(8, 1), 64u);
  EXPECT_EQ(stride_of(4096, 1), 4096u);
  EXPECT_EQ(stride_of(4096, 2), 4160u);
  EXPECT_EQ(stride_of(0, 2), 0u);
}

TEST(Upload, ZeroCopyAliasesAlignedDataOfOneShard) {
  World world;
  const Slice slice = world.client.acquire_slice({.devices = 1}).value();
  alignas(64) float data[16] = {};

  const Array array =
      world.client.put(std::span<const float>(data), {16}, NamedSharding(slice.mesh(), P()),
                       HostBufferSemantics::kZeroCopy);
  ASSERT_TRUE(array.status().ok());

  EXPECT_EQ(world.controller->upload(array.id()).base, reinterpret_cast<std::byte*>(data));
}

TEST(Upload, OfAClientThatWaitsIsGivenUpWhenItsTimeIsOver) {
  DoublingWorld world(
      {.when_full = WhenFull::kWait, .request_timeout = std::chrono::milliseconds(300)});
  world.controller->set({.resolves_puts = false});
  const Array array = world.client.put<float>({1, 2}, world.row);
  const auto id = array.id();

  const bool is_given_up = world.hears(
      [id](const Heard& heard) { return heard.cancels == std::vector<std::uint64_t>{id}; });
  EXPECT_TRUE(array.error().ok());  // The controller knows why, and says it.
  world.resolve(id, resource_exhausted("there was no room"));

  EXPECT_TRUE(is_given_up);
  EXPECT_EQ(array.status(), resource_exhausted("there was no room"));
}

TEST(Upload, OfAClientThatDoesNotWaitIsNeverGivenUp) {
  DoublingWorld world({.request_timeout = std::chrono::milliseconds(300)});
  world.controller->set({.resolves_puts = false});
  const Array array = world.client.put<float>({1, 2}, world.row);

  // A run whose deadline is later than that.
  world.controller->set({.resolves_runs = false, .resolves_puts = false});
  const seaway::Run run =
      world.program.execute({array}, {.deadline = std::chrono::milliseconds(400)});
  EXPECT_TRUE(world.hears([](const Heard& heard) { return !heard.cancels.empty(); }));

  EXPECT_EQ(world.controller->heard().cancels, std::vector<std::uint64_t>{run.id()});
  world.resolve(array.id());
  EXPECT_TRUE(array.status().ok());
}

TEST(Upload, ASpecIsDefinedOnce) {
  DoublingWorld world;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(world.client.put<float>({1, 2}, world.row).status().ok());
  }

  EXPECT_EQ(world.controller->heard().spec_definitions, 1);
}

TEST(Upload, BytesAreBounded) {
  DoublingWorld world({.upload_bytes_max = 12});
  world.controller->set({.resolves_puts = false});

  const Array first = world.client.put<float>({1, 2}, world.row);
  const Array second = world.client.put<float>({1, 2}, world.row);
  const Array huge = world.client.put<float>({1, 2, 3, 4}, world.row);
  world.resolve(first.id());

  EXPECT_TRUE(first.status().ok());
  EXPECT_EQ(second.error(),
            resource_exhausted("put refused: 8 bytes do not fit the limit of 12 while 8 wait to be "
                               "taken; wait for ready(), use WhenFull::kWait, or raise "
                               "ClientOptions::upload_bytes_max"));
  EXPECT_EQ(huge.error(),
            resource_exhausted("put refused: 16 bytes do not fit the limit of 12; put it in "
                               "pieces, or raise ClientOptions::upload_bytes_max"));
  EXPECT_TRUE(world.client.put<float>({1, 2}, world.row).error().ok());
}

TEST(Upload, WaitsAtTheBoundWhenToldTo) {
  DoublingWorld world({.upload_bytes_max = 12, .when_full = WhenFull::kWait});
  world.controller->set({.resolves_puts = false});
  const Array first = world.client.put<float>({1, 2}, world.row);

  std::atomic<bool> is_first_taken = false;
  std::thread other([&world, &first, &is_first_taken] {
    world.hears([](const Heard& heard) { return heard.puts.size() == 1; });
    is_first_taken = true;
    world.resolve(first.id());
  });
  const Array second = world.client.put<float>({3, 4}, world.row);
  const bool has_waited = is_first_taken;
  other.join();
  const Array huge = world.client.put<float>({1, 2, 3, 4}, world.row);

  EXPECT_TRUE(has_waited);
  EXPECT_TRUE(world.hears([](const Heard& heard) { return heard.puts.size() == 2; }));
  world.resolve(second.id());
  EXPECT_TRUE(second.status().ok()) << second.status().to_string();
  EXPECT_EQ(huge.error().code(), StatusCode::kResourceExhausted);  // It would wait for ever.
}

TEST(Upload, AnEmptyArrayIsAnArray) {
  DoublingWorld world;

  const Array empty = world.client.put<float>({}, {0}, world.row);

  EXPECT_TRUE(empty.status().ok()) << empty.status().to_string();
  EXPECT_EQ(empty.to_host<float>().get().value(), std::vector<float>());
}

// Resharding.

TEST(Reshard, IsOneProgramPerPairOfSpecs) {
  DoublingWorld world;
  const NamedSharding replicated(world.slice.mesh(), P());
  const Array x = world.client.put<float>({1, 2}, world.row);

  const auto once = x.reshard(replicated);
  const auto twice = x.reshard(replicated);
  const auto same = x.reshard(world.row, ArrayCopySemantics::kReuseInput);

  ASSERT_TRUE(once.ok()) << once.status().to_string();
  EXPECT_TRUE(twice->status().ok());
  EXPECT_EQ(once->sharding(), replicated);
  EXPECT_EQ(*same, x);
  const Heard heard = world.controller->heard();
  EXPECT_EQ(heard.runs.size(), 2u);
  EXPECT_EQ(heard.runs[0].program, heard.runs[1].program);
}

TEST(Function, RunsAloneAsAProgramOfOneNode) {
  DoublingWorld world;
  const Array x = world.client.put<float>({1, 2}, world.row);

  const seaway::Run first = world.twice.execute({x});
  const seaway::Run second = world.twice.execute({first.output(0)});

  EXPECT_TRUE(second.status().get().ok());
  const Heard heard = world.controller->heard();
  ASSERT_EQ(heard.runs.size(), 2u);
  EXPECT_EQ(heard.runs[0].program, heard.runs[1].program);
}

}  // namespace
}  // namespace seaway::client
