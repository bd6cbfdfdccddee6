// Roles over real sockets, here all in one process: programs run, clients come and go, roles die.

#include "cluster/process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "actor/io_engine.hpp"
#include "cluster/enrolment_messages.hpp"
#include "cluster/questions.hpp"
#include "seaway/seaway.hpp"
#include "transport/socket_wires.hpp"
#include "unit/transport/scratch_file.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;
using transport::ProcessId;

/// More than a control frame may have.
constexpr std::size_t kLargeElements = std::size_t{6} << 20;

class RealCluster : public testing::Test {
 protected:
  RealCluster() {
    std::string name = testing::TempDir() + "seawayXXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~RealCluster() override {
    processes_.clear();
    rmdir(directory_.c_str());
  }

  std::string address(const RoleName& name) const {
    return "unix:" + directory_ + "/" + std::to_string(static_cast<int>(name.role)) + "-" +
           std::to_string(name.index);
  }
  std::string controller() const { return address({Role::kController, 0}); }

  Status start(const RoleName& name, std::uint32_t life = 1) {
    ProcessOptions options;
    options.name = name;
    options.listen = address(name);
    options.spec = "embedded:islands=2,devices=2,device_memory=64MiB,threads=1";
    options.cluster = 77;
    options.life = life;
    options.silence_ns = 30'000'000'000;  // A busy machine is no dead one.
    if (name.role != Role::kController) options.join = controller();
    options.on_orphaned = [this] { ++orphans_; };
    auto process = Process::start(std::move(options), clock_);
    if (!process.ok()) return process.status();
    processes_[name] = *process;
    return {};
  }
  void start_all() {
    ASSERT_TRUE(start({Role::kController, 0}).ok());
    for (std::uint32_t island = 0; island < 2; ++island) {
      ASSERT_TRUE(start({Role::kIsland, island}).ok());
      ASSERT_TRUE(start({Role::kHost, island}).ok());
    }
  }
  void end(const RoleName& name) { processes_.erase(name); }

  /// Until the controller's status has `text`.
  Result<std::string> wait_for_status(const std::string& text) const {
    for (;;) {
      auto status = ask_status(controller(), *clock_, 5'000'000'000);
      if (!status.ok() || status->find(text) != std::string::npos) return status;
      std::this_thread::yield();
    }
  }

  static Result<Slice> slice_on(const Client& client, std::int32_t island) {
    for (;;) {
      auto slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}, .island = island});
      // Its host has not said that it is there, or not yet again.
      if (slice.status().code() != StatusCode::kIslandUnavailable) return slice;
      std::this_thread::yield();
    }
  }
  /// x + 1 on island 0, times 2 on island 1.
  static Result<std::vector<float>> run_over_two_islands(const Client& client, float x) {
    const auto one = slice_on(client, 0), two = slice_on(client, 1);
    if (!one.ok()) return one.status();
    if (!two.ok()) return two.status();
    const auto add = client.function("add", [](Tensor v) { return v + 1.0; }, {f32({1})});
    const auto twice = client.function("twice", [](Tensor v) { return v * 2.0; }, {f32({1})});
    if (!add.ok()) return add.status();
    if (!twice.ok()) return twice.status();
    const NamedSharding row(one->mesh(), P("data"));
    const auto here = add->on(*one);
    const auto there = twice->on(*two);
    const auto program = client.program("p", [&](const Traced& v) { return there(here(v)); },
                                        {ArraySpec{f32({2}), row}});
    if (!program.ok()) return program.status();
    const seaway::Run run = program->execute({client.put<float>({x, x + 1}, row)});
    return run.output(0).to_host<float>().get();
  }

  std::string directory_;
  std::shared_ptr<const Clock> clock_ = std::make_shared<const RealClock>();
  std::map<RoleName, std::shared_ptr<Process>> processes_;
  std::atomic<int> orphans_ = 0;
};

TEST_F(RealCluster, RunsAProgramOverTwoIslands) {
  start_all();

  const auto client = connect(controller());
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  const auto values = run_over_two_islands(*client, 20);

  ASSERT_TRUE(values.ok()) << values.status().to_string();
  EXPECT_EQ(*values, (std::vector<float>{42, 44}));
}

