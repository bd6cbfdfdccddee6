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
  bool may_end = true;             // It is not started again when its exit code is 0.
};

/// What became of one that is not there any more.
struct ChildEnd {
  std::string name;
  pid_t process = 0;
  int status = 0;    // As waitpid() has it.
  std::string line;  // "host 1 (process 4711) was killed by signal 9; started again".
};

/// Not thread-safe. Children that have been started end with this object, and, as they die with the
/// thread that started them, with this process, whatever ends it.
class Children {
 public:
  /// One that ends more often than so within the window is not started again.
  static constexpr std::size_t kRestartsMax = 5;
  static constexpr std::uint64_t kWindowNs = 10'000'000'000;

  explicit Children(const Clock& clock, std::size_t restarts_max = kRestartsMax)
      : clock_(clock), restarts_max_(restarts_max) {}
  /// SIGTERM to all; SIGKILL to those that are still there after a second.
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Errors: kResourceExhausted when the system does not let it.
  Status start(Child child);

  /// One of its children may have ended: unless it may (Child::may_end), or it was told to, it is
  /// started again. Returns what happened. `has_failed`: of one that ended too often.
  std::vector<ChildEnd> look_after(bool& has_failed);
  /// SIGTERM to the child of that name, which is not started again, however it ends.
  void tell_to_end(const std::string& name);
  /// Whether the child of that name has ended because it was asked to.
  bool has_ended_well(const std::string& name) const;
  /// The process of the child of that name; 0: none.
  pid_t process_of(const std::string& name) const;

 private:
  struct Running {
    Child child;
    pid_t process = 0;
    bool has_ended_well = false;
    bool is_to_end = false;
    std::deque<std::uint64_t> starts_ns;
  };
  Status spawn(Running& running);

  const Clock& clock_;
  const std::size_t restarts_max_;
  std::vector<Running> children_;
};

}  // namespace seaway::tools
