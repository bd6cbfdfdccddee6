// The list of all benchmarks, and how they report: `seaway bench` runs one of them by name.

#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/support/interval.hpp"
#include "seaway/status.hpp"

namespace seaway::benchmarks {

/// What the command line says to a benchmark.
struct BenchOptions {
  bool quick = false;  // Small sizes, for tests: the figures mean nothing.
  double load_s = 0;   // How long `deaths` keeps all hosts busy; 0: as it sees fit.
};

/// Takes the figures of a benchmark and prints them: one JSON object a line as they come, or one
/// aligned table at the end. One thread. `out` outlives it.
class BenchReport {
 public:
  enum class Form { kTable, kJson };
  /// What a figure was measured with, in the order in which it is printed.
  using Params = std::vector<std::pair<std::string, std::string>>;

  BenchReport(std::ostream& out, Form form) : out_(out), form_(form) {}

  /// One figure. `metric` names stay stable ("dispatch.ns_per_node_shard"). A parameter that reads
  /// as a number is printed as one in JSON; a value that is not finite becomes null there.
  void add(std::string metric, double value, std::string unit, Params params = {});
  /// A ratio of pairs that were measured in turns, as a median with its interval.
  void add_ratio(std::string metric, const Interval& interval, Params params, Bound bound = {});
  /// Another figure whose interval is known.
  void add_interval(std::string metric, const Interval& interval, std::string unit,
                    Params params = {}) {
    add({std::move(metric), interval.median, std::move(unit), std::move(params), interval});
  }
  /// Of the ratios so far those that miss their bounds. Errors: kResourceExhausted, which names
  /// them with their intervals.
  Status missed() const;

  /// Prints the table, when that is the form, and forgets its figures.
  void finish();

 private:
  struct Figure {
    std::string metric;
    double value;
    std::string unit;
    Params params;
    std::optional<Interval> interval = {};
  };
  void add(Figure figure);

  std::ostream& out_;
  const Form form_;
  std::vector<Figure> figures_;
  std::string missed_;
};

/// One benchmark. `run` returns an error when it could not measure, or when a figure misses a bound
/// that it is held to; the message says which.
struct Benchmark {
  const char* name;
  const char* summary;
  Status (*run)(const BenchOptions& options, BenchReport& report);
};

/// All benchmarks, in alphabetical order.
std::span<const Benchmark> benchmarks();

}  // namespace seaway::benchmarks
