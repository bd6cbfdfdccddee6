// Commands of this program, as processes of their own: clusters that a benchmark measures.

#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::benchmarks {

/// Settings of clusters that are not measured for how they find deaths: a process that gets no time
/// for a second has not died.
inline constexpr std::array<const char*, 2> kPatience = {"--silence-ms", "5000"};

/// A new directory for sockets, its user's alone; it goes, with all that is in it, with this
/// object.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  /// Empty: the system gave none.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// This program, started with other words, or another one; its output is dropped once it was waited
/// for. It gets SIGTERM at the end of this object, and SIGKILL two seconds later.
class Command {
 public:
  /// `words`: behind the program's name. `directory`: where it works; empty: where this one does.
  /// Errors: kResourceExhausted.
  static Result<Command> start(const std::vector<std::string>& words,
                               const std::string& directory = {});
  /// `words`: a program, as a path or as a name that is looked for in PATH, and what is behind it.
  /// Errors: kNotFound.
  static Result<Command> start_other(const std::vector<std::string>& words);
  ~Command();
  Command(Command&& other) noexcept;
  Command& operator=(Command&&) = delete;

  /// The line of its output that begins with `words`, once it is there. Errors: kDeadlineExceeded
  /// after `most_s` seconds; kHostLost when it ends before, with what it said.
  Result<std::string> line(const std::string& words, double most_s);
  Status wait_for(const std::string& words, double most_s) { return line(words, most_s).status(); }
  /// Returns its exit code once it has ended, also when asked again, or 128 and the number of the
  /// signal that has ended it; -1 after `most_s` seconds.
  int wait_for_end(double most_s);
  /// 0 once it was seen to have ended: its number may be another one's.
  pid_t process() const { return process_; }
  /// How often the threads of the processes that it has started have gone to sleep, so far.
  std::uint64_t wakes_of_children() const;

 private:
  Command(pid_t process, int output) : process_(process), output_(output) {}
  static Result<Command> spawn(const std::string& program, std::vector<std::string> words,
                               const std::string& directory);

  pid_t process_;
  int output_;
  int exit_code_ = -1;
};

}  // namespace seaway::benchmarks
