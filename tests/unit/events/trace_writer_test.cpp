// A trace, parsed back: tracks, lengths, arrows, counters.

#include "events/trace_writer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace seaway::events {
namespace {

using Json = nlohmann::json;

/// One run over two islands: gang 0 on island 0, which feeds gang 1 on island 1.
std::vector<Event> two_island_run() {
  return {
      {.time_ns = 1000, .object = 5, .tenant = 1, .kind = EventKind::kSubmit},
      {.time_ns = 1100, .stamp = 3, .object = 5, .tenant = 1, .kind = EventKind::kStamp},
      {.time_ns = 1200, .stamp = 3, .object = 5, .island = 0, .kind = EventKind::kLaunch},
      {.time_ns = 1300, .object = 128, .value = 64, .place = 1, .kind = EventKind::kRoom},
      {.time_ns = 2000, .stamp = 3, .tenant = 1, .island = 0, .kind = EventKind::kGangStart},
      {.time_ns = 3001,
       .stamp = 3,
       .value = 2000,
       .tenant = 1,
       .island = 0,
       .kind = EventKind::kGangEnd},
      {.time_ns = 5000,
       .stamp = 3,
       .value = 4000,
       .position = 1,
       .tenant = 1,
       .island = 1,
       .kind = EventKind::kGangEnd},
      {.time_ns = 6000, .object = 5, .tenant = 1, .kind = EventKind::kResolve},
  };
}

GangLabel label_of(const Event& event) {
  if (event.position == 0) return {"matmul \"1\"", "train", 4, {0, 1}, {}};
  return {"add", "train", 5, {0}, {{0, event.stamp, 0}, {9, 9, 9}}};
}

std::vector<Json> entries_of(const Json& trace, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& entry : trace["traceEvents"]) {
    if (entry["ph"] == phase) found.push_back(entry);
  }
  return found;
}

Json two_island_trace() {
  TraceNames names;
  names.gang = label_of;
  names.tenant = [](TenantId) { return std::string("alice"); };
  return Json::parse(trace_to_string(two_island_run(), names));
}

TEST(TraceWriter, GivesEachIslandAProcessAndEachDeviceATrack) {
  const Json trace = two_island_trace();

  std::map<std::string, std::set<std::string>> names;
  for (const Json& entry : entries_of(trace, "M")) {
    names[entry["name"]].insert(std::to_string(entry["pid"].get<int>()) + "/" +
                                std::to_string(entry["tid"].get<int>()) + " " +
                                entry["args"]["name"].get<std::string>());
  }
  EXPECT_EQ(names["process_name"],
            (std::set<std::string>{"0/0 clients", "1/0 island 0", "2/0 island 1"}));
  EXPECT_EQ(names["thread_name"],
            (std::set<std::string>{"0/2 alice", "1/0 scheduler", "1/1 device 0", "1/2 device 1",
                                   "2/1 device 0"}));
}

TEST(TraceWriter, DrawsAGangOnEachOfItsDevicesFromBeginToEnd) {
  std::vector<Json> gangs;
  for (const Json& entry : entries_of(two_island_trace(), "X")) {
    if (entry["name"] != "submit") gangs.push_back(entry);
  }

  ASSERT_EQ(gangs.size(), 3u);  // Two devices of gang 0, one of gang 1.
  EXPECT_EQ(gangs[0]["name"], "matmul \"1\"");
  EXPECT_DOUBLE_EQ(gangs[0]["ts"], 2.0);
  EXPECT_DOUBLE_EQ(gangs[0]["dur"], 1.001);
  EXPECT_EQ(gangs[0]["args"]["program"], "train");
  EXPECT_EQ(gangs[0]["args"]["node"], 4);
  EXPECT_EQ(gangs[0]["args"]["stamp"], 3);
  EXPECT_EQ(gangs[0]["args"]["tenant"], "alice");
  EXPECT_EQ(gangs[1]["tid"], 2);
  EXPECT_EQ(gangs[2]["pid"], 2);
}

TEST(TraceWriter, LeadsArrowsFromSubmissionAndProducerAndNeverOneEndAlone) {
  const Json trace = two_island_trace();

  const std::vector<Json> starts = entries_of(trace, "s"), ends = entries_of(trace, "f");
  ASSERT_EQ(starts.size(), 2u);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(starts[0]["name"], "run");
  EXPECT_EQ(starts[0]["pid"], 0);
  EXPECT_EQ(ends[0]["id"], starts[0]["id"]);
  EXPECT_DOUBLE_EQ(ends[0]["ts"], 2.0);
  EXPECT_EQ(starts[1]["name"], "data");
  EXPECT_DOUBLE_EQ(starts[1]["ts"], 3.0);
  EXPECT_EQ(ends[1]["id"], starts[1]["id"]);
  EXPECT_EQ(ends[1]["pid"], 2);
}

/// (microseconds, bytes) of each point of the counter `name`.
std::vector<std::pair<double, int>> points_of(const Json& trace, const std::string& name) {
  std::vector<std::pair<double, int>> points;
  for (const Json& entry : entries_of(trace, "C")) {
    if (entry["name"] == name) points.emplace_back(entry["ts"], entry["args"]["bytes"]);
  }
  return points;
}

