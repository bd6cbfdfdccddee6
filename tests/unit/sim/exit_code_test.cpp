// What `seaway chaos` returns to the shell: worlds whose devices break each promise in turn.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "sim/chaos.hpp"

namespace seaway::sim {
namespace {

/// Devices that do what those of the world do.
class Honest : public device::Backend {
 public:
  explicit Honest(std::unique_ptr<device::Backend> inner) : inner_(std::move(inner)) {}

  void watch(device::DeviceLost lost) override { inner_->watch(std::move(lost)); }
  void compile(function::Graph graph, function::AxisSizes axes, device::CompileDone done) override {
    inner_->compile(std::move(graph), std::move(axes), std::move(done));
  }
  bool runs_inline(std::uint64_t cost_ns) const override { return inner_->runs_inline(cost_ns); }
  Status run(const device::GangWork& work, std::optional<DeviceId>& unlaunched_on) override {
    return inner_->run(work, unlaunched_on);
  }
  void start(const device::GangWork& work, std::uint64_t cost_ns, device::GangDone done) override {
    inner_->start(work, cost_ns, std::move(done));
  }
  std::optional<DeviceId> give_up(std::span<const DeviceId> devices) override {
    return inner_->give_up(devices);
  }
  void copy(std::uint64_t bytes, std::function<void()> body, std::function<void()> done) override {
    inner_->copy(bytes, std::move(body), std::move(done));
  }

 private:
  std::unique_ptr<device::Backend> inner_;
};

/// Never says that a gang is done.
class Silent final : public Honest {
 public:
  using Honest::Honest;
  bool runs_inline(std::uint64_t) const override { return false; }
  void start(const device::GangWork& work, std::uint64_t cost_ns, device::GangDone) override {
    Honest::start(work, cost_ns, [](device::GangEnd) {});
  }
};

/// Changes one bit of what a gang has computed.
class Lying final : public Honest {
 public:
  using Honest::Honest;
  bool runs_inline(std::uint64_t) const override { return false; }
  void start(const device::GangWork& work, std::uint64_t cost_ns, device::GangDone done) override {
    std::byte* const first = work.outputs.empty() ? nullptr : work.outputs[0].shard(0);
    const bool is_empty = !first || work.executable->output_types()[0].bytes() == 0;
    Honest::start(work, cost_ns, [first, is_empty, done = std::move(done)](device::GangEnd end) {
      if (!is_empty) *first ^= std::byte{1};
      done(std::move(end));
    });
  }
};

/// Changes one bit of what a gang has computed when it runs a second time, of which its world
/// knows nothing.
class Twitching final : public Honest {
 public:
  using Honest::Honest;
  bool runs_inline(std::uint64_t) const override { return false; }
  void start(const device::GangWork& work, std::uint64_t cost_ns, device::GangDone done) override {
    const bool is_again = !begun_.emplace(work.stamp, work.position()).second;
    std::byte* const first = work.outputs.empty() ? nullptr : work.outputs[0].shard(0);
    const bool is_empty = !first || work.executable->output_types()[0].bytes() == 0;
    const bool changes = is_again && !is_empty && work.executable->is_repeatable();
    Honest::start(work, cost_ns, [first, changes, done = std::move(done)](device::GangEnd end) {
      if (changes && end.status.ok()) *first ^= std::byte{1};
      done(std::move(end));
    });
  }

 private:
  std::set<std::pair<Stamp, std::uint32_t>> begun_;
};

/// Keeps what a gang has made, and gives it once more when the gang runs a second time, so that
/// both results are as wrong.
class Parroting final : public Honest {
 public:
  using Honest::Honest;
  bool runs_inline(std::uint64_t) const override { return false; }
  void start(const device::GangWork& work, std::uint64_t cost_ns, device::GangDone done) override {
    const std::pair gang(work.stamp, work.position());
    const std::vector<function::ShardedBuffer> outputs(work.outputs.begin(), work.outputs.end());
    const std::vector<TensorType>& types = work.executable->output_types();
    Honest::start(work, cost_ns,
                  [this, gang, outputs, &types, shards = work.shards,
                   done = std::move(done)](device::GangEnd end) {
                    if (end.status.ok()) repeat(gang, outputs, types, shards);
                    done(std::move(end));
                  });
  }

 private:
  void repeat(std::pair<Stamp, std::uint32_t> gang,
              const std::vector<function::ShardedBuffer>& outputs,
              const std::vector<TensorType>& types, std::size_t shards) {
    std::vector<std::byte>& made = made_[gang];
    const bool is_again = !made.empty();
    std::size_t at = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      for (std::size_t shard = 0; shard < shards && types[i].bytes() > 0; ++shard) {
        std::byte* const bytes = outputs[i].shard(shard);
        if (is_again) {
          std::copy_n(made.begin() + static_cast<std::ptrdiff_t>(at), types[i].bytes(), bytes);
        } else {
          made.insert(made.end(), bytes, bytes + types[i].bytes());
        }
        at += types[i].bytes();
      }
    }
  }

  std::map<std::pair<Stamp, std::uint32_t>, std::vector<std::byte>> made_;
};

/// Remembers whether any world has asked before, and answers otherwise in later ones.
class Moody final : public Honest {
 public:
  Moody(std::unique_ptr<device::Backend> inner, std::uint64_t& asked)
      : Honest(std::move(inner)), asked_(asked), is_later_(asked > 0) {}
  bool runs_inline(std::uint64_t cost_ns) const override {
    ++asked_;
    return Honest::runs_inline(cost_ns) != is_later_;
  }

