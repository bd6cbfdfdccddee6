// The trace of a demo, read back: tracks for all devices, whole events, arrows with both ends.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "demos/demos.hpp"

namespace seaway::demos {
namespace {

using Json = nlohmann::json;
using Track = std::pair<int, int>;

const Demo& demo(const std::string& name) {
  for (const Demo& one : demos()) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no demo " << name;
  return demos().front();
}

/// Runs the digits once for all tests of this file: their trace has two islands.
class TraceOfDigits : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string path = testing::TempDir() + "seaway-trace-test.json";
    exit_code_ = demo("digits").run({.trace_path = path, .quick = true});
    std::ifstream file(path);
    const Json trace = Json::parse(file, nullptr, false);
    std::filesystem::remove(path);
    ASSERT_FALSE(trace.is_discarded());
    for (const Json& entry : trace["traceEvents"]) {
      const Track track = {entry["pid"], entry["tid"]};
      if (entry["ph"] == "M" && entry["name"] == "process_name") {
        processes_[track.first] = entry["args"]["name"];
      } else if (entry["ph"] == "M") {
        tracks_[track] = entry["args"]["name"];
      } else {
        entries_.push_back(entry);
      }
    }
  }
  static void TearDownTestSuite() { entries_.clear(); }

  static std::vector<Json> with_phase(const std::string& phase) {
    std::vector<Json> found;
    for (const Json& entry : entries_) {
      if (entry["ph"] == phase) found.push_back(entry);
    }
    return found;
  }

  static inline int exit_code_ = -1;
  static inline std::map<int, std::string> processes_;
  static inline std::map<Track, std::string> tracks_;
  static inline std::vector<Json> entries_;
};

TEST_F(TraceOfDigits, TheDemoSucceeds) { EXPECT_EQ(exit_code_, 0); }

TEST_F(TraceOfDigits, HasATrackForEachDeviceOfBothIslands) {
  EXPECT_EQ(processes_[0], "clients");
  EXPECT_EQ(processes_[1], "island 0");
  EXPECT_EQ(processes_[2], "island 1");
  for (int island = 1; island <= 2; ++island) {
    for (int device = 1; device <= 4; ++device) {
      const auto found = tracks_.find({island, device});
      ASSERT_NE(found, tracks_.end()) << "island " << island << " device " << device;
      EXPECT_EQ(found->second, "device " + std::to_string(device - 1));
    }
  }
}

TEST_F(TraceOfDigits, GangsAreWholeEventsOnNamedTracksAndNeverOverlap) {
  std::map<Track, double> busy_until;
  std::set<std::string> names;

  for (const Json& entry : with_phase("X")) {
    const Track track = {entry["pid"], entry["tid"]};
    ASSERT_TRUE(tracks_.contains(track)) << entry;
    ASSERT_GE(entry["dur"].get<double>(), 0);
    if (track.first == 0) continue;
    names.insert(entry["name"]);
    EXPECT_FALSE(entry["args"].contains("unfinished")) << entry;
    EXPECT_GE(entry["ts"].get<double>(), busy_until[track] - 0.0015) << entry;
    busy_until[track] = entry["ts"].get<double>() + entry["dur"].get<double>();
  }

  for (const char* name :
       {"stage_one", "stage_two", "stage_one_backward", "update_one", "update_two"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST_F(TraceOfDigits, EachArrowHasTwoEndsInOrderAndSomeCrossIslands) {
  std::map<int, Json> begins;
  for (const Json& entry : with_phase("s")) begins[entry["id"]] = entry;
  std::size_t ended = 0;
  int forth = 0, back = 0;

  for (const Json& end : with_phase("f")) {
    const auto begin = begins.find(end["id"]);
    ASSERT_NE(begin, begins.end()) << end;
    EXPECT_LE(begin->second["ts"].get<double>(), end["ts"].get<double>());
    EXPECT_EQ(begin->second["name"], end["name"]);
    ++ended;
    forth += begin->second["pid"] == 1 && end["pid"] == 2;
    back += begin->second["pid"] == 2 && end["pid"] == 1;
  }

  EXPECT_EQ(ended, begins.size());
  EXPECT_GT(forth, 100);
  EXPECT_GT(back, 100);
}

}  // namespace
}  // namespace seaway::demos