TEST(TraceWriter, CountsTheMemoryOfEachDevice) {
  const auto room = [](std::uint64_t time_ns, DeviceId device, std::uint64_t bytes) {
    return Event{.time_ns = time_ns,
                 .object = bytes,
                 .value = bytes,
                 .place = device,
                 .kind = EventKind::kRoom};
  };
  const std::vector<Event> events = {room(1000, 0, 64), room(2000, 1, 16), room(3000, 0, 0)};

  const Json trace = Json::parse(trace_to_string(events, {}));

  EXPECT_EQ(points_of(trace, "memory of device 0"),
            (std::vector<std::pair<double, int>>{{1.0, 64}, {3.0, 0}}));
  EXPECT_EQ(points_of(trace, "memory of device 1"),
            (std::vector<std::pair<double, int>>{{2.0, 16}}));
  EXPECT_EQ(entries_of(trace, "C")[0]["pid"], 1);
}

TEST(TraceWriter, ShowsTheMostMemoryUsedBetweenTwoPointsAsASpike) {
  const Json trace = two_island_trace();

  EXPECT_EQ(points_of(trace, "memory of device 1"),
            (std::vector<std::pair<double, int>>{{1.299, 128}, {1.3, 64}}));
}

/// Stamp 1 makes array 9 in its gang 1, and stamp 2 reads it on the same island.
std::vector<Event> reading_run(std::uint64_t array_read) {
  const auto gang = [](Stamp stamp, std::uint32_t position, std::uint64_t begin_ns) {
    return Event{.time_ns = begin_ns + 100,
                 .stamp = stamp,
                 .value = begin_ns,
                 .position = position,
                 .kind = EventKind::kGangEnd};
  };
  return {
      {.time_ns = 10, .stamp = 1, .kind = EventKind::kPrepare},
      {.time_ns = 20, .stamp = 2, .value = array_read, .kind = EventKind::kPrepare},
      gang(1, 0, 1000),
      {.time_ns = 2000, .stamp = 1, .object = 9, .position = 1, .kind = EventKind::kArrayAllocate},
      gang(1, 1, 2000),
      gang(2, 0, 3000),
      gang(2, 1, 4000)};
}

TEST(TraceWriter, LeadsAnArrowFromTheRunThatMadeAnArrayToTheFirstGangThatReadsIt) {
  const Json trace = Json::parse(trace_to_string(reading_run(9), {}));
  const Json unknown = Json::parse(trace_to_string(reading_run(8), {}));

  const std::vector<Json> starts = entries_of(trace, "s"), ends = entries_of(trace, "f");
  ASSERT_EQ(starts.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(starts[0]["name"], "data");
  EXPECT_DOUBLE_EQ(starts[0]["ts"], 2.099);  // In the slice of the gang that made it.
  EXPECT_DOUBLE_EQ(ends[0]["ts"], 3.0);
  EXPECT_EQ(ends[0]["id"], starts[0]["id"]);
  EXPECT_TRUE(entries_of(unknown, "s").empty());
}

TEST(TraceWriter, SortsEntriesByTime) {
  const Json trace = two_island_trace();

  double last = 0;
  for (const Json& entry : trace["traceEvents"]) {
    EXPECT_GE(entry["ts"].get<double>(), last);
    last = entry["ts"].get<double>();
  }
  EXPECT_DOUBLE_EQ(last, 6.0);
}

TEST(TraceWriter, KeepsSubmissionsOfOneTenantFromOverlapping) {
  std::vector<Event> events;
  for (std::uint64_t run = 0; run < 10; ++run) {
    events.push_back({.time_ns = run * 300, .object = run, .kind = EventKind::kSubmit});
  }

  const std::vector<Json> submissions = entries_of(Json::parse(trace_to_string(events, {})), "X");

  ASSERT_EQ(submissions.size(), 10u);
  for (std::size_t i = 0; i + 1 < submissions.size(); ++i) {
    EXPECT_DOUBLE_EQ(submissions[i]["dur"], 0.3);
  }
}

TEST(TraceWriter, ShowsAGangThatNeverEndedUpToTheLastEvent) {
  const std::vector<Event> events = {
      {.time_ns = 100, .stamp = 1, .place = 6, .kind = EventKind::kGangStart},
      {.time_ns = 900, .stamp = 2, .kind = EventKind::kAdmit}};

  const std::vector<Json> gangs = entries_of(Json::parse(trace_to_string(events, {})), "X");

  ASSERT_EQ(gangs.size(), 1u);
  EXPECT_EQ(gangs[0]["name"], "gang 0");
  EXPECT_DOUBLE_EQ(gangs[0]["dur"], 0.8);
  EXPECT_EQ(gangs[0]["args"]["unfinished"], true);
}

TEST(TraceWriter, WritesAnEmptyTraceForNoEvents) {
  EXPECT_TRUE(Json::parse(trace_to_string({}, {}))["traceEvents"].empty());
}

}  // namespace
}  // namespace seaway::events
