// Threads inherit the cores of the one that starts them (sched_setaffinity(2)).

#include "base/one_core.hpp"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <thread>

namespace seaway {
namespace {

std::set<pid_t> threads_of_this_process() {
  std::set<pid_t> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const std::string name = entry.path().filename().string();
    pid_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc()) {
      threads.insert(thread);
    }
  }
  return threads;
}

}  // namespace

bool run_on_one_core(const std::function<void()>& work) {
  cpu_set_t all, one;
  CPU_ZERO(&all);
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) return false;
  int core = 0;
  while (!CPU_ISSET(core, &all)) ++core;
  CPU_SET(core, &one);
  bool has_run = false;
  std::thread narrow([&] {
    const std::set<pid_t> before = threads_of_this_process();
    if (before.empty() || sched_setaffinity(0, sizeof one, &one) != 0) return;
    work();
    has_run = true;
    for (const pid_t thread : threads_of_this_process()) {
      cpu_set_t its;
      CPU_ZERO(&its);
      // Others that began meanwhile have the cores of whoever started them.
      if (before.contains(thread) || sched_getaffinity(thread, sizeof its, &its) != 0) continue;
      if (CPU_EQUAL(&its, &one)) (void)sched_setaffinity(thread, sizeof all, &all);
    }
  });
  narrow.join();
  return has_run;
}

}  // namespace seaway
