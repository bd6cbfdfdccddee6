// Who waits for whom after a hang, from hand-made events: chains, circles, and where they end.

#include "sim/wait_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "unit/island/plans.hpp"

namespace seaway::sim {
namespace {

using events::Event;
using events::EventKind;
using island::PlanMaker;

constexpr std::uint32_t kEdge = 3;
constexpr std::uint64_t kBytes = 64;
constexpr std::size_t kLines = 20;
constexpr ArrayId kArray = 50;

/// A world that is told of by hand: plans, and events that a log has recorded.
class Hang {
 public:
  Hang() {
    surroundings_.part_of = [this](IslandId island, Stamp stamp) {
      const auto found = parts_.find({island, stamp});
      if (found == parts_.end()) return PartFacts{};
      const Part& part = found->second;
      return PartFacts{&part.plan, &part.args, &part.outputs};
    };
  }
  /// A part of run 10 * stamp is launched there.
  Hang& launch(std::uint16_t island, Stamp stamp, program::PartPlan plan,
               std::vector<ArrayId> args = {}, std::vector<ArrayId> outputs = {}) {
    parts_[{island, stamp}] = {std::move(plan), std::move(args), std::move(outputs)};
    return happen(
        {.stamp = stamp, .object = stamp * 10, .island = island, .kind = EventKind::kLaunch});
  }
  Hang& submit(RunId run, Stamp stamp = 0) {
    happen({.object = run, .kind = EventKind::kSubmit});
    if (stamp == 0) return *this;
    return happen({.stamp = stamp, .object = run, .kind = EventKind::kStamp});
  }
  Hang& admit(std::uint16_t island, Stamp stamp) {
    return happen({.stamp = stamp, .island = island, .kind = EventKind::kAdmit});
  }
  Hang& place(std::uint16_t island, Stamp stamp, std::uint32_t first, std::uint64_t last) {
    return happen({.stamp = stamp,
                   .value = last,
                   .position = first,
                   .island = island,
                   .kind = EventKind::kPlace});
  }
  Hang& gang(EventKind kind, std::uint16_t island, Stamp stamp, std::uint32_t position) {
    return happen({.stamp = stamp, .position = position, .island = island, .kind = kind});
  }
  Hang& happen(const Event& event) {
    log_.record(event);
    return *this;
  }
  std::string explain(const std::string& violation = "", std::size_t lines_max = kLines) const {
    return log_.explain(surroundings_,
                        std::vector<Violation>{{Breach::kLiveness, "I12", violation}}, lines_max);
  }

