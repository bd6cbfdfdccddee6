// Which cluster: options, then the environment, then what to do.

#include "front/settings.hpp"

#include <gtest/gtest.h>

namespace seaway::front {
namespace {

using Words = std::map<std::string, std::string>;

Result<FrontOptions> read(const Words& options, const Words& environment) {
  return read_settings(options, [&environment](const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(FrontSettings, NameAClusterAndInWhoseNameItIsUsed) {
  const Words environment = {
      {"SEAWAY_CLUSTER", "unix:/a"}, {"SEAWAY_TENANT", "me"}, {"SEAWAY_WEIGHT", "3"}};

  const FrontOptions front = read({}, environment).value();
  const FrontOptions other = read({{"cluster", "unix:/b"}, {"tenant", "you"}}, environment).value();

  EXPECT_EQ(front.cluster, "unix:/a");
  EXPECT_EQ(front.tenant, "me");
  EXPECT_EQ(front.weight, 3u);
  EXPECT_EQ(other.cluster, "unix:/b");
  EXPECT_EQ(other.tenant, "you");
}

TEST(FrontSettings, OrAPluginWhoseDevicesThisProcessServes) {
  const Words environment = {
      {"SEAWAY_JAX_BACKEND", "/p.so"}, {"SEAWAY_JAX_ISLANDS", ""}, {"SEAWAY_JAX_DEVICES", "4"}};

  const FrontOptions front = read({}, environment).value();

  EXPECT_EQ(front.cluster, "embedded:islands=1,devices=4,backend=pjrt:/p.so");
  EXPECT_EQ(front.tenant, "default");
}

TEST(FrontSettings, SayHowFarAheadAProcessRunsThatServesTheDevicesItself) {
  const Words served = {{"SEAWAY_JAX_BACKEND", "/p.so"}}, there = {{"SEAWAY_CLUSTER", "unix:/a"}};

  EXPECT_EQ(read({}, served)->ahead, 64u);
  EXPECT_EQ(read({}, {{"SEAWAY_CLUSTER", "embedded:islands=2"}})->ahead, 64u);
  EXPECT_EQ(read({}, there)->ahead, 0u);
  EXPECT_EQ(read({{"ahead", "5"}}, served)->ahead, 5u);
  EXPECT_EQ(read({}, {{"SEAWAY_CLUSTER", "unix:/a"}, {"SEAWAY_JAX_AHEAD", "7"}})->ahead, 7u);
  EXPECT_EQ(read({{"ahead", "-1"}}, served).status(),
            invalid_argument("setting ahead of Seaway's plugin is \"-1\", which is no number"));
}

TEST(FrontSettings, SayWhatIsWrongOrMissing) {
  EXPECT_EQ(read({}, {}).status(),
            invalid_argument("there is no cluster: set SEAWAY_CLUSTER to the address of one, which "
                             "`seaway up --backend pjrt:/path/plugin.so` prints, or "
                             "SEAWAY_JAX_BACKEND to the path of a PJRT plugin, whose devices this "
                             "process serves itself then"));
  EXPECT_EQ(read({{"colour", "red"}}, {}).status(),
            invalid_argument("option \"colour\" is none of Seaway's plugin; there are: cluster "
                             "backend islands devices tenant weight ahead"));
  EXPECT_EQ(read({{"weight", "much"}}, {}).status(),
            invalid_argument("setting weight of Seaway's plugin is \"much\", which is no number"));
}

}  // namespace
}  // namespace seaway::front
