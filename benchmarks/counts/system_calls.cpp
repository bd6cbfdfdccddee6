// Functions of the C library's names, which count in memory that processes share and ask the
// kernel.

#include "benchmarks/counts/system_calls.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

struct Counters {
  std::atomic<std::uint64_t> count, written_bytes;
};
std::atomic<Counters*> counters{nullptr};

void count_one() {
  if (Counters* const all = counters.load(std::memory_order_relaxed)) {
    all->count.fetch_add(1, std::memory_order_relaxed);
  }
}

ssize_t count_written(ssize_t bytes) {
  Counters* const all = counters.load(std::memory_order_relaxed);
  if (all && bytes > 0) {
    all->written_bytes.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
  }
  return bytes;
}

constexpr std::size_t kSignalSetBytes = 8;  // Of the kernel's.

template <class... Arguments>
ssize_t ask(long number, Arguments... arguments) {
  count_one();
  return syscall(number, arguments...);
}

}  // namespace

extern "C" {

ssize_t read(int file, void* to, size_t bytes) { return ask(SYS_read, file, to, bytes); }
ssize_t readv(int file, const iovec* to, int parts) { return ask(SYS_readv, file, to, parts); }
ssize_t recv(int file, void* to, size_t bytes, int flags) {
  return ask(SYS_recvfrom, file, to, bytes, flags, nullptr, nullptr);
}
ssize_t recvmsg(int file, msghdr* to, int flags) { return ask(SYS_recvmsg, file, to, flags); }
ssize_t write(int file, const void* from, size_t bytes) {
  return count_written(ask(SYS_write, file, from, bytes));
}
ssize_t writev(int file, const iovec* from, int parts) {
  return count_written(ask(SYS_writev, file, from, parts));
}
ssize_t send(int file, const void* from, size_t bytes, int flags) {
  return count_written(ask(SYS_sendto, file, from, bytes, flags, nullptr, 0));
}
ssize_t sendmsg(int file, const msghdr* from, int flags) {
  return count_written(ask(SYS_sendmsg, file, from, flags));
}
int ppoll(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* signals) {
  timespec left = timeout ? *timeout : timespec();  // The kernel writes to it.
  return static_cast<int>(
      ask(SYS_ppoll, files, count, timeout ? &left : nullptr, signals, kSignalSetBytes));
}
int poll(pollfd* files, nfds_t count, int timeout_ms) {
  const timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  return ppoll(files, count, timeout_ms < 0 ? nullptr : &timeout, nullptr);
}
int epoll_pwait(int epoll, epoll_event* events, int most, int timeout_ms, const sigset_t* signals) {
  return static_cast<int>(
      ask(SYS_epoll_pwait, epoll, events, most, timeout_ms, signals, kSignalSetBytes));
}
int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
  return epoll_pwait(epoll, events, most, timeout_ms, nullptr);
}
int epoll_ctl(int epoll, int what, int file, epoll_event* event) noexcept {
  return static_cast<int>(ask(SYS_epoll_ctl, epoll, what, file, event));
}

}  // extern "C"

namespace seaway::benchmarks {

void start_counting() {
  void* const shared =
      mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) counters = new (shared) Counters{};
}

SystemCalls system_calls() {
  const Counters* const all = counters.load();
  return all ? SystemCalls{all->count.load(), all->written_bytes.load()} : SystemCalls();
}

std::uint64_t wake_ups(pid_t process) {
  constexpr std::string_view kName = "voluntary_ctxt_switches:";
  std::uint64_t all = 0;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(kName)) all += std::stoull(line.substr(kName.size()));
    }
  }
  return all;
}

}  // namespace seaway::benchmarks