TEST_F(RealCluster, CarriesArraysThatAreLargerThanControlFrames) {
  start_all();
  const auto client = connect(controller());
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  const auto here = slice_on(*client, 0), there = slice_on(*client, 1);
  ASSERT_TRUE(here.ok() && there.ok());
  const auto shard = f32({static_cast<std::int64_t>(kLargeElements / 2)});
  const auto twice = client->function("twice", [](Tensor v) { return v * 2.0; }, {shard});
  ASSERT_TRUE(twice.ok()) << twice.status().to_string();
  const NamedSharding row(here->mesh(), P("data"));
  const auto program =
      client->program("p", [&](Traced v) { return twice->on(*there)(twice->on(*here)(v)); },
                      {ArraySpec{f32({static_cast<std::int64_t>(kLargeElements)}), row}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  std::vector<float> values(kLargeElements);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);

  const auto back =
      program->execute({client->put(values, {static_cast<std::int64_t>(kLargeElements)}, row)})
          .output(0)
          .to_host<float>();

  const auto got = back.get();
  ASSERT_TRUE(got.ok()) << got.status().to_string();
  for (float& value : values) value *= 4;
  EXPECT_TRUE(*got == values);
  // The upload came over a connection for data; from host to host the value was lent.
  const auto& host = processes_[{Role::kHost, 0}];
  const auto came = host->exchanged().data;
  EXPECT_EQ(came.fetches, 1u);
  EXPECT_EQ(came.bytes, kLargeElements * sizeof(float));
}

TEST_F(RealCluster, AFileIsHandedOverAndNothingIsSent) {
  start_all();
  const auto client = connect(controller());
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  const auto here = slice_on(*client, 0);
  ASSERT_TRUE(here.ok());
  const NamedSharding row(here->mesh(), P("data"));
  const auto elements = static_cast<std::int64_t>(kLargeElements);
  const auto twice =
      client->function("twice", [](Tensor v) { return v * 2.0; }, {f32({elements / 2})});
  ASSERT_TRUE(twice.ok());
  std::vector<float> values(kLargeElements);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);
  ScratchFile scratch(values);
  const MappedFile file = MappedFile::open(scratch.path()).value();

  const Array array = client->put_file(file, f32({elements}), row);
  const auto got = twice->execute({array}).output(0).to_host<float>().get();

  ASSERT_TRUE(got.ok()) << got.status().to_string();
  for (float& value : values) value *= 2;
  EXPECT_TRUE(*got == values);
  const auto& host = processes_[{Role::kHost, 0}];
  EXPECT_EQ(host->exchanged().data.fetches, 0u);

  // The host lives on without the file, and so do others' runs.
  scratch.shorten(0);
  const auto lost = twice->execute({array}).output(0).to_host<float>().get();
  EXPECT_EQ(lost.status().code(), StatusCode::kInputLost) << lost.status().to_string();
  const auto other = run_over_two_islands(*client, 41);
  ASSERT_TRUE(other.ok()) << other.status().to_string();
}

TEST_F(RealCluster, AClientThatEndsWhileItReadsHasItsOutcome) {
  start_all();
  auto client = std::make_optional(connect(controller()).value());
  const auto slice = slice_on(*client, 0);
  ASSERT_TRUE(slice.ok());
  const std::vector<float> values(kLargeElements, 1);
  std::vector<Future<std::vector<float>>> reads;
  {
    const Array array = client->put(values, {static_cast<std::int64_t>(kLargeElements)},
                                    NamedSharding(slice->mesh(), P("data")));
    ASSERT_TRUE(array.ready().get().ok());
    for (int i = 0; i < 8; ++i) reads.push_back(array.to_host<float>());
  }

  client.reset();

  for (auto& read : reads) {
    const auto got = read.get();
    if (got.ok()) {
      EXPECT_TRUE(*got == values);
    } else {
      EXPECT_EQ(got.status().code(), StatusCode::kCancelled) << got.status().to_string();
    }
  }
}

TEST_F(RealCluster, HostsOfOneMachineReadEachOthersValuesWhereTheyLie) {
  start_all();
  const auto client = connect(controller());
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  const auto& lender = processes_[{Role::kHost, 0}];

  // They have to have met.
  float x = 0;
  do {
    x += 1;
    const auto got = run_over_two_islands(*client, x);
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_EQ(*got, (std::vector<float>{2 * (x + 1), 2 * (x + 2)}));
  } while (lender->exchanged().loans == 0);

  // A host that begins anew lends what its new life makes.
  end({Role::kHost, 0});
  ASSERT_TRUE(start({Role::kHost, 0}, 2).ok());
  do {
    const auto got = run_over_two_islands(*client, 7);
    if (got.ok()) {
      EXPECT_EQ(*got, (std::vector<float>{16, 18}));
    }
  } while (processes_[{Role::kHost, 0}]->exchanged().loans == 0);
}

