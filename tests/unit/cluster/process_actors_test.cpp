// Users' actors over real sockets, here with all processes in one: what is registered runs there,
// what is not is refused, and who dies is noticed.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <string>

#include "cast.hpp"
#include "cluster/process.hpp"
#include "seaway/host_main.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;
using namespace app_test;

constexpr Combining kSum{"sum", [](Total::Reader a, Total::Reader b, Total::Builder out) {
                           out.setTotal(a.getTotal() + b.getTotal());
                         }};

/// Calls a counter that it was given when it was made.
class Caller {
 public:
  static void describe(ActorType<Caller>& type) { type.on(&Caller::add).on(&Caller::scan); }
  Caller(Self self, ActorRef<Counter> counter, const std::vector<std::string>& words)
      : self_(std::move(self)), counter_(std::move(counter)), words_(words) {}

  Task<Reply<Total>> add(Request<Add> request) {
    const auto total = co_await counter_.call(
        &Counter::add, [&](Add::Builder m) { m.setAmount(request->getAmount()); });
    if (!total.ok()) co_return total.status();
    co_return make<Total>([&](Total::Builder m, Attached& beside) {
      m.setTotal(total.value()->getTotal());
      m.setName(words_.back());
      beside.add(counter_);
    });
  }
  Task<> scan(Request<Scan> request, Writer<Total> out) {
    for (std::uint32_t i = 0; i < request->getCount(); ++i) {
      const auto written = co_await out.write([i](Total::Builder m) { m.setTotal(i); });
      if (!written.ok()) co_return;
    }
  }

 private:
  Self self_;
  ActorRef<Counter> counter_;
  const std::vector<std::string> words_;
};

/// No host knows it.
class Stranger {
 public:
  static void describe(ActorType<Stranger>& type) { type.on(&Stranger::add); }
  explicit Stranger(const Self&) {}
  Reply<Total> add(Request<Add>) { return {}; }
};

/// It was given what does not travel.
class Rooted {
 public:
  static void describe(ActorType<Rooted>&) {}
  Rooted(const Self&, const std::shared_ptr<int>&) {}
};

/// Says where it is.
class Guest {
 public:
  static void describe(ActorType<Guest>& type) { type.on(&Guest::add); }
  explicit Guest(Self self) : self_(std::move(self)) {}
  Reply<Total> add(Request<Add>) {
    return make<Total>([this](Total::Builder m) { m.setTotal(self_.here().hosts.at(0)); });
  }

 private:
  Self self_;
};

class ActorsOverProcesses : public testing::Test {
 protected:
  ActorsOverProcesses() {
    std::string name = testing::TempDir() + "seawayXXXXXX";
    directory_ = mkdtemp(name.data());
    auto registry = std::make_shared<Registry>();
    registry->actor<Counter>().actor<Counter, std::int64_t>();
    registry->actor<Caller, ActorRef<Counter>, std::vector<std::string>>().actor<Guest>();
    registry->reduction<Total>(kSum);
    NativeFunction twice{.parameters = {f32({1})}, .outputs = {f32({1})}};
    twice.body = [](auto operands, auto outputs, std::byte*) {
      float value = 0;
      std::memcpy(&value, operands[0], sizeof(value));
      value *= 2;
      std::memcpy(outputs[0], &value, sizeof(value));
      return Status();
    };
    registry->native("twice", twice);
    registry_ = registry;
  }
  ~ActorsOverProcesses() override {
    processes_.clear();
    rmdir(directory_.c_str());
  }

