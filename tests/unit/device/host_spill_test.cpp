// Arrays in host room that lie in a file: who waits for them, who comes first, what is lost.

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

/// A file whose transfers end when the test says so.
class FakeSpill final : public store::SpillFile {
 public:
  void write(std::shared_ptr<store::SpillJob> job, Done done) override {
    jobs.push_back({true, std::move(job), std::move(done)});
  }
  void read(std::shared_ptr<store::SpillJob> job, Done done) override {
    jobs.push_back({false, std::move(job), std::move(done)});
  }
  void close() override { jobs.clear(); }

  /// What is under way: "write 50, read 51".
  std::string open() const {
    std::string text;
    for (const Job& job : jobs) {
      text += (text.empty() ? "" : ", ") + std::string(job.is_write ? "write " : "read ") +
              std::to_string(job.job->array) + (job.job->is_cancelled ? " (cancelled)" : "");
    }
    return text;
  }
  /// Ends the first one.
  void end(Status status = {}) {
    ASSERT_FALSE(jobs.empty());
    const Job job = std::move(jobs.front());
    jobs.pop_front();
    if (status.ok()) {
      status = store::move_shards(
          *job.job, job.is_write, [&](std::uint64_t offset, std::span<std::byte> part) {
            bytes.resize(std::max<std::size_t>(bytes.size(), offset + part.size()));
            if (job.is_write) {
              std::memcpy(bytes.data() + offset, part.data(), part.size());
            } else {
              std::memcpy(part.data(), bytes.data() + offset, part.size());
            }
            return Status();
          });
    }
    job.done(status);
  }

  struct Job {
    bool is_write;
    std::shared_ptr<store::SpillJob> job;
    Done done;
  };
  std::deque<Job> jobs;
  std::vector<std::byte> bytes;
};

/// One device; arrays 50, 51, .. were made of rows 1, 2, .. and spilled, with memory for one.
class HostSpill : public testing::Test {
 protected:
  HostSpill() { open(kShardBytes); }

  void open(std::uint64_t spill_memory) {
    world.reset();
    world = std::make_unique<HostWorld>(1, 1 << 20, 0, nullptr, Integrity{}, 1, nullptr, nullptr,
                                        &file, spill_memory);
    world->core.watch_spill([this] { world->core.advance(); });
  }
  /// Array 50 + index is on the device, and holds 2 + index.
  void make(int index) {
    PartMaker part(1, {0});
    part.gang({part.arg()}, {part.output()});
    const ArrayId input = 1000 + index, output = 50 + index;
    world->put(input, HostWorld::row(static_cast<float>(1 + index)));
    world->run(++stamp, part, {input, output});
    world->free(input);
    world->core.advance();
    world->said();
  }
  void spill(int index) {
    world->spill(50 + index);
    world->core.advance();
  }
  void make_and_spill(int count) {
    for (int i = 0; i < count; ++i) {
      make(i);
      spill(i);
      while (!file.jobs.empty()) file.end();
    }
    world->said();
  }
  /// A part that adds 1 to the sum of `inputs` and gives `output`.
  PartMaker sum(std::size_t inputs) {
    PartMaker part(10 + inputs, {0});
    std::vector<std::uint32_t> operands;
    for (std::size_t i = 0; i < inputs; ++i) operands.push_back(part.arg());
    part.gang(operands, {part.output()});
    return part;
  }
  const store::SpillCounts& counts() { return world->core.spill_tiers()->counts(); }
  std::string place(ArrayId array) {
    for (const HostArray& one : world->core.state().arrays) {
      if (one.array != array) continue;
      return one.is_poison                                ? "poison"
             : one.place == HostArray::Place::kSpillRoom  ? "spill room"
             : one.place == HostArray::Place::kDevice     ? "device"
             : one.place == HostArray::Place::kUploadRoom ? "upload room"
                                                          : "nowhere";
    }
    return "gone";
  }
  void expect_nothing_left() {
    while (!file.jobs.empty()) file.end();
    EXPECT_EQ(counts().file_bytes, 0u);
    EXPECT_EQ(counts().memory_bytes, 0u);
    EXPECT_EQ(world->core.array_count(), 0u);
    EXPECT_TRUE(world->core.spill_tiers()->is_quiet());
  }

  FakeSpill file;
  std::unique_ptr<HostWorld> world;
  Stamp stamp = 0;
};

TEST_F(HostSpill, WhatMemoryHasNoRoomForGoesToTheFileAndTheSchedulerHearsBehindIt) {
  make(0);
  make(1);
  spill(0);
  EXPECT_EQ(world->said(), "spilled 50");
  EXPECT_EQ(file.open(), "");

  spill(1);
  EXPECT_EQ(world->said(), "") << "memory has more than it may have";
  EXPECT_EQ(file.open(), "write 50");
  file.end();

  EXPECT_EQ(world->said(), "spilled 51");
  EXPECT_EQ(counts().memory_bytes, kShardBytes);
  EXPECT_EQ(counts().file_bytes, kShardBytes);
  EXPECT_EQ(place(50), "spill room");
  EXPECT_EQ(place(51), "spill room");
}

