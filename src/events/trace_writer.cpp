// Two passes over the events: what runs and gangs there were, then one JSON entry for each.

#include "events/trace_writer.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

#include "events/json_text.hpp"

namespace seaway::events {
namespace {

struct Track {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;

  friend auto operator<=>(const Track&, const Track&) = default;
};

Track client_track(TenantId tenant) { return {0, std::uint64_t{tenant} + 1}; }
Track scheduler_track(std::uint64_t island) { return {island + 1, 0}; }
Track device_track(std::uint64_t island, std::uint64_t device) { return {island + 1, device + 1}; }

struct GangSpan {
  Event event;
  std::uint64_t begin_ns = 0, end_ns = 0;
  bool is_finished = false;
  GangLabel label;
  Track first_track;
};

struct Submission {
  Event event;
  std::uint64_t duration_ns = 0;
  const GangSpan* first_gang = nullptr;
};

class Writer {
 public:
  Writer(std::span<const Event> events, const TraceNames& names) : events_(events), names_(names) {}

  void write(std::ostream& out) {
    collect();
    for (auto& [key, gang] : gangs_) add_gang(gang);
    for (auto& [run, submission] : submissions_) add_submission(submission);
    for (const auto& [key, gang] : gangs_) add_producer_arrows(key, gang);
    for (const auto& [part, array] : newest_read_) add_run_arrow(part, array);
    for (const Event& event : events_) add_other(event);
    add_track_names();
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.time_ns < b.time_ns; });
    out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    const char* separator = "\n";
    for (const Entry& entry : entries_) {
      out << separator << entry.json;
      separator = ",\n";
    }
    out << "\n]}\n";
  }

 private:
  struct Entry {
    std::uint64_t time_ns = 0;
    std::string json;
  };

  /// First pass: gangs with begin and end, submissions, and which run each stamp belongs to.
  void collect() {
    std::map<Stamp, RunId> run_of;
    std::map<TenantId, Submission*> last_submission;
    std::uint64_t last_ns = 0;
    for (const Event& event : events_) {
      last_ns = std::max(last_ns, event.time_ns);
      if (event.kind == EventKind::kStamp) run_of[event.stamp] = event.object;
      if (event.kind == EventKind::kGangStart || event.kind == EventKind::kGangEnd) {
        collect_gang(event);
      } else if (event.kind == EventKind::kSubmit) {
        Submission& submission = submissions_[event.object];
        submission = {event, kSubmissionNs, nullptr};
        // Slices of one track must not overlap, or the viewer drops them.
        if (Submission*& before = last_submission[event.tenant]; before) {
          const std::uint64_t gap_ns =
              event.time_ns - std::min(event.time_ns, before->event.time_ns);
          before->duration_ns = std::min(before->duration_ns, gap_ns);
        }
        last_submission[event.tenant] = &submission;
      } else if (event.kind == EventKind::kPrepare && event.value != 0) {
        newest_read_[{event.island, event.stamp}] = event.value;
      } else if (event.kind == EventKind::kArrayAllocate && event.stamp != 0) {
        maker_of_[event.object] = {event.island, event.stamp, event.position};
      }
    }
    for (auto& [key, gang] : gangs_) {
      if (!gang.is_finished) gang.end_ns = std::max(gang.begin_ns, last_ns);
      if (names_.gang) gang.label = names_.gang(gang.event);
      if (gang.label.name.empty()) gang.label.name = "gang " + std::to_string(key.position);
      const auto run = run_of.find(key.stamp);
      if (run == run_of.end()) continue;
      const auto submission = submissions_.find(run->second);
      if (submission == submissions_.end()) continue;
      const GangSpan*& first = submission->second.first_gang;
      if (!first || gang.begin_ns < first->begin_ns) first = &gang;
    }
  }

  void collect_gang(const Event& event) {
    GangSpan& gang = gangs_[{event.island, event.stamp, event.position}];
    gang.event = event;
    if (event.kind == EventKind::kGangEnd) {
      gang.begin_ns = std::min(event.value, event.time_ns);
      gang.end_ns = event.time_ns;
      gang.is_finished = true;
    } else if (!gang.is_finished) {
      gang.begin_ns = event.time_ns;
    }
  }

