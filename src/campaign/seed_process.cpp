// One pipe of records and one of crash reports for each process.

#include "campaign/seed_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "sim/chaos_report.hpp"

extern char** environ;

namespace seaway::campaign {
namespace {

constexpr std::size_t kReadBytes = 1 << 16;
constexpr std::size_t kLastWordsMax = 1 << 14;
constexpr std::uint64_t kWaitFactor = 5;
constexpr std::uint64_t kSecondsMax = 1'000'000;

using Ends = std::array<int, 2>;

/// Both, or neither.
bool open_pipes(Ends& records, Ends& errors) {
  if (pipe2(records.data(), O_CLOEXEC) != 0) return false;
  if (pipe2(errors.data(), O_CLOEXEC) == 0) return true;
  close(records[0]);
  close(records[1]);
  return false;
}

bool read_more(int file, std::string& bytes) {
  std::array<char, kReadBytes> buffer;
  for (;;) {
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) bytes.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
}

bool write_all(int file, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

/// From now on the process has so many seconds of a processor, and a few times as many in all: a
/// world that waits for the real one uses none.
void give_time(std::uint64_t seconds) {
  alarm(static_cast<unsigned>(std::min(seconds, kSecondsMax) * kWaitFactor));
  struct rusage used;
  struct rlimit limits;
  if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limits) != 0) return;
  const auto whole = static_cast<std::uint64_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  limits.rlim_cur = std::min<rlim_t>(whole + 1 + seconds, limits.rlim_max);
  setrlimit(RLIMIT_CPU, &limits);
}

using Processes = std::vector<std::unique_ptr<SeedProcess>>;

/// False, and says why, when process `job` of `jobs` is not there.
bool is_there(const SeedProcess& process, std::uint64_t job, std::uint32_t jobs) {
  if (process.is_started()) return true;
  std::fprintf(stderr, "seaway: cannot start process %llu of %u: %s; ask for fewer --jobs\n",
               static_cast<unsigned long long>(job + 1), jobs, std::strerror(errno));
  return false;
}

/// False, and says why, when not all could be started.
bool start_all(Processes& processes, const sim::ChaosOptions& options, std::uint32_t jobs,
               const StartSeeds& start) {
  for (std::uint64_t job = 0; job < jobs && job <= options.last_seed - options.first_seed; ++job) {
    processes.push_back(start(options.first_seed + job));
    if (!is_there(*processes.back(), job, jobs)) return false;
  }
  return true;
}

std::string events_of(const sim::SeedLine& line) {
  return std::to_string(line.hash) + " after " + std::to_string(line.steps) + " steps";
}

/// I25, over two processes.
void compare(sim::SeedLine& one, const sim::SeedLine& other) {
  if (one.hash == other.hash && one.steps == other.steps) return;
  one.breach = sim::Breach::kDeterminism;
  one.invariant = "I25";
  one.place = "another process";
  one.text = "seed " + std::to_string(one.seed) +
             ": non-determinism\n  I25 broken: two processes differ: " + events_of(one) + ", " +
             events_of(other) + "\n";
}

/// Returns how many did not come to the same.
std::size_t run_failed_again(const std::vector<FailedSeed>& failed, const StartSeeds& start,
                             bool is_for_machines) {
  std::size_t others = 0;
  for (const FailedSeed& one : failed) {
    const auto difference = differs_again(one, start);
    if (!difference) continue;
    ++others;
    std::fprintf(stderr, "seed %llu is not what it was: %s\n",
                 static_cast<unsigned long long>(one.seed), difference->c_str());
  }
  std::fprintf(is_for_machines ? stderr : stdout,
               "%zu of %zu failing seeds came to the same in a new process\n",
               failed.size() - others, failed.size());
  return others;
}

}  // namespace

std::unique_ptr<SeedProcess> SeedProcess::spawn(const std::vector<std::string>& words) {
  std::unique_ptr<SeedProcess> started(new SeedProcess);
  Ends records{}, errors{};
  if (!open_pipes(records, errors)) return started;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, records[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  pointers.push_back(nullptr);
  const int error = posix_spawn(&started->process_, "/proc/self/exe", &actions, nullptr,
                                const_cast<char**>(pointers.data()), environ);
  if (error != 0) started->process_ = 0;
  posix_spawn_file_actions_destroy(&actions);
  close(records[1]);
  close(errors[1]);
  started->records_ = records[0];
  started->errors_ = errors[0];
  errno = error;
  return started;
}

std::unique_ptr<SeedProcess> SeedProcess::fork(const std::function<void(int records)>& body) {
  std::unique_ptr<SeedProcess> started(new SeedProcess);
  Ends records{}, errors{};
  if (!open_pipes(records, errors)) return started;
  std::fflush(nullptr);
  started->process_ = ::fork();
  if (started->process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(errors[1], STDERR_FILENO);
    dup2(errors[1], STDOUT_FILENO);
    body(records[1]);
    std::fflush(nullptr);
    _exit(0);
  }
  close(records[1]);
  close(errors[1]);
  started->records_ = records[0];
  started->errors_ = errors[0];
  return started;
}

SeedProcess::~SeedProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  if (records_ >= 0) close(records_);
  if (errors_ >= 0) close(errors_);
}

