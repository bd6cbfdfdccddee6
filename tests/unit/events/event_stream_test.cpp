// The event stream, its ring and hash, and the counters.

#include "events/event_stream.hpp"

#include <gtest/gtest.h>

#include "events/metrics.hpp"

namespace seaway::events {
namespace {

Event make_event(std::uint64_t time_ns, EventKind kind = EventKind::kAdmit) {
  return {.time_ns = time_ns, .stamp = 7, .island = 1, .kind = kind};
}

class TimeRecorder final : public EventSink {
 public:
  void record(const Event& event) override { times_ns.push_back(event.time_ns); }
  std::vector<std::uint64_t> times_ns;
};

TEST(Event, ReadsAsOneLineWithTheWordsOfItsKind) {
  const Event placed = {
      .time_ns = 5, .stamp = 9, .value = 4, .position = 2, .island = 1, .kind = EventKind::kPlace};
  const Event resolved = {.time_ns = 6,
                          .object = 3,
                          .tenant = 2,
                          .kind = EventKind::kResolve,
                          .code = StatusCode::kCancelled};

  EXPECT_EQ(to_string(placed), "place at 5 ns: island=1 stamp=9 first=2 last=4");
  EXPECT_EQ(to_string(resolved), "resolve at 6 ns: run=3 tenant=2 code=CANCELLED");
}

TEST(Event, HasANameForEachKind) {
  for (unsigned kind = 0; kind < kEventKinds; ++kind) {
    EXPECT_FALSE(to_string(static_cast<EventKind>(kind)).empty()) << kind;
  }
  EXPECT_EQ(to_string(static_cast<EventKind>(kEventKinds)), "unknown");
}

TEST(EventRing, KeepsTheNewestEvents) {
  EventRing ring(3);  // Rounded up to 4.

  for (std::uint64_t time_ns = 0; time_ns < 10; ++time_ns) ring.record(make_event(time_ns));

  EXPECT_EQ(ring.capacity(), 4u);
  EXPECT_EQ(ring.recorded(), 10u);
  const std::vector<Event> kept = ring.snapshot();
  ASSERT_EQ(kept.size(), 4u);
  EXPECT_EQ(kept.front().time_ns, 6u);
  EXPECT_EQ(kept.back().time_ns, 9u);
}

TEST(EventRing, OfNoEventsStillKeepsOne) {
  EventRing ring(0);

  ring.record(make_event(1));

  EXPECT_EQ(ring.size(), 1u);
  EXPECT_DEATH(ring.at(1), "index < size");
}

TEST(EventStream, RecordsOnlyTheKindsThatAreEnabled) {
  EventStream stream(8);
  stream.enable(EventStream::bit(EventKind::kGangEnd));

  stream.record(make_event(1, EventKind::kAdmit));
  stream.record(make_event(2, EventKind::kGangEnd));

  ASSERT_EQ(stream.ring().size(), 1u);
  EXPECT_EQ(stream.ring().at(0).time_ns, 2u);
  EXPECT_FALSE(stream.enabled(EventKind::kAdmit));
}

TEST(EventStream, ShowsObserversEachEventInOrderUntilTheyAreRemoved) {
  EventStream stream(1);
  TimeRecorder observer;
  stream.record(make_event(1));
  stream.add_observer(observer);

  stream.record(make_event(2));
  stream.record(make_event(3));
  stream.remove_observer(observer);
  stream.record(make_event(4));

  EXPECT_EQ(observer.times_ns, (std::vector<std::uint64_t>{2, 3}));
}

TEST(EventHash, DependsOnEachFieldAndOnTheOrder) {
  const Event a = make_event(1), b = make_event(2);
  EventHash ab, ba, again, other_code;

  for (const Event& event : {a, b}) ab.record(event);
  for (const Event& event : {b, a}) ba.record(event);
  for (const Event& event : {a, b}) again.record(event);
  Event failed = b;
  failed.code = StatusCode::kDeviceLost;
  for (const Event& event : {a, failed}) other_code.record(event);

  EXPECT_EQ(ab.hash(), again.hash());
  EXPECT_NE(ab.hash(), ba.hash());
  EXPECT_NE(ab.hash(), other_code.hash());
  EXPECT_EQ(ab.count(), 2u);
}

TEST(Metrics, TellWhatHappenedBetweenTwoReadings) {
  Metrics metrics;
  metrics.count_message(3);
  const Metrics before = metrics;

  metrics.count_message(3, 4);
  metrics.count_message(1000);
  metrics.count_payload(Role::kHost, 64);
  metrics.runs_ok = 2;
  const Metrics difference = metrics.since(before);

  EXPECT_EQ(difference.messages_total(), 5u);
  EXPECT_EQ(difference.to_string(),
            "runs.ok 2\npayload_bytes.host 64\nmessages.3 4\nmessages.63 1\n");
  EXPECT_DEATH(before.since(metrics), "before <= now");
}

TEST(Metrics, PrintOneJsonObjectALineAndTheControllersPayloadAlways) {
  Metrics metrics;
  metrics.count_message(1);

  const std::string lines =
      metrics.to_json_lines([](std::size_t) -> std::string_view { return "launch"; });

  EXPECT_NE(lines.find("{\"metric\":\"payload_bytes.controller\",\"value\":0}\n"),
            std::string::npos);
  EXPECT_NE(lines.find("{\"metric\":\"messages.launch\",\"value\":1}\n"), std::string::npos);
}

}  // namespace
}  // namespace seaway::events
