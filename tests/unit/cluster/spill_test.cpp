// Working sets larger than device memory and what spilled arrays may have of the host's: the rest
// lies in a file.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cluster_fixture.hpp"
#include "seaway/inspect.hpp"

namespace seaway {
namespace {

constexpr std::int64_t kElements = 4096;  // 16 KiB on one device.
constexpr std::uint64_t kBytes = kElements * sizeof(float);

struct World {
  explicit World(const std::string& more)
      : cluster(Cluster::start(
                    "embedded:devices=2,threads=4,device_memory=" + std::to_string(4 * kBytes) +
                    ",host_memory=" + std::to_string(64 * kBytes) + more)
                    .value()),
        client(cluster.connect().value()),
        slice(acquire(client, 2)),
        next(client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({kElements / 2})})
                 .value()),
        program(client.program("f", [&](Traced v) { return next(v); }, {spec()}).value()) {}

  ArraySpec spec() const { return {f32({kElements}), rows(slice)}; }
  Array put(float first) {
    return client.put<float>(counted(kElements, first), {kElements}, rows(slice));
  }

  Cluster cluster;
  Client client;
  Slice slice;
  Function next;
  Program program;
};

store::SpillCounts counts_of(const Cluster& cluster) {
  return ask<store::SpillCounts>(cluster, [](cluster::Embedded& embedded) {
    return embedded.host(0).spill_tiers()->counts();
  });
}

TEST(Spill, AWorkingSetThatNeitherDevicesNorMemoryHoldGivesTheRightValues) {
  World world(",spill_memory=" + std::to_string(4 * kBytes));
  std::vector<Array> values;
  for (int i = 0; i < 24; ++i) values.push_back(world.put(static_cast<float>(100 * i)));

  for (int round = 0; round < 5; ++round) {
    for (Array& value : values) value = world.program.execute({value}).output(0);
  }

  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(read(values[i]), counted(kElements, static_cast<float>(100 * i + 5))) << i;
  }
  const store::SpillCounts counts = counts_of(world.cluster);
  EXPECT_GT(counts.writes, 0u);
  EXPECT_GT(counts.reads_ahead + counts.reads_waited, 0u);
  EXPECT_EQ(counts.failures, 0u);
  EXPECT_GT(counts.file_bytes, 0u);
  const ClusterStats seen = stats(world.cluster).value();
  ASSERT_EQ(seen.spills.size(), 1u);
  EXPECT_GT(seen.spills[0].reads_ahead + seen.spills[0].reads_waited, 0u);
  EXPECT_NE(seen.to_string().find("island 0, host room: "), std::string::npos) << seen.to_string();
  values.clear();
  EXPECT_TRUE(eventually(world.cluster, [](cluster::Embedded& embedded) {
    const store::SpillTiers& tiers = *embedded.host(0).spill_tiers();
    return tiers.array_count() == 0 && tiers.counts().file_bytes == 0 &&
           tiers.counts().memory_bytes == 0;
  }));
}

TEST(Spill, TheFileIsInTheDirectoryThatIsNamedAndHasNoNameThere) {
  std::string directory = testing::TempDir() + "spillXXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  {
    World world(",spill_memory=1,spill_directory=" + directory);
    std::vector<Array> values;
    for (int i = 0; i < 16; ++i) {
      values.push_back(world.program.execute({world.put(static_cast<float>(i))}).output(0));
    }
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(read(values[i]), counted(kElements, static_cast<float>(i + 1))) << i;
    }
    EXPECT_GT(counts_of(world.cluster).writes, 0u);
    EXPECT_TRUE(std::filesystem::is_empty(directory));
  }
  EXPECT_TRUE(std::filesystem::remove(directory));
}

TEST(Spill, WithoutALimitThereIsNoFile) {
  World world("");

  EXPECT_TRUE(ask<bool>(world.cluster, [](cluster::Embedded& embedded) {
    return embedded.host(0).spill_tiers() == nullptr;
  }));
  EXPECT_TRUE(stats(world.cluster).value().spills.empty());
}

TEST(Spill, WordsThatAreWrongAreNamed) {
  const auto refusal = [](const std::string& words) {
    return Cluster::start("embedded:" + words).status();
  };
  EXPECT_EQ(refusal("spill_memory=0"),
            invalid_argument("cluster option spill_memory=0 is not a size above 0; without it all "
                             "is memory"));
  EXPECT_EQ(refusal("spill_memory=much").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal("spill_memory=1MiB,spill_directory=here"),
            invalid_argument("cluster option spill_directory=here is not the whole path of a "
                             "directory, from / on, of at most 4096 bytes"));
  EXPECT_EQ(refusal("spill_directory=/var"),
            invalid_argument("cluster option spill_directory=/var names a place for what has no "
                             "room in memory, but memory has no limit; add spill_memory=256MiB"));
  const Status missing = refusal("spill_memory=1MiB,spill_directory=/nowhere/at/all");
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_NE(missing.message().find("spill_memory=1048576: cannot make a file without a name in "
                                   "/nowhere/at/all"),
            std::string::npos)
      << missing.message();
}

}  // namespace
}  // namespace seaway
