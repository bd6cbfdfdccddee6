// Sessions of actors in hosts' processes, over real sockets: what one makes others have, whoever
// dies in between, and what nobody has goes.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cast.hpp"
#include "cluster/process.hpp"
#include "seaway/host_main.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;
using namespace app_test;

/// Makes arrays of one number on its slice, and keeps those that it is given.
class Sharer {
 public:
  static void describe(ActorType<Sharer>& type) {
    type.on(&Sharer::make_one).on(&Sharer::take).on(&Sharer::read).on(&Sharer::forget);
    type.on(&Sharer::say);
  }
  Sharer(Self self, const Slice& slice, const std::vector<Array>& given)
      : self_(std::move(self)), slice_(slice), kept_(given) {
    const auto client = self_.client().value();
    const auto body = [](const Tensor& x) { return x + x; };
    twice_ = client.function("twice", body, {f32({1})}).value().on(slice);
  }

  /// Twice the amount.
  Result<Reply<Total>> make_one(Request<Add> request) {
    const Array one = self_.client().value().put<float>({static_cast<float>(request->getAmount())},
                                                        NamedSharding(slice_.mesh(), P()));
    return given(twice_.execute({one}).output(0));
  }
  /// Keeps it, and answers with twice of it.
  Result<Reply<Total>> take(Request<Answer> request) {
    const auto array = request.array(0);
    if (!array.ok()) return array.status();
    kept_.push_back(*array);
    return given(request->getNumber() == 0 ? *array : twice_.execute({*array}).output(0));
  }
  /// The last one that it keeps, as soon as it is there.
  Task<Reply<Total>> read(Request<Hold>) {
    const Array last = kept_.back();
    if (const auto done = co_await last.ready(); !done.ok()) co_return done.status();
    const auto value = co_await last.to_host<float>();
    if (!value.ok()) co_return value.status();
    co_return make<Total>(
        [&](Total::Builder m) { m.setTotal(static_cast<std::int64_t>(value->front())); });
  }
  Status forget(Request<Nothing>) {
    kept_.clear();
    return {};
  }
  /// What becomes of questions in a handler.
  Result<Reply<Answer>> say(Request<Ask> request) {
    const std::string text = request->getText().cStr();
    const Client client = self_.client().value();
    if (text == "acquire") return client.acquire_slice({}).status();
    if (text == "native") {
      NativeFunction nothing{.parameters = {f32({1})}, .outputs = {f32({1})}};
      nothing.body = [](auto, auto, std::byte*) { return Status(); };
      return client.native("nobody's", nothing).status();
    }
    return make<Answer>([&](Answer::Builder m) { m.setText(slice_.hosts().to_string()); });
  }

 private:
  static Reply<Total> given(const Array& array) {
    return make<Total>([&](Total::Builder, Attached& beside) { beside.add(array); });
  }

  Self self_;
  Slice slice_;
  Function twice_;
  std::vector<Array> kept_;
};

class ActorSessions : public testing::Test {
 protected:
  ActorSessions() {
    std::string name = testing::TempDir() + "seawayXXXXXX";
    directory_ = mkdtemp(name.data());
    auto registry = std::make_shared<Registry>();
    registry->actor<Sharer, Slice, std::vector<Array>>();
    registry_ = registry;
    start({Role::kController, 0});
    for (std::uint32_t island = 0; island < 2; ++island) {
      start({Role::kIsland, island});
      start({Role::kHost, island});
    }
    client_ = connect();
    for (int island = 0; island < 2; ++island) slices_.push_back(slice_of(island));
  }
  ~ActorSessions() override {
    slices_.clear();
    client_ = {};
    processes_.clear();
    rmdir(directory_.c_str());
  }

  /// A host that has begun joins soon.
  Slice slice_of(int island) const {
    for (;;) {
      const auto slice = client_.acquire_slice({.island = island});
      if (slice.ok()) return *slice;
      EXPECT_EQ(slice.status().code(), StatusCode::kIslandUnavailable)
          << slice.status().to_string();
    }
  }
  std::string address(const RoleName& name) const {
    return "unix:" + directory_ + "/" + std::to_string(static_cast<int>(name.role)) + "-" +
           std::to_string(name.index);
  }
  void start(const RoleName& name) {
    ProcessOptions options;
    options.name = name;
    options.listen = address(name);
    options.spec = "embedded:islands=2,devices=1,device_memory=16MiB,threads=1";
    options.cluster = 77;
    options.silence_ns = 3'600'000'000'000;  // Whoever goes says so: nobody waits for it.
    if (name.role == Role::kHost) options.registry = registry_;
    if (name.role != Role::kController) options.join = address({Role::kController, 0});
    processes_[name] = Process::start(std::move(options), clock_).value();
  }
  void end(const RoleName& name) { processes_.erase(name); }
  Client connect() const { return seaway::connect(address({Role::kController, 0})).value(); }