  std::string address(const RoleName& name) const {
    return "unix:" + directory_ + "/" + std::to_string(static_cast<int>(name.role)) + "-" +
           std::to_string(name.index);
  }
  Status start(const RoleName& name) {
    ProcessOptions options;
    options.name = name;
    options.listen = address(name);
    options.spec =
        "embedded:islands=2,device_memory=16MiB,threads=1,devices=" + std::to_string(hosts_) +
        ",hosts=" + std::to_string(hosts_) + more_;
    options.cluster = 77;
    options.silence_ns = 3'600'000'000'000;  // Whoever goes says so: nobody waits for it.
    if (name.role == Role::kHost || name.role == Role::kAnnex) options.registry = registry_;
    std::promise<void>& orphaned = orphaned_[name] = {};
    options.on_orphaned = [&orphaned] { orphaned.set_value(); };
    if (name.role != Role::kController) options.join = address({Role::kController, 0});
    auto process = Process::start(std::move(options), clock_);
    if (!process.ok()) return process.status();
    processes_[name] = *process;
    return {};
  }
  void start_all() {
    ASSERT_EQ(start({Role::kController, 0}), Status());
    for (std::uint32_t island = 0; island < 2; ++island) {
      ASSERT_EQ(start({Role::kIsland, island}), Status());
      for (std::uint32_t host = 0; host < hosts_; ++host) {
        ASSERT_EQ(start(host_name(island, host)), Status());
      }
    }
  }
  static RoleName host_name(std::uint32_t island, std::uint32_t host) {
    if (host == 0) return {Role::kHost, island};
    return {Role::kAnnex, actor::annex_of(island, host)};
  }
  void end(const RoleName& name) { processes_.erase(name); }
  Client client() const { return seaway::connect(address({Role::kController, 0})).value(); }

  static std::int64_t add(const ActorRef<Counter>& counter, std::int64_t amount) {
    const auto total =
        counter.call(&Counter::add, [amount](Add::Builder m) { m.setAmount(amount); }).get();
    EXPECT_TRUE(total.ok()) << total.status().to_string();
    return total.ok() ? total.value()->getTotal() : -1;
  }

  std::uint32_t hosts_ = 1;  // Of each of two islands.
  std::string directory_;
  std::shared_ptr<const Registry> registry_;
  std::map<RoleName, std::promise<void>> orphaned_;  // Of those that are to begin anew.
  std::shared_ptr<const Clock> clock_ = std::make_shared<const RealClock>();
  std::string more_;  // Of the options of the cluster.
  std::map<RoleName, std::shared_ptr<Process>> processes_;
};

TEST_F(ActorsOverProcesses, AreMadeFromArgumentsCalledAndStopped) {
  start_all();
  const Client client = this->client();

  const auto counters = client.spawn<Counter>(client.hosts(), 5);

  ASSERT_TRUE(counters.ok()) << counters.status().to_string();
  EXPECT_EQ(counters->size(), 2u);
  EXPECT_EQ(add(counters->at(0), 1), 6);
  EXPECT_EQ(add(counters->at(1), 2), 7);
  EXPECT_EQ(add(counters->at(1), 2), 9);
  EXPECT_TRUE(counters->stop().get().ok());
  const auto gone = counters->at(0).call(&Counter::nothing).get();
  EXPECT_EQ(gone.status().code(), StatusCode::kActorLost) << gone.status().to_string();
}

TEST_F(ActorsOverProcesses, CallEachOtherAndHandOnReferences) {
  start_all();
  const Client client = this->client();
  const auto counters = client.spawn<Counter>(client.hosts(), 0).value();

  const auto callers =
      client.spawn<Caller>(client.hosts(), counters.at(1), std::vector<std::string>{"one", "two"});

  ASSERT_TRUE(callers.ok()) << callers.status().to_string();
  const auto total =
      callers->at(0).call(&Caller::add, [](Add::Builder m) { m.setAmount(4); }).get();
  ASSERT_TRUE(total.ok()) << total.status().to_string();
  EXPECT_EQ(total.value()->getTotal(), 4);
  EXPECT_STREQ(total.value()->getName().cStr(), "two");
  const auto handed_on = total.value().actor<Counter>(0);
  ASSERT_TRUE(handed_on.ok()) << handed_on.status().to_string();
  EXPECT_EQ(handed_on->to_string(), "Counter[1]");
  EXPECT_EQ(add(*handed_on, 3), 7);
}

TEST_F(ActorsOverProcesses, AnswerWithStreamsAndReductions) {
  start_all();
  const Client client = this->client();
  const auto counters = client.spawn<Counter>(client.hosts().each("more", 3), 2).value();
  const auto callers =
      client.spawn<Caller>(client.hosts(), counters.at(0), std::vector<std::string>{}).value();

  const auto sum =
      counters.reduce(&Counter::add, kSum, [](Add::Builder m) { m.setAmount(5); }).get();
  std::uint32_t items = 0;
  const auto stream = callers.at(1).stream(&Caller::scan, [](Scan::Builder m) { m.setCount(100); });
  for (;;) {
    const auto item = stream.next().get();
    ASSERT_TRUE(item.ok()) << item.status().to_string();
    if (!*item) break;
    ASSERT_TRUE((*item)->reply.ok()) << (*item)->reply.status().to_string();
    EXPECT_EQ((*item)->reply.value()->getTotal(), items++);
  }

  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(sum.value()->getTotal(), 6 * 7);
  EXPECT_EQ(items, 100u);
}

