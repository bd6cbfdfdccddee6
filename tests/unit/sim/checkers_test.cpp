// Each invariant: a clean list of events passes, and one that breaks it is reported with names and
// numbers.

#include "sim/checkers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sim/chaos.hpp"
#include "sim/oracle.hpp"
#include "sim/stock.hpp"
#include "unit/island/plans.hpp"

namespace seaway::sim {
namespace {

using events::Event;
using events::EventKind;
using island::PlanMaker;

constexpr RunId kRun = 70;
constexpr Stamp kStamp = 7;
constexpr std::uint32_t kEdge = 3;
constexpr ArrayId kArg = 50, kOutput = 60;
constexpr std::uint64_t kBytes = 64, kBudget = 256;

/// A run over two islands, each of two devices: gang 0 of island 0 reads an uploaded array, gang 1
/// reads what gang 0 makes and what comes from gang 2 on island 1, and makes an output.
class Story {
 public:
  Story() {
    program::PartPlan reader = PlanMaker({0, 1}, 64)
                                   .gangs(2)
                                   .arg(0, kBytes)
                                   .receive(1, kEdge, 1, kBytes)
                                   .output(1, kBytes)
                                   .plan();
    program::Value between;  // In the block, beside the received value.
    between.offset = kBytes;
    between.shard_bytes = kBytes;
    reader.values.push_back(between);
    reader.gangs[0].results.push_back(static_cast<std::uint32_t>(reader.values.size() - 1));
    reader.gangs[1].operands.push_back(static_cast<std::uint32_t>(reader.values.size() - 1));
    plans_[0] = reader;
    plans_[1] = PlanMaker({0, 1}).gangs(1).send(0, kEdge, 0, kBytes).plan();
    plans_[1].gangs[0].position = 2;
    surroundings.devices = 2;
    surroundings.part_of = [this](IslandId island, Stamp) {
      return PartFacts{&plans_[island], island == 0 ? &args_ : &none_,
                       island == 0 ? &outputs_ : &none_};
    };
    surroundings.devices_of_array = [this](IslandId, ArrayId) { return &devices_; };
    surroundings.memory_of = [this](IslandId, DeviceId) { return std::pair(used, kBudget); };
    surroundings.reserved_of = [this](IslandId, DeviceId) { return reserved; };
    surroundings.gangs_of = [this](IslandId island, DeviceId) { return island == 0 ? gangs : 1; };
    surroundings.may_be_lost = [this](IslandId, DeviceId, std::uint64_t) { return has_faults; };
    surroundings.has_effects = [this](FunctionId) { return has_effects; };
    surroundings.weight_of = [](TenantId tenant) { return tenant == 0 ? 3 : 1; };
    counts = {.runs = 1, .ok = 1};
    events = {
        {.object = kArg, .value = 2 * kBytes, .kind = EventKind::kUpload},
        {.object = kRun, .kind = EventKind::kSubmit},
        {.stamp = kStamp, .object = kRun, .kind = EventKind::kStamp},
        {.stamp = kStamp, .object = kRun, .kind = EventKind::kLaunch},
        {.stamp = kStamp, .object = kRun, .island = 1, .kind = EventKind::kLaunch},
        {.stamp = kStamp, .kind = EventKind::kPrepare},
        {.stamp = kStamp, .island = 1, .kind = EventKind::kPrepare},
        {.stamp = kStamp, .kind = EventKind::kAdmit},
        {.stamp = kStamp, .value = 2, .kind = EventKind::kPlace},
        {.stamp = kStamp, .island = 1, .kind = EventKind::kAdmit},
        {.stamp = kStamp, .value = 1, .island = 1, .kind = EventKind::kPlace},
        {.object = kArg, .value = kBytes, .kind = EventKind::kArrayLoad},
        gang(EventKind::kGangStart, 0, 0),
        gang(EventKind::kGangStart, 1, 2),
        gang(EventKind::kGangEnd, 0, 0),
        gang(EventKind::kGangEnd, 1, 2),
        {.stamp = kStamp, .position = kEdge, .place = 0, .island = 1, .kind = EventKind::kSend},
        {.stamp = kStamp, .position = kEdge, .place = 1, .island = 0, .kind = EventKind::kReceive},
        {.object = kOutput, .value = kBytes, .kind = EventKind::kArrayAllocate},
        gang(EventKind::kGangStart, 0, 1),
        gang(EventKind::kGangEnd, 0, 1),
        {.stamp = kStamp, .kind = EventKind::kFinished},
        {.stamp = kStamp, .island = 1, .kind = EventKind::kFinished},
        {.object = kRun, .kind = EventKind::kResolve},
        {.object = kArg, .value = kBytes, .kind = EventKind::kArrayFree},
        {.object = kOutput, .value = kBytes, .kind = EventKind::kArrayFree},
    };
  }

