// Conversations over wires that break: from many seeds, what is said arrives once and in order, in
// the life that it was meant for.

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <queue>

#include "transport/conversation.hpp"
#include "transport/simulated_wire.hpp"

namespace seaway::transport {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

/// Time that jumps to whatever comes next.
class Calendar final : public Clock {
 public:
  std::uint64_t now_ns() const override { return now_ns_; }
  void schedule(std::uint64_t at_ns, std::function<void()> work) {
    work_.emplace(std::pair(std::max(at_ns, now_ns_), ++last_), std::move(work));
  }
  /// Until nothing is left, or `end_ns`.
  void run(std::uint64_t end_ns) {
    while (!work_.empty() && work_.begin()->first.first <= end_ns) {
      auto first = work_.extract(work_.begin());
      now_ns_ = first.key().first;
      first.mapped()();
    }
    now_ns_ = end_ns;
  }

 private:
  std::uint64_t now_ns_ = 0;
  std::uint64_t last_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::function<void()>> work_;
};

/// Two processes that say numbers to each other: which life, and which of its numbers.
class BreakingWires {
 public:
  BreakingWires(std::uint64_t seed, const WireOptions& options, std::uint64_t silence_max_ns = 0)
      : random_(seed, 77),
        silence_max_ns_(silence_max_ns),
        wires_(2, options, calendar_, [this](std::uint64_t at_ns, std::function<void()> work) {
          calendar_.schedule(at_ns, std::move(work));
        }) {
    for (ProcessId self : {0u, 1u}) begin(self);
  }

  struct Process {
    bool is_alive = false;
    std::uint64_t epoch = 0;
    std::unique_ptr<Conversation> conversation;
    std::unique_ptr<PacketReader> reader;
    std::uint64_t said = 0;
    std::map<std::uint32_t, std::uint64_t> heard;  // Of each life of the other one, how many.
    std::uint32_t lost = 0;                        // Lives of the other one that have ended.
    std::uint64_t peer_epoch_min = 1;
    std::uint64_t armed_ns = UINT64_MAX;
    Status reason;
  };

  void begin(ProcessId self) {
    Process& own = processes_[self];
    own.is_alive = true;
    ++own.epoch;
    own.said = 0;
    own.heard.clear();
    wires_.attach(self, 1 - self,
                  {[this, self] {
                     processes_[self].reader = std::make_unique<PacketReader>();
                     processes_[self].conversation->connected(calendar_.now_ns());
                     turn(self);
                   },
                   [this, self](std::span<const std::byte> bytes) { on_bytes(self, bytes); },
                   [this, self] {
                     processes_[self].conversation->disconnected();
                     reconnect(self);
                   },
                   [this, self] {
                     processes_[self].conversation->refused();
                     turn(self);
                   }});
    talk_anew(self, own.peer_epoch_min);
    wires_.connect(self, 1 - self);
  }
  void talk_anew(ProcessId self, std::uint64_t peer_epoch_min) {
    Process& own = processes_[self];
    own.peer_epoch_min = peer_epoch_min;
    own.conversation = std::make_unique<Conversation>(
        ConversationOptions{.epoch = own.epoch,
                            .peer = "process " + std::to_string(1 - self),
                            .peer_epoch_min = peer_epoch_min,
                            .heartbeat_ns = silence_max_ns_ / 10,
                            .silence_max_ns = silence_max_ns_},
        calendar_.now_ns());
    own.said = 0;
    own.armed_ns = UINT64_MAX;
    arm(self);
  }
  void kill(ProcessId self, bool is_silent) {
    processes_[self].is_alive = false;
    wires_.detach(self, is_silent);
  }
  void say(ProcessId self) {
    Process& own = processes_[self];
    if (!own.is_alive || own.conversation->has_ended()) return;
    const std::uint64_t number = own.said + 1;
    const Frame frame = Frame::make(1 + number % 40, [&](std::span<std::uint64_t> words) {
      for (std::uint64_t& word : words) word = own.epoch << 48 | number;
    });
    ASSERT_TRUE(own.conversation->send(frame, calendar_.now_ns()).ok());
    ++own.said;
    turn(self);
  }

  Calendar& calendar() { return calendar_; }
  SimulatedWires& wires() { return wires_; }
  RandomStream& random() { return random_; }
  Process& process(ProcessId self) { return processes_[self]; }
  bool was_wrong() const { return was_wrong_; }