 private:
  struct Part {
    program::PartPlan plan;
    std::vector<ArrayId> args, outputs;
  };
  std::map<std::pair<IslandId, Stamp>, Part> parts_;
  Surroundings surroundings_;
  WaitLog log_;
};

TEST(WaitLog, ARunWaitsForItsGangAndThatForTheDeviceThatDoesNotEndIt) {
  Hang hang;
  hang.submit(70, 7).launch(0, 7, PlanMaker({0, 1}).gangs(2).plan()).admit(0, 7);
  hang.place(0, 7, 0, 2).gang(EventKind::kGangStart, 0, 7, 0);

  EXPECT_EQ(hang.explain(),
            "why run 70 waits:\n"
            "  run 70 waits for gang 0 of stamp 7 on island 0: it has not ended\n"
            "  gang 0 of stamp 7 on island 0 waits for device 0+1 of island 0: it runs there and "
            "has not ended\n"
            "root cause: device 0+1 of island 0\n");
}

TEST(WaitLog, AGangThatReadsWhatDoesNotArriveWaitsForTheOneThatMakesIt) {
  Hang hang;
  hang.submit(70, 7);
  hang.launch(0, 7, PlanMaker({0}).gangs(1).receive(0, kEdge, 1, kBytes).plan());
  program::PartPlan maker = PlanMaker({0}).gangs(1).send(0, kEdge, 0, kBytes).plan();
  maker.gangs[0].position = 5;
  hang.launch(1, 7, maker).admit(0, 7).admit(1, 7).place(0, 7, 0, 1).place(1, 7, 0, 1);
  hang.gang(EventKind::kGangStart, 1, 7, 5);

  const std::string text = hang.explain();

  EXPECT_NE(
      text.find("gang 0 of stamp 7 on island 0 waits for transfer of edge 3 of stamp 7 from "
                "island 1 to island 0: it reads what arrives there\n"
                "  transfer of edge 3 of stamp 7 from island 1 to island 0 waits for gang 5 of "
                "stamp 7 on island 1: it makes what is to be sent\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("root cause: device 0 of island 1\n"), std::string::npos) << text;
}

TEST(WaitLog, WhatWasSentAndHasNotArrivedIsTheRootCause) {
  Hang hang;
  hang.submit(70, 7);
  hang.launch(0, 7, PlanMaker({0}).gangs(1).receive(0, kEdge, 1, kBytes).plan());
  hang.launch(1, 7, PlanMaker({0}).gangs(1).send(0, kEdge, 0, kBytes).plan()).admit(0, 7);
  hang.place(0, 7, 0, 1);
  hang.happen({.stamp = 7, .position = kEdge, .place = 0, .island = 1, .kind = EventKind::kSend});

  const std::string of_sent = hang.explain();
  hang.happen({.stamp = 7, .position = kEdge, .place = 1, .kind = EventKind::kReceive});

  EXPECT_NE(of_sent.find("root cause: transfer of edge 3 of stamp 7"), std::string::npos)
      << of_sent;
  EXPECT_EQ(hang.explain().find("transfer"), std::string::npos) << hang.explain();
}

TEST(WaitLog, APartWithoutRoomWaitsForOneThatHasRoomOnItsDevices) {
  Hang hang;
  hang.submit(70, 7).submit(80, 8).submit(90, 9);
  hang.launch(0, 7, PlanMaker({0}).gangs(1).plan()).admit(0, 7);
  hang.launch(0, 8, PlanMaker({1}).gangs(1).plan()).admit(0, 8);
  hang.launch(0, 9, PlanMaker({1}).gangs(1).plan());

  const std::string text = hang.explain("run 90 never had an outcome");

  EXPECT_NE(text.find("why run 90 waits"), std::string::npos) << text;
  EXPECT_NE(text.find("memory for stamp 9 on island 0 waits for gang 0 of stamp 8 on island 0"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("stamp 7"), std::string::npos) << text;
}

TEST(WaitLog, GangsInOppositeOrderOnTwoIslandsAreACircle) {
  Hang hang;
  hang.submit(70, 7).submit(80, 8);
  const auto reader = [](std::uint32_t edge, IslandId peer) {
    return PlanMaker({0}).gangs(1).receive(0, edge, peer, kBytes).plan();
  };
  const auto maker = [](std::uint32_t edge, IslandId peer) {
    return PlanMaker({0}).gangs(1).send(0, edge, peer, kBytes).plan();
  };
  hang.launch(0, 7, reader(1, 1)).launch(1, 7, maker(1, 0));
  hang.launch(1, 8, reader(2, 0)).launch(0, 8, maker(2, 1));
  for (const std::uint16_t island : {0, 1}) hang.admit(island, 7).admit(island, 8);
  hang.place(0, 7, 0, 1).place(0, 8, 0, 1).place(1, 8, 0, 1).place(1, 7, 0, 1);

  const std::string text = hang.explain();

  EXPECT_EQ(text.find("deadlock: 6 wait in a circle:\n"), 0u) << text;
  EXPECT_NE(text.find("gang 0 of stamp 7 on island 1 waits for gang 0 of stamp 8 on island 1: it "
                      "stands before it in the order of device 0"),
            std::string::npos)
      << text;
}

TEST(WaitLog, AnArgumentThatAnEarlierRunMakesIsWaitedFor) {
  Hang hang;
  hang.submit(70, 7).submit(80, 8);
  hang.launch(0, 7, PlanMaker({0}).gangs(1).output(0, kBytes).plan(), {}, {kArray});
  hang.launch(0, 8, PlanMaker({1}).gangs(1).arg(0, kBytes).plan(), {kArray}).admit(0, 8);
  hang.admit(0, 7).place(0, 7, 0, 1).place(0, 8, 0, 1).gang(EventKind::kGangStart, 0, 7, 0);

  const std::string text = hang.explain("run 80 never had an outcome");

  EXPECT_NE(text.find("gang 0 of stamp 8 on island 0 waits for gang 0 of stamp 7 on island 0: it "
                      "makes array 50"),
            std::string::npos)
      << text;
}

TEST(WaitLog, WhatHasEndedIsNotWaitedFor) {
  Hang hang;
  hang.submit(70, 7).launch(0, 7, PlanMaker({0}).gangs(1).plan()).admit(0, 7).place(0, 7, 0, 1);
  hang.gang(EventKind::kGangStart, 0, 7, 0).gang(EventKind::kGangEnd, 0, 7, 0);
  hang.happen({.stamp = 7, .kind = EventKind::kFinished});

  EXPECT_EQ(hang.explain(), "run 70 waits for nothing\n");
}

TEST(WaitLog, NothingWaitsBeforeAnythingIsSubmitted) { EXPECT_EQ(Hang().explain(), ""); }

TEST(WaitLog, ALongChainIsCutInTheMiddleAndKeepsItsEnd) {
  Hang hang;
  hang.submit(10, 1).submit(500, 50);
  for (Stamp stamp = 1; stamp <= 50; ++stamp) {
    hang.launch(0, stamp, PlanMaker({0}).gangs(1).plan()).admit(0, stamp).place(0, stamp, 0, 1);
  }
  hang.gang(EventKind::kGangStart, 0, 1, 0);

  const std::string text = hang.explain("run 500 never had an outcome");

  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<long>(kLines));
  EXPECT_NE(text.find(".. and 34 lines more ..\nroot cause: device 0 of island 0\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace seaway::sim
