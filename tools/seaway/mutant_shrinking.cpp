// A process for each mutant, which shrinks, and one page for what they come to.

#include "mutant_shrinking.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <numeric>

#include "campaign/shrinking.hpp"
#include "sim/chaos.hpp"

namespace seaway::tools {
namespace {

/// What came of one row.
struct Result {
  std::size_t faults_before = 0, faults = 0;
  double seconds = 0;
  bool is_done = false, is_finished = false;
};

void shrink_row(const sim::MutantRow& row, const sim::Edits& edits, const ShrinkOptions& wanted,
                const Clock& clock, Result& result) {
  switch_mutant(row.mutant->name);
  sim::ChaosOptions options;
  options.kind = row.find->at.kind;
  const std::uint64_t seed = row.find->at.seed;
  const auto found = campaign::shrink_world(
      {std::string(to_string(options.kind)), row.mutant->name, seed, edits,
       [&](const sim::SeedOptions& how) { return sim::run_world(seed, options, how); }},
      wanted.seconds, clock);
  if (!found) return;
  campaign::write_repro(wanted.directory + "/" + found->repro.file_name(), found->repro);
  result = {found->faults_before, found->faults, found->seconds, true, found->is_finished};
}

template <class Number>
Number median(std::vector<Number> numbers) {
  if (numbers.empty()) return {};
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

}  // namespace

void shrink_mutants(const std::vector<sim::MutantRow>& rows, const sim::Edits& edits,
                    std::uint32_t jobs, const ShrinkOptions& wanted, const Clock& clock) {
  const std::size_t bytes = rows.size() * sizeof(Result);
  void* const page =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  auto* const results = static_cast<Result*>(page);
  std::uint32_t running = 0;
  const auto wait_for_one = [&running] {
    while (waitpid(-1, nullptr, 0) < 0 && errno == EINTR) continue;
    --running;
  };
  std::fflush(nullptr);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].find) continue;
    if (running == jobs) wait_for_one();
    const pid_t process = fork();
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      shrink_row(rows[i], edits, wanted, clock, results[i]);
      _exit(0);
    }
    if (process > 0) ++running;
  }
  while (running > 0) wait_for_one();
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [results](std::size_t a, std::size_t b) {
    return results[a].faults < results[b].faults;
  });
  std::vector<std::size_t> faults;
  std::vector<double> seconds;
  std::printf("shrunk:\n");
  for (const std::size_t i : order) {
    const Result& result = results[i];
    if (!result.is_done) {
      if (rows[i].find) std::printf("  %-54s did not fail again\n", rows[i].mutant->name);
      continue;
    }
    faults.push_back(result.faults);
    seconds.push_back(result.seconds);
    std::printf("  %-54s %3zu faults of %3zu, %6.1f s%s\n", rows[i].mutant->name, result.faults,
                result.faults_before, result.seconds,
                result.is_finished ? "" : ", there was no time for more");
  }
  std::printf("shrunk: %zu, to %zu faults (median) in %.1f s (median)\n", faults.size(),
              median(faults), median(seconds));
  munmap(page, bytes);
}

}  // namespace seaway::tools