TEST_F(ActorsOverProcesses, AnArgumentThatIsStillToComeIsPassedOnBetweenHosts) {
  start_all();
  const Client client = this->client();
  const auto counters = client.spawn<Counter>(client.hosts(), 1).value();

  const auto one = counters.at(0).call(&Counter::add, [](Add::Builder m) { m.setAmount(10); });
  const auto two = counters.at(1).call(&Counter::total, one).get();

  ASSERT_TRUE(two.ok()) << two.status().to_string();
  EXPECT_EQ(two.value()->getTotal(), 12);
}

TEST_F(ActorsOverProcesses, OfOneClientAreFoundWatchedAndStoppedByAnother) {
  start_all();
  auto owner = std::make_unique<Client>(client());
  const Client other = client();
  const auto own = owner->spawn<Counter>(SpawnOptions(owner->hosts()).named("counters"), 0).value();

  const auto found = other.find<Counter>("counters");

  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(add(found->at(1), 3), 3);
  EXPECT_EQ(add(own.at(1), 3), 6);
  std::promise<std::string> died;
  std::atomic<bool> is_first = true;  // It dies again when its owner goes.
  found->at(1).on_death(inline_executor(), [&died, &is_first](const Death& death) {
    if (is_first.exchange(false)) died.set_value(death.name);
  });
  // In the order of its asking: the watch is there before.
  EXPECT_TRUE(found->at(0).stop().get().ok());
  EXPECT_TRUE(found->at(1).call(&Counter::nothing).get().ok());
  found->at(1).kill();
  EXPECT_EQ(died.get_future().get(), "Counter[1]");
  owner.reset();
  for (;;) {  // Both hosts and the hub hear that it has gone.
    const auto gone = found->at(1).call(&Counter::nothing).get();
    if (gone.ok()) continue;
    EXPECT_EQ(gone.status().code(), StatusCode::kActorLost) << gone.status().to_string();
    break;
  }
  while (other.find<Counter>("counters").status().code() != StatusCode::kNotFound) continue;
}

/// Only the controller's process knows names.
TEST_F(ActorsOverProcesses, NamesFailWhenTheControllerIsLost) {
  start_all();
  const Client client = this->client();
  const Placement hosts = client.hosts();
  ASSERT_TRUE(client.spawn<Counter>(SpawnOptions(hosts).named("before"), 0).ok());

  end({Role::kController, 0});
  const auto named = client.spawn<Counter>(SpawnOptions(hosts).named("after"), 0);
  const auto found = client.find<Counter>("before");

  for (const Status& status : {named.status(), found.status()}) {
    EXPECT_EQ(status.code(), StatusCode::kControllerRestarted) << status.to_string();
    EXPECT_NE(status.message().find("has lost its controller: the controller "), std::string::npos)
        << status.to_string();
  }
}

TEST_F(ActorsOverProcesses, OfAHostThatEndsBeginAnewOnAnother) {
  start_all();
  const Client client = this->client();
  const auto counters = client.spawn<Counter>(client.hosts(), 3).value();
  EXPECT_EQ(add(counters.at(1), 1), 4);
  EXPECT_EQ(add(counters.at(0), 1), 4);

  end({Role::kHost, 1});

  const auto again =
      counters.at(1)
          .call(
              &Counter::add, [](Add::Builder m) { m.setAmount(1); }, CallOptions{.retries = 20})
          .get();
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again.value()->getTotal(), 4);
  EXPECT_EQ(add(counters.at(0), 1), 5);
  const auto nowhere = client.spawn<Counter>(client.hosts(), 3);
  EXPECT_EQ(nowhere.status().code(), StatusCode::kHostLost) << nowhere.status().to_string();
}

class ActorsOverIslandsOfTwoHosts : public ActorsOverProcesses {
 protected:
  ActorsOverIslandsOfTwoHosts() { hosts_ = 2; }