 private:
  void on_bytes(ProcessId self, std::span<const std::byte> bytes) {
    Process& own = processes_[self];
    own.reader->feed(bytes);
    for (;;) {
      auto packet = own.reader->next();
      if (!packet.ok()) {
        // The stream is of no use; another one is.
        own.conversation->disconnected();
        wires_.close(self, 1 - self);
        reconnect(self);
        break;
      }
      if (!*packet) break;
      own.conversation->receive(std::move(**packet), calendar_.now_ns());
    }
    turn(self);
  }
  /// What the conversation has to say goes out, and what it has heard is looked at.
  void turn(ProcessId self) {
    Process& own = processes_[self];
    std::vector<std::byte> bytes;
    for (const Packet& packet : own.conversation->take_packets(calendar_.now_ns())) {
      write_packet(packet, bytes);
    }
    wires_.write(self, 1 - self, std::move(bytes));
    for (const Letter& letter : own.conversation->take_letters()) {
      const Frame& frame = letter.frame;
      const std::uint32_t life = static_cast<std::uint32_t>(frame.words()[0] >> 48);
      const std::uint64_t number = frame.words()[0] & 0xffff'ffff'ffff;
      if (life != own.conversation->peer_epoch() || number != ++own.heard[life]) was_wrong_ = true;
    }
    if (own.conversation->take_close()) {
      wires_.close(self, 1 - self);
      if (own.conversation->has_ended()) {
        ++own.lost;
        own.reason = own.conversation->reason();
        // Process 0 stays what it is, and waits for the next life of the other one; that one, once
        // it has lost process 0 or was given up by it, begins its next life.
        if (self == 1) return begin(self);
        talk_anew(self, own.conversation->peer_epoch() + 1);
      }
      reconnect(self);
    }
    arm(self);
  }
  void reconnect(ProcessId self) {
    const std::uint64_t at_ns = calendar_.now_ns() + (1 + random_.below(20)) * kMs;
    calendar_.schedule(at_ns, [this, self, epoch = processes_[self].epoch] {
      Process& own = processes_[self];
      if (!own.is_alive || own.epoch != epoch || own.conversation->is_open()) return;
      wires_.connect(self, 1 - self);
      // Over a blocked wire nobody answers.
      reconnect(self);
    });
  }
  /// A timer that comes for nothing does no harm.
  void arm(ProcessId self) {
    Process& own = processes_[self];
    const auto due_ns = own.conversation->due_ns();
    if (!due_ns || own.armed_ns <= *due_ns) return;
    own.armed_ns = *due_ns;
    calendar_.schedule(*due_ns, [this, self, at_ns = *due_ns] {
      Process& then = processes_[self];
      if (!then.is_alive || then.armed_ns != at_ns) return;
      then.armed_ns = UINT64_MAX;
      then.conversation->tick(calendar_.now_ns());
      turn(self);
    });
  }

