// UpCluster: a cluster of real processes, as `seaway up` starts it, for benchmarks.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "seaway/client.hpp"
#include "seaway/status.hpp"

namespace seaway::benchmarks {

/// Starts this very command with `up` in a directory of its own, and ends it with all its
/// processes. One thread.
class UpCluster {
 public:
  /// When a process that says nothing counts as dead: late (kPatience), or as users have it.
  enum class Silence : std::uint8_t { kPatient, kDefault };

  /// `more`: further words of the command line. Returns when it is ready. Errors: kInvalidArgument
  /// when it is not.
  static Result<std::unique_ptr<UpCluster>> start(std::uint32_t islands, std::uint32_t devices,
                                                  const std::vector<std::string>& more = {},
                                                  Silence silence = Silence::kPatient);
  ~UpCluster();
  UpCluster(const UpCluster&) = delete;
  UpCluster& operator=(const UpCluster&) = delete;

  std::string address() const { return "unix:" + directory_ + "/ctl.sock"; }
  std::uint32_t islands() const { return islands_; }
  /// Its processes as the system knows them now, by name: "host 1", "host 1.2" for
  /// a further one of island 1, "controller", "up".
  std::map<std::string, pid_t> processes() const;
  pid_t process_of(const std::string& name) const;

  /// The life of each role that is there, by name, as the controller says; empty when it does not.
  std::map<std::string, std::uint32_t> lives() const;

 private:
  explicit UpCluster(std::uint32_t islands) : islands_(islands) {}
  const std::uint32_t islands_;
  std::string directory_;
  pid_t up_ = 0;
};

/// A client with one device of one island, and a program on it that squares a matrix of `size` by
/// `size` again and again, `times` times.
struct Worker {
  Client client;
  Slice slice;
  Function square;
  Program program;
  NamedSharding sharding;
  std::int64_t size = 0;

  /// Errors: those of the cluster.
  static Result<Worker> make(const std::string& address, std::int32_t island, std::int64_t size,
                             int times);
  Run run() const;
  /// Waits for it.
  Status call() const;
};

/// Proportional memory of a process in bytes, and its processor time so far in ns; 0 when it is
/// gone.
std::uint64_t proportional_bytes(pid_t process);
std::uint64_t processor_ns(pid_t process);

}  // namespace seaway::benchmarks