  void add_gang(GangSpan& gang) {
    std::vector<Track> tracks;
    for (const DeviceId device : gang.label.devices) {
      tracks.push_back(device_track(gang.event.island, device));
      name_device(gang.event.island, device);
    }
    if (tracks.empty()) {
      tracks.push_back({std::uint64_t{gang.event.island} + 1, kGroupTracks + gang.event.place});
      track_names_[tracks.back()] = "group " + std::to_string(gang.event.place);
    }
    gang.first_track = tracks.front();
    name_island(gang.event.island);
    std::string args = "\"stamp\":" + std::to_string(gang.event.stamp) +
                       ",\"position\":" + std::to_string(gang.event.position) +
                       ",\"node\":" + std::to_string(gang.label.node) +
                       ",\"tenant\":" + quoted(tenant_name(gang.event.tenant));
    if (!gang.label.program.empty()) args += ",\"program\":" + quoted(gang.label.program);
    if (!gang.is_finished) args += ",\"unfinished\":true";
    for (const Track& track : tracks) {
      add(gang.begin_ns, "X", gang.label.name, track,
          ",\"dur\":" + microseconds(gang.end_ns - gang.begin_ns) + ",\"args\":{" + args + "}");
    }
  }

  void add_submission(const Submission& submission) {
    const Event& event = submission.event;
    const Track track = client_track(event.tenant);
    process_names_[0] = "clients";
    track_names_[track] = tenant_name(event.tenant);
    add(event.time_ns, "X", "submit", track,
        ",\"dur\":" + microseconds(submission.duration_ns) +
            ",\"args\":{\"run\":" + std::to_string(event.object) + "}");
    if (submission.first_gang && submission.first_gang->begin_ns >= event.time_ns) {
      add_arrow("run", event.time_ns, track, submission.first_gang->begin_ns,
                submission.first_gang->first_track);
    }
  }

  void add_producer_arrows(const GangKey& key, const GangSpan& gang) {
    for (const GangKey& producer : gang.label.producers) {
      if (producer != key) add_data_arrow(producer, gang);
    }
  }

  /// From the run that made `array` to the first gang of a part of another run.
  void add_run_arrow(const std::pair<IslandId, Stamp>& part, ArrayId array) {
    const auto maker = maker_of_.find(array);
    if (maker == maker_of_.end()) return;
    const GangSpan* first = nullptr;
    for (auto gang = gangs_.lower_bound({part.first, part.second, 0});
         gang != gangs_.end() && gang->first.island == part.first &&
         gang->first.stamp == part.second;
         ++gang) {
      if (!first || gang->second.begin_ns < first->begin_ns) first = &gang->second;
    }
    if (first) add_data_arrow(maker->second, *first);
  }

  void add_data_arrow(const GangKey& producer, const GangSpan& to) {
    const auto found = gangs_.find(producer);
    if (found == gangs_.end() || !found->second.is_finished) return;
    const GangSpan& from = found->second;
    // An arrow belongs to the slice around its end, so it leaves just before the slice closes.
    const std::uint64_t leave_ns = std::max(from.begin_ns, from.end_ns == 0 ? 0 : from.end_ns - 1);
    if (leave_ns > to.begin_ns) return;
    add_arrow("data", leave_ns, from.first_track, to.begin_ns, to.first_track);
  }

  void add_arrow(const char* name, std::uint64_t from_ns, Track from, std::uint64_t to_ns,
                 Track to) {
    const std::string id = ",\"cat\":\"flow\",\"id\":" + std::to_string(++arrows_);
    add(from_ns, "s", name, from, id);
    add(to_ns, "f", name, to, id + ",\"bp\":\"e\"");
  }

  /// Everything that has no length: instants and the memory counter.
  void add_other(const Event& event) {
    switch (event.kind) {
      case EventKind::kSubmit:
      case EventKind::kGangStart:
      case EventKind::kGangEnd:
      case EventKind::kGangsEnd:  // Told gang by gang before they come here.
      case EventKind::kMessage:
        return;
      case EventKind::kRoom:
        add_memory(event);
        return;
      case EventKind::kResolve:
      case EventKind::kStamp:
      case EventKind::kRerun:
        process_names_[0] = "clients";
        track_names_[client_track(event.tenant)] = tenant_name(event.tenant);
        add_instant(event, client_track(event.tenant));
        return;
      default:
        name_island(event.island);
        track_names_[scheduler_track(event.island)] = "scheduler";
        add_instant(event, scheduler_track(event.island));
        return;
    }
  }

