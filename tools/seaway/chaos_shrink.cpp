// The words around shrinking, and around repro files.

#include "chaos_shrink.hpp"

#include <cstdio>

#include "campaign/shrinking.hpp"
#include "campaign/user_campaign.hpp"
#include "verbs.hpp"

namespace seaway::tools {

int shrink_seed(const sim::ChaosOptions& options, const std::string& mutant,
                const ShrinkOptions& wanted, const Clock& clock) {
  const std::uint64_t seed = options.first_seed;
  const std::string world =
      options.run ? options.command : std::string(to_string(sim::kind_of(seed, options)));
  std::printf("seed %llu: shrinking for at most %.0f s\n", static_cast<unsigned long long>(seed),
              wanted.seconds);
  std::fflush(stdout);
  const auto found = campaign::shrink_world(
      {world, mutant, seed, options.edits,
       [&](const sim::SeedOptions& how) { return sim::run_world(seed, options, how); }},
      wanted.seconds, clock);
  if (!found) {
    std::printf("seed %llu: clean, there is nothing to shrink\n",
                static_cast<unsigned long long>(seed));
    return sim::kChaosClean;
  }
  std::printf("%s%s", found->least.text.c_str(), found->words.c_str());
  const std::string path = wanted.directory + "/" + found->repro.file_name();
  if (!campaign::write_repro(path, found->repro)) {
    std::fprintf(stderr, "seaway: cannot write %s; choose another directory with --repro-dir\n",
                 path.c_str());
    return kCheckFailed;
  }
  std::printf("  replay: seaway chaos --replay %s\n", path.c_str());
  return found->repro.failure.exit_code;
}

Result<campaign::Repro> read_repro(const std::string& path) {
  auto repro = campaign::read_repro(path);
  if (!repro.ok()) return repro.status();
  const std::string difference = campaign::build_difference(path, *repro);
  if (!difference.empty()) std::fprintf(stderr, "seaway: %s\n", difference.c_str());
  return repro;
}

Status take_world(const campaign::Repro& repro, sim::ChaosOptions& options) {
  for (const sim::WorldKind kind :
       {sim::WorldKind::kPrograms, sim::WorldKind::kApps, sim::WorldKind::kProcesses}) {
    if (to_string(kind) != repro.world) continue;
    options.kind = kind;
    options.first_seed = options.last_seed = repro.seed;
    options.edits = repro.edits;
    return {};
  }
  return invalid_argument("the world \"" + repro.world +
                          "\" is not one of this program's; run it with the program that has it: "
                          "seaway chaos user ./my_app --replay FILE");
}

bool is_same_failure(const campaign::Repro& repro, const sim::SeedLine& line) {
  std::string words;
  const bool is_it = campaign::is_same(repro, line, words);
  std::fprintf(is_it ? stdout : stderr, "%s\n", words.c_str());
  return is_it;
}

}  // namespace seaway::tools
