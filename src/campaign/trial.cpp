// A fork, two pipes, and what a process that died has said.

#include "campaign/trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/check.hpp"
#include "sim/chaos.hpp"
#include "sim/chaos_report.hpp"

namespace seaway::campaign {
namespace {

constexpr std::size_t kReadBytes = 1 << 16;
constexpr std::size_t kLastWordsMax = 1 << 16;

class Pipe {
 public:
  Pipe() { SEAWAY_CHECK(pipe2(ends_.data(), O_CLOEXEC) == 0, std::strerror(errno)); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

void write_all(int file, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

void limit(int resource, std::uint64_t most) {
  const struct rlimit limits = {most, most};
  setrlimit(resource, &limits);
}

[[noreturn]] void be_trial(const RunWorld& run, const sim::SeedOptions& options,
                           const TrialLimits& limits, int records, int words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(words, STDERR_FILENO);
  dup2(words, STDOUT_FILENO);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_s);
  alarm(limits.wait_s);
  if (limits.memory_bytes > 0) limit(RLIMIT_AS, limits.memory_bytes);
  write_all(records, to_record(outcome_of(run(options))));
  std::fflush(nullptr);
  _exit(0);
}

/// Reads both to their ends.
void read_both(int records, std::string& record, int words, std::string& text) {
  std::array<pollfd, 2> files = {{{records, POLLIN, 0}, {words, POLLIN, 0}}};
  std::array<std::string*, 2> into = {&record, &text};
  std::array<char, kReadBytes> buffer;
  for (int open = 2; open > 0;) {
    if (poll(files.data(), files.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      const ssize_t count = read(files[i].fd, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        files[i].fd = -1;
        --open;
        continue;
      }
      into[i]->append(buffer.data(), static_cast<std::size_t>(count));
      // Whoever talks for ever is heard at the end.
      if (i == 1 && text.size() > 2 * kLastWordsMax) text.erase(0, text.size() - kLastWordsMax);
    }
  }
}

Outcome crash_of(int status, std::string text) {
  Outcome outcome;
  std::string place = sim::place_of_crash(text);
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const bool is_limit = number == SIGXCPU || number == SIGALRM || number == SIGKILL;
    if (place.empty()) place = "signal " + std::to_string(number);
    outcome.failure = is_limit ? FailureKind{sim::kChaosLiveness, "I12", "it went on for ever"}
                               : FailureKind{sim::kChaosCrash, "crash", place};
  } else {
    if (place.empty()) place = "exit " + std::to_string(WEXITSTATUS(status));
    outcome.failure = FailureKind{sim::kChaosCrash, "crash", place};
  }
  outcome.text = std::move(text);
  return outcome;
}

Outcome run_process(const RunWorld& run, const sim::SeedOptions& options,
                    const TrialLimits& limits) {
  std::fflush(nullptr);
  Pipe records, words;
  const pid_t process = fork();
  SEAWAY_CHECK(process >= 0, std::strerror(errno));
  if (process == 0) be_trial(run, options, limits, records.writer(), words.writer());
  records.close_end(1);
  words.close_end(1);
  std::string record, text;
  read_both(records.reader(), record, words.reader(), text);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    if (auto outcome = parse_outcome(record)) return *std::move(outcome);
  }
  return crash_of(status, std::move(text));
}

}  // namespace

Outcome run_trial(const RunWorld& run, const sim::Edits& edits, const TrialLimits& limits) {
  return run_process(run, {.edits = edits}, limits);
}

sim::FailedWorld planned_world(const RunWorld& run, const sim::Edits& edits) {
  return run_process(run, {.edits = edits, .until_event = 1}, {}).world;
}

}  // namespace seaway::campaign
