// WorldTrace: machines as processes, actors and devices as tracks, faults as marks, messages as
// arrows: in Chrome's trace-event format, for Perfetto.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seaway::sim {

/// Takes what happened in any order, and writes it by time. At most kEntriesMax entries: what comes
/// behind them is counted and not kept. Not thread-safe.
class WorldTrace {
 public:
  static constexpr std::size_t kEntriesMax = 1'000'000;
  using Machine = std::uint32_t;

  /// One track of one machine; a name that is new makes a new one.
  struct Track {
    Machine machine = 0;
    std::uint32_t number = 0;
  };
  void name_machine(Machine machine, std::string name);
  Track track(Machine machine, const std::string& name);

  /// Something that took time on a track. `details`: for people.
  void add_span(Track track, std::string name, std::uint64_t begin_ns, std::uint64_t end_ns,
                std::string details = "");
  /// Something that took none.
  void add_mark(Track track, std::string name, std::uint64_t at_ns, std::string details = "");
  /// A fault: a mark over all machines, and a span on the track of the machine's faults if it
  /// lasts.
  void add_fault(Machine machine, const std::string& name, std::uint64_t begin_ns,
                 std::uint64_t end_ns);
  /// A message, with an arrow from where and when it left to where and when it arrived. One that
  /// never did has none.
  void add_message(Track from, std::uint64_t sent_ns, Track to, std::uint64_t arrives_ns,
                   std::uint64_t bytes);

  std::string to_json() const;

 private:
  struct Entry {
    char phase = 'X';
    Track track;
    std::uint64_t at_ns = 0, for_ns = 0, arrow = 0;
    std::string name, details;
  };
  void add(Entry entry);

  std::map<Machine, std::string> machines_;
  std::map<std::pair<Machine, std::string>, std::uint32_t> tracks_;
  std::map<Machine, std::uint32_t> track_counts_;
  std::vector<Entry> entries_;
  std::uint64_t arrows_ = 0, left_out_ = 0;
};

}  // namespace seaway::sim
