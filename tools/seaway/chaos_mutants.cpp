// One process for each mutant, and a page that it shares: what it was about when it ended.

#include "chaos_mutants.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "campaign/seed_process.hpp"
#include "mutant_shrinking.hpp"
#include "sim/mutants.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

/// More than any world needs; a bug may eat as much as there is.
constexpr rlim_t kMemoryBytes = rlim_t{4} << 30;
/// More processor time than any world takes that comes to its end.
constexpr time_t kSeedSeconds = 30;
constexpr std::size_t kWhyColumns = 90;

/// What is left of a hunt, however its process ends.
struct Trace {
  sim::MutantTry at;
  int exit_code = sim::kChaosCrash;  // Until the hunt is over.
  bool is_over = false;
  std::array<char, 16> why{};
  std::uint64_t hash = 0, steps = 0;
};

/// The process that hunts one mutant. It is ended with this object, if it has not ended.
class Hunter {
 public:
  Hunter(const Mutant& mutant, const sim::ChaosOptions& options)
      : mutant_(mutant), words_(std::tmpfile()) {
    void* const page =
        mmap(nullptr, sizeof(Trace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || !words_) return;
    trace_ = new (page) Trace;
    process_ = fork();
    if (process_ == 0) be_child(options);
  }
  ~Hunter() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    }
    if (trace_) munmap(trace_, sizeof(Trace));
    if (words_) std::fclose(words_);
  }
  Hunter(const Hunter&) = delete;
  Hunter& operator=(const Hunter&) = delete;

  pid_t process() const { return process_; }

  /// It has ended with `status`, and was waited for.
  sim::MutantRow end(int status) {
    process_ = 0;
    if (trace_->is_over && trace_->exit_code == sim::kChaosClean) return {&mutant_, std::nullopt};
    sim::MutantFind find{trace_->at, trace_->exit_code, trace_->why.data(), trace_->hash,
                         trace_->steps};
    if (!trace_->is_over) find.why = last_words(status);
    return {&mutant_, find};
  }

 private:
  [[noreturn]] void be_child(const sim::ChaosOptions& options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit memory{kMemoryBytes, kMemoryBytes}, core{0, 0};
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &core);
    dup2(fileno(words_), STDERR_FILENO);
    const auto find =
        sim::hunt(mutant_, options.first_seed, options.last_seed, [this](const sim::MutantTry& at) {
          trace_->at = at;
          // Whoever goes round in circles within one step.
          const itimerval limit{{0, 0}, {kSeedSeconds, 0}};
          setitimer(ITIMER_PROF, &limit, nullptr);
        });
    trace_->exit_code = find ? find->exit_code : sim::kChaosClean;
    if (find) {
      find->why.copy(trace_->why.data(), trace_->why.size() - 1);
      trace_->hash = find->hash;
      trace_->steps = find->steps;
    }
    trace_->is_over = true;
    _exit(0);
  }

  /// What a process said that did not end by itself, or else the signal that ended it.
  std::string last_words(int status) const {
    std::rewind(words_);
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), line.size(), words_)) {
      const std::string text(line.data(), std::strcspn(line.data(), "\n"));
      if (!text.empty()) return text.substr(0, kWhyColumns);
    }
    return WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it has left";
  }

  const Mutant& mutant_;
  std::FILE* const words_;
  Trace* trace_ = nullptr;
  pid_t process_ = -1;
};

/// In the order in which they end; fewer than `wanted` when a process could not be started.
std::vector<sim::MutantRow> hunt_all(const std::vector<const Mutant*>& wanted,
                                     const sim::ChaosOptions& options, std::uint32_t jobs,
                                     const auto& on_row) {
  std::vector<sim::MutantRow> rows;
  std::map<pid_t, std::unique_ptr<Hunter>> hunters;
  for (std::size_t next = 0; next < wanted.size() || !hunters.empty();) {
    if (next < wanted.size() && hunters.size() < jobs) {
      auto hunter = std::make_unique<Hunter>(*wanted[next], options);
      if (hunter->process() <= 0) return rows;
      hunters[hunter->process()] = std::move(hunter);
      ++next;
      continue;
    }
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    const auto found = hunters.find(ended);
    if (found == hunters.end()) continue;  // Interrupted.
    rows.push_back(found->second->end(status));
    hunters.erase(found);
    on_row(rows.back());
  }
  return rows;
}

