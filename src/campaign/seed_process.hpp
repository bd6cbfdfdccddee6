// SeedProcess: a process that runs seeds one after the other, and tells of each.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "sim/chaos.hpp"
#include "sim/seed_line.hpp"

namespace seaway::campaign {

/// It is ended, if it has not ended, and waited for, by the destructor.
class SeedProcess {
 public:
  /// This program anew, with these words: records come from its standard output, and its addresses
  /// are its own.
  static std::unique_ptr<SeedProcess> spawn(const std::vector<std::string>& words);
  /// A copy of this process, which calls `body` with where records go, and ends. The caller has one
  /// thread.
  static std::unique_ptr<SeedProcess> fork(const std::function<void(int records)>& body);
  ~SeedProcess();
  SeedProcess(const SeedProcess&) = delete;
  SeedProcess& operator=(const SeedProcess&) = delete;

  bool is_started() const { return process_ > 0; }
  /// The outcome of its next seed; nothing when it ended before it had one. While nobody asks, a
  /// full pipe holds the process back.
  std::optional<sim::SeedLine> next();
  /// What it said before it ended, of much the end.
  std::string last_words();
  /// How it ended: "Aborted (signal 6)", "exit code 3". Waits for it.
  std::string end();
  /// It was at the end of its time: after end().
  bool was_endless() const { return was_endless_; }

 private:
  SeedProcess() = default;

  /// Reads what there is on either pipe, when there is something; false at the end of records.
  bool read_either();

  pid_t process_ = 0;
  int records_ = -1, errors_ = -1;
  std::string bytes_, words_;
  bool was_endless_ = false;
};

/// Longer than any seed takes, twice where it is run again, in seconds of a processor.
constexpr std::uint64_t kSeedSeconds = 120;

/// The body of such a process: seeds first, first + stride, .. up to last; one record each. It ends
/// with SIGXCPU when a seed takes longer than that.
void write_seeds(const sim::ChaosOptions& options, std::uint64_t stride, int records,
                 std::uint64_t seed_seconds = kSeedSeconds);

/// Starts the process whose first seed that is; it goes on with every `jobs`-th one.
using StartSeeds = std::function<std::unique_ptr<SeedProcess>(std::uint64_t first)>;

/// What a failing seed came to: its outcome, or, where its process ended with it, the last words.
struct FailedSeed {
  std::uint64_t seed = 0;
  std::optional<sim::SeedLine> line;
  std::string last_words;
};

/// Runs the seed again, alone in a new process, which has addresses of its own. Nothing when it
/// came to the same: the same events in as many steps, or a crash at the same place. Otherwise what
/// is different.
std::optional<std::string> differs_again(const FailedSeed& failed, const StartSeeds& start);

/// Runs the seeds of `options` in `jobs` processes, and prints what one process would print:
/// outcomes are reported in the order of the seeds. A process that crashes is its seed's verdict;
/// another one goes on behind it. When more than one may fail, all that did are run again in the
/// end, and it says how many came to the same; one that did not makes the exit code 130. Returns an
/// exit code.
int run_in_processes(const sim::ChaosOptions& options, std::uint32_t jobs, const Clock& clock,
                     const StartSeeds& start);

/// Runs each seed in two processes, and compares what they came to: 130 when two differ. `jobs`
/// pairs at once.
int run_in_pairs(const sim::ChaosOptions& options, std::uint32_t jobs, const Clock& clock,
                 const StartSeeds& start);

}  // namespace seaway::campaign
