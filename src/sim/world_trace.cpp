// Entries into lines of JSON.

#include "sim/world_trace.hpp"

#include <algorithm>

#include "events/json_text.hpp"

namespace seaway::sim {
namespace {

/// An arrow's ends lie within spans of so many ns: viewers bind arrows to spans.
constexpr std::uint64_t kEndNs = 200;

std::string place(const WorldTrace::Track& track) {
  return "\"pid\":" + std::to_string(track.machine) + ",\"tid\":" + std::to_string(track.number);
}

}  // namespace

void WorldTrace::name_machine(Machine machine, std::string name) {
  machines_.emplace(machine, std::move(name));
}

WorldTrace::Track WorldTrace::track(Machine machine, const std::string& name) {
  const auto [found, is_new] = tracks_.emplace(std::pair(machine, name), 0);
  if (is_new) found->second = ++track_counts_[machine];
  return {machine, found->second};
}

void WorldTrace::add(Entry entry) {
  if (entries_.size() == kEntriesMax) {
    ++left_out_;
    return;
  }
  entries_.push_back(std::move(entry));
}

void WorldTrace::add_span(Track track, std::string name, std::uint64_t begin_ns,
                          std::uint64_t end_ns, std::string details) {
  add({'X', track, begin_ns, std::max(end_ns, begin_ns + 1) - begin_ns, 0, std::move(name),
       std::move(details)});
}

void WorldTrace::add_mark(Track track, std::string name, std::uint64_t at_ns, std::string details) {
  add({'i', track, at_ns, 0, 0, std::move(name), std::move(details)});
}

void WorldTrace::add_fault(Machine machine, const std::string& name, std::uint64_t begin_ns,
                           std::uint64_t end_ns) {
  const Track faults = track(machine, "faults");
  add({'I', faults, begin_ns, 0, 0, "fault: " + name, ""});
  if (end_ns > begin_ns) add_span(faults, name, begin_ns, end_ns);
}

void WorldTrace::add_message(Track from, std::uint64_t sent_ns, Track to, std::uint64_t arrives_ns,
                             std::uint64_t bytes) {
  const std::string size = std::to_string(bytes) + " bytes";
  add_span(from, "send", sent_ns, sent_ns + kEndNs, size);
  if (arrives_ns == 0) {
    add_mark(from, "lost", sent_ns + kEndNs, size);
    return;
  }
  add_span(to, "receive", arrives_ns, arrives_ns + kEndNs, size);
  ++arrows_;
  add({'s', from, sent_ns + kEndNs / 2, 0, arrows_, "message", ""});
  add({'f', to, arrives_ns + kEndNs / 2, 0, arrows_, "message", ""});
}

std::string WorldTrace::to_json() const {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries_) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Entry* a, const Entry* b) { return a->at_ns < b->at_ns; });
  std::string json =
      "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"left out\":" + std::to_string(left_out_) +
      "},\"traceEvents\":[";
  const char* separator = "\n";
  const auto line = [&json, &separator](const std::string& text) {
    json += separator + ("{" + text + "}");
    separator = ",\n";
  };
  for (const auto& [machine, name] : machines_) {
    line("\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(machine) +
         ",\"args\":{\"name\":" + events::quoted(name) + "}");
  }
  for (const auto& [key, number] : tracks_) {
    line("\"ph\":\"M\",\"name\":\"thread_name\"," + place({key.first, number}) +
         ",\"args\":{\"name\":" + events::quoted(key.second) + "}");
  }
  for (const Entry* entry : sorted) {
    const bool is_fault = entry->phase == 'I';
    std::string text = std::string("\"ph\":\"") + (is_fault ? 'i' : entry->phase) +
                       "\",\"name\":" + events::quoted(entry->name) + "," + place(entry->track) +
                       ",\"ts\":" + events::microseconds(entry->at_ns);
    if (entry->phase == 'X') text += ",\"dur\":" + events::microseconds(entry->for_ns);
    if (entry->phase == 'i') text += ",\"s\":\"t\"";
    if (is_fault) text += ",\"s\":\"g\",\"cname\":\"terrible\"";
    if (entry->arrow != 0) {
      text += ",\"cat\":\"message\",\"id\":" + std::to_string(entry->arrow);
      if (entry->phase == 'f') text += ",\"bp\":\"e\"";
    }
    if (!entry->details.empty())
      text += ",\"args\":{\"is\":" + events::quoted(entry->details) + "}";
    line(text);
  }
  return json + "\n]}\n";
}

}  // namespace seaway::sim