/// Runs each seed that found one again, in a new process of this program. Returns whether all came
/// to the same.
bool find_all_again(const std::vector<sim::MutantRow>& rows, bool is_for_machines) {
  std::size_t found = 0, same = 0;
  for (const sim::MutantRow& row : rows) {
    if (!row.find) continue;
    ++found;
    campaign::FailedSeed failed{row.find->at.seed, std::nullopt, row.find->why};
    if (row.find->steps > 0) {
      sim::SeedLine& line = failed.line.emplace();
      line.hash = row.find->hash;
      line.steps = row.find->steps;
      line.invariant = row.find->why;
    }
    const auto difference = campaign::differs_again(failed, [&row](std::uint64_t seed) {
      const std::string number = std::to_string(seed);
      return campaign::SeedProcess::spawn({"seaway", "chaos", "--mixed", "--mutants",
                                           row.mutant->name, "--seeds", number + ".." + number,
                                           "--every", "1"});
    });
    same += !difference;
    if (difference) {
      std::fprintf(stderr, "seaway: %s: seed %s is not what it was: %s\n", row.mutant->name,
                   std::to_string(row.find->at.seed).c_str(), difference->c_str());
    }
  }
  if (found == 0) return true;
  std::fprintf(is_for_machines ? stderr : stdout,
               "replayed: %zu of %zu came to the same in a new process\n", same, found);
  return same == found;
}

}  // namespace

bool plant_mutant(const std::string& name) {
  if (switch_mutant(name)) return true;
  std::fprintf(stderr, "seaway: no mutant is named '%s'; see --mutants list\n", name.c_str());
  return false;
}

int run_chaos_mutants(const std::string& which, const sim::ChaosOptions& options,
                      std::uint32_t jobs, const ShrinkOptions* shrink, const Clock& clock) {
  if (which == "list") {
    std::fputs(sim::mutant_list().c_str(), stdout);
    return sim::kChaosClean;
  }
  std::vector<const Mutant*> wanted;
  for (const Mutant* mutant : mutants()) {
    if (which == "all" || which == mutant->name) wanted.push_back(mutant);
  }
  if (wanted.empty()) {
    plant_mutant(which);  // Says that there is none.
    return sim::kChaosUsage;
  }
  const auto rows = hunt_all(wanted, options, jobs, [&options](const sim::MutantRow& row) {
    if (!options.json) return;
    std::printf("%s\n", sim::to_json(row).c_str());
    std::fflush(stdout);
  });
  if (rows.size() < wanted.size()) {
    std::fprintf(stderr, "seaway: cannot start a process: %s; ask for fewer --jobs\n",
                 std::strerror(errno));
    return sim::kChaosUsage;
  }
  if (!options.json) std::fputs(sim::mutant_table(rows).c_str(), stdout);
  if (!options.json && rows.size() == 1 && rows[0].find) {
    std::printf("replay: %s\n", sim::replay_line(rows[0]).c_str());
  }
  const bool is_all = std::ranges::all_of(rows, [](const auto& row) { return !!row.find; });
  const bool is_same = find_all_again(rows, options.json);
  if (shrink) shrink_mutants(rows, options.edits, jobs, *shrink, clock);
  for (const sim::MutantRow& row : rows) {
    if (!row.find) std::fprintf(stderr, "seaway: never found: %s\n", row.mutant->name);
  }
  if (is_all && !is_same) return sim::kChaosNondeterminism;
  return is_all ? sim::kChaosClean : kCheckFailed;
}

}  // namespace seaway::tools
