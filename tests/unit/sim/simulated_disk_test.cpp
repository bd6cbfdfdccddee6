// Simulated disks: what a crash leaves, and what a full, slow or failing disk says.

#include "sim/simulated_disk.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "unit/sim/disk_log.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kSeeds = 1000;
constexpr std::uint64_t kLatencyNs = 5'000;

std::vector<std::byte> block(std::size_t size, unsigned value = 7) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

/// A file whose name and first bytes, of value 1, have been synced.
std::unique_ptr<File> make_synced(Disk& disk, std::size_t size) {
  auto file = disk.open("a", OpenMode::kNew).value();
  EXPECT_TRUE(file->append(block(size, 1)).ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(disk.sync_directory("").ok());
  return file;
}

std::vector<std::byte> content_of(Disk& disk) {
  return disk.open("a", OpenMode::kExisting).value()->read(0, 1 << 20).value();
}

TEST(SimulatedDisk, ACrashLeavesTornAndLosesWhatWasNotSyncedAndNothingElse) {
  ManualClock clock;
  SimulatedDisk::Counts counts;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimulatedDisk disk({.seed = seed}, clock);
    const auto file = make_synced(disk, 3 * kSectorBytes);
    ASSERT_TRUE(file->write_at(kSectorBytes / 2, block(2 * kSectorBytes, 2)).ok());

    disk.crash();

    const std::vector<std::byte> content = content_of(disk);
    ASSERT_EQ(content.size(), 3 * kSectorBytes) << "seed " << seed;
    const auto changed = std::count(content.begin(), content.end(), std::byte{2});
    const std::set<std::ptrdiff_t> possible = {0, kSectorBytes / 2, kSectorBytes * 3 / 2,
                                               kSectorBytes * 2};
    EXPECT_TRUE(possible.contains(changed)) << "seed " << seed << ": " << changed;
    counts.survivals += disk.counts().survivals;
    counts.losses += disk.counts().losses;
    counts.tears += disk.counts().tears;
  }

  EXPECT_GT(counts.survivals, 10u);
  EXPECT_GT(counts.losses, 10u);
  EXPECT_GT(counts.tears, 10u);
  EXPECT_EQ(counts.survivals + counts.losses + counts.tears, 100u);
}

TEST(SimulatedDisk, WritesThatWereNotSyncedSurviveOneWithoutTheOther) {
  ManualClock clock;
  std::set<std::pair<bool, bool>> seen;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimulatedDisk disk({.seed = seed}, clock);
    const auto file = make_synced(disk, 20);
    ASSERT_TRUE(file->write_at(0, block(10, 2)).ok());
    ASSERT_TRUE(file->write_at(10, block(10, 2)).ok());

    disk.crash();

    const std::vector<std::byte> content = content_of(disk);
    seen.emplace(content[0] == std::byte{2}, content[10] == std::byte{2});
  }

  EXPECT_EQ(seen.size(), 4u);
}

TEST(SimulatedDisk, ARenameThatWasNotSyncedMayBeUndoneAndIsNeverHalfDone) {
  ManualClock clock;
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimulatedDisk disk({.seed = seed}, clock);
    make_synced(disk, 1);
    const auto file = disk.open("b", OpenMode::kNew).value();
    ASSERT_TRUE(file->append(block(2)).ok());
    ASSERT_TRUE(file->sync().ok());
    ASSERT_TRUE(disk.sync_directory("").ok());
    ASSERT_TRUE(disk.rename("b", "a").ok());

    disk.crash();

    const std::size_t names = disk.list("").value().size();
    seen.insert(std::to_string(names) + " names, " + std::to_string(content_of(disk).size()));
  }

  EXPECT_EQ(seen, (std::set<std::string>{"2 names, 1", "1 names, 2"}));
}

TEST(SimulatedDisk, ANameThatWasNotSyncedIsLostThoughItsContentWas) {
  ManualClock clock;
  std::set<std::size_t> names;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimulatedDisk disk({.seed = seed}, clock);
    const auto file = disk.open("a", OpenMode::kNew).value();
    ASSERT_TRUE(file->append(block(1)).ok());
    ASSERT_TRUE(file->sync().ok());

    disk.crash();

    names.insert(disk.list("").value().size());
  }

  EXPECT_EQ(names, (std::set<std::size_t>{0, 1}));
}