 private:
  std::uint64_t& asked_;
  const bool is_later_;
};

template <class Broken>
ReplaceBackend all_are() {
  return [](std::unique_ptr<device::Backend> inner) {
    return std::make_unique<Broken>(std::move(inner));
  };
}

/// What chaos prints, and returns to the shell.
struct Outcome {
  int exit_code = 0;
  std::string text;
};

/// Twenty seeds or `seeds`, each of them twice.
Outcome chaos_with(ReplaceBackend replace_backend, std::uint64_t seeds = 20) {
  ChaosOptions options;
  options.first_seed = 1;
  options.last_seed = seeds;
  options.again_percent = 100;
  options.replace_backend = std::move(replace_backend);
  testing::internal::CaptureStdout();
  const int exit_code = run_chaos(options, RealClock());
  return {exit_code, testing::internal::GetCapturedStdout()};
}

/// The number of the seed that `text` says how to replay.
std::string replayed(const std::string& text) {
  const std::string before = "replay: seaway chaos --replay ";
  const auto at = text.find(before);
  if (at == std::string::npos) return "none";
  const auto begin = at + before.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Mixed, EachSeedDrawsItsKindAndSaysHowToReplayIt) {
  std::map<std::string, int> kinds;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const SeedLine line = run_one(seed, {.kind = WorldKind::kMixed, .replay = true});
    ASSERT_EQ(line.breach, Breach::kNone) << line.text;
    const std::size_t begin = line.text.rfind("replay: seaway chaos ") + 21;
    ++kinds[line.text.substr(begin, line.text.find("--replay", begin) - begin)];
  }

  EXPECT_EQ(kinds.size(), 3u);
  for (const char* kind : {"", "--apps ", "--processes "}) EXPECT_GT(kinds[kind], 3) << kind;
}

TEST(ChaosExitCode, HasANumberForEachVerdict) {
  EXPECT_EQ(exit_code_of(Breach::kNone), 0);
  EXPECT_EQ(exit_code_of(Breach::kLiveness), 128);
  EXPECT_EQ(exit_code_of(Breach::kCorrectness), 129);
  EXPECT_EQ(exit_code_of(Breach::kDeterminism), 130);
}

TEST(ChaosExitCode, Is0WhenNothingIsBroken) {
  const Outcome outcome = chaos_with(all_are<Honest>());

  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_EQ(outcome.text.rfind("20 seeds (1..20), ", 0), 0u) << outcome.text;
}

TEST(ChaosExitCode, Is128WhenAGangNeverEnds) {
  const Outcome outcome = chaos_with(all_are<Silent>());

  EXPECT_EQ(outcome.exit_code, 128) << outcome.text;
  EXPECT_NE(outcome.text.find(": liveness, "), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("I12 broken: nothing can move any more, but there waits client"),
            std::string::npos)
      << outcome.text;
  EXPECT_NE(outcome.text.find("runs there and has not ended\nroot cause: device "),
            std::string::npos)
      << outcome.text;
  EXPECT_NE(replayed(outcome.text), "none");
}

TEST(ChaosExitCode, Is129WhenAValueIsWrong) {
  const Outcome outcome = chaos_with(all_are<Lying>());

  EXPECT_EQ(outcome.exit_code, 129) << outcome.text;
  EXPECT_NE(outcome.text.find(": correctness, "), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("I1 broken: "), std::string::npos) << outcome.text;
  EXPECT_NE(replayed(outcome.text), "none");
}

TEST(ChaosExitCode, Is129WhenAWrongBitIsNotFound) {
  const Outcome outcome = chaos_with(all_are<Parroting>(), 200);

  EXPECT_EQ(outcome.exit_code, 129) << outcome.text;
  EXPECT_NE(outcome.text.find("I21 broken: run "), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("but a gang of it computed a wrong bit, and it was to run twice"),
            std::string::npos)
      << outcome.text;
}

TEST(ChaosExitCode, Is129WhenADeviceIsBlamedThatDidNothingWrong) {
  const Outcome outcome = chaos_with(all_are<Twitching>(), 200);

  EXPECT_EQ(outcome.exit_code, 129) << outcome.text;
  EXPECT_NE(outcome.text.find("I3 broken: gang "), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("which computed nothing wrong"), std::string::npos) << outcome.text;
}

TEST(ChaosExitCode, Is130WhenASeedDoesNotRepeat) {
  std::uint64_t asked = 0;

  const Outcome outcome = chaos_with([&asked](std::unique_ptr<device::Backend> inner) {
    return std::make_unique<Moody>(std::move(inner), asked);
  });

  EXPECT_EQ(outcome.exit_code, 130) << outcome.text;
  const std::string seed = replayed(outcome.text);
  EXPECT_NE(outcome.text.find("seed " + seed + ": non-determinism, "), std::string::npos);
  EXPECT_NE(outcome.text.find("I25 broken: two runs of seed " + seed + " differ: "),
            std::string::npos)
      << outcome.text;
}

TEST(ChaosExitCode, StopsAtTheFirstSeedThatFails) {
  std::uint64_t worlds = 0;

  const Outcome outcome = chaos_with([&worlds](std::unique_ptr<device::Backend> inner) {
    ++worlds;
    return std::make_unique<Silent>(std::move(inner));
  });

  EXPECT_EQ(replayed(outcome.text), "1");
  EXPECT_EQ(outcome.text.find("seeds ("), std::string::npos) << outcome.text;
  EXPECT_LE(worlds, 3u);  // One for each island of one world.
}

}  // namespace
}  // namespace seaway::sim
