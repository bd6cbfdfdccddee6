// UserWords as JSON.

#include "campaign/user_words.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "campaign/edits_json.hpp"

namespace seaway::campaign {

using nlohmann::json;

std::string to_json(const UserWords& words) {
  json all = {{"command", words.command},
              {"arguments", words.arguments},
              {"test", words.test},
              {"list", words.lists},
              {"jobs", words.jobs},
              {"json", words.json},
              {"progress", words.shows_progress},
              {"time_budget_s", words.time_budget_s},
              {"failures_max", words.failures_max},
              {"edits", to_json(words.edits)},
              {"replay", words.replay},
              {"until_event", words.until_event},
              {"shrink", words.shrinks},
              {"shrink_s", words.shrink_s},
              {"repro_directory", words.repro_directory},
              {"trace", words.trace_path},
              {"range", words.range_path},
              {"names", words.names}};
  if (words.first_seed) all["first_seed"] = *words.first_seed;
  if (words.last_seed) all["last_seed"] = *words.last_seed;
  return all.dump();
}

Result<UserWords> parse_user_words(const std::string& text) try {
  const json all = json::parse(text);
  UserWords words;
  all.at("command").get_to(words.command);
  all.at("arguments").get_to(words.arguments);
  all.at("test").get_to(words.test);
  all.at("list").get_to(words.lists);
  all.at("jobs").get_to(words.jobs);
  all.at("json").get_to(words.json);
  all.at("progress").get_to(words.shows_progress);
  all.at("time_budget_s").get_to(words.time_budget_s);
  all.at("failures_max").get_to(words.failures_max);
  all.at("replay").get_to(words.replay);
  all.at("until_event").get_to(words.until_event);
  all.at("shrink").get_to(words.shrinks);
  all.at("shrink_s").get_to(words.shrink_s);
  all.at("repro_directory").get_to(words.repro_directory);
  all.at("trace").get_to(words.trace_path);
  all.at("range").get_to(words.range_path);
  all.at("names").get_to(words.names);
  if (all.contains("first_seed")) words.first_seed = all["first_seed"].get<std::uint64_t>();
  if (all.contains("last_seed")) words.last_seed = all["last_seed"].get<std::uint64_t>();
  auto edits = parse_edits(all.at("edits").get<std::string>());
  if (!edits.ok()) return edits.status();
  words.edits = *std::move(edits);
  return words;
} catch (const json::exception& error) {
  return invalid_argument(std::string(kUserWordsVariable) +
                          " is not what `seaway chaos user` writes: " + error.what());
}

std::optional<std::uint64_t> parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return seed;
}

}  // namespace seaway::campaign