TEST(SimulatedDisk, AFileThatWasOpenBeforeACrashSaysSo) {
  ManualClock clock;
  SimulatedDisk disk({.machine = 3}, clock);
  const auto file = make_synced(disk, 1);

  disk.crash();

  const Status status = file->append(block(1));
  EXPECT_EQ(status.code(), StatusCode::kHostLost);
  EXPECT_NE(status.message().find("'a' on the disk of machine 3 was opened before"),
            std::string::npos)
      << status.message();
  EXPECT_EQ(file->sync().code(), StatusCode::kHostLost);
  EXPECT_EQ(file->size().status().code(), StatusCode::kHostLost);
  EXPECT_EQ(file->read(0, 1).status().code(), StatusCode::kHostLost);
}

TEST(SimulatedDisk, AFullOneTakesWhatFitsAndHasRoomAgainWhenSomethingIsRemoved) {
  ManualClock clock;
  SimulatedDisk disk({.bytes_max = 100}, clock);
  const auto file = make_synced(disk, 80);
  const auto other = disk.open("b", OpenMode::kNew).value();

  const Status refused = other->append(block(30));
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find("cannot write 30 bytes to 'b' on the disk of machine 0: 80 of "
                                   "100 bytes are in use"),
            std::string::npos)
      << refused.message();
  EXPECT_EQ(other->size().value(), 20u);
  EXPECT_TRUE(file->write_at(0, block(80)).ok());  // It does not grow.
  ASSERT_TRUE(disk.remove("a").ok());

  EXPECT_TRUE(other->append(block(80)).ok());
  EXPECT_EQ(disk.used_bytes(), 100u);
  EXPECT_EQ(disk.counts().refusals, 1u);
}

TEST(SimulatedDisk, AfterAFailedSyncWhatWasNotSyncedIsGoneAndNoLaterSyncSaysOtherwise) {
  ManualClock clock;
  SimulatedDisk disk({}, clock);
  const auto file = make_synced(disk, 10);
  const auto other = disk.open("a", OpenMode::kExisting).value();
  ASSERT_TRUE(file->append(block(10)).ok());
  disk.set_faults({.sync_error = 1000});

  EXPECT_EQ(file->sync().code(), StatusCode::kDataCorruption);
  disk.set_faults({});
  EXPECT_EQ(file->sync().code(), StatusCode::kDataCorruption);
  EXPECT_EQ(other->sync().code(), StatusCode::kDataCorruption);
  EXPECT_EQ(file->append(block(10)).code(), StatusCode::kDataCorruption);

  const auto anew = disk.open("a", OpenMode::kExisting).value();
  EXPECT_EQ(anew->size().value(), 10u);
  EXPECT_TRUE(anew->append(block(5)).ok());
  EXPECT_TRUE(anew->sync().ok());
  disk.crash();
  EXPECT_EQ(content_of(disk).size(), 15u);
}

TEST(SimulatedDisk, AFailingOneSaysSoAndAShortWriteLeavesAFirstPart) {
  ManualClock clock;
  SimulatedDisk disk({}, clock);
  const auto file = make_synced(disk, 10);

  disk.set_faults({.read_error = 1000, .write_error = 1000});
  EXPECT_EQ(file->read(0, 1).status().code(), StatusCode::kDataCorruption);
  EXPECT_EQ(file->append(block(10)).code(), StatusCode::kDataCorruption);
  EXPECT_EQ(file->size().value(), 10u);
  disk.set_faults({.short_write = 1000});
  EXPECT_EQ(file->append(block(1000)).code(), StatusCode::kDataCorruption);

  EXPECT_GT(file->size().value(), 10u);
  EXPECT_LT(file->size().value(), 1010u);
  EXPECT_EQ(disk.counts().read_errors, 1u);
  EXPECT_EQ(disk.counts().write_errors, 1u);
  EXPECT_EQ(disk.counts().short_writes, 1u);
}

