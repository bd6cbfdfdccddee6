// Trials in processes of their own, until nothing more can be left out; and the file about it.

#include "campaign/shrinking.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

#include "campaign/build_identity.hpp"
#include "sim/shrink.hpp"

namespace seaway::campaign {
namespace {

constexpr std::size_t kStoryLines = 60;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size() && lines.size() < kStoryLines;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string size_of(const sim::FailedWorld& world, const sim::Edits& edits) {
  std::string text = std::to_string(world.faults.size()) + " faults, ";
  if (world.clients > 0) {
    const std::size_t actions = std::size_t{world.clients} * world.actions;
    text += std::to_string(actions - std::min(actions, edits.skipped.size())) + " actions of " +
            std::to_string(world.clients) + " clients, ";
  }
  return text + std::to_string(world.islands) + " islands, " + std::to_string(world.steps) +
         " steps";
}

}  // namespace

std::optional<Shrinking> shrink_world(const Culprit& culprit, double seconds_max,
                                      const Clock& clock) {
  const std::uint64_t begin_ns = clock.now_ns();
  const auto seconds = [&] { return static_cast<double>(clock.now_ns() - begin_ns) / 1e9; };
  Outcome least = run_trial(culprit.run, culprit.edits);
  if (!least.failure) return std::nullopt;
  const FailureKind failure = *least.failure;
  const auto try_edits = [&](const sim::Edits& edits) -> std::optional<sim::FailedWorld> {
    Outcome outcome = run_trial(culprit.run, edits);
    if (outcome.failure != failure) return std::nullopt;
    // Of a crash nobody is left to say how large the world was.
    if (outcome.world.islands == 0) outcome.world = planned_world(culprit.run, edits);
    least = std::move(outcome);
    return least.world;
  };
  const auto shrunk =
      sim::shrink(culprit.edits, try_edits, [&] { return seconds() < seconds_max; });
  Shrinking found;
  found.repro.world = culprit.world;
  found.repro.mutant = culprit.mutant;
  found.repro.seed = culprit.seed;
  found.repro.edits = shrunk ? shrunk->edits : culprit.edits;
  found.repro.failure = failure;
  found.repro.hash = least.hash;
  found.repro.build = build_id();
  found.repro.commit = build_commit();
  for (const sim::FaultLine& fault : least.world.faults) {
    found.repro.faults.push_back(fault.text);
  }
  found.repro.story = lines_of(least.text);
  found.faults = least.world.faults.size();
  found.faults_before = shrunk ? shrunk->before.faults.size() : found.faults;
  found.seconds = seconds();
  if (shrunk) {
    char time[64];
    std::snprintf(time, sizeof(time), "  in %u tries and %.1f s", shrunk->tries, found.seconds);
    found.is_finished = shrunk->is_finished;
    found.words = "shrunk from " + size_of(shrunk->before, culprit.edits) + "\n    to " +
                  size_of(shrunk->after, shrunk->edits) + "\n" + time +
                  (found.is_finished ? "\n" : "; there was no time for more\n");
  }
  found.least = std::move(least);
  return found;
}

bool write_repro(const std::string& path, const Repro& repro) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << to_json(repro);
  file.close();
  return !file.fail();
}

Result<Repro> read_repro(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    return invalid_argument(path + ": cannot read it; --replay wants a seed or a repro file");
  }
  auto repro = parse_repro(text);
  if (!repro.ok()) return invalid_argument(path + ": " + repro.status().message());
  return repro;
}

std::string build_difference(const std::string& path, const Repro& repro) {
  if (repro.build == build_id()) return "";
  return path + " was written by another build: " + repro.build + " of commit " + repro.commit +
         ", and this is " + build_id() + " of commit " + build_commit() +
         "; what it does may differ";
}

}  // namespace seaway::campaign