  /// One on each host; that on host h works on the slice of island `islands[h]`.
  ActorRef<Sharer> sharer(std::uint32_t host, std::size_t island,
                          const std::vector<Array>& given = {}) const {
    return client_.spawn<Sharer>(client_.hosts().at({host}), slices_[island], given).value().at(0);
  }
  static Result<Array> array_of(const Result<Message<Total>>& answer) {
    if (!answer.ok()) return answer.status();
    return answer->array(0);
  }
  static Result<Array> make_one(const ActorRef<Sharer>& sharer, std::int64_t amount) {
    return array_of(
        sharer.call(&Sharer::make_one, [&](Add::Builder m) { m.setAmount(amount); }).get());
  }
  static Result<Array> take(const ActorRef<Sharer>& sharer, const Array& array, bool is_run) {
    return array_of(sharer
                        .call(&Sharer::take,
                              [&](Answer::Builder m, Attached& beside) {
                                beside.add(array);
                                m.setNumber(is_run ? 1 : 0);
                              })
                        .get());
  }
  static std::int64_t read(const ActorRef<Sharer>& sharer) {
    const auto total = sharer.call(&Sharer::read, [](Hold::Builder) {}).get();
    EXPECT_TRUE(total.ok()) << total.status().to_string();
    return total.ok() ? total.value()->getTotal() : -1;
  }
  static float value_of(const Array& array) {
    const auto value = array.to_host<float>().get();
    EXPECT_TRUE(value.ok()) << value.status().to_string();
    return value.ok() ? value->front() : -1;
  }
  Array put(float value, std::size_t island) const {
    return client_.put<float>({value}, NamedSharding(slices_[island].mesh(), P()));
  }
  /// What the controller knows of.
  bool has_arrays() const {
    const std::string status = processes_.at({Role::kController, 0})->status();
    return status.find("\"arrays\":0,") == std::string::npos;
  }

  /// The same, of functions, programs and specs.
  std::string definitions() const {
    const std::string status = processes_.at({Role::kController, 0})->status();
    const std::size_t begin = status.find("\"programs\":");
    return status.substr(begin, status.find(",\"stamps\"") - begin);
  }

  std::string directory_;
  std::shared_ptr<const Registry> registry_;
  std::shared_ptr<const Clock> clock_ = std::make_shared<const RealClock>();
  std::map<RoleName, std::shared_ptr<Process>> processes_;
  Client client_;
  std::vector<Slice> slices_;
};

TEST_F(ActorSessions, GiveArraysToEachOtherAndToTheirClient) {
  const auto zero = sharer(0, 0), one = sharer(1, 1);
  {
    const auto made = make_one(zero, 21);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    EXPECT_EQ(value_of(*made), 42);
    EXPECT_TRUE(made->status().ok());
    const auto more = take(zero, *made, true);
    ASSERT_TRUE(more.ok()) << more.status().to_string();
    EXPECT_EQ(value_of(*more), 84);

    // Of one actor's to the other's host, on the way through the client and without.
    EXPECT_TRUE(take(one, *more, false).ok());
    EXPECT_EQ(read(one), 84);
    const Array own = put(5, 1);
    const auto home = take(one, own, false);
    ASSERT_TRUE(home.ok()) << home.status().to_string();
    EXPECT_EQ(*home, own);
    EXPECT_EQ(read(one), 5);
  }

  while (!has_arrays()) continue;
  EXPECT_TRUE(zero.call(&Sharer::forget, [](Nothing::Builder) {}).get().ok());
  EXPECT_TRUE(one.call(&Sharer::forget, [](Nothing::Builder) {}).get().ok());
  while (has_arrays()) continue;
}

TEST_F(ActorSessions, AnArrayOutlivesTheHostWhoseActorHasMadeIt) {
  const auto zero = sharer(0, 1), one = sharer(1, 1);
  {
    const auto made = make_one(zero, 4);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    ASSERT_TRUE(take(one, *made, false).ok());
    EXPECT_EQ(made->status(), Status());  // Else what was put may be lost with the host.
  }

  end({Role::kHost, 0});

  EXPECT_EQ(read(one), 8);
  while (!has_arrays()) continue;
  EXPECT_TRUE(one.call(&Sharer::forget, [](Nothing::Builder) {}).get().ok());
  while (has_arrays()) continue;
}

