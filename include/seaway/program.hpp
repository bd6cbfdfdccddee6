// Program and Run: a graph of function calls captured once from C++ code, and one execution of it.

#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/array.hpp"
#include "seaway/future.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"
#include "seaway/tensor.hpp"

namespace seaway {

namespace client {
struct ProgramRecord;
}  // namespace client

/// How a program is dispatched.
enum class DispatchMode : std::uint8_t {
  kParallel,    // All host-side work of all nodes at once, before the data exists.
  kSequential,  // Node by node, each after the one before was enqueued; for comparison.
};
/// "parallel", "sequential".
std::string_view to_string(DispatchMode mode);

/// Choices for Client::program.
struct ProgramOptions {
  DispatchMode dispatch = DispatchMode::kParallel;
  /// Parameters that every run uses up: their arrays cannot be used again, their memory may become
  /// the results'.
  std::vector<std::uint32_t> donated = {};

  /// "program options: parallel, donates parameters 0 2", or "donates nothing".
  std::string to_string() const;
};

/// Choices for one run. Trivially destructible, so that it may be written in place anywhere.
struct ExecuteOptions {
  /// The run is cancelled with kDeadlineExceeded when it has no outcome after this time.
  std::optional<std::chrono::nanoseconds> deadline = std::nullopt;
  /// Parameters that this run uses up, beside those of the program: `{.donate = {0}}`. Valid during
  /// the call. The first run with a new set registers a variant of the program.
  std::initializer_list<std::uint32_t> donate = {};

  /// "execute options: deadline 5 ms, donates parameters 0", or "no deadline", "donates nothing".
  std::string to_string() const;
};
static_assert(std::is_trivially_destructible_v<ExecuteOptions>);

/// One execution of a program, usually still in the future. A shared handle; thread-safe. It keeps
/// the outputs that nobody has asked for alive; an output() lives on its own.
///
/// A run that was refused is a Run too: its status() is the reason, and its outputs carry it.
class Run {
 public:
  Run() = default;
  Run(const Run& other);
  Run(Run&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  Run& operator=(Run other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~Run();

  /// Its number in the cluster; 0 when it was refused.
  std::uint64_t id() const;
  /// Output `index` of the program. Past the end: an array whose status() says so.
  Array output(std::size_t index) const;
  std::vector<Array> outputs() const;
  std::size_t size() const;

  /// Completes when the run has succeeded on all its islands, or with the first failure that the
  /// cluster hears of: where another island needed what failed and is heard first, that is
  /// kInputLost with the failure as its cause. It names the line of user code where the failing
  /// call was captured.
  Future<void> status() const;
  /// The error known so far, without waiting: OK while the outcome is open. A refusal is known at
  /// once.
  Status error() const;

  /// Gives the run up on all its islands: its outputs fail with kCancelled, unless it is done
  /// before that is known everywhere. Returns at once.
  void cancel();

  /// What it waits for, down to the root, as text. Asks the cluster; blocks.
  std::string why() const;
  /// "run 7 of client 1 of f: done"; "pending" while it has no outcome, or its error.
  std::string to_string() const;
  explicit operator bool() const { return record_ != nullptr; }

  /// For the library: takes over one handle of `record`.
  explicit Run(client::Record* record) : record_(record) {}

 private:
  client::Record* record_ = nullptr;
};

/// A captured program. A shared handle; thread-safe. Captured and checked once, lowered by the
/// cluster once for each binding of its slices, run many times.
class Program {
 public:
  Program() = default;

  const std::string& name() const;
  std::uint64_t id() const;
  const std::vector<ArraySpec>& parameters() const;
  const std::vector<ArraySpec>& outputs() const;
  std::size_t node_count() const;

  /// Enqueues one run and returns at once, long before the arguments need exist. About 300 ns.
  ///
  /// Refused (Run::error()): kInvalidArgument for a wrong number, type or sharding of arguments,
  /// an array of another client or a donated one, a released slice; the argument's own error when
  /// it carries one that never reached the cluster; kResourceExhausted when `runs_in_flight_max`
  /// runs wait and ClientOptions::when_full is kRefuse (with kWait the call blocks instead);
  /// kCancelled when the client has been closed.
  Run execute(std::span<const Array> arguments, ExecuteOptions options = {},
              Site site = Site::current()) const;
  Run execute(std::initializer_list<Array> arguments, ExecuteOptions options = {},
              Site site = Site::current()) const {
    return execute(std::span<const Array>(arguments.begin(), arguments.size()), options, site);
  }

  /// One node a line; Graphviz; JSON.
  std::string to_string() const;
  std::string to_dot() const;
  std::string to_json() const;
  explicit operator bool() const { return record_ != nullptr; }

  /// For the library.
  explicit Program(std::shared_ptr<client::ProgramRecord> record) : record_(std::move(record)) {}
  const std::shared_ptr<client::ProgramRecord>& record() const { return record_; }

 private:
  std::shared_ptr<client::ProgramRecord> record_;
};

}  // namespace seaway