TEST_F(RealCluster, SaysWhatHasNoOutcomeAndWhy) {
  start_all();
  const auto client = connect(controller());
  ASSERT_TRUE(client.ok());
  ASSERT_TRUE(run_over_two_islands(*client, 1).ok());
  end({Role::kIsland, 1});
  end({Role::kHost, 1});
  const auto status = wait_for_status("\"island\":1,\"host\":false,\"scheduler\":false");
  ASSERT_TRUE(status.ok()) << status.status().to_string();
  EXPECT_NE(status->find("\"name\":\"default\",\"weight\":1"), std::string::npos) << *status;
  const auto why = ask_why(controller(), 0, *clock_, 5'000'000'000);
  ASSERT_TRUE(why.ok()) << why.status().to_string();
  EXPECT_NE(why->find(" runs are in flight\n"), std::string::npos) << *why;
  const auto none = ask_why(controller(), make_id(1, 999), *clock_, 5'000'000'000);
  ASSERT_TRUE(none.ok()) << none.status().to_string();
  EXPECT_EQ(*none, "client 1: nothing waits: it has its outcome, or it does not exist\n");
}

TEST_F(RealCluster, ServesClientsThatComeAndGo) {
  start_all();

  for (int i = 0; i < 5; ++i) {
    const auto client = connect(controller());
    ASSERT_TRUE(client.ok()) << client.status().to_string();
    const auto values = run_over_two_islands(*client, static_cast<float>(i));
    ASSERT_TRUE(values.ok()) << values.status().to_string();
    EXPECT_EQ(values->front(), static_cast<float>(2 * (i + 1)));
  }
}

TEST_F(RealCluster, SaysWhoIsThere) {
  start_all();
  const auto client = connect(controller());
  ASSERT_TRUE(client.ok());

  for (const char* part :
       {"\"islands\":2", "\"role\":\"host\",\"index\":1,\"life\":1,\"there\":true",
        "\"role\":\"client\",\"index\":1,\"life\":1,\"there\":true"}) {
    const auto status = wait_for_status(part);
    EXPECT_TRUE(status.ok()) << status.status().to_string();
  }
}

TEST_F(RealCluster, GoesOnWithTheNextLifeOfAHost) {
  start_all();
  const auto client = connect(controller());
  ASSERT_TRUE(client.ok());
  ASSERT_TRUE(run_over_two_islands(*client, 1).ok());

  end({Role::kHost, 1});
  const Status again = start({Role::kHost, 1});

  ASSERT_TRUE(again.ok()) << again.to_string();
  EXPECT_EQ((processes_[{Role::kHost, 1}]->life()), 2u);
  const auto values = run_over_two_islands(*client, 20);
  ASSERT_TRUE(values.ok()) << values.status().to_string();
  EXPECT_EQ(*values, (std::vector<float>{42, 44}));
}

TEST_F(RealCluster, EndsWhatWasInFlightWithItsController) {
  start_all();
  const auto client = connect(controller());
  ASSERT_TRUE(client.ok());
  const auto before = run_over_two_islands(*client, 1);
  ASSERT_TRUE(before.ok()) << before.status().to_string();

  end({Role::kController, 0});
  const auto values = run_over_two_islands(*client, 1);

  ASSERT_FALSE(values.ok());
  EXPECT_EQ(values.status().code(), StatusCode::kControllerRestarted)
      << values.status().to_string();
  while (orphans_ < 4) std::this_thread::yield();
}

/// A role that has enrolled, and not talked with its controller yet, when that one ends. It has
/// said nothing that somebody owes it an answer to.
TEST_F(RealCluster, WhoHasEnrolledWithTheControllerBeforeHearsThatItIsNobody) {
  const RoleName scheduler{Role::kIsland, 0};
  ASSERT_TRUE(start({Role::kController, 0}).ok());
  const auto engine = actor::make_io_engine(*clock_).value();
  const auto answer =
      ask_now(*engine, controller(), 0, EnrolQuestion{scheduler}, 30'000'000'000, {});
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  const auto enrolled = read_enrolled(*answer);
  ASSERT_TRUE(enrolled.ok()) << enrolled.status().to_string();

  end({Role::kController, 0});
  ASSERT_TRUE(start({Role::kController, 0}, 2).ok());
  std::unique_ptr<transport::SocketWires> wires;
  std::atomic<bool> is_barred = false;
  actor::run_on_control_thread(*engine, [&] {
    transport::SocketOptions options;
    options.self = enrolled->process;
    options.cluster = enrolled->cluster;
    options.pass = enrolled->pass;
    options.life = enrolled->life;
    transport::SocketHandlers handlers;
    handlers.find = [this](ProcessId, const auto& done) { done(controller()); };
    wires = std::move(transport::SocketWires::make(engine->loop(), options, handlers)).value();
    wires->attach(options.self, 0,
                  {[] {}, [](auto) {}, [] {},
                   [&] {
                     is_barred = wires->is_barred(enrolled->process, 0);
                     engine->notify();
                   }});
    wires->connect(options.self, 0);
  });

  EXPECT_TRUE(
      engine->wait([&is_barred] { return is_barred.load(); }, clock_->now_ns() + 30'000'000'000));
  actor::run_on_control_thread(*engine, [&] { wires.reset(); });
}

TEST_F(RealCluster, RefusesASecondHostOfAnIsland) {
  start_all();
  ASSERT_TRUE(wait_for_status("\"role\":\"host\",\"index\":1,\"life\":1,\"there\":true").ok());
  ProcessOptions options;
  options.name = {Role::kHost, 1};
  options.join = controller();
  options.listen = "unix:" + directory_ + "/second";
  options.join_timeout_ns = 100'000'000;

  const auto second = Process::start(std::move(options), clock_);

  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(second.status().message().find("the host of island 1 is there already"),
            std::string::npos)
      << second.status().message();
}

TEST_F(RealCluster, SaysWhereNobodyListens) {
  ProcessOptions options;
  options.name = {Role::kClient, 0};
  options.join = controller();
  options.join_timeout_ns = 50'000'000;

  const auto client = Process::start(std::move(options), clock_);

  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(client.status().message().find(directory_), std::string::npos)
      << client.status().message();
}

}  // namespace
}  // namespace seaway::cluster
