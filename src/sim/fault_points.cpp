// The chooser of one world, and words about the points, in those programs that have them.

#include "sim/fault_points.hpp"

#include <algorithm>

#if defined(SEAWAY_FAULT_POINTS) && SEAWAY_FAULT_POINTS
#include "base/check.hpp"
#include "sim/fault_chooser.hpp"
#include "sim/fault_point_info.hpp"
#endif

namespace seaway::sim {

#if defined(SEAWAY_FAULT_POINTS) && SEAWAY_FAULT_POINTS

namespace {
std::string name_of(const FaultPointInfo& info) { return "point " + std::string(info.name); }
}  // namespace

class FaultPoints::Chooser {
 public:
  Chooser(std::uint64_t seed, bool is_wild) : seeded(seed, is_wild) {
    SEAWAY_CHECK(exchange_fault_chooser(&seeded) == nullptr, "one world at a time", seed);
  }
  ~Chooser() { exchange_fault_chooser(nullptr); }

  SeededFaultChooser seeded;
};

FaultPoints::FaultPoints(std::uint64_t seed, bool is_wild)
    : chooser_(std::make_unique<Chooser>(seed, is_wild)) {}
void FaultPoints::spare(FaultPoint point) { chooser_->seeded.spare(point); }
FaultPointCounts FaultPoints::counts() const { return chooser_->seeded.counts(); }
std::vector<FaultLine> FaultPoints::lines() const {
  std::vector<FaultLine> lines;
  for (std::size_t i = 0; i < kFaultPoints; ++i) {
    const auto point = static_cast<FaultPoint>(i);
    const FaultPointInfo& info = info_of(point);
    if (chooser_->seeded.is_on(point))
      lines.push_back({name_of(info), "point", std::string(info.effect)});
  }
  return lines;
}
void FaultPoints::spare(std::string_view name) {
  for (std::size_t i = 0; i < kFaultPoints; ++i) {
    const auto point = static_cast<FaultPoint>(i);
    if (name_of(info_of(point)) == name) spare(point);
  }
}

namespace {

/// Calls `visit` with the name of each point of worlds of `kind`, and how often it fired.
template <class Visit>
void each_point(const FaultPointCounts& counts, WorldKind kind, const Visit& visit) {
  for (std::size_t i = 0; i < kFaultPoints; ++i) {
    const FaultPointInfo& info = info_of(static_cast<FaultPoint>(i));
    if (kind == WorldKind::kMixed || info.worlds.has(kind))
      visit(std::string(info.name), counts.counts[i]);
  }
}

}  // namespace

std::string to_string(const FaultPointCounts& counts, WorldKind kind) {
  std::string text;
  each_point(counts, kind, [&text](const std::string& name, std::uint64_t count) {
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
  });
  return text;
}

std::string to_json(const FaultPointCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < kFaultPoints; ++i) {
    if (counts.counts[i] == 0) continue;
    text += (text.empty() ? "\"" : ",\"") + std::string(info_of(static_cast<FaultPoint>(i)).name) +
            "\":" + std::to_string(counts.counts[i]);
  }
  return text;
}

std::string fault_point_table() {
  const auto padded = [](std::string text, std::size_t columns) {
    text.resize(std::max(text.size(), columns), ' ');
    return text;
  };
  std::string text;
  for (std::size_t i = 0; i < kFaultPoints; ++i) {
    const FaultPointInfo& info = info_of(static_cast<FaultPoint>(i));
    std::string worlds;
    for (const WorldKind kind : {WorldKind::kPrograms, WorldKind::kApps, WorldKind::kProcesses}) {
      if (!info.worlds.has(kind)) continue;
      worlds += (worlds.empty() ? "" : ", ") + std::string(to_string(kind));
    }
    text += padded(std::string(info.name), 22) + padded(std::string(info.file), 36) +
            padded(worlds, 21) + std::string(info.effect) + "\n";
  }
  return text;
}

std::vector<std::string> missing_points(const FaultPointCounts& counts, WorldKind kind) {
  std::vector<std::string> names;
  each_point(counts, kind, [&names](const std::string& name, std::uint64_t count) {
    if (count == 0) names.push_back(name);
  });
  return names;
}

#else

class FaultPoints::Chooser {};

FaultPoints::FaultPoints(std::uint64_t, bool) {}
void FaultPoints::spare(FaultPoint) {}
FaultPointCounts FaultPoints::counts() const { return {}; }
std::vector<FaultLine> FaultPoints::lines() const { return {}; }
void FaultPoints::spare(std::string_view) {}
std::string to_string(const FaultPointCounts&, WorldKind) { return ""; }
std::string to_json(const FaultPointCounts&) { return ""; }
std::string fault_point_table() { return ""; }
std::vector<std::string> missing_points(const FaultPointCounts&, WorldKind) { return {}; }

#endif

FaultPoints::~FaultPoints() = default;

}  // namespace seaway::sim