TEST_F(ActorSessions, WhatAnActorHeldGoesWithItsHost) {
  const auto zero = sharer(0, 0), one = sharer(1, 1);
  ASSERT_TRUE(take(one, put(3, 0), false).ok());
  {
    const auto made = make_one(zero, 4);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    ASSERT_TRUE(take(one, *made, false).ok());
  }
  while (!has_arrays()) continue;

  end({Role::kHost, 1});

  while (has_arrays()) continue;
  const auto made = make_one(zero, 4);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(value_of(*made), 8);
}

TEST_F(ActorSessions, ArraysAreArgumentsOfConstructorsAndSlicesKnowTheirHosts) {
  const auto one = sharer(1, 0, {put(6, 0), put(7, 0)});

  EXPECT_EQ(read(one), 7);
  const auto where = one.call(&Sharer::say, [](Ask::Builder) {}).get();
  ASSERT_TRUE(where.ok()) << where.status().to_string();
  EXPECT_EQ(where.value()->getText(), slices_[0].hosts().to_string());
}

TEST_F(ActorSessions, RefuseWhatWouldBlockTheirHostAndWhatItDoesNotKnow) {
  const auto one = sharer(1, 1);
  const auto say = [&one](const char* text) {
    return one.call(&Sharer::say, [text](Ask::Builder m) { m.setText(text); }).get().status();
  };

  EXPECT_EQ(say("acquire").code(), StatusCode::kInvalidArgument);
  EXPECT_NE(say("acquire").message().find("would block"), std::string::npos);
  EXPECT_EQ(say("native").code(), StatusCode::kNotFound);
  EXPECT_NE(say("native").message().find("Registry::native()"), std::string::npos);
}

TEST_F(ActorSessions, ArraysAreNotGivenToAnotherClient) {
  const auto mesh = client_.spawn<Sharer>(SpawnOptions(client_.hosts().at({0})).named("sharers"),
                                          slices_[0], std::vector<Array>());
  ASSERT_TRUE(mesh.ok()) << mesh.status().to_string();
  const Client other = connect();
  const auto found = other.find<Sharer>("sharers");
  ASSERT_TRUE(found.ok()) << found.status().to_string();

  const auto made = make_one(found->at(0), 1);

  EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument) << made.status().to_string();
  EXPECT_NE(made.status().message().find("cannot be given to client 2"), std::string::npos)
      << made.status().to_string();
  while (has_arrays()) continue;
}

TEST_F(ActorSessions, ARunThatNamesASliceThatWasReleasedFailsWithTheReason) {
  const auto one = sharer(1, 1);
  ASSERT_TRUE(slices_[1].release().ok());

  const auto made = make_one(one, 1);

  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->status().code(), StatusCode::kInvalidArgument) << made->status().to_string();
  while (has_arrays()) continue;
}

TEST_F(ActorSessions, ReleaseWhatTheirActorsHaveDefined) {
  {
    const auto sharers = client_.spawn<Sharer>(client_.hosts(), slices_[0], std::vector<Array>());
    ASSERT_TRUE(sharers.ok()) << sharers.status().to_string();
    for (std::uint32_t host = 0; host < 2; ++host) {
      ASSERT_EQ(value_of(make_one(sharers->at(host), 4).value()), 8);
    }
    ASSERT_TRUE(sharers->stop().get().ok());
  }

  // The latest specs are kept for what may come next.
  while (definitions() != "\"programs\":0,\"functions\":0,\"specs\":2") continue;
}

TEST_F(ActorSessions, WhatAnActorHasDefinedGoesWithItsHost) {
  // Elsewhere it would define them again.
  const auto zero =
      client_
          .spawn<Sharer>(SpawnOptions(client_.hosts().at({0})).restart(Restart::kNever), slices_[1],
                         std::vector<Array>())
          .value()
          .at(0);
  const auto one = sharer(1, 1);
  ASSERT_EQ(value_of(make_one(zero, 4).value()), 8);
  ASSERT_EQ(value_of(make_one(one, 4).value()), 8);
  ASSERT_NE(definitions().find("\"functions\":2"), std::string::npos);

  end({Role::kHost, 0});

  while (definitions().find("\"functions\":1") == std::string::npos) continue;
  EXPECT_EQ(value_of(make_one(one, 5).value()), 10);
}

}  // namespace
}  // namespace seaway::cluster
