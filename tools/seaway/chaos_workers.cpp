// The words with which this program runs its own seeds.

#include "chaos_workers.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "campaign/edits_json.hpp"
#include "campaign/seed_process.hpp"

namespace seaway::tools {
namespace {

campaign::StartSeeds start_of(const sim::ChaosOptions& options, std::uint32_t jobs) {
  return [&options, jobs](std::uint64_t first) {
    std::vector<std::string> words = {
        "seaway",  "chaos",
        "--seeds", std::to_string(first) + ".." + std::to_string(options.last_seed),
        "--every", std::to_string(jobs)};
    if (const std::string_view flag = flag_of(options.kind); !flag.empty()) {
      words.emplace_back(flag);
    }
    if (!options.edits.is_empty()) {
      words.emplace_back("--edits");
      words.push_back(campaign::to_json(options.edits));
    }
    return campaign::SeedProcess::spawn(words);
  };
}

}  // namespace

int run_chaos_workers(const sim::ChaosOptions& options, std::uint32_t jobs, const Clock& clock) {
  return campaign::run_in_processes(options, jobs, clock, start_of(options, jobs));
}

int run_chaos_twice(const sim::ChaosOptions& options, std::uint32_t jobs, const Clock& clock) {
  return campaign::run_in_pairs(options, jobs, clock, start_of(options, jobs));
}

int run_chaos_worker(const sim::ChaosOptions& options, std::uint64_t stride) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  campaign::write_seeds(options, stride, STDOUT_FILENO);
  return sim::kChaosClean;
}

}  // namespace seaway::tools
