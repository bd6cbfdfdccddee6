// What travels beside messages in docs/build-an-app.md: bytes, arrays, other actors.

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "shelf.hpp"

namespace shelves {
namespace {

using namespace seaway;

// [camera]
class Camera {
 public:
  static void describe(ActorType<Camera>& type) { type.on(&Camera::develop); }
  explicit Camera(Self) {}

  Result<Reply<Picture>> develop(Request<Picture> request) {
    const auto picture = request.bytes(request->getBytes());
    if (!picture.ok()) return picture.status();
    return make<Picture>([&](Picture::Builder m, Attached& beside) {
      m.setBytes(beside.add(*picture));  // The same bytes, back again.
    });
  }
};
// [/camera]

// [doubler]
/// Feeds a program that its client has made, with an array that may still be on its way.
class Doubler {
 public:
  static void describe(ActorType<Doubler>& type) { type.on(&Doubler::run).on(&Doubler::weigh); }
  Doubler(Self self, Program twice, NamedSharding whole)
      : self_(std::move(self)), twice_(std::move(twice)), whole_(std::move(whole)) {}

  Result<Reply<Numbers>> run(Request<Numbers> request) {
    const auto array = request.array(request->getArray());
    if (!array.ok()) return array.status();
    return twice_of(*array);
  }
  // [/doubler]
  // [weigh]
  Result<Reply<Numbers>> weigh(Request<Weights> request) {
    std::vector<float> grams;
    for (const float gram : request->getGrams()) grams.push_back(gram);
    auto client = self_.client();  // The session of whoever spawned it.
    if (!client.ok()) return client.status();
    return twice_of(client->put<float>(grams, {2}, whole_));
  }
  // [/weigh]

 private:
  // [twice_of]
  Reply<Numbers> twice_of(const Array& array) {
    const Run run = twice_.execute({array});  // Returns at once; so does this handler.
    return make<Numbers>(
        [&](Numbers::Builder m, Attached& beside) { m.setArray(beside.add(run.output(0))); });
  }
  // [/twice_of]
  Self self_;
  Program twice_;
  NamedSharding whole_;
};

class BesideInTheGuide : public testing::Test {
 protected:
  Client client = connect("embedded:islands=4,devices=1").value();
};

TEST_F(BesideInTheGuide, BytesAreNotCopied) {
  auto camera = client.spawn<Camera>(client.hosts()).value().at(3);

  // [bytes]
  const Bytes picture(std::vector<std::byte>(4'000'000));
  const auto with_picture = [&](Picture::Builder m, Attached& beside) {
    m.setBytes(beside.add(picture));
  };
  const auto developed = camera.call(&Camera::develop, with_picture).get().value();

  const Bytes back = developed.bytes(developed->getBytes()).value();
  EXPECT_EQ(back.span().data(), picture.span().data());
  // [/bytes]
}

TEST_F(BesideInTheGuide, ArraysAreFedToPrograms) {
  // [program]
  const Slice slice = client.acquire_slice({.devices = 1, .mesh = {{"x", 1}}}).value();
  const NamedSharding whole(slice.mesh(), P());
  Function twice = client.function("twice", [](Tensor x) { return x * 2; }, {f32({2})}).value();
  Program program =
      client.program("p", [&](Traced x) { return twice(x); }, {ArraySpec{f32({2}), whole}}).value();
  auto doubler = client.spawn<Doubler>(client.hosts(), program, whole).value().at(1);
  // [/program]

  // [feed]
  const Array array = client.put<float>({3, 4}, whole);
  const auto with_array = [&](Numbers::Builder m, Attached& beside) {
    m.setArray(beside.add(array));
  };
  const auto doubled = doubler.call(&Doubler::run, with_array).get().value();
  const Array result = doubled.array(doubled->getArray()).value();
  EXPECT_EQ(result.to_host<float>().get().value(), (std::vector<float>{6, 8}));
  // [/feed]

  // [list]
  const std::vector<float> grams = {5, 7};
  const auto with_grams = [&](Weights::Builder m) {
    m.setGrams(kj::arrayPtr(grams.data(), grams.size()));
  };
  const auto weighed = doubler.call(&Doubler::weigh, with_grams).get().value();
  // [/list]
  EXPECT_EQ(weighed.array(weighed->getArray()).value().to_host<float>().get().value(),
            (std::vector<float>{10, 14}));
}

TEST_F(BesideInTheGuide, ActorsAreShownToOthers) {
  // [references]
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();
  auto clerk = client.spawn<Clerk>(client.hosts(), shelves.at(0)).value().at(2);

  const auto from_the_last = [&](Restock::Builder m, Attached& beside) {
    m.setFrom(beside.add(shelves.at(3)));  // One: read with actor<Shelf>().
    m.setAmount(4);
  };
  const auto all_of_them = [&](Everywhere::Builder m, Attached& beside) {
    m.setShelves(beside.add(shelves));  // Several: read with mesh<Shelf>().
  };
  const auto restocked = clerk.call(&Clerk::restock, from_the_last).get();
  const auto counted = clerk.call(&Clerk::count, all_of_them).get();

  EXPECT_EQ(restocked.value()->getAmount(), 14u);
  EXPECT_EQ(counted.value()->getAmount(), 40u);
  // [/references]
}

TEST_F(BesideInTheGuide, AReferenceKeepsNothingAlive) {
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();

  // [dangling]
  const ActorRef<Shelf> kept = shelves.at(3);
  ASSERT_TRUE(shelves.stop().get().ok());

  EXPECT_EQ(kept.call(&Shelf::look).get().status().code(), StatusCode::kActorLost);
  // [/dangling]
}

}  // namespace
}  // namespace shelves
