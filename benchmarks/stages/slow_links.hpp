// SlowLinks: Unix sockets between processes, with time added to each way, and what goes over them.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "seaway/status.hpp"
#include "transport/wires.hpp"

namespace seaway::benchmarks {

/// Listens in the place of processes, and passes on to them what it hears, and back. Each byte is
/// held for a while first; however many are held, none waits for another one. A thread of its own.
///
/// It overhears the conversations, too. The depth of a frame is one more than that of the deepest
/// one that had reached its sender when it was said: so many frames have followed one another, each
/// said after the one before had arrived. What only acknowledges or says that its sender lives is
/// no frame.
class SlowLinks {
 public:
  /// Where others connect to instead, and where the process itself listens, as paths.
  struct Place {
    std::string path;
    std::string process_path;
  };
  /// Errors: kResourceExhausted.
  static Result<std::unique_ptr<SlowLinks>> make(const std::vector<Place>& places);
  ~SlowLinks();
  SlowLinks(const SlowLinks&) = delete;
  SlowLinks& operator=(const SlowLinks&) = delete;

  /// Added to whatever comes from now on, each way.
  void delay(std::uint64_t delay_ns);
  /// All depths are 0; what is under way counts for nothing. Wait for quiet() first.
  void begin_counting();
  /// Of the deepest frame that has reached `process`.
  std::uint32_t depth_of(transport::ProcessId process) const;
  /// Returns when there was no frame for so long. Errors: kDeadlineExceeded.
  Status wait_for_quiet(std::uint64_t quiet_ns, double most_s) const;

 private:
  class Loop;
  explicit SlowLinks(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace seaway::benchmarks
