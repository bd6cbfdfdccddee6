// posix_spawn of /proc/self/exe, with a pipe for what it prints.

#include "benchmarks/support/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "benchmarks/support/measure.hpp"

extern char** environ;

namespace seaway::benchmarks {
namespace {

constexpr std::uint64_t kEndNs = 2'000'000'000;

std::uint64_t wakes_of_thread(const std::filesystem::path& thread) {
  constexpr std::string_view kWord = "voluntary_ctxt_switches:";
  std::ifstream status(thread / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kWord)) return std::stoull(line.substr(kWord.size()));
  }
  return 0;
}

}  // namespace

ScratchDirectory::ScratchDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "seaway_bench_XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<Command> Command::start(const std::vector<std::string>& words,
                               const std::string& directory) {
  std::vector<std::string> all = {"seaway"};
  all.insert(all.end(), words.begin(), words.end());
  return spawn("/proc/self/exe", std::move(all), directory);
}

Result<Command> Command::start_other(const std::vector<std::string>& words) {
  auto command = spawn(words.front(), words, {});
  if (command.ok()) return command;
  return not_found(words.front() + " could not be started");
}

Result<Command> Command::spawn(const std::string& program, std::vector<std::string> words,
                               const std::string& directory) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return resource_exhausted("no pipe could be made");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error == 0) return Command(process, ends[0]);
  ::close(ends[0]);
  return resource_exhausted("no process could be started");
}

Command::Command(Command&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      output_(std::exchange(other.output_, -1)),
      exit_code_(other.exit_code_) {}

Command::~Command() {
  if (process_ > 0) {
    ::kill(process_, SIGTERM);
    const std::uint64_t until_ns = now_ns() + kEndNs;
    while (::waitpid(process_, nullptr, WNOHANG) == 0) {
      if (now_ns() > until_ns) ::kill(process_, SIGKILL);
      ::usleep(1000);
    }
  }
  if (output_ >= 0) ::close(output_);
}

Result<std::string> Command::line(const std::string& words, double most_s) {
  const std::uint64_t until_ns = now_ns() + static_cast<std::uint64_t>(most_s * 1e9);
  std::string text = "\n";
  std::array<char, 4096> buffer;
  for (;;) {
    const std::size_t begin = text.find("\n" + words);
    const std::size_t end = begin == std::string::npos ? begin : text.find('\n', begin + 1);
    if (end != std::string::npos) return text.substr(begin + 1, end - begin - 1);
    const std::uint64_t time_ns = now_ns();
    if (time_ns >= until_ns) {
      return deadline_exceeded("'" + words + "' was not said in time; it said:" + text);
    }
    pollfd output{output_, POLLIN, 0};
    const auto rest_ms = static_cast<int>((until_ns - time_ns) / 1'000'000) + 1;
    if (::poll(&output, 1, rest_ms) <= 0) continue;
    const ssize_t count = ::read(output_, buffer.data(), buffer.size());
    if (count <= 0) return Status(StatusCode::kHostLost, "it has ended, and said:" + text);
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

int Command::wait_for_end(double most_s) {
  const std::uint64_t until_ns = now_ns() + static_cast<std::uint64_t>(most_s * 1e9);
  int status = 0;
  if (process_ == 0) return exit_code_;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (now_ns() > until_ns) return -1;
    ::usleep(1000);
  }
  process_ = 0;
  constexpr int kBySignal = 128;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
  return exit_code_;
}

std::uint64_t Command::wakes_of_children() const {
  const std::string own = std::to_string(process_);
  std::ifstream children("/proc/" + own + "/task/" + own + "/children");
  std::uint64_t wakes = 0;
  std::error_code gone;
  for (std::string child; children >> child;) {
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + child + "/task", gone)) {
      wakes += wakes_of_thread(thread.path());
    }
  }
  return wakes;
}

}  // namespace seaway::benchmarks