  static Event gang(EventKind kind, std::uint16_t island, std::uint32_t position) {
    return {.stamp = kStamp, .object = kRun, .position = position, .island = island, .kind = kind};
  }
  /// The first event of `kind` on `island` with `position`.
  std::vector<Event>::iterator find(EventKind kind, std::uint16_t island = 0,
                                    std::uint32_t position = 0) {
    return std::find_if(events.begin(), events.end(), [&](const Event& event) {
      return event.kind == kind && event.island == island && event.position == position;
    });
  }
  Story& without(EventKind kind, std::uint16_t island = 0, std::uint32_t position = 0) {
    events.erase(find(kind, island, position));
    return *this;
  }
  Story& twice(EventKind kind, std::uint16_t island = 0, std::uint32_t position = 0) {
    const auto at = find(kind, island, position);
    events.insert(at + 1, Event(*at));
    return *this;
  }
  /// `device` of `island` is lost before the first event of `kind` there with `position`.
  Story& lose(EventKind kind, std::uint16_t island, std::uint32_t position, DeviceId device) {
    events.insert(find(kind, island, position),
                  {.place = device, .island = island, .kind = EventKind::kDeviceLost});
    return *this;
  }
  /// The run is put back before the first event of `kind` with `position`.
  Event& rerun(EventKind kind, std::uint32_t position, Stamp before) {
    return *events.insert(find(kind, 0, position),
                          {.object = kRun, .value = before, .kind = EventKind::kRerun});
  }
  /// All violations, each as "I4: text"; "clean" if there are none.
  std::vector<std::string> verdicts() const {
    Verdict verdict;
    Checkers checkers(surroundings, verdict);
    for (const Event& event : events) checkers.record(event);
    checkers.finish(counts);
    std::vector<std::string> texts;
    for (const Violation& one : verdict.violations()) {
      texts.push_back(one.invariant + ": " + one.text);
    }
    return texts.empty() ? std::vector<std::string>{"clean"} : texts;
  }
  /// The first of them.
  std::string verdict() const { return verdicts().front(); }

  bool has_effects = false;
  Surroundings surroundings;
  std::vector<Event> events;
  Counts counts;
  std::uint64_t used = 2 * kBytes, reserved = 3 * kBytes, gangs = 2;
  bool has_faults = true;

