// One field for each part of an edit.

#include "campaign/edits_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

namespace seaway::campaign {
namespace {

using nlohmann::json;
using sim::Edits;

Status wrong(const std::string& field, const char* wanted) {
  return invalid_argument("edits: \"" + field + "\" is not " + wanted);
}

bool is_count(const json& value) { return value.is_number_unsigned(); }
bool is_small(const json& value) {
  return is_count(value) && value.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
}

template <class Set>
Status read_names(const std::string& field, const json& value, Set& names) {
  if (!value.is_array()) return wrong(field, "a list of names");
  for (const json& name : value) {
    if (!name.is_string()) return wrong(field, "a list of names");
    names.insert(name.get<std::string>());
  }
  return {};
}

Status read_times(const std::string& field, const json& value,
                  std::map<std::string, std::uint64_t>& times) {
  if (!value.is_object()) return wrong(field, "an object of times in ns");
  for (const auto& [name, time] : value.items()) {
    if (!is_count(time)) return wrong(field, "an object of times in ns");
    times[name] = time.get<std::uint64_t>();
  }
  return {};
}

Status read_skipped(const json& value, Edits& edits) {
  const char* const wanted = "a list of pairs [client, action]";
  if (!value.is_array()) return wrong("skipped", wanted);
  for (const json& pair : value) {
    if (!pair.is_array() || pair.size() != 2 || !is_small(pair[0]) || !is_small(pair[1])) {
      return wrong("skipped", wanted);
    }
    edits.skipped.emplace(pair[0].get<std::uint32_t>(), pair[1].get<std::uint32_t>());
  }
  return {};
}

Status read_limit(const std::string& field, const json& value,
                  std::optional<std::uint32_t>& limit) {
  if (!is_small(value)) return wrong(field, "a number");
  limit = value.get<std::uint32_t>();
  return {};
}

Status read_field(const std::string& field, const json& value, Edits& edits) {
  if (field == "wild") {
    if (!value.is_boolean()) return wrong(field, "true or false");
    edits.is_wild = value.get<bool>();
    return {};
  }
  if (field == "without") return read_names(field, value, edits.without);
  if (field == "families") return read_names(field, value, edits.families.emplace());
  if (field == "at_ns") return read_times(field, value, edits.at_ns);
  if (field == "for_ns") return read_times(field, value, edits.for_ns);
  if (field == "skipped") return read_skipped(value, edits);
  if (field == "clients") return read_limit(field, value, edits.clients);
  if (field == "islands") return read_limit(field, value, edits.islands);
  if (field == "devices") return read_limit(field, value, edits.devices);
  if (field == "choices") {
    if (!is_count(value)) return wrong(field, "a number");
    edits.choices = value.get<std::uint64_t>();
    return {};
  }
  return invalid_argument("edits: there is nothing called \"" + field + "\"");
}

}  // namespace

std::string to_json(const Edits& edits) {
  json all = json::object();
  if (edits.is_wild) all["wild"] = true;
  if (!edits.without.empty()) all["without"] = edits.without;
  if (edits.families) all["families"] = *edits.families;
  if (!edits.at_ns.empty()) all["at_ns"] = edits.at_ns;
  if (!edits.for_ns.empty()) all["for_ns"] = edits.for_ns;
  if (!edits.skipped.empty()) all["skipped"] = edits.skipped;
  if (edits.clients) all["clients"] = *edits.clients;
  if (edits.islands) all["islands"] = *edits.islands;
  if (edits.devices) all["devices"] = *edits.devices;
  if (edits.choices) all["choices"] = *edits.choices;
  return all.dump();
}

Result<Edits> parse_edits(const std::string& text) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object()) return invalid_argument("edits: not an object of JSON: " + text);
  Edits edits;
  for (const auto& [field, value] : all.items()) {
    if (Status status = read_field(field, value, edits); !status.ok()) return status;
  }
  return edits;
}

}  // namespace seaway::campaign
