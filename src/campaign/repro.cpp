// The fields of a repro file.

#include "campaign/repro.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "campaign/edits_json.hpp"

namespace seaway::campaign {
namespace {

using nlohmann::json;
using ordered = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kVersionField = "seaway_repro";

std::string hex(std::uint64_t number, int digits) {
  char text[24];
  std::snprintf(text, sizeof(text), "%0*llx", digits, static_cast<unsigned long long>(number));
  return text;
}

Status wrong(const std::string& field, const char* wanted) {
  return invalid_argument("repro file: \"" + field + "\" is not " + wanted);
}

}  // namespace

std::string Repro::file_name() const {
  std::uint64_t number = mix64(seed);
  for (const char c : world + mutant + failure.to_string() + campaign::to_json(edits)) {
    number = mix64(number ^ static_cast<unsigned char>(c));
  }
  return "repro-" + hex(number >> 32, 8) + ".json";
}

std::string to_json(const Repro& repro) {
  ordered all;
  all[kVersionField] = kVersion;
  all["world"] = repro.world;
  if (!repro.mutant.empty()) all["mutant"] = repro.mutant;
  all["seed"] = repro.seed;
  all["edits"] = ordered::parse(to_json(repro.edits));
  all["failure"] = {{"exit_code", repro.failure.exit_code},
                    {"invariant", repro.failure.invariant},
                    {"place", repro.failure.place}};
  all["hash"] = hex(repro.hash, 16);
  all["build"] = repro.build;
  all["commit"] = repro.commit;
  all["faults"] = repro.faults;
  all["story"] = repro.story;
  return all.dump(1, ' ', false, ordered::error_handler_t::replace) + "\n";
}

Result<Repro> parse_repro(const std::string& text) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object()) return invalid_argument("repro file: it is not an object of JSON");
  if (!all.contains(kVersionField) || all[kVersionField] != kVersion) {
    return invalid_argument(
        "repro file: \"seaway_repro\" is not 1: another version wrote it, or it "
        "is something else");
  }
  Repro repro;
  for (const auto& [field, target] :
       {std::pair("world", &repro.world), std::pair("mutant", &repro.mutant),
        std::pair("build", &repro.build), std::pair("commit", &repro.commit)}) {
    if (!all.contains(field)) continue;
    if (!all[field].is_string()) return wrong(field, "a text");
    *target = all[field].get<std::string>();
  }
  if (repro.world.empty()) return wrong("world", "there");
  if (!all.contains("seed") || !all["seed"].is_number_unsigned()) return wrong("seed", "a number");
  repro.seed = all["seed"].get<std::uint64_t>();
  if (!all.contains("edits")) return wrong("edits", "there");
  auto edits = parse_edits(all["edits"].dump());
  if (!edits.ok()) return edits.status();
  repro.edits = *std::move(edits);
  const json failure = all.value("failure", json::object());
  if (!failure.is_object() || !failure.contains("exit_code") ||
      !failure["exit_code"].is_number_integer() || !failure.contains("invariant") ||
      !failure["invariant"].is_string() || !failure.contains("place") ||
      !failure["place"].is_string()) {
    return wrong("failure", "an object of exit_code, invariant and place");
  }
  repro.failure = {failure["exit_code"].get<int>(), failure["invariant"].get<std::string>(),
                   failure["place"].get<std::string>()};
  if (!all.contains("hash") || !all["hash"].is_string()) return wrong("hash", "a text");
  repro.hash = std::strtoull(all["hash"].get<std::string>().c_str(), nullptr, 16);
  return repro;
}

}  // namespace seaway::campaign