 private:
  std::map<IslandId, program::PartPlan> plans_;
  std::vector<ArrayId> args_ = {kArg}, outputs_ = {kOutput}, none_;
  std::vector<DeviceId> devices_ = {0, 1};
};

TEST(Checkers, ACleanRunOverTwoIslandsPasses) { EXPECT_EQ(Story().verdict(), "clean"); }

TEST(Checkers, I1NamesTheFirstByteThatDiffers) {
  const std::vector<std::byte> wanted(8, std::byte{1});
  std::vector<std::byte> given = wanted;
  given[5] = std::byte{2};

  EXPECT_EQ(difference(wanted, wanted), "");
  EXPECT_EQ(difference(wanted, given),
            "is not what the reference gives, from byte 5 of 8: 01010201 instead of 01010101;");
  EXPECT_EQ(difference(wanted, {}), "has 0 bytes, and the reference gives 8");
}

TEST(Checkers, I2IsOneOutcomeForEachRun) {
  Story twice, never, unknown;
  twice.twice(EventKind::kResolve);
  never.without(EventKind::kResolve);
  unknown.without(EventKind::kSubmit);

  EXPECT_EQ(twice.verdict(), "I2: run 70 has 2 outcomes");
  EXPECT_EQ(never.verdict(), "I2: run 70 never had an outcome");
  EXPECT_EQ(unknown.verdict(), "I2: run 70 has an outcome but no submission");
}

TEST(Checkers, I3IsALossBehindEachErrorThatNamesOne) {
  Story unfounded, elsewhere, founded;
  for (Story* story : {&unfounded, &elsewhere, &founded}) {
    story->find(EventKind::kResolve)->code = StatusCode::kDeviceLost;
    story->counts = {.runs = 1, .failed = 1};
  }
  elsewhere.lose(EventKind::kResolve, 0, 0, 2);
  founded.lose(EventKind::kResolve, 0, 0, 1);

  const std::string error = "I3: run 70 failed of a lost device, but none that it used was lost";
  EXPECT_EQ(unfounded.verdict(), error);
  EXPECT_EQ(elsewhere.verdict(), error);
  EXPECT_EQ(founded.verdict(), "clean");
}

TEST(Checkers, I3IsALossBehindEachRerun) {
  Story unfounded, of_input, elsewhere, founded;
  for (Story* story : {&unfounded, &of_input, &elsewhere, &founded}) {
    story->rerun(EventKind::kResolve, 0, kStamp).code = StatusCode::kDeviceLost;
  }
  of_input.find(EventKind::kRerun)->code = StatusCode::kInputLost;
  elsewhere.lose(EventKind::kRerun, 0, 0, 2);
  founded.lose(EventKind::kRerun, 0, 0, 1);

  EXPECT_EQ(unfounded.verdict(), "I3: run 70 is run again, but no device that it used was lost");
  EXPECT_EQ(of_input.verdict(), "I3: run 70 is run again, but no device was lost");
  EXPECT_EQ(elsewhere.verdict(), unfounded.verdict());
  EXPECT_EQ(founded.verdict(), "clean");
}

TEST(Checkers, I7IsThatNothingWithEffectsIsRunAgain) {
  Story story;
  story.rerun(EventKind::kResolve, 0, kStamp).code = StatusCode::kDeviceLost;
  story.lose(EventKind::kRerun, 0, 0, 1);
  EXPECT_EQ(story.verdict(), "clean");

  story.has_effects = true;

  EXPECT_EQ(story.verdict(),
            "I7: run 70 is run again, but a function of it has effects and may have run");
}

TEST(Checkers, I7IsThatALossTellsOfEffectsThatMayHaveBeen) {
  Story story;
  story.find(EventKind::kResolve)->code = StatusCode::kDeviceLost;
  story.counts = {.runs = 1, .failed = 1};
  story.lose(EventKind::kResolve, 0, 0, 1);
  EXPECT_EQ(story.verdict(), "clean");

  story.has_effects = true;

  EXPECT_EQ(story.verdict(),
            "I7: run 70 failed of a lost device, and is not told that a function of it with "
            "effects may have run");
  story.find(EventKind::kResolve)->code = StatusCode::kMaybeExecuted;
  EXPECT_EQ(story.verdict(), "clean");
}

TEST(Checkers, I5IsAboutTheLastStampsOfARunThatIsRunAgain) {
  Story before, behind;
  for (Story* story : {&before, &behind}) {
    story->lose(EventKind::kGangEnd, 0, 1, 1);
  }
  before.rerun(EventKind::kResolve, 0, kStamp).code = StatusCode::kDeviceLost;
  behind.rerun(EventKind::kGangEnd, 1, kStamp - 1).code = StatusCode::kDeviceLost;

  EXPECT_EQ(before.verdict(), "clean");
  EXPECT_EQ(behind.verdict(),
            "I5: run 70 succeeded, but a device was lost while a gang of it ran there");
}

/// A part that was finished in one view of its island may be restored in the next one.
TEST(Checkers, I5IsNotAboutStampsBeforeThoseOfARunThatIsRunAgain) {
  const auto verdict_of = [](Stamp stamp) {
    Verdict verdict;
    OutcomeChecker checker(verdict);
    for (const Event& event :
         std::vector<Event>{{.object = kRun, .kind = EventKind::kSubmit},
                            {.object = kRun, .value = kStamp, .kind = EventKind::kRerun},
                            {.stamp = stamp, .object = kRun, .kind = EventKind::kGangNoop},
                            {.object = kRun, .kind = EventKind::kResolve}}) {
      checker.record(event);
    }
    return verdict.violations().empty() ? "clean" : verdict.violations().front().text;
  };

  EXPECT_EQ(verdict_of(kStamp), "clean");
  EXPECT_EQ(verdict_of(kStamp + 1), "run 70 succeeded, but a gang of it did nothing");
}

TEST(Checkers, I2IsThatNothingIsRunAgainBehindItsOutcome) {
  Story story;
  story.lose(EventKind::kResolve, 0, 0, 1);
  story.rerun(EventKind::kArrayFree, 0, kStamp).code = StatusCode::kDeviceLost;

  EXPECT_EQ(story.verdict(), "I2: run 70 is run again, but waits for no outcome");
}

TEST(Checkers, I3IsAFaultBehindEachLoss) {
  Story story;
  story.lose(EventKind::kFinished, 0, 0, 1).has_faults = false;

  EXPECT_EQ(story.verdict(),
            "I3: device 1 of island 0 was lost, but nothing that was done to it takes it away");
}

TEST(Checkers, I5IsThatALostDeviceRunsNothing) {
  Story before, meanwhile, afterwards;
  before.lose(EventKind::kGangStart, 0, 1, 1);
  meanwhile.lose(EventKind::kGangEnd, 0, 1, 1);
  afterwards.lose(EventKind::kFinished, 0, 0, 1);

  EXPECT_EQ(before.verdict(),
            "I5: gang 1 of stamp 7 on island 0 started, but one of its devices was lost");
  EXPECT_EQ(meanwhile.verdict(),
            "I5: run 70 succeeded, but a device was lost while a gang of it ran there");
  EXPECT_EQ(afterwards.verdict(), "clean");
}

TEST(Checkers, I9IsThatNobodyReadsWhatLayOnALostDevice) {
  Story loaded, loaded_late, meanwhile, on_host;
  loaded.lose(EventKind::kGangStart, 0, 0, 1);
  loaded_late.lose(EventKind::kArrayLoad, 0, 0, 1);
  meanwhile.lose(EventKind::kGangEnd, 0, 0, 1);
  on_host.without(EventKind::kArrayLoad).without(EventKind::kArrayFree);
  on_host.lose(EventKind::kGangStart, 0, 0, 1);

  EXPECT_EQ(loaded.verdict(),
            "I9: gang 0 of stamp 7 on island 0 of run 70 started, but array 50, which it reads, "
            "lay on a device that was lost");
  EXPECT_EQ(loaded_late.verdict(), "I9: array 50 on island 0 was loaded to a device that was lost");
  const std::vector<std::string> all = meanwhile.verdicts();
  EXPECT_EQ(std::count(all.begin(), all.end(),
                       "I9: run 70 succeeded, but array 50 was lost while a gang of it read it"),
            1);
  EXPECT_EQ(on_host.verdict(),  // A copy may read what is in host room.
            "I5: gang 0 of stamp 7 on island 0 started, but one of its devices was lost");
}

TEST(Checkers, I4IsTheOrderInWhichGangsWerePlaced) {
  Story skipped, unplaced, backwards;
  skipped.find(EventKind::kPlace)->value = 3;
  unplaced.without(EventKind::kPlace, 1);
  backwards.events.insert(backwards.find(EventKind::kLaunch) + 1,
                          {.stamp = kStamp - 1, .object = kRun, .kind = EventKind::kLaunch});

  EXPECT_EQ(skipped.verdict(),
            "I4: gang 2 of stamp 7 on island 0, number 3 of the order, never took its turn");
  EXPECT_EQ(unplaced.verdict(),
            "I4: gang 2 of stamp 7 on island 1 took its turn, but was never placed");
  EXPECT_EQ(backwards.verdict(), "I4: stamp 6 was launched on island 0 behind stamp 7");
}

TEST(Checkers, I4IsTheSameOrderOnEachDevice) {
  Story story;
  story.find(EventKind::kPlace)->value = 1;
  story.events.insert(story.find(EventKind::kPlace),
                      {.stamp = kStamp, .value = 2, .position = 1, .kind = EventKind::kPlace});

  EXPECT_EQ(story.verdict(),
            "I4: gang 1 of stamp 7 on island 0, number 1 of the order, took its turn on device 0 "
            "behind number 2");
}

TEST(Checkers, I5IsAGangAsAWholeToItsEnd) {
  Story twice, unfinished, ended, half;
  twice.twice(EventKind::kGangStart, 1, 2);
  unfinished.without(EventKind::kGangEnd, 1, 2);
  ended.twice(EventKind::kGangEnd, 1, 2);
  half.find(EventKind::kGangStart, 1, 2)->kind = EventKind::kGangNoop;
  half.without(EventKind::kGangEnd, 1, 2);

  EXPECT_EQ(twice.verdict(), "I5: gang 2 of stamp 7 on island 1 took its turn twice");
  EXPECT_EQ(unfinished.verdict(), "I5: gang 2 of stamp 7 on island 1 never ended");
  EXPECT_EQ(ended.verdict(), "I5: gang 2 of stamp 7 on island 1 ended, but did not run");
  EXPECT_EQ(half.verdict(), "I5: run 70 succeeded, but a gang of it did nothing");
}

TEST(Checkers, I6IsEveryInputAndRoomBeforeTheStart) {
  Story no_room, no_edge, not_loaded, no_output;
  no_room.without(EventKind::kAdmit);
  no_edge.without(EventKind::kReceive, 0, kEdge);
  not_loaded.without(EventKind::kArrayLoad);
  no_output.without(EventKind::kArrayAllocate);

  EXPECT_EQ(no_room.verdict(),
            "I6: gang 0 of stamp 7 on island 0 of run 70 started, but its part was never admitted: "
            "its room is not reserved");
  EXPECT_EQ(no_edge.verdict(),
            "I6: gang 1 of stamp 7 on island 0 of run 70 started, but edge 3 from island 1 was not "
            "received");
  EXPECT_EQ(not_loaded.verdict(),
            "I6: gang 0 of stamp 7 on island 0 of run 70 started, but array 50, which it reads, is "
            "not on its devices");
  EXPECT_EQ(no_output.verdict(),
            "I6: gang 1 of stamp 7 on island 0 of run 70 started, but its output, array 60, has no "
            "memory");
}

TEST(Checkers, I6IsEachEdgeOnceAfterItWasSent) {
  Story twice, unsent;
  twice.twice(EventKind::kReceive, 0, kEdge);
  unsent.without(EventKind::kSend, 1, kEdge);

  EXPECT_EQ(twice.verdict(), "I6: edge 3 of stamp 7 was received 2 times and sent 1 times");
  EXPECT_EQ(unsent.verdict(), "I6: edge 3 of stamp 7 was received 1 times and sent 0 times");
}

TEST(Checkers, I6IsTheEndOfTheGangThatMakesTheInput) {
  Story story;
  const auto end = story.find(EventKind::kGangEnd, 0, 0);
  std::rotate(end, end + 1, story.find(EventKind::kFinished));

  const std::vector<std::string> texts = story.verdicts();

  EXPECT_EQ(
      texts[0],
      "I17: gang 1 of stamp 7 on island 0 took its turn on device 0 while gang 0 of stamp 7 on "
      "island 0 ran there");
  EXPECT_EQ(texts[2],
            "I6: gang 1 of stamp 7 on island 0 of run 70 started, but gang 0, which makes what it "
            "reads, has not ended");
}

TEST(Checkers, I9IsEachArrayFreedOnceAndReadByNobodyAfterwards) {
  Story twice, never, read_after;
  twice.twice(EventKind::kArrayFree);
  never.events.pop_back();
  const auto free = read_after.events.end() - 2;
  std::rotate(read_after.find(EventKind::kGangStart), free, free + 1);

  EXPECT_EQ(twice.verdict(), "I9: array 50 on island 0 was freed, but did not exist");
  EXPECT_EQ(never.verdict(), "I9: array 60 on island 0 was never freed");
  EXPECT_EQ(
      read_after.verdict(),
      "I9: gang 0 of stamp 7 on island 0 of run 70 started, but array 50, which it reads, was "
      "freed");
}

TEST(Checkers, I9AndI10AndI11AreWhatClientsHoldWhileNothingMoves) {
  const auto verdict = [](const Stock& stock) {
    Verdict verdict;
    check_holders(verdict, stock);
    if (verdict.ok()) return std::string("clean");
    return verdict.violations()[0].invariant + ": " + verdict.violations()[0].text;
  };

  EXPECT_EQ(verdict({.held = 2, .known = 2, .on_hosts = 1, .devices = {{0, 1, 64, 64}}}), "clean");
  EXPECT_EQ(verdict({.held = 2, .known = 3, .on_hosts = 2, .devices = {}}),
            "I10: while nothing moves the controller knows 3 arrays, and clients hold 2");
  EXPECT_EQ(verdict({.held = 2, .known = 2, .on_hosts = 3, .devices = {}}),
            "I9: while nothing moves hosts store 3 arrays, and clients hold 2");
  EXPECT_EQ(verdict({.held = 2, .known = 2, .on_hosts = 2, .devices = {{0, 1, 128, 64}}}),
            "I11: while nothing moves device 1 of island 0 has 128 bytes in use, and its scheduler "
            "has reserved 64");
}

TEST(Checkers, I12IsALimitOfWhatClientsMayHaveWaiting) {
  Verdict verdict;
  check_backlog(verdict, 32, 2, 16);
  EXPECT_TRUE(verdict.ok());

  check_backlog(verdict, 33, 2, 16);

  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.violations()[0].text,
            "33 runs have no outcome at the controller, but 2 clients may have 16 each");
}

TEST(Checkers, I10IsAllShardsOfAnArrayTogether) {
  Story story;
  story.find(EventKind::kArrayFree)->value = kBytes / 2;

  EXPECT_EQ(story.verdict(),
            "I10: array 50 on island 0 gave back 32 bytes on each device, but took 64");
}

TEST(Checkers, I11IsTheBudgetOfEachDeviceAtEveryEvent) {
  Story used, reserved, hidden;
  used.used = kBudget + 1;
  reserved.reserved = kBudget + 1;
  hidden.used = kBytes;

  EXPECT_EQ(used.verdict(), "I11: device 0 of island 0 holds 257 bytes of 256");
  EXPECT_EQ(reserved.verdict(), "I11: device 0 of island 0 has reserved 257 bytes of 256");
  EXPECT_EQ(hidden.verdict(),
            "I11: device 0 of island 0 holds arrays of 128 bytes, but counts 64 bytes of 256");
}

TEST(Checkers, I12IsThatWhateverIsLaunchedEnds) {
  Story never, twice;
  never.without(EventKind::kFinished, 1);
  twice.twice(EventKind::kFinished, 1);

  EXPECT_EQ(never.verdict(),
            "I12: the part of stamp 7 on island 1, of run 70, never finished: it was admitted, 1 "
            "gangs were placed and 1 ended");
  EXPECT_EQ(twice.verdict(),
            "I12: the part of stamp 7 on island 1 finished, but was not launched, or had finished "
            "before");
}

/// Two tenants with weights 3 and 1, each with more one-gang runs than are served; of every four
/// gangs `of_four` are the first one's. Only the checker of shares looks.
std::string verdict_on_shares(std::uint64_t of_four) {
  const Story story;
  Verdict verdict;
  ShareChecker checker(story.surroundings, verdict);
  constexpr std::uint64_t kRuns = 3 * ShareChecker::kGangs;
  for (RunId run = 1; run <= kRuns; ++run) {
    for (TenantId tenant : {0u, 1u}) {
      checker.record({.object = 2 * run + tenant, .tenant = tenant, .kind = EventKind::kSubmit});
    }
  }
  std::map<TenantId, RunId> last = {{0, 0}, {1, 0}};
  for (Stamp stamp = 1; stamp <= 2 * ShareChecker::kGangs; ++stamp) {
    const TenantId tenant = stamp % 4 < of_four ? 0 : 1;
    const RunId run = 2 * ++last[tenant] + tenant;
    checker.record({.stamp = stamp, .object = run, .tenant = tenant, .kind = EventKind::kStamp});
    checker.record(
        {.stamp = stamp, .object = run, .tenant = tenant, .kind = EventKind::kGangStart});
  }
  EXPECT_EQ(checker.measured(), 2u);
  return verdict.ok() ? "clean" : verdict.violations()[0].text;
}

TEST(Checkers, I13IsTheShareOfTheWeightWithinATenth) {
  EXPECT_EQ(verdict_on_shares(3), "clean");
  EXPECT_EQ(
      verdict_on_shares(2),
      "tenant 0 of weight 3 of 4 started 500 of 1000 gangs on island 0 while its runs waited; "
      "750 are its share");
}

/// An admitted part of stamp 1 waits while gangs of later stamps pass it; then it is placed.
std::string verdict_on_waiting(std::uint64_t gangs) {
  const Story story;
  Verdict verdict;
  ShareChecker checker(story.surroundings, verdict);
  for (const EventKind kind : {EventKind::kPrepare, EventKind::kAdmit}) {
    checker.record({.stamp = 1, .tenant = 1, .island = 1, .kind = kind});
  }
  for (Stamp stamp = 2; stamp < 2 + gangs; ++stamp) {
    checker.record({.stamp = stamp, .position = 2, .island = 1, .kind = EventKind::kGangStart});
  }
  checker.record({.stamp = 1, .value = 1, .island = 1, .kind = EventKind::kPlace});
  for (Stamp stamp = 2; stamp < 2 + gangs; ++stamp) {
    checker.record({.stamp = stamp, .position = 2, .island = 1, .kind = EventKind::kGangStart});
  }
  return verdict.ok() ? "clean" : verdict.violations()[0].text;
}

TEST(Checkers, I13IsThatNoAdmittedPartStarves) {
  EXPECT_EQ(verdict_on_waiting(ShareChecker::kGangs), "clean");
  EXPECT_EQ(verdict_on_waiting(ShareChecker::kGangs + 1),
            "the part of stamp 1 on island 1, of tenant 1, starves: admitted, with 0 of 1 gangs "
            "placed, it was passed by 1001 gangs of later stamps");
}

TEST(Checkers, I20IsThatAllCountTheSame) {
  Story counts, gangs;
  counts.counts = {.runs = 1, .failed = 1};
  gangs.gangs = 3;

  EXPECT_EQ(counts.verdict(),
            "I20: by the controller's events 1 runs were ok, by the clients' count 0");
  EXPECT_EQ(gangs.verdict(), "I20: device 0 of island 0 ran 2 gangs, but its statistics say 3");
}

TEST(Checkers, I25IsOneHashForOneSeed) {
  SeedReport first, second;
  first.seed = second.seed = 4;
  first.hash = second.hash = 17;
  check_repeats(first, second);
  EXPECT_EQ(first.breach, Breach::kNone);

  second.hash = 18;
  second.steps = 5;
  check_repeats(first, second);

  EXPECT_EQ(first.breach, Breach::kDeterminism);
  EXPECT_EQ(first.violations[0].text,
            "two runs of seed 4 differ: 0000000000000011 after 0 steps, 0000000000000012 after 5");
}

}  // namespace
}  // namespace seaway::sim