TEST(SimulatedDisk, ASlowOneSaysWhenWhatWasAskedIsDoneOneThingAfterAnother) {
  ManualClock clock;
  clock.advance_to(1'000'000);
  SimulatedDisk disk({.latency_max_ns = kLatencyNs}, clock);
  EXPECT_EQ(disk.due_ns(), 0u);

  const auto file = make_synced(disk, 10);
  const std::uint64_t first_ns = disk.due_ns();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(file->sync().ok());
  const std::uint64_t last_ns = disk.due_ns();
  clock.advance_to(2'000'000);
  ASSERT_TRUE(file->sync().ok());

  EXPECT_GT(first_ns, 1'000'000u);
  EXPECT_LE(first_ns, 1'000'000u + 4 * kLatencyNs);
  EXPECT_GT(last_ns, first_ns);
  EXPECT_LE(last_ns, first_ns + 10 * kLatencyNs);
  EXPECT_GE(disk.due_ns(), 2'000'000u);
}

TEST(SimulatedDisk, OneSeedGivesOneCrashAndMachinesDiffer) {
  ManualClock clock;
  std::set<std::string> outcomes;
  for (std::uint32_t machine = 0; machine < 20; ++machine) {
    std::string twice[2];
    for (std::string& outcome : twice) {
      SimulatedDisk disk({.seed = 5, .machine = machine}, clock);
      const auto file = make_synced(disk, 1);
      for (unsigned i = 0; i < 20; ++i) ASSERT_TRUE(file->append(block(1, 'a' + i)).ok());
      disk.crash();
      for (const std::byte byte : content_of(disk)) outcome += static_cast<char>(byte);
    }
    EXPECT_EQ(twice[0], twice[1]);
    outcomes.insert(twice[0]);
  }

  EXPECT_GE(outcomes.size(), 19u);
}

/// Writes, crashes and recovers a log several times. Empty when it kept what it must: all that was
/// acknowledged, in order, and behind that nothing but what was being written.
std::string lives_of_a_log(std::uint64_t seed, DiskLog::Carelessness careless) {
  ManualClock clock;
  RandomStream random(seed, 1);
  SimulatedDisk disk({.seed = seed}, clock);
  std::vector<std::string> acknowledged;
  for (int life = 0; life < 4; ++life) {
    DiskLog log(disk, careless);
    const auto found = log.recover();
    if (!found.ok()) return "it cannot be recovered: " + found.status().to_string();
    for (std::size_t i = 0; i < acknowledged.size(); ++i) {
      if (i >= found->size() || (*found)[i] != acknowledged[i]) {
        return "record " + std::to_string(i) + " of " + std::to_string(acknowledged.size()) +
               " that were acknowledged is lost";
      }
    }
    if (found->size() > acknowledged.size() + 1) return "there is more than was written";
    acknowledged = *found;
    if (seed % 2 == 0) disk.set_faults({.write_error = 20, .short_write = 20, .sync_error = 20});
    const std::uint64_t records = random.below(10);
    for (std::uint64_t i = 0; i < records; ++i) {
      const std::string record(random.below(2000), static_cast<char>('a' + random.below(26)));
      if (random.chance(10)) {
        // The crash comes between the write and its sync.
        static_cast<void>(log.write(record));
        break;
      }
      if (!log.append(record).ok()) break;
      acknowledged.push_back(record);
    }
    disk.set_faults({});
    disk.crash();
  }
  return "";
}

TEST(SimulatedDisk, AWriteAheadLogKeepsWhatItAcknowledgedOverAThousandSeedsOfCrashes) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ASSERT_EQ(lives_of_a_log(seed, DiskLog::Carelessness::kNone), "") << "seed " << seed;
  }
}

TEST(SimulatedDisk, ALogThatForgetsASyncIsFoundOut) {
  for (const auto careless :
       {DiskLog::Carelessness::kNoSync, DiskLog::Carelessness::kNoSyncBeforeRename,
        DiskLog::Carelessness::kNoDirectorySync, DiskLog::Carelessness::kIgnoresFailedSync}) {
    std::uint64_t found_out = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      found_out += !lives_of_a_log(seed, careless).empty();
    }
    EXPECT_GT(found_out, kSeeds / 20) << static_cast<int>(careless);
  }
}

}  // namespace
}  // namespace seaway::sim
