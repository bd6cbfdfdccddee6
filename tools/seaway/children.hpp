// Children: processes of this program that are started again when they end, and end with it.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "seaway/status.hpp"

namespace seaway::tools {

/// One that is kept running.
struct Child {
  std::string name;                // "host 1".
  std::vector<std::string> words;  // What it is started with, behind the program's name.
  std::string log;                 // Where its output goes.
  std::string program = {};        // Empty: this one.
};

/// Not thread-safe. Children that have been started end with this object, and, as they die with the
/// thread that started them, with this process, whatever ends it.
class Children {
 public:
  /// One that ends more often than so within the window is not started again.
  static constexpr std::size_t kRestartsMax = 5;
  static constexpr std::uint64_t kWindowNs = 10'000'000'000;

  explicit Children(const Clock& clock) : clock_(clock) {}
  /// SIGTERM to all; SIGKILL to those that are still there after a second.
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Errors: kResourceExhausted when the system does not let it.
  Status start(Child child);

  /// One of its children may have ended: unless its exit code is 0 it is started again. Returns
  /// what happened, a line each: "host 1 (process 4711) was killed by signal 9; started again".
  /// `has_failed`: of one that ended too often.
  std::vector<std::string> look_after(bool& has_failed);
  /// Whether the child of that name has ended because it was asked to.
  bool has_ended_well(const std::string& name) const;
  /// The process of the child of that name; 0: none.
  pid_t process_of(const std::string& name) const;

 private:
  struct Running {
    Child child;
    pid_t process = 0;
    bool has_ended_well = false;
    std::deque<std::uint64_t> starts_ns;
  };
  Status spawn(Running& running);

  const Clock& clock_;
  std::vector<Running> children_;
};

}  // namespace seaway::tools
