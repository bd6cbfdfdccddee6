// The hunt for one planted bug after another. In the simulation flavour only, as they are.

#include "sim/mutants.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "events/json_text.hpp"
#include "sim/chaos.hpp"

namespace seaway::sim {
namespace {

constexpr std::size_t kNameColumns = 54, kPlaceColumns = 38;

/// Switches a mutant on, and off again at the end.
class On {
 public:
  explicit On(const Mutant& mutant) {
    SEAWAY_CHECK(switch_mutant(mutant.name), std::string(mutant.name));
  }
  ~On() { switch_mutant(""); }
  On(const On&) = delete;
  On& operator=(const On&) = delete;
};

/// "src/island/order.cpp", wherever the compiler ran.
std::string_view file_of(const Mutant& mutant) {
  const std::string_view path = mutant.file;
  const auto at = path.rfind("src/");
  return at == std::string_view::npos ? path : path.substr(at);
}

std::string_view room_of(const Mutant& mutant) {
  const std::string_view file = file_of(mutant);
  const auto begin = file.find('/') + 1;
  return file.substr(begin, file.find('/', begin) - begin);
}

std::string padded(std::string text, std::size_t columns) {
  text.resize(std::max(text.size(), columns), ' ');
  return text;
}

std::string number(std::uint64_t value, std::size_t columns) {
  std::string text = std::to_string(value);
  return std::string(columns - std::min(columns, text.size()), ' ') + text;
}

}  // namespace

std::string place_of(const Mutant& mutant) {
  return std::string(file_of(mutant)) + ":" + std::to_string(mutant.line);
}

bool may_reach(const Mutant& mutant, WorldKind kind) {
  constexpr std::array<std::string_view, 5> kOfPrograms = {"controller", "island", "device",
                                                           "client", "store"};
  const std::string_view room = room_of(mutant);
  if (room == "app") return kind == WorldKind::kApps;
  if (room == "cluster") return kind == WorldKind::kProcesses;
  const bool is_of_programs = std::ranges::find(kOfPrograms, room) != kOfPrograms.end();
  return !is_of_programs || kind != WorldKind::kApps;
}

std::optional<MutantFind> hunt(const Mutant& mutant, std::uint64_t first, std::uint64_t last,
                               const std::function<void(const MutantTry&)>& before) {
  const On on(mutant);
  const ChaosOptions options{.kind = WorldKind::kMixed};
  MutantTry at;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const WorldKind kind = kind_of(seed, options);
    if (!may_reach(mutant, kind)) continue;
    at = {.seed = seed, .kind = kind, .worlds = at.worlds + 1};
    before(at);
    const SeedReport report = report_one(seed, options);
    if (report.breach == Breach::kNone) continue;
    return MutantFind{at, exit_code_of(report.breach), report.violations.front().invariant,
                      report.hash, report.steps};
  }
  return std::nullopt;
}

std::string mutant_list() {
  std::string text;
  for (const Mutant* mutant : mutants()) {
    text += padded(mutant->name, kNameColumns) + place_of(*mutant) + "\n";
  }
  return text;
}

std::string mutant_table(std::vector<MutantRow> rows) {
  const auto worlds_of = [](const MutantRow& row) {
    return row.find ? row.find->at.worlds : UINT64_MAX;
  };
  std::ranges::stable_sort(rows, {}, worlds_of);
  std::string text = padded("mutant", kNameColumns) + padded("place", kPlaceColumns) +
                     "worlds   seed  kind       exit" + "  broken\n";
  std::vector<std::uint64_t> worlds;
  for (const MutantRow& row : rows) {
    text += padded(row.mutant->name, kNameColumns) + padded(place_of(*row.mutant), kPlaceColumns);
    if (!row.find) {
      text += "  never found\n";
      continue;
    }
    worlds.push_back(row.find->at.worlds);
    text += number(row.find->at.worlds, 6) + number(row.find->at.seed, 7) + "  " +
            padded(std::string(to_string(row.find->at.kind)), 11) +
            number(static_cast<std::uint64_t>(row.find->exit_code), 4) + "  " + row.find->why +
            "\n";
  }
  text += "found: " + std::to_string(worlds.size()) + " of " + std::to_string(rows.size());
  if (!worlds.empty()) {
    text += ", in " + std::to_string(worlds[worlds.size() / 2]) + " worlds (median), " +
            std::to_string(worlds.back()) + " at most";
  }
  return text + "\n";
}

std::string to_json(const MutantRow& row) {
  std::string text = "{\"mutant\":" + events::quoted(row.mutant->name) +
                     ",\"place\":" + events::quoted(place_of(*row.mutant)) +
                     ",\"found\":" + (row.find ? "true" : "false");
  if (row.find) {
    text += ",\"worlds\":" + std::to_string(row.find->at.worlds) +
            ",\"seed\":" + std::to_string(row.find->at.seed) +
            ",\"kind\":" + events::quoted(to_string(row.find->at.kind)) +
            ",\"exit_code\":" + std::to_string(row.find->exit_code) +
            ",\"broken\":" + events::quoted(row.find->why);
  }
  return text + "}";
}

std::string replay_line(const MutantRow& row) {
  return "seaway chaos --mixed --mutants " + events::quoted(row.mutant->name) + " --replay " +
         std::to_string(row.find->at.seed);
}

}  // namespace seaway::sim
