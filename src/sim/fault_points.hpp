// FaultPoints: the fault points of product code, while one world runs.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault_point.hpp"
#include "sim/fault_line.hpp"
#include "sim/world_kind.hpp"

namespace seaway::sim {

/// How often each point fired. A value.
struct FaultPointCounts {
  std::array<std::uint64_t, kFaultPoints> counts{};

  void add(FaultPoint point) { ++counts[static_cast<std::size_t>(point)]; }
  std::uint64_t of(FaultPoint point) const { return counts[static_cast<std::size_t>(point)]; }
  FaultPointCounts& operator+=(const FaultPointCounts& other) {
    for (std::size_t i = 0; i < kFaultPoints; ++i) counts[i] += other.counts[i];
    return *this;
  }
  friend bool operator==(const FaultPointCounts&, const FaultPointCounts&) = default;
};

/// From its beginning to its end the points fire as the seed of a world says: anew for each run,
/// so that two runs of one seed are equal. Programs without fault points have nothing to install
/// (base/fault_point.hpp): then this does nothing, and all counts are 0. One at a time.
class FaultPoints {
 public:
  /// Of a wild world half of the points are on.
  explicit FaultPoints(std::uint64_t seed, bool is_wild = false);
  ~FaultPoints();
  FaultPoints(const FaultPoints&) = delete;
  FaultPoints& operator=(const FaultPoints&) = delete;

  /// That point does not fire any more.
  void spare(FaultPoint point);
  FaultPointCounts counts() const;
  /// "point late heartbeat": those that are switched on.
  std::vector<FaultLine> lines() const;
  /// The same as spare(), by that name.
  void spare(std::string_view name);

 private:
  class Chooser;
  std::unique_ptr<Chooser> chooser_;
};

/// "frame twice 12, ..": the points of worlds of `kind`. Empty in a program without fault points.
std::string to_string(const FaultPointCounts& counts, WorldKind kind);
/// "frame twice":12, of those that fired: the inside of an object of JSON.
std::string to_json(const FaultPointCounts& counts);
/// A line for each point: its name, its file, its worlds, what it does.
std::string fault_point_table();
/// The names of those points of worlds of `kind` that did not fire.
std::vector<std::string> missing_points(const FaultPointCounts& counts, WorldKind kind);

}  // namespace seaway::sim