  void add_memory(const Event& event) {
    name_island(event.island);
    const auto add_point = [this, &event](std::uint64_t time_ns, std::uint64_t bytes) {
      add(time_ns, "C", "memory of " + device_name(event.island, event.place),
          scheduler_track(event.island), ",\"args\":{\"bytes\":" + std::to_string(bytes) + "}");
    };
    // Nobody knows when the most was used since the point before: a spike says that it was.
    std::uint64_t& before = memory_[{event.island, event.place}];
    if (event.object > std::max(before, event.value) && event.time_ns > 0) {
      add_point(event.time_ns - 1, event.object);
    }
    add_point(event.time_ns, event.value);
    before = event.value;
  }

  void add_instant(const Event& event, Track track) {
    add(event.time_ns, "i", to_string(event.kind), track,
        ",\"s\":\"t\",\"args\":{\"event\":" + quoted(to_string(event)) + "}");
  }

  void add(std::uint64_t time_ns, const char* phase, std::string_view name, Track track,
           const std::string& rest) {
    entries_.push_back({time_ns, "{\"ph\":\"" + std::string(phase) + "\",\"name\":" + quoted(name) +
                                     ",\"ts\":" + microseconds(time_ns) +
                                     ",\"pid\":" + std::to_string(track.process) +
                                     ",\"tid\":" + std::to_string(track.thread) + rest + "}"});
  }

  void add_track_names() {
    const auto name = [this](const char* what, Track track, const std::string& text) {
      add(0, "M", what, track, ",\"args\":{\"name\":" + quoted(text) + "}");
    };
    for (const auto& [process, text] : process_names_) name("process_name", {process, 0}, text);
    for (const auto& [track, text] : track_names_) name("thread_name", track, text);
  }

  void name_island(IslandId island) {
    std::string& name = process_names_[std::uint64_t{island} + 1];
    if (name.empty()) name = names_.island ? names_.island(island) : island_number(island);
  }
  void name_device(IslandId island, DeviceId device) {
    std::string& name = track_names_[device_track(island, device)];
    if (name.empty()) name = device_name(island, device);
  }
  static std::string island_number(IslandId island) { return "island " + std::to_string(island); }
  std::string device_name(IslandId island, DeviceId device) const {
    return names_.device ? names_.device(island, device) : "device " + std::to_string(device);
  }
  std::string tenant_name(TenantId tenant) const {
    return names_.tenant ? names_.tenant(tenant) : "tenant " + std::to_string(tenant);
  }

  /// Length at which a submission is drawn: it has none, and arrows need something to start from.
  static constexpr std::uint64_t kSubmissionNs = 1000;
  /// Tracks of groups whose devices nobody names come after all devices.
  static constexpr std::uint64_t kGroupTracks = 1 << 20;

  std::span<const Event> events_;
  const TraceNames& names_;
  std::map<GangKey, GangSpan> gangs_;
  std::map<RunId, Submission> submissions_;
  std::map<std::pair<IslandId, Stamp>, ArrayId> newest_read_;
  std::map<ArrayId, GangKey> maker_of_;
  std::map<std::pair<IslandId, DeviceId>, std::uint64_t> memory_;  // Bytes at its last point.
  std::map<std::uint64_t, std::string> process_names_;
  std::map<Track, std::string> track_names_;
  std::vector<Entry> entries_;
  std::uint64_t arrows_ = 0;
};

}  // namespace

void write_trace(std::ostream& out, std::span<const Event> events, const TraceNames& names) {
  Writer(events, names).write(out);
}

std::string trace_to_string(std::span<const Event> events, const TraceNames& names) {
  std::ostringstream out;
  write_trace(out, events, names);
  return std::move(out).str();
}

}  // namespace seaway::events