TEST_F(HostSpill, AGangWaitsForItsArrayAndOthersGoOn) {
  make_and_spill(2);
  world->put(70, HostWorld::row(10));
  world->launch(++stamp, sum(1), {50, 60});
  world->core.advance();
  // It is read ahead, as memory makes room.
  EXPECT_EQ(file.open(), "write 51");
  file.end();
  EXPECT_EQ(file.open(), "read 50");

  world->admit(stamp);
  world->place(stamp, 0, 1);
  world->core.advance();
  EXPECT_EQ(world->said(), "");
  EXPECT_NE(world->core.why(stamp).find("for array 50, which is read from the file"),
            std::string::npos)
      << world->core.why(stamp);
  file.end();

  EXPECT_EQ(world->said(), "gangs 3 0-1");
  EXPECT_EQ(world->value(60), "3");
  EXPECT_EQ(counts().reads_waited, 1u);
  EXPECT_EQ(counts().file_bytes, kShardBytes);
}

TEST_F(HostSpill, AnArrayThatWasReadAheadIsNotWaitedFor) {
  make_and_spill(2);
  world->launch(++stamp, sum(1), {50, 60});
  world->core.advance();
  file.end();
  file.end();

  world->admit(stamp);
  world->place(stamp, 0, 1);
  world->core.advance();

  EXPECT_EQ(world->said(), "gangs 3 0-1");
  EXPECT_EQ(counts().reads_ahead, 1u);
  EXPECT_EQ(counts().reads_waited, 0u);
}

TEST_F(HostSpill, ReadsAheadInTheOrderOfRuns) {
  open(2 * kShardBytes);
  make_and_spill(4);
  ASSERT_EQ(counts().file_bytes, 2 * kShardBytes);

  world->launch(++stamp, sum(1), {51, 60});
  world->launch(++stamp, sum(1), {50, 61});
  world->core.advance();
  std::vector<std::string> seen;
  while (!file.jobs.empty()) {
    if (!file.jobs.front().is_write) {
      seen.push_back("read " + std::to_string(file.jobs.front().job->array));
    }
    file.end();
  }

  EXPECT_EQ(seen, (std::vector<std::string>{"read 51", "read 50"}));
}

TEST_F(HostSpill, AGangWithMoreInputsThanMemoryHoldsGetsAllOfThem) {
  make_and_spill(4);
  world->run(++stamp, sum(3), {50, 51, 52, 60});
  int transfers = 0;
  for (; !file.jobs.empty() && transfers < 100; ++transfers) file.end();

  EXPECT_EQ(world->said(), "gangs 5 0-1");
  EXPECT_EQ(world->value(60), "10");  // 2 + 3 + 4 + 1.
  EXPECT_LT(transfers, 10);
}

TEST_F(HostSpill, AClientIsGivenWhatLiesInTheFile) {
  make_and_spill(2);

  world->fetch(50, 3);
  world->fetch(50, 4);
  world->core.advance();
  EXPECT_EQ(world->answers(), "");
  ASSERT_EQ(file.open(), "read 50, write 51");
  file.end();

  EXPECT_EQ(world->answers(), "3: 2, 4: 2");
  while (!file.jobs.empty()) file.end();
  EXPECT_EQ(counts().memory_bytes, kShardBytes) << "the other one has made room";
}

TEST_F(HostSpill, WhatIsFreedBeforeAClientHasItIsGivenToHimFirst) {
  make_and_spill(2);
  world->fetch(50, 3);
  world->core.advance();
  ASSERT_EQ(file.open(), "read 50, write 51");

  world->free(50);
  world->core.advance();
  EXPECT_EQ(place(50), "gone") << "the scheduler need not know of it";
  file.end();

  EXPECT_EQ(world->answers(), "3: 2");
  world->free(51);
  world->core.advance();
  expect_nothing_left();
}

TEST_F(HostSpill, WhatIsFreedOnItsWayGivesItsPlaceBackOnce) {
  make_and_spill(2);  // 50 lies in the file.
  make(2);
  spill(2);
  ASSERT_EQ(file.open(), "write 51");

  world->free(51);
  world->free(50);
  world->core.advance();
  EXPECT_EQ(file.open(), "write 51 (cancelled)");
  EXPECT_EQ(counts().file_bytes, kShardBytes);
  file.end(cancelled("nobody needs it"));
  world->free(52);
  world->core.advance();

  expect_nothing_left();
}

