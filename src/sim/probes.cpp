// Probes by way of the section that the linker has put them in, in those programs that have them.

#include "sim/probes.hpp"

#include <algorithm>
#include <string_view>

#if defined(SEAWAY_FAULT_POINTS) && SEAWAY_FAULT_POINTS
// The linker names the ends of a section after it.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern seaway::Probe __start_seaway_probes[];
[[gnu::weak, gnu::visibility("hidden")]] extern seaway::Probe __stop_seaway_probes[];
}
#endif

namespace seaway::sim {
namespace {

#if defined(SEAWAY_FAULT_POINTS) && SEAWAY_FAULT_POINTS
Probe* first_probe() { return __start_seaway_probes; }
Probe* last_probe() { return __stop_seaway_probes; }
#else
Probe* first_probe() { return nullptr; }
Probe* last_probe() { return nullptr; }
#endif

/// "controller/losses.cpp:24", without the way to the source tree.
std::string place_of(const Probe& probe) {
  std::string_view file = probe.file;
  const auto at = file.rfind("src/");
  if (at != std::string_view::npos) file.remove_prefix(at + 4);
  return std::string(file) + ":" + std::to_string(probe.line);
}

std::string row(const Probe& probe) {
  std::string name = probe.name;
  name.resize(std::max<std::size_t>(name.size(), 60), ' ');
  return name + "  " + place_of(probe) + "\n";
}

}  // namespace

std::size_t probe_count() { return static_cast<std::size_t>(last_probe() - first_probe()); }

std::vector<const Probe*> probes() {
  std::vector<const Probe*> all;
  for (const Probe* probe = first_probe(); probe != last_probe(); ++probe) all.push_back(probe);
  std::sort(all.begin(), all.end(), [](const Probe* a, const Probe* b) {
    const int order = std::string_view(a->file).compare(b->file);
    return order != 0 ? order < 0 : a->line < b->line;
  });
  return all;
}

ProbeCounts take_probe_counts() {
  ProbeCounts counts;
  for (Probe* probe = first_probe(); probe != last_probe(); ++probe) {
    counts.push_back(probe->count);
    probe->count = 0;
  }
  return counts;
}

void add(ProbeCounts& sum, const ProbeCounts& counts) {
  sum.resize(std::max(sum.size(), counts.size()));
  for (std::size_t i = 0; i < counts.size(); ++i) sum[i] += counts[i];
}

std::string probe_table() {
  std::string text;
  for (const Probe* probe : probes()) text += row(*probe);
  return text;
}

std::string probe_table(const ProbeCounts& counts) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < counts.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&counts](std::size_t a, std::size_t b) { return counts[a] < counts[b]; });
  std::string text;
  for (const std::size_t i : order) {
    std::string count = std::to_string(counts[i]);
    count.insert(0, 11 - std::min<std::size_t>(count.size(), 10), ' ');
    text += count + "  " + row(first_probe()[i]);
  }
  return text;
}

std::vector<std::string> missing_probes(const ProbeCounts& counts) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) names.emplace_back(first_probe()[i].name);
  }
  return names;
}

}  // namespace seaway::sim
