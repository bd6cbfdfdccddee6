// Numbers of processes: each has one, and says who it is.

#include "cluster/shape.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "cluster/embedded.hpp"
#include "cluster/role_options.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;
using transport::ProcessId;

std::vector<RoleName> roles_of(const Shape& shape) {
  std::vector<RoleName> roles = {{Role::kController, 0}};
  for (IslandId island = 0; island < shape.islands; ++island) {
    roles.push_back({Role::kIsland, island});
    roles.push_back({Role::kHost, island});
    for (std::uint32_t host = 1; host < shape.hosts; ++host) {
      roles.push_back({Role::kAnnex, actor::annex_of(island, host)});
    }
  }
  return roles;
}

TEST(Shape, EachRoleHasAProcessAndEachProcessARole) {
  for (const Shape& shape : {Shape(1), Shape(3), Shape(1, 2), Shape(3, 4), Shape(1024, 64)}) {
    std::set<ProcessId> processes;
    const std::vector<RoleName> roles = roles_of(shape);
    for (const RoleName& name : roles) {
      const ProcessId process = process_of(name, shape);
      EXPECT_EQ(role_of(process, shape), name) << process;
      EXPECT_LE(process, last_role_process(shape));
      processes.insert(process);
    }
    EXPECT_EQ(processes.size(), roles.size());
    EXPECT_EQ(*processes.rbegin(), last_role_process(shape)) << "none is left out";
  }
}

TEST(Shape, ClientsAreBehindAllRoles) {
  for (const Shape& shape : {Shape(2), Shape(2, 3)}) {
    for (const RoleName& name : {RoleName{Role::kClient, 1}, RoleName{Role::kClient, 77}}) {
      EXPECT_EQ(process_of(name, shape), last_role_process(shape) + name.index);
      EXPECT_EQ(role_of(process_of(name, shape), shape), name);
    }
  }
}

TEST(Shape, WithOneHostForEachIslandProcessesHaveTheNumbersThatTheyAlwaysHad) {
  EXPECT_EQ(process_of({Role::kIsland, 1}, 2), 3u);
  EXPECT_EQ(process_of({Role::kHost, 1}, 2), 4u);
  EXPECT_EQ(process_of({Role::kClient, 1}, 2), 5u);
  EXPECT_EQ(process_of({Role::kAnnex, actor::annex_of(1, 1)}, Shape(2, 2)), 6u);
}

TEST(Shape, EachHostAndAnnexHasANumberAmongAllHostsAndIsFoundByIt) {
  for (const Shape& shape : {Shape(1), Shape(3), Shape(1, 2), Shape(3, 4), Shape(1024, 64)}) {
    std::uint32_t next = 0;
    for (const RoleName& name : roles_of(shape)) {
      if (name.role != Role::kHost && name.role != Role::kAnnex) continue;
      EXPECT_EQ(host_number(name, shape), next++) << to_string(name);
      EXPECT_EQ(role_of_host(host_number(name, shape), shape), name);
    }
    EXPECT_EQ(next, shape.all_hosts()) << "those of one island after the other's";
  }
}

TEST(Shape, WithOneHostForEachIslandTheNumberOfAHostIsThatOfItsIsland) {
  EXPECT_EQ(Shape(7).all_hosts(), 7u);
  EXPECT_EQ(host_number({Role::kHost, 5}, 7), 5u);
  EXPECT_EQ(role_of_host(5, 7), (RoleName{Role::kHost, 5}));
  EXPECT_EQ(host_number({Role::kHost, 1}, Shape(2, 2)), 2u);
  EXPECT_EQ(host_number({Role::kAnnex, actor::annex_of(1, 1)}, Shape(2, 2)), 3u);
}

TEST(ShapeDeathTest, NobodyElseHasTheNumberOfAHost) {
  EXPECT_DEATH(host_number({Role::kIsland, 0}, 2), "the scheduler of island 0");
  EXPECT_DEATH(role_of_host(4, Shape(2, 2)), "4");
}

Status check(std::uint32_t hosts, std::uint32_t devices, const device::Integrity& integrity = {}) {
  EmbeddedOptions options;
  options.hosts = hosts;
  options.devices = devices;
  options.integrity = integrity;
  return check_for_processes(options);
}

TEST(CheckForProcesses, DevicesAreDealtToHostsEqually) {
  EXPECT_TRUE(check(1, 3).ok());
  EXPECT_TRUE(check(2, 4).ok());
  EXPECT_TRUE(check(64, 64).ok());
  const Status status = check(3, 4);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "cluster option hosts=3 does not divide devices=4: the devices of an island are dealt "
            "to its hosts equally; choose a multiple of 3 devices");
  EXPECT_FALSE(check(4, 2).ok()) << "a host without a device";
}

TEST(CheckForProcesses, AnIslandHasSoManyHosts) {
  const Status status = check(65, 65);

  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "cluster option hosts=65: an island of a cluster of processes has 1 to 64 hosts; take "
            "more islands, or fewer hosts");
}

TEST(CheckForProcesses, IntegrityIsCheckedOnOneHost) {
  EXPECT_TRUE(check(1, 4, {.shard_checksums = true, .replay_per_mille = 5}).ok());
  EXPECT_EQ(check(2, 4, {.shard_checksums = true}).message(),
            "cluster option hosts=2 does not go with shard_checksums=on: values are checked where "
            "an island has one host; leave one of the two out");
  const Status replays = check(2, 4, {.replay_per_mille = 5});
  EXPECT_EQ(replays.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(replays.message().find("replay_per_mille=5"), std::string::npos) << replays.message();
}

TEST(ClusterOptions, SetsHowOftenAnIslandRestarts) {
  EXPECT_EQ(controller_options(*parse_embedded("embedded:restarts=7")).limits.restarts_max, 7u);
  EXPECT_EQ(parse_embedded("embedded:restarts=0").status().code(), StatusCode::kInvalidArgument);
}

TEST(ClusterOptions, ExchangesOverlapUnlessThatIsSwitchedOff) {
  EXPECT_TRUE(parse_embedded("embedded:devices=2")->exchange.overlaps);
  EXPECT_FALSE(parse_embedded("embedded:devices=2,overlap=off")->exchange.overlaps);
  EXPECT_EQ(parse_embedded("embedded:overlap=often").status(),
            invalid_argument("cluster option overlap=often is not on or off"));
}

}  // namespace
}  // namespace seaway::cluster
