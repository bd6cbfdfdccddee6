// A child with one more variable in its environment.

#include "chaos_user.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sim/chaos.hpp"
#include "verbs.hpp"

extern char** environ;

namespace seaway::tools {
namespace {

using Ends = std::array<int, 2>;

/// What the program has said of its explorations.
struct Names {
  std::vector<std::string> all;
  bool has_meant = false;  // One of them has done what the words say.
};

/// All that is there by now: children that the program has left behind may still hold the other
/// end.
Names read_names(int file) {
  fcntl(file, F_SETFL, O_NONBLOCK);
  std::string text;
  std::array<char, 1 << 12> buffer;
  for (ssize_t count = 0; (count = read(file, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  Names names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    names.has_meant = names.has_meant || text[begin] == '+';
    names.all.push_back(text.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return names;
}

/// Where the program's standard output goes.
void redirect(posix_spawn_file_actions_t& actions, bool is_silent, const Ends& output) {
  if (is_silent) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  } else if (output[1] >= 0) {
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  }
}

/// The exit code of the program; its standard output goes to `output`, if there is one.
int run_program(const std::string& program, const std::vector<std::string>& arguments,
                campaign::UserWords words, std::string* output, Names& names) {
  Ends ends{-1, -1}, told{-1, -1};
  if (pipe2(told.data(), O_CLOEXEC) != 0) return kBadUsage;
  words.names = told[1];
  std::vector<std::string> variables;
  const std::string own = std::string(campaign::kUserWordsVariable) + "=";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, own.c_str(), own.size()) != 0) variables.emplace_back(*variable);
  }
  variables.push_back(own + to_json(words));
  std::vector<std::string> all = {program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> found;
    for (std::string& text : texts) found.push_back(text.data());
    found.push_back(nullptr);
    return found;
  };
  if (output && pipe2(ends.data(), O_CLOEXEC) != 0) return kBadUsage;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  redirect(actions, words.lists, ends);
  posix_spawn_file_actions_adddup2(&actions, told[1], told[1]);  // Not closed there.
  pid_t process = 0;
  std::fflush(nullptr);
  const int error = posix_spawnp(&process, program.c_str(), &actions, nullptr, pointers(all).data(),
                                 pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (output) close(ends[1]);
  close(told[1]);
  if (error != 0) {
    if (output) close(ends[0]);
    close(told[0]);
    std::fprintf(stderr, "seaway: cannot run %s: %s\n", program.c_str(), std::strerror(error));
    return kBadUsage;
  }
  std::array<char, 1 << 16> buffer;
  while (output) {
    const ssize_t count = read(ends[0], buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    output->append(buffer.data(), static_cast<std::size_t>(count));
  }
  if (output) close(ends[0]);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  names = read_names(told[0]);
  close(told[0]);
  const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : sim::kChaosCrash;
  if (names.has_meant || (words.lists && !names.all.empty())) return exit_code;
  std::string known;
  for (const std::string& name : names.all) known += (known.empty() ? "" : ", ") + name;
  if (known.empty()) {
    std::fprintf(stderr,
                 "seaway: %s has not come by an explore() of seaway/app/explore.hpp (exit code "
                 "%d)\n",
                 program.c_str(), exit_code);
  } else {
    std::fprintf(stderr, "seaway: %s has no exploration '%s'; it has: %s\n", program.c_str(),
                 words.test.c_str(), known.c_str());
  }
  return kBadUsage;
}

/// The lines of JSON alone: a program may say other things before.
std::vector<std::string> json_lines(const std::string& output) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = std::min(output.find('\n', begin), output.size());
    if (output[begin] == '{') lines.push_back(output.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

int run_user_program(const std::string& program, const std::vector<std::string>& arguments,
                     const campaign::UserWords& words) {
  Names names;
  const int exit_code = run_program(program, arguments, words, nullptr, names);
  if (!words.lists || names.all.empty()) return exit_code;
  for (const std::string& name : names.all) std::printf("%s\n", name.c_str());
  return sim::kChaosClean;
}

int run_user_program_twice(const std::string& program, const std::vector<std::string>& arguments,
                           campaign::UserWords words) {
  words.json = true;
  std::array<std::vector<std::string>, 2> runs;
  for (auto& lines : runs) {
    std::string output;
    Names names;
    const int exit_code = run_program(program, arguments, words, &output, names);
    if (exit_code != sim::kChaosClean) return exit_code;
    lines = json_lines(output);
  }
  for (std::size_t i = 0; i < runs[0].size(); ++i) {
    if (i < runs[1].size() && runs[0][i] == runs[1][i]) continue;
    std::printf("two processes differ:\n  %s\n  %s\n", runs[0][i].c_str(),
                i < runs[1].size() ? runs[1][i].c_str() : "nothing");
    return sim::kChaosNondeterminism;
  }
  std::printf("%zu pairs of processes agree\n", runs[0].size());
  return sim::kChaosClean;
}

}  // namespace seaway::tools
