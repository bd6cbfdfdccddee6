// Processes of seeds: their records in order, their ends, and what they said before.

#include "campaign/seed_process.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace seaway::campaign {
namespace {

[[noreturn]] void spin() {
  const volatile bool goes_on = true;
  while (goes_on) continue;
  std::abort();
}

/// Worlds that do what `body` does.
sim::ChaosOptions worlds(const std::function<void(std::uint64_t seed)>& body) {
  sim::ChaosOptions options;
  options.kind = sim::WorldKind::kUser;
  options.last_seed = 6;
  options.again_percent = 0;
  options.run = [body](std::uint64_t seed, const sim::SeedOptions&) {
    body(seed);
    sim::SeedReport report;
    report.seed = seed;
    report.hash = seed * 100;
    return report;
  };
  return options;
}

std::unique_ptr<SeedProcess> start(const sim::ChaosOptions& options, std::uint64_t stride = 1,
                                   std::uint64_t seed_seconds = kSeedSeconds) {
  return SeedProcess::fork(
      [=](int records) { write_seeds(options, stride, records, seed_seconds); });
}

TEST(SeedProcess, TellsOfEachOfItsSeedsAndEnds) {
  const auto process = start(worlds([](std::uint64_t) {}), 2);

  ASSERT_TRUE(process->is_started());
  for (const std::uint64_t seed : {1, 3, 5}) {
    const auto line = process->next();
    ASSERT_TRUE(line);
    EXPECT_EQ(line->seed, seed);
    EXPECT_EQ(line->hash, 100 * seed);
  }
  EXPECT_FALSE(process->next());
  EXPECT_EQ(process->end(), "exit code 0");
  EXPECT_FALSE(process->was_endless());
}

TEST(SeedProcess, ThatCrashesHasToldOfTheSeedsBefore) {
  const auto process = start(worlds([](std::uint64_t seed) {
    if (seed < 3) return;
    std::fprintf(stderr, "not the third one\n");
    std::abort();
  }));

  EXPECT_TRUE(process->next());
  EXPECT_TRUE(process->next());
  EXPECT_FALSE(process->next());
  EXPECT_EQ(process->last_words(), "not the third one\n");
  EXPECT_EQ(process->end(), "Aborted (signal 6)");
}

TEST(SeedProcess, IsNotHeldUpByItsWordsOfWhichTheLastAreKept) {
  const auto process = start(worlds([](std::uint64_t seed) {
    const std::string line(100'000, static_cast<char>('0' + seed));
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }));

  for (int i = 0; i < 6; ++i) EXPECT_TRUE(process->next());
  EXPECT_FALSE(process->next());
  const std::string words = process->last_words();
  EXPECT_LT(words.size(), 100'000u);
  EXPECT_TRUE(words.ends_with("66666\n")) << words.substr(0, 20);
}

TEST(SeedProcess, OfASeedThatNeverEndsIsEndedAtItsLimit) {
  const auto process = start(worlds([](std::uint64_t seed) {
                               if (seed == 2) spin();
                             }),
                             1, 1);

  EXPECT_TRUE(process->next());
  EXPECT_FALSE(process->next());
  static_cast<void>(process->last_words());
  static_cast<void>(process->end());
  EXPECT_TRUE(process->was_endless());
}

TEST(SeedProcess, IsEndedWithItsOwner) {
  auto process = start(worlds([](std::uint64_t seed) {
    if (seed == 2) spin();
  }));
  EXPECT_TRUE(process->next());

  process.reset();  // Or this test never ends.

  SUCCEED();
}

class Jobs : public testing::Test {
 protected:
  int run(const sim::ChaosOptions& options, std::uint32_t jobs) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int exit_code = run_in_processes(options, jobs, clock_, [&](std::uint64_t first) {
      sim::ChaosOptions some = options;
      some.first_seed = first;
      return start(some, jobs);
    });
    output = testing::internal::GetCapturedStdout();
    errors = testing::internal::GetCapturedStderr();
    return exit_code;
  }
  std::string output, errors;

 private:
  RealClock clock_;
};

TEST_F(Jobs, ReportSeedsInTheirOrder) {
  sim::ChaosOptions options = worlds([](std::uint64_t) {});
  options.json = true;

  EXPECT_EQ(run(options, 1), sim::kChaosClean);
  const std::string one = output;
  EXPECT_EQ(run(options, 4), sim::kChaosClean);

  EXPECT_EQ(output, one);
  EXPECT_LT(one.find("\"seed\":1,"), one.find("\"seed\":6,"));
}

TEST_F(Jobs, GoOnBehindASeedThatCrashes) {
  sim::ChaosOptions options = worlds([](std::uint64_t seed) {
    if (seed == 2 || seed == 3) std::abort();
  });
  options.failures_max = 0;

  EXPECT_EQ(run(options, 2), sim::kChaosCrash);

  EXPECT_NE(errors.find("seed 2: crash"), std::string::npos) << errors;
  EXPECT_NE(errors.find("seed 3: crash"), std::string::npos) << errors;
  EXPECT_NE(output.find("2 of 6 seeds failed"), std::string::npos) << output;
  EXPECT_NE(output.find("2 of 2 failing seeds came to the same in a new process"),
            std::string::npos)
      << output;
}

TEST_F(Jobs, SayWhichFailingSeedIsNotWhatItWas) {
  std::uint64_t started = 0;
  const auto fails = [&started](std::uint64_t first) {
    sim::ChaosOptions options = worlds([](std::uint64_t) {});
    options.first_seed = first;
    options.again_percent = 0;
    options.run = [number = ++started](std::uint64_t seed, const sim::SeedOptions&) {
      sim::SeedReport report;
      report.seed = seed;
      report.steps = 7;
      report.hash = seed == 4 ? number : 0;
      if (seed < 4) return report;
      report.breach = sim::Breach::kCorrectness;
      report.violations.push_back({report.breach, "balance", "it is wrong", "bank.cpp:3"});
      return report;
    };
    return start(options);
  };
  sim::ChaosOptions options = worlds([](std::uint64_t) {});
  options.failures_max = 0;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();

  const int exit_code = run_in_processes(options, 1, RealClock(), fails);

  EXPECT_EQ(exit_code, sim::kChaosNondeterminism);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_NE(said.find("2 of 3 failing seeds came to the same"), std::string::npos) << said;
  const std::string why = testing::internal::GetCapturedStderr();
  EXPECT_NE(why.find("seed 4 is not what it was: balance, 1 after 7 steps; now balance, 2 after"),
            std::string::npos)
      << why;
}

TEST(Pairs, OfProcessesThatDifferAreNotDeterministic) {
  int started = 0;
  const auto differ = [&started](std::uint64_t) {
    ++started;
    sim::ChaosOptions options = worlds([](std::uint64_t) {});
    options.run = [number = started](std::uint64_t seed, const sim::SeedOptions&) {
      sim::SeedReport report;
      report.seed = seed;
      report.hash = seed == 4 ? static_cast<std::uint64_t>(number) : 0;
      return report;
    };
    return start(options);
  };
  testing::internal::CaptureStdout();

  const int exit_code = run_in_pairs(worlds([](std::uint64_t) {}), 1, RealClock(), differ);

  EXPECT_EQ(exit_code, sim::kChaosNondeterminism);
  const std::string output = testing::internal::GetCapturedStdout();
  EXPECT_NE(output.find("seed 4: non-determinism"), std::string::npos) << output;
}

}  // namespace
}  // namespace seaway::campaign
