// Router: delivery by role and index, and its counts.

#include "actor/router.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "actor/seeded_engine.hpp"
#include "unit/actor/recorder.hpp"

namespace seaway::actor {
namespace {

TEST(Router, AFrameReachesTheRoleThatWasBoundAndNoOther) {
  std::vector<std::uint64_t> host_heard, island_heard;
  const auto engine = make_seeded_engine(1);
  Router router;
  router.bind(Role::kHost, 2, engine->spawn("host", std::make_unique<CallbackActor>([&](auto n) {
                                              host_heard.push_back(n);
                                            })));
  router.bind(Role::kIsland, 2,
              engine->spawn("island", std::make_unique<CallbackActor>(
                                          [&](auto n) { island_heard.push_back(n); })));

  router.send(Role::kHost, 2, number_frame(7));
  engine->run_until_idle(100);

  EXPECT_EQ(host_heard, std::vector<std::uint64_t>{7});
  EXPECT_TRUE(island_heard.empty());
  EXPECT_EQ(router.count(Role::kHost).frames, 1u);
  EXPECT_EQ(router.count(Role::kHost).bytes, 8u);
}

TEST(Router, AFrameToARoleThatIsNotThereIsDroppedAndNotCounted) {
  const auto engine = make_seeded_engine(1);
  int heard = 0;
  Router router;
  router.bind(Role::kClient, 1,
              engine->spawn("client", std::make_unique<CallbackActor>([&](auto) { ++heard; })));

  router.unbind(Role::kClient, 1);
  router.unbind(Role::kClient, 9);
  router.send(Role::kClient, 1, number_frame(7));
  router.send(Role::kClient, 9, number_frame(7));
  engine->run_until_idle(100);

  EXPECT_EQ(heard, 0);
  EXPECT_EQ(router.count(Role::kClient).frames, 0u);
}

}  // namespace
}  // namespace seaway::actor
