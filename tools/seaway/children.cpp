// posix_spawn, waitpid, and how often.

#include "children.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

extern char** environ;

namespace seaway::tools {
namespace {

constexpr std::uint64_t kGraceNs = 1'000'000'000;
constexpr useconds_t kLookUs = 5'000;

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Children::~Children() {
  for (const Running& child : children_) {
    if (child.process > 0) kill(child.process, SIGTERM);
  }
  const std::uint64_t until_ns = clock_.now_ns() + kGraceNs;
  for (Running& child : children_) {
    while (child.process > 0) {
      if (waitpid(child.process, nullptr, WNOHANG) != 0) {
        child.process = 0;
      } else if (clock_.now_ns() < until_ns) {
        usleep(kLookUs);
      } else {
        kill(child.process, SIGKILL);
        while (waitpid(child.process, nullptr, 0) < 0 && errno == EINTR) continue;
        child.process = 0;
      }
    }
  }
}

Status Children::start(Child child) {
  children_.push_back({std::move(child), 0, false, false, {}});
  return spawn(children_.back());
}

Status Children::spawn(Running& running) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, running.child.log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  // Signals that this process waits for are not blocked there, and a terminal's Ctrl-C is for this
  // one alone, which then ends them.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const bool is_own = running.child.program.empty();
  const char* const program = is_own ? "/proc/self/exe" : running.child.program.c_str();
  std::vector<char*> words = {const_cast<char*>(is_own ? "seaway" : program)};
  for (std::string& word : running.child.words) words.push_back(word.data());
  words.push_back(nullptr);
  const int error =
      posix_spawn(&running.process, program, &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  running.starts_ns.push_back(clock_.now_ns());
  if (error == 0) return {};
  running.process = 0;
  return resource_exhausted("cannot start " + running.child.name + ": " + std::strerror(error));
}

std::vector<ChildEnd> Children::look_after(bool& has_failed) {
  std::vector<ChildEnd> ends;
  for (Running& running : children_) {
    int status = 0;
    const pid_t process = running.process;
    if (process == 0 || waitpid(process, &status, WNOHANG) <= 0) continue;
    ChildEnd& end = ends.emplace_back(ChildEnd{running.child.name, process, status, {}});
    end.line =
        running.child.name + " (process " + std::to_string(process) + ") " + how_it_ended(status);
    running.process = 0;
    running.has_ended_well = running.child.may_end && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (running.has_ended_well || running.is_to_end) continue;
    const std::uint64_t now_ns = clock_.now_ns();
    while (!running.starts_ns.empty() && running.starts_ns.front() + kWindowNs < now_ns) {
      running.starts_ns.pop_front();
    }
    if (running.starts_ns.size() > restarts_max_) {
      has_failed = true;
      end.line += "; it was started " + std::to_string(running.starts_ns.size()) + " times in " +
                  std::to_string(kWindowNs / 1'000'000'000) + " s, and is not any more; see " +
                  running.child.log;
      continue;
    }
    const Status started = spawn(running);
    has_failed = has_failed || !started.ok();
    end.line += started.ok() ? "; started again" : "; " + started.message();
  }
  return ends;
}

void Children::tell_to_end(const std::string& name) {
  for (Running& running : children_) {
    if (running.child.name != name) continue;
    running.is_to_end = true;
    if (running.process > 0) kill(running.process, SIGTERM);
  }
}

bool Children::has_ended_well(const std::string& name) const {
  for (const Running& running : children_) {
    if (running.child.name == name) return running.has_ended_well;
  }
  return false;
}

pid_t Children::process_of(const std::string& name) const {
  for (const Running& running : children_) {
    if (running.child.name == name) return running.process;
  }
  return 0;
}

}  // namespace seaway::tools
