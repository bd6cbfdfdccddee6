// One pipe of records and one of crash reports for each process.

#include "chaos_workers.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/chaos_report.hpp"

extern char** environ;

namespace seaway::tools {
namespace {

constexpr std::size_t kReadBytes = 1 << 16;

/// A process that runs seeds. It is ended, if it has not ended, and waited for.
class Worker {
 public:
  Worker(std::uint64_t first, std::uint64_t last, std::uint64_t stride, const char* kind) {
    std::array<int, 2> records{}, errors{};
    if (pipe2(records.data(), O_CLOEXEC) != 0) return;
    if (pipe2(errors.data(), O_CLOEXEC) != 0) {
      close(records[0]);
      close(records[1]);
      return;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, records[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
    const std::string seeds = std::to_string(first) + ".." + std::to_string(last);
    const std::string step = std::to_string(stride);
    const std::array<const char*, 8> words = {"seaway",  "chaos",      "--seeds", seeds.c_str(),
                                              "--every", step.c_str(), kind,      nullptr};
    is_started_ = posix_spawn(&process_, "/proc/self/exe", &actions, nullptr,
                              const_cast<char**>(words.data()), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(records[1]);
    close(errors[1]);
    records_ = records[0];
    errors_ = errors[0];
  }
  ~Worker() {
    if (is_started_) {
      kill(process_, SIGKILL);
      while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    }
    if (records_ >= 0) close(records_);
    if (errors_ >= 0) close(errors_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool is_started() const { return is_started_; }

  /// The outcome of its next seed; nothing when it ended before it had one. While nobody asks, a
  /// full pipe holds the process back.
  std::optional<sim::SeedLine> next() {
    for (;;) {
      if (auto line = sim::take_record(bytes_)) return line;
      if (!read_more(records_, bytes_)) return std::nullopt;
    }
  }
  /// All that it said before it ended.
  std::string last_words() {
    std::string text;
    while (read_more(errors_, text)) continue;
    return text;
  }

 private:
  static bool read_more(int file, std::string& bytes) {
    std::array<char, kReadBytes> buffer;
    for (;;) {
      const ssize_t count = read(file, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count > 0) bytes.append(buffer.data(), static_cast<std::size_t>(count));
      return count > 0;
    }
  }

  pid_t process_ = 0;
  bool is_started_ = false;
  int records_ = -1, errors_ = -1;
  std::string bytes_;
};

}  // namespace

int run_chaos_workers(const sim::ChaosOptions& options, std::uint32_t jobs, const Clock& clock) {
  sim::ChaosReport report(options, clock);
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint64_t job = 0; job < jobs && job <= options.last_seed - options.first_seed; ++job) {
    workers.push_back(std::make_unique<Worker>(options.first_seed + job, options.last_seed, jobs,
                                               options.apps        ? "--apps"
                                               : options.processes ? "--processes"
                                                                   : nullptr));
    if (workers.back()->is_started()) continue;
    std::fprintf(stderr, "seaway: cannot start process %llu of %u: %s; ask for fewer --jobs\n",
                 static_cast<unsigned long long>(job + 1), jobs, std::strerror(errno));
    return sim::kChaosUsage;
  }
  for (std::uint64_t seed = options.first_seed; !report.is_out_of_time(); ++seed) {
    Worker& worker = *workers[(seed - options.first_seed) % jobs];
    const auto line = worker.next();
    if (!line) {
      report.add_crash(seed, worker.last_words());
      break;
    }
    if (!report.add(*line) || seed == options.last_seed) break;
  }
  return report.finish();
}

int run_chaos_worker(const sim::ChaosOptions& options, std::uint64_t stride) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::uint64_t seed = options.first_seed;
  for (;;) {
    const sim::SeedLine line = sim::run_one(seed, options);
    const std::string record = to_record(line);
    if (std::fwrite(record.data(), 1, record.size(), stdout) != record.size()) break;
    if (std::fflush(stdout) != 0) break;
    if (line.breach != sim::Breach::kNone || options.last_seed - seed < stride) break;
    seed += stride;
  }
  return sim::kChaosClean;
}

}  // namespace seaway::tools