std::optional<sim::SeedLine> SeedProcess::next() {
  for (;;) {
    if (auto line = sim::take_record(bytes_)) return line;
    if (!read_either()) return std::nullopt;
  }
}

/// A process that says much would wait for ever if only its records were read.
bool SeedProcess::read_either() {
  if (records_ < 0) return false;
  std::array<pollfd, 2> files = {{{records_, POLLIN, 0}, {errors_, POLLIN, 0}}};
  while (poll(files.data(), files.size(), -1) < 0 && errno == EINTR) continue;
  if (files[1].revents != 0 && !read_more(errors_, words_)) {
    close(errors_);
    errors_ = -1;
  }
  if (words_.size() > 2 * kLastWordsMax) words_.erase(0, words_.size() - kLastWordsMax);
  return files[0].revents == 0 || read_more(records_, bytes_);
}

std::string SeedProcess::last_words() {
  while (errors_ >= 0 && read_more(errors_, words_)) continue;
  if (words_.size() > kLastWordsMax) words_.erase(0, words_.size() - kLastWordsMax);
  return words_;
}

std::string SeedProcess::end() {
  if (process_ <= 0) return "it was never there";
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = 0;
  if (!WIFSIGNALED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  was_endless_ = WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM;
  return std::string(strsignal(WTERMSIG(status))) + " (signal " + std::to_string(WTERMSIG(status)) +
         ")";
}

void write_seeds(const sim::ChaosOptions& options, std::uint64_t stride, int records,
                 std::uint64_t seed_seconds) {
  for (std::uint64_t seed = options.first_seed;; seed += stride) {
    give_time(seed_seconds);
    if (!write_all(records, to_record(sim::run_one(seed, options)))) return;
    if (options.last_seed - seed < stride) return;
  }
}

std::optional<std::string> differs_again(const FailedSeed& failed, const StartSeeds& start) {
  const auto process = start(failed.seed);
  if (!process->is_started()) return std::string("no process could be started");
  const auto line = process->next();
  if (line.has_value() != failed.line.has_value()) {
    return std::string(line ? "it does not crash any more" : "it crashes now");
  }
  if (line) {
    const bool is_same = line->hash == failed.line->hash && line->steps == failed.line->steps &&
                         line->invariant == failed.line->invariant;
    if (is_same) return std::nullopt;
    return failed.line->invariant + ", " + events_of(*failed.line) + "; now " + line->invariant +
           ", " + events_of(*line);
  }
  const std::string before = sim::place_of_crash(failed.last_words);
  const std::string now = sim::place_of_crash(process->last_words());
  if (before == now) return std::nullopt;
  return "it crashed at '" + before + "'; now at '" + now + "'";
}

int run_in_processes(const sim::ChaosOptions& options, std::uint32_t jobs, const Clock& clock,
                     const StartSeeds& start) {
  sim::ChaosReport report(options, clock);
  std::vector<FailedSeed> failed;
  Processes processes;
  if (!start_all(processes, options, jobs, start)) return sim::kChaosUsage;
  for (std::uint64_t seed = options.first_seed; !report.is_out_of_time(); ++seed) {
    const std::uint64_t job = (seed - options.first_seed) % jobs;
    std::unique_ptr<SeedProcess>& process = processes[job];
    const auto line = process->next();
    if (!line) {
      failed.push_back({seed, std::nullopt, process->last_words()});
    } else if (line->breach != sim::Breach::kNone) {
      failed.push_back({seed, line, ""});
    }
    const bool goes_on =
        line ? report.add(*line) : report.add_crash(seed, failed.back().last_words);
    if (!goes_on || seed == options.last_seed) break;
    if (line || options.last_seed - seed < jobs) continue;
    process = start(seed + jobs);
    if (!is_there(*process, job, jobs)) {
      report.finish();
      return sim::kChaosUsage;
    }
  }
  processes.clear();
  const int exit_code = report.finish();
  if (options.failures_max == 1 || failed.empty()) return exit_code;
  return run_failed_again(failed, start, options.json) == 0 ? exit_code : sim::kChaosNondeterminism;
}

int run_in_pairs(const sim::ChaosOptions& options, std::uint32_t jobs, const Clock& clock,
                 const StartSeeds& start) {
  sim::ChaosReport report(options, clock);
  Processes first, second;
  if (!start_all(first, options, jobs, start) || !start_all(second, options, jobs, start)) {
    return sim::kChaosUsage;
  }
  unsigned long long pairs = 0;
  for (std::uint64_t seed = options.first_seed; !report.is_out_of_time(); ++seed) {
    const std::size_t job = (seed - options.first_seed) % jobs;
    auto one = first[job]->next();
    const auto other = second[job]->next();
    if (!one || !other) {
      report.add_crash(seed, (one ? second : first)[job]->last_words());
      break;
    }
    ++pairs;
    compare(*one, *other);
    if (!report.add(*one) || seed == options.last_seed) break;
  }
  const int exit_code = report.finish();
  if (exit_code == sim::kChaosClean) {
    std::fprintf(options.json ? stderr : stdout, "%llu pairs of processes agree\n", pairs);
  }
  return exit_code;
}

}  // namespace seaway::campaign
