// The story of a violation: sentences, those that it is about first, and not too many.

#include "sim/narrative.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/chaos.hpp"

namespace seaway::sim {
namespace {

using events::Event;
using events::EventKind;
using events::kEventKinds;

constexpr std::size_t kLines = 40;

Violation about(std::string text) { return {Breach::kCorrectness, "I4", std::move(text)}; }

Event gang_start(std::uint64_t time_ns, std::uint16_t island, Stamp stamp,
                 std::uint32_t position = 0) {
  return {.time_ns = time_ns,
          .stamp = stamp,
          .position = position,
          .island = island,
          .kind = EventKind::kGangStart};
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Narrative, AViolationIsAboutWhatItsTextNames) {
  const std::vector<Violation> violations = {
      about("gang 2 of stamp 7 on island 1 started, but array 60, which it reads, was freed"),
      about("run 70 never had an outcome")};

  const Concern concern = concern_of(violations, {});

  EXPECT_EQ(concern, (Concern{.stamps = {7}, .runs = {70}, .arrays = {60}, .islands = {1}}));
}

TEST(Narrative, AWordThatEndsLikeANameIsNone) {
  const Concern concern = concern_of(std::vector{about("overrun 3 of subarray 4, runs 5")}, {});

  EXPECT_EQ(concern, Concern{});
}

TEST(Narrative, ARunAndItsStampAreMeantByEither) {
  const std::vector<Event> events = {{.stamp = 7, .object = 70, .kind = EventKind::kStamp},
                                     {.stamp = 8, .object = 80, .kind = EventKind::kLaunch}};

  EXPECT_EQ(concern_of(std::vector{about("run 70 has 2 outcomes")}, events).stamps,
            std::set<Stamp>{7});
  EXPECT_EQ(concern_of(std::vector{about("stamp 8 was launched late")}, events).runs,
            std::set<RunId>{80});
}

TEST(Narrative, ASentenceSaysWhenWhoAndWhat) {
  EXPECT_EQ(tell(gang_start(12'345'678, 1, 7, 2)), "12.346 ms: island 1 starts gang 2 of stamp 7");
  EXPECT_EQ(tell({.time_ns = 1'000'000,
                  .object = 70,
                  .kind = EventKind::kResolve,
                  .code = StatusCode::kDeviceLost}),
            "1.000 ms: the client learns of run 70: DEVICE_LOST");
  EXPECT_EQ(tell({.stamp = 7, .value = 4, .position = 1, .kind = EventKind::kPlace}),
            "0.000 ms: island 0 places gangs number 1 to 3 of its part of stamp 7");
}

TEST(Narrative, EachKindOfEventHasASentenceOfItsOwn) {
  std::set<std::string> sentences;
  for (unsigned kind = 0; kind < kEventKinds; ++kind) {
    const Event event{.stamp = 7, .object = 9, .value = 9, .kind = static_cast<EventKind>(kind)};
    const std::string sentence = tell(event);
    EXPECT_EQ(sentence.find('='), std::string::npos) << sentence;
    sentences.insert(sentence);
  }

  EXPECT_EQ(sentences.size(), kEventKinds);
}

TEST(Narrative, WhatTheViolationIsAboutComesBeforeItsIslandAndThatBeforeNothing) {
  std::vector<Event> events = {gang_start(1, 0, 7), gang_start(2, 0, 8), gang_start(3, 1, 9),
                               gang_start(4, 0, 8), gang_start(5, 0, 7)};
  const std::vector violations = {about("gang 0 of stamp 7 on island 0 took its turn twice")};

  const std::string two = narrate(events, violations, 2);
  const std::string three = narrate(events, violations, 3);
  const std::string all = narrate(events, violations, kLines);

  EXPECT_EQ(two,
            "    0.000 ms: island 0 starts gang 0 of stamp 7\n"
            "    0.000 ms: island 0 starts gang 0 of stamp 7\n");
  EXPECT_EQ(lines_of(three), 3u);
  EXPECT_NE(three.find("stamp 8"), std::string::npos);  // The newer of the two.
  EXPECT_EQ(lines_of(all), 4u);
  EXPECT_EQ(all.find("stamp 9"), std::string::npos);
}

TEST(Narrative, NamesNothingTellsTheNewestOfAll) {
  std::vector<Event> events;
  for (std::uint64_t i = 1; i <= 100; ++i) events.push_back(gang_start(i * 1'000'000, 0, i));

  const std::string text = narrate(events, {}, kLines);

  EXPECT_EQ(lines_of(text), kLines);
  EXPECT_EQ(text.find("60.000 ms"), std::string::npos);
  EXPECT_EQ(text.find("    61.000 ms"), 0u);
  EXPECT_NE(text.find("100.000 ms"), std::string::npos);
}

TEST(Narrative, SumsOfMessagesAndBytesAreLeftOut) {
  const std::vector<Event> events = {{.value = 3, .kind = EventKind::kMessage},
                                     {.value = 64, .kind = EventKind::kRoom},
                                     gang_start(1, 0, 7)};

  EXPECT_EQ(lines_of(narrate(events, {}, kLines)), 1u);
}

TEST(Narrative, AReportHasAtMostFortyLinesOfIt) {
  SeedReport report;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    report.last_events.push_back(gang_start(i, 0, 7, static_cast<std::uint32_t>(i)));
  }
  report.violations = {about("gang 1000 of stamp 7 on island 0 took its turn twice")};

  const std::string text = to_text(report);

  const std::size_t begin = text.find("  last events:\n");
  const std::size_t end = text.find("  replay: ");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(lines_of(text.substr(begin, end - begin)), 1 + kLines);
  EXPECT_NE(text.find("gang 1000 of stamp 7"), std::string::npos);
  EXPECT_EQ(text.find("gang 960 of stamp 7"), std::string::npos);
}

TEST(Narrative, OfAHangIsAboutWhoeverWaits) {
  SeedReport report;
  report.last_events = {gang_start(1, 0, 7), gang_start(2, 1, 8)};
  report.violations = {{Breach::kLiveness, "I12", "nothing can move any more"}};
  report.chain = "  run 70 waits for gang 0 of stamp 7 on island 0: it has not ended\n";

  const std::string text = to_text(report);

  EXPECT_NE(text.find("island 0 starts gang 0 of stamp 7"), std::string::npos) << text;
  EXPECT_EQ(text.find("stamp 8"), std::string::npos) << text;
  EXPECT_NE(text.find("  what holds it up:\n  run 70 waits for"), std::string::npos) << text;
}

}  // namespace
}  // namespace seaway::sim