TEST_F(HostSpill, WhatIsFreedWhileItIsReadIsGoneWhenThatEnds) {
  make_and_spill(2);
  world->launch(++stamp, sum(1), {50, 60});
  world->core.advance();
  file.end();
  ASSERT_EQ(file.open(), "read 50");

  world->cancel(stamp);
  world->free(50);
  world->free(51);
  world->free(60);
  world->core.advance();

  expect_nothing_left();
}

TEST_F(HostSpill, AGangThatFailedWaitsForNothing) {
  make_and_spill(2);
  PartMaker part(20, {0});
  part.gang({}, {}).gang({part.arg()}, {part.output()});
  world->backend.failure = user_function_error("broken");
  world->run(++stamp, part, {50, 60});

  EXPECT_EQ(world->said(), "gangs 3 0-2, failed 3 USER_FUNCTION_ERROR: broken");
}

TEST_F(HostSpill, WhatHasChangedInTheFileIsPoisonWithItsName) {
  make_and_spill(2);
  file.bytes[5] ^= std::byte{4};

  world->run(++stamp, sum(1), {50, 60});
  while (!file.jobs.empty()) file.end();

  const std::string said = world->said();
  EXPECT_NE(said.find("failed 3 INPUT_LOST: array 50, argument 0 of run 103: DATA_CORRUPTION: "
                      "array 50 has changed in the file of island 0, in shard 0: its CRC-32C was"),
            std::string::npos)
      << said;
  EXPECT_EQ(world->value(50).find("DATA_CORRUPTION: array 50 has changed in the file"), 0u);
  EXPECT_EQ(place(50), "poison");
  world->fetch(51, 3);
  world->core.advance();
  while (!file.jobs.empty()) file.end();
  EXPECT_EQ(world->answers(), "3: 3") << "nothing else is touched";
}

TEST_F(HostSpill, WhatCannotBeReadIsLostWithItsReason) {
  make_and_spill(2);
  world->fetch(50, 3);
  world->run(++stamp, sum(1), {50, 60});
  file.end({StatusCode::kDataCorruption, "the disk fails"});

  const std::string why =
      "INPUT_LOST: array 50 cannot be read back from the file of island 0: DATA_CORRUPTION: the "
      "disk fails";
  EXPECT_EQ(world->answers(), "3: " + why);
  EXPECT_EQ(world->said(), "gangs 3 0-1, failed 3 " + why);
  for (const ArrayId array : {50, 51, 60}) world->free(array);
  world->core.advance();
  expect_nothing_left();
}

TEST_F(HostSpill, WhatCannotBeWrittenStaysInMemoryAndIsToldOnceAndTriedAgain) {
  make(0);
  make(1);
  spill(0);
  spill(1);
  world->said();
  file.end(resource_exhausted("the disk is full"));

  EXPECT_EQ(world->said(), "spilled 51") << "nobody waits for what does not come";
  EXPECT_EQ(file.open(), "");
  ASSERT_TRUE(world->core.due_ns().has_value());
  world->clock.advance_to(*world->core.due_ns());
  world->core.tick(world->clock.now_ns());
  world->core.advance();
  EXPECT_EQ(file.open(), "write 50");
  file.end(resource_exhausted("the disk is full"));
  std::size_t told = 0;
  for (std::size_t i = 0; i < world->events.ring().size(); ++i) {
    told += world->events.ring().at(i).kind == events::EventKind::kSpillWrite;
  }
  EXPECT_EQ(told, 1u);
  EXPECT_EQ(world->value(50), "2");
}

TEST_F(HostSpill, ANewViewFindsSpilledArraysAndHearsOfNoneTwice) {
  make(0);
  make(1);
  spill(0);
  world->said();
  spill(1);
  ASSERT_EQ(file.open(), "write 50");

  world->core.begin_view();
  EXPECT_EQ(place(50), "spill room");
  EXPECT_EQ(place(51), "spill room");
  file.end();

  EXPECT_EQ(world->said(), "");
}

TEST_F(HostSpill, ALostDeviceLeavesWhatLiesInTheFile) {
  make_and_spill(2);

  world->lose(0);

  world->fetch(50, 3);
  world->core.advance();
  file.end();
  EXPECT_EQ(world->answers(), "3: 2");
}

TEST_F(HostSpill, AGangDoesNotOverwriteWhatIsBeingWritten) {
  make(0);
  make(1);
  spill(0);
  spill(1);
  ASSERT_EQ(file.open(), "write 50");

  world->run(++stamp, sum(1), {50, 60});
  EXPECT_EQ(world->backend.runs, 2u) << "those that made the arrays";
  EXPECT_EQ(file.open(), "write 50 (cancelled)");
  file.end(cancelled("nobody needs it"));

  EXPECT_EQ(world->backend.runs, 3u);
  EXPECT_EQ(world->value(60), "3");
}

}  // namespace
}  // namespace seaway::device