  /// Which host an actor says that it is on; it may be on its way there.
  static std::int64_t place_of(const ActorRef<Guest>& guest) {
    const auto place = guest
                           .call(
                               &Guest::add, [](Add::Builder) {}, CallOptions{.retries = 20})
                           .get();
    EXPECT_TRUE(place.ok()) << place.status().to_string();
    return place.ok() ? place.value()->getTotal() : -1;
  }
  static std::int64_t add_again(const ActorRef<Counter>& counter, std::int64_t amount) {
    const auto total = counter
                           .call(
                               &Counter::add, [=](Add::Builder m) { m.setAmount(amount); },
                               CallOptions{.retries = 20})
                           .get();
    EXPECT_TRUE(total.ok()) << total.status().to_string();
    return total.ok() ? total.value()->getTotal() : -1;
  }
};

TEST_F(ActorsOverIslandsOfTwoHosts, LiveOnAllOfThemAndCallEachOther) {
  start_all();
  const Client client = this->client();

  const auto guests = client.spawn<Guest>(client.hosts());
  const auto counters = client.spawn<Counter>(client.hosts(), 0).value();
  const auto callers =
      client.spawn<Caller>(client.hosts(), counters.at(1), std::vector<std::string>{"word"});

  ASSERT_TRUE(guests.ok()) << guests.status().to_string();
  ASSERT_EQ(guests->size(), 4u);
  for (std::uint32_t host = 0; host < 4; ++host) EXPECT_EQ(place_of(guests->at(host)), host);
  for (std::uint32_t host = 0; host < 4; ++host) {
    const auto total =
        callers->at(host).call(&Caller::add, [](Add::Builder m) { m.setAmount(1); }).get();
    ASSERT_TRUE(total.ok()) << total.status().to_string();
    EXPECT_EQ(total.value()->getTotal(), host + 1);
  }
  const auto sum =
      counters.reduce(&Counter::add, kSum, [](Add::Builder m) { m.setAmount(5); }).get();
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(sum.value()->getTotal(), 4 + 4 * 5);
}

TEST_F(ActorsOverIslandsOfTwoHosts, ArePlacedWhereTheDevicesOfASliceAre) {
  start_all();
  const Client client = this->client();
  auto acquired = client.acquire_slice({.devices = 2});
  while (acquired.status().code() == StatusCode::kIslandUnavailable) {
    acquired = client.acquire_slice({.devices = 2});  // No island has joined yet.
  }
  const auto slice = std::move(acquired).value();

  const auto guests = client.spawn<Guest>(slice.devices()).value();

  const std::int64_t first = place_of(guests.at(0));
  EXPECT_EQ(first % 2, 0) << "an island's host";
  EXPECT_EQ(place_of(guests.at(1)), first + 1) << "its annex";
  EXPECT_EQ(slice.hosts().size(), 2u);
}

TEST_F(ActorsOverIslandsOfTwoHosts, OfAnAnnexThatEndsBeginAnewElsewhereButNotWhereItsIslandEnds) {
  start_all();
  const Client client = this->client();
  // The fewest are on host 2, which begins anew for the loss of host 3.
  Placement places;
  places.axes = {{"guest", 6}};
  places.hosts = {0, 0, 1, 1, 2, 3};
  const auto guests = client.spawn<Guest>(places).value();

  end(host_name(1, 1));

  EXPECT_EQ(place_of(guests.at(5)), 0);
  EXPECT_EQ(place_of(guests.at(2)), 1);
  orphaned_.at(host_name(1, 0)).get_future().wait();
  const auto other = orphaned_.at(host_name(0, 0)).get_future();
  EXPECT_EQ(other.wait_for(std::chrono::seconds(0)), std::future_status::timeout)
      << "the other island goes on";
  end(host_name(1, 0));
  EXPECT_EQ(place_of(guests.at(4)), 1) << "the one with the fewest of those that are left";
}

TEST_F(ActorsOverIslandsOfTwoHosts, OfAnAnnexOutliveItsHostAndAnIslandIsUsedAgain) {
  start_all();
  const Client client = this->client();
  const auto counters = client.spawn<Counter>(client.hosts(), 3).value();
  EXPECT_EQ(add(counters.at(3), 1), 4);

  end(host_name(1, 0));
  EXPECT_EQ(add_again(counters.at(2), 1), 4) << "it began anew on another host";
  EXPECT_EQ(add(counters.at(3), 1), 5) << "it lives where it lived";
  end(host_name(1, 1));
  EXPECT_EQ(add_again(counters.at(3), 1), 4);
  for (std::uint32_t host = 0; host < 2; ++host) ASSERT_EQ(start(host_name(1, host)), Status());

  for (;;) {  // The client hears of them in its own time.
    const auto guests = client.spawn<Guest>(client.hosts());
    if (guests.status().code() == StatusCode::kHostLost) continue;
    ASSERT_TRUE(guests.ok()) << guests.status().to_string();
    for (std::uint32_t host = 0; host < 4; ++host) EXPECT_EQ(place_of(guests->at(host)), host);
    break;
  }
}

