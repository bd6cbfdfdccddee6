// Starts this very command again and again, and waits for its first byte.

#include "benchmarks/start/start.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/support/measure.hpp"
#include "seaway/seaway.hpp"

extern char** environ;

namespace seaway::benchmarks {
namespace {

/// Milliseconds from before the new process exists until its first byte.
Result<double> first_result_ms() {
  std::array<int, 2> pipe_ends;
  if (pipe(pipe_ends.data()) != 0) return resource_exhausted("no pipe could be made");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  std::string command = "seaway", verb = "first-result";
  std::array<char*, 3> arguments = {command.data(), verb.data(), nullptr};
  pid_t child = 0;
  const std::uint64_t begin_ns = now_ns();
  const int error =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  char byte = 0;
  const bool came = error == 0 && read(pipe_ends[0], &byte, 1) == 1;
  const auto elapsed_ns = static_cast<double>(now_ns() - begin_ns);
  close(pipe_ends[0]);
  int outcome = 0;
  if (error == 0) waitpid(child, &outcome, 0);
  if (!came || !WIFEXITED(outcome) || WEXITSTATUS(outcome) != 0) {
    return invalid_argument("a cold process gave no first value");
  }
  return elapsed_ns / 1e6;
}

}  // namespace

int first_result() {
  auto client = connect("embedded:islands=1,devices=4");
  if (!client.ok()) return 2;
  auto slice = client->acquire_slice({.devices = 4, .mesh = {{"data", 4}}});
  if (!slice.ok()) return 2;
  const NamedSharding rows(slice->mesh(), P("data"));
  auto twice = client->function("twice", [](Tensor x) { return 2.0f * x; }, {f32({1})});
  if (!twice.ok()) return 2;
  auto program = client->program("twice", [&twice](Traced x) { return (*twice)(x); },
                                 {ArraySpec{f32({4}), rows}});
  if (!program.ok()) return 2;
  const auto value =
      program->execute({client->put<float>({1, 2, 3, 4}, rows)}).output(0).to_host<float>().get();
  if (!value.ok() || *value != std::vector<float>{2, 4, 6, 8}) return 2;
  return write(STDOUT_FILENO, "\n", 1) == 1 ? 0 : 2;
}

Status run_start(const BenchOptions& options, BenchReport& report) {
  std::vector<double> times_ms;
  for (int i = 0; i < (options.quick ? 2 : 15); ++i) {
    auto time_ms = first_result_ms();
    if (!time_ms.ok()) return time_ms.status();
    times_ms.push_back(*time_ms);
  }
  report.add(
      "start.first_result_ms", median(times_ms), "ms",
      with_bound({{"processes", std::to_string(times_ms.size())}, {"quantile", "0.5"}}, "50"));
  return {};
}

}  // namespace seaway::benchmarks