  RandomStream random_;
  const std::uint64_t silence_max_ns_;
  Calendar calendar_;
  SimulatedWires wires_;
  Process processes_[2];
  bool was_wrong_ = false;
};

TEST(BreakingWires, SurviveCutsFlipsRepeatsAndHalfOpenConnections) {
  SimulatedWires::Counts all;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    WireOptions options;
    options.seed = seed;
    RandomStream random(seed, 5);
    options.faults = {static_cast<std::uint32_t>(random.below(60)),
                      static_cast<std::uint32_t>(random.below(20)),
                      static_cast<std::uint32_t>(random.below(60)),
                      static_cast<std::uint32_t>(random.below(100))};
    BreakingWires talk(seed, options, 10'000 * kMs);
    for (int i = 0; i < 200; ++i) {
      talk.calendar().schedule(talk.random().below(2'000) * kMs,
                               [&talk, self = static_cast<ProcessId>(i % 2)] { talk.say(self); });
    }

    talk.calendar().run(60'000 * kMs);

    ASSERT_FALSE(talk.was_wrong()) << "seed " << seed;
    for (ProcessId self : {0u, 1u}) {
      ASSERT_EQ(talk.process(self).heard[1], 100u) << "seed " << seed;
      ASSERT_EQ(talk.process(self).conversation->unacknowledged(), 0u) << "seed " << seed;
      ASSERT_EQ(talk.process(self).lost, 0u)
          << "seed " << seed << ": " << talk.process(self).reason.to_string();
    }
    all.cuts += talk.wires().counts().cuts;
    all.flips += talk.wires().counts().flips;
    all.repeats += talk.wires().counts().repeats;
    all.half_opens += talk.wires().counts().half_opens;
    all.connections += talk.wires().counts().connections;
  }

  EXPECT_GT(all.cuts, 1'000u);
  EXPECT_GT(all.flips, 1'000u);
  EXPECT_GT(all.repeats, 1'000u);
  EXPECT_GT(all.half_opens, 300u);
}

TEST(BreakingWires, EndWithALifeAndBeginAnewWithTheNext) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    WireOptions options;
    options.seed = seed;
    options.faults = {20, 5, 10, 50};
    BreakingWires talk(seed, options, 1'000 * kMs);
    for (int i = 0; i < 400; ++i) {
      talk.calendar().schedule(talk.random().below(20'000) * kMs,
                               [&talk, self = static_cast<ProcessId>(i % 2)] { talk.say(self); });
    }
    for (std::uint64_t life = 0; life < 3; ++life) {
      const bool is_silent = talk.random().chance(50);
      talk.calendar().schedule((4'000 + 5'000 * life) * kMs,
                               [&talk, is_silent] { talk.kill(1, is_silent); });
      talk.calendar().schedule((4'000 + 5'000 * life + talk.random().below(4'000)) * kMs,
                               [&talk] { talk.begin(1); });
    }

    talk.calendar().run(40'000 * kMs);

    ASSERT_FALSE(talk.was_wrong()) << "seed " << seed;
    ASSERT_GE(talk.process(0).lost, 3u) << "seed " << seed;
    const std::uint64_t said = talk.process(0).said;
    const std::uint64_t heard = talk.process(1).heard[1];
    talk.say(0);
    talk.say(1);
    talk.calendar().run(60'000 * kMs);
    ASSERT_FALSE(talk.was_wrong()) << "seed " << seed;
    ASSERT_EQ(talk.process(0).said, said + 1) << "seed " << seed;
    ASSERT_EQ(talk.process(1).heard[1], heard + 1) << "seed " << seed;
    // Now and then it is between two connections.
    std::uint64_t time_ms = 60'000;
    while (!talk.process(0).conversation->is_open() && time_ms < 61'000) {
      talk.calendar().run(++time_ms * kMs);
    }
    ASSERT_TRUE(talk.process(0).conversation->is_open()) << "seed " << seed;
  }
}

TEST(BreakingWires, OverABlockedDirectionEndInSilenceOnBothSidesAndThenGoOn) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    WireOptions options;
    options.seed = seed;
    BreakingWires talk(seed, options, 1'000 * kMs);
    talk.calendar().schedule(500 * kMs, [&] { talk.wires().block(0, 1, true); });
    talk.calendar().schedule(8'000 * kMs, [&] { talk.wires().block(0, 1, false); });

    talk.calendar().run(7'000 * kMs);
    const std::uint32_t lost = std::min(talk.process(0).lost, talk.process(1).lost);
    const bool is_open =
        talk.process(0).conversation->is_open() || talk.process(1).conversation->is_open();
    talk.calendar().run(10'000 * kMs);

    ASSERT_GE(lost, 1u) << "seed " << seed;
    ASSERT_FALSE(is_open) << "seed " << seed;
    ASSERT_TRUE(talk.process(0).conversation->is_open()) << "seed " << seed;
    ASSERT_TRUE(talk.process(1).conversation->is_open()) << "seed " << seed;
  }
}

TEST(BreakingWires, RepeatFromTheirSeeds) {
  const auto hash_of = [](std::uint64_t seed) {
    WireOptions options;
    options.seed = seed;
    options.faults = {30, 10, 30, 50};
    BreakingWires talk(seed, options, 1'000 * kMs);
    for (int i = 0; i < 100; ++i) {
      talk.calendar().schedule(talk.random().below(1'000) * kMs,
                               [&talk, self = static_cast<ProcessId>(i % 2)] { talk.say(self); });
    }
    talk.calendar().run(5'000 * kMs);
    return talk.wires().hash();
  };

  EXPECT_EQ(hash_of(3), hash_of(3));
  EXPECT_NE(hash_of(3), hash_of(4));
}

}  // namespace
}  // namespace seaway::transport