TEST_F(ActorsOverProcesses, AreRefusedWhereTheyAreNotKnownWithTheNextStep) {
  start_all();
  const Client client = this->client();
  const auto refused = [](const auto& spawned, StatusCode code, const std::string& words) {
    EXPECT_EQ(spawned.status().code(), code) << spawned.status().to_string();
    EXPECT_NE(spawned.status().message().find(words), std::string::npos)
        << spawned.status().to_string();
  };

  refused(client.spawn<Stranger>(client.hosts()), StatusCode::kNotFound, "Stranger; it knows: ");
  refused(client.spawn<Counter>(client.hosts(), 2.5), StatusCode::kInvalidArgument,
          "from (), (integer), and not from (number)");
  refused(client.spawn<Counter>(client.hosts(), -5), StatusCode::kUserFunctionError,
          "it counts from 0");
  refused(client.spawn<Rooted>(client.hosts(), std::make_shared<int>(1)),
          StatusCode::kInvalidArgument, "argument 1 of its constructor");
  const auto counters = client.spawn<Counter>(client.hosts(), 1).value();
  const auto unnamed = counters.reduce(
      &Counter::add, [](Total::Reader, Total::Reader, Total::Builder) {}, [](Add::Builder) {});
  refused(unnamed.get(), StatusCode::kInvalidArgument, "Combining");
  const Combining other{"product", [](Total::Reader, Total::Reader, Total::Builder) {}};
  refused(counters.reduce(&Counter::add, other, [](Add::Builder) {}).get(), StatusCode::kNotFound,
          "knows no reduction \"product\"; it knows: sum");
  EXPECT_EQ(add(counters.at(0), 1), 2);
}

TEST_F(ActorsOverProcesses, AMessageThatIsTooLargeFailsAloneAndTheNextOneArrives) {
  more_ = ",frame_bytes=1MiB";
  start_all();
  const Client client = this->client();
  const auto counters = client.spawn<Counter>(client.hosts(), 1).value();

  const auto large = counters.at(1).call(
      &Counter::ask, [](Ask::Builder m) { m.setText(std::string(1 << 20, 'x')); });

  EXPECT_EQ(large.get().status().code(), StatusCode::kResourceExhausted)
      << large.get().status().to_string();
  EXPECT_EQ(add(counters.at(1), 1), 2);
}

TEST_F(ActorsOverProcesses, NativeFunctionsRunWhereTheyAreRegisteredAndAreElseRefusedAtOnce) {
  start_all();
  const Client client = this->client();
  const auto nothing = [](auto, auto, std::byte*) { return Status(); };
  const NativeFunction one{.parameters = {f32({1})}, .outputs = {f32({1})}, .body = nothing};
  const NativeFunction two{.parameters = {f32({2})}, .outputs = {f32({2})}, .body = nothing};

  const auto unknown = client.native("thrice", one);
  const auto other = client.native("twice", two);
  const auto twice = client.native("twice", one);

  EXPECT_EQ(unknown.status().code(), StatusCode::kNotFound) << unknown.status().to_string();
  EXPECT_NE(unknown.status().message().find("Registry::native()"), std::string::npos);
  EXPECT_EQ(other.status().code(), StatusCode::kInvalidArgument) << other.status().to_string();
  EXPECT_NE(other.status().message().find("fingerprint"), std::string::npos);
  ASSERT_TRUE(twice.ok()) << twice.status().to_string();
  const auto slice = client.acquire_slice({.devices = 1}).value();
  const NamedSharding whole(slice.mesh(), P());
  const auto program = client
                           .program("p", [&](const Traced& x) { return twice->on(slice)(x); },
                                    {ArraySpec{f32({1}), whole}})
                           .value();
  const auto value =
      program.execute({client.put<float>({21}, whole)}).output(0).to_host<float>().get();
  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_EQ((*value)[0], 42);
}

}  // namespace
}  // namespace seaway::cluster
