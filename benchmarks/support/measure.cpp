// The clock, quantiles, resident memory and pinning, from the standard library and Linux.

#include "benchmarks/support/measure.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>

namespace seaway::benchmarks {

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

double quantile(std::vector<double> samples, double share) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto index = std::min(
      samples.size() - 1, static_cast<std::size_t>(share * static_cast<double>(samples.size())));
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(index),
                   samples.end());
  return samples[index];
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  if (!(file >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

Resident resident_of(pid_t process) {
  Resident resident;
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    constexpr std::uint64_t kKiB = 1024;
    if (line.starts_with("VmRSS:")) resident.now_bytes = std::stoull(line.substr(6)) * kKiB;
    if (line.starts_with("VmHWM:")) resident.most_bytes = std::stoull(line.substr(6)) * kKiB;
  }
  return resident;
}

PinnedToOneCore::PinnedToOneCore() {
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof(before), &before) != 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &before)) continue;
    CPU_SET(core, &one);
    break;
  }
  if (sched_setaffinity(0, sizeof(one), &one) != 0) return;
  before_.resize(sizeof(before));
  std::memcpy(before_.data(), &before, sizeof(before));
}

PinnedToOneCore::~PinnedToOneCore() {
  if (before_.empty()) return;
  cpu_set_t before;
  std::memcpy(&before, before_.data(), sizeof(before));
  sched_setaffinity(0, sizeof(before), &before);
}

std::vector<int> cores() {
  cpu_set_t all;
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof(all), &all) != 0) return found;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &all)) found.push_back(core);
  }
  return found;
}

bool stay_on(pid_t process, int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  std::error_code error;
  bool is_all = true;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    const auto thread = static_cast<pid_t>(std::stol(task.path().filename()));
    is_all &= sched_setaffinity(thread, sizeof(one), &one) == 0;
  }
  return is_all && !error;
}

BenchReport::Params with_bound(BenchReport::Params params, const std::string& bound) {
  if (!bound.empty()) params.emplace_back("bound", bound);
  return params;
}

}  // namespace seaway::benchmarks
