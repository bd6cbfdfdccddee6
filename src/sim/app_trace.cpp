// The ledger of a world of actors as a trace.

#include <map>
#include <string>
#include <utility>

#include "sim/app_ledger.hpp"

namespace seaway::sim {
namespace {

constexpr WorldTrace::Machine kHosts = 2;       // And what follows; 1 is the hub.
constexpr WorldTrace::Machine kClients = 1000;  // The same.

}  // namespace

void AppLedger::draw(WorldTrace& trace) const {
  const auto track_of = [&](const AppLife& life) {
    const auto host = hosts_.find(life);
    const std::uint32_t number = host == hosts_.end() ? 0 : host->second;
    trace.name_machine(kHosts + number, "host " + std::to_string(number));
    return trace.track(kHosts + number, life.to_string());
  };
  const auto asker_of = [&](std::uint64_t number) {
    const AppCaller& caller = records_[number - 1].asked.caller;
    if (caller.client == 0) return track_of({caller.member, caller.incarnation});
    trace.name_machine(kClients + caller.client, "client " + std::to_string(caller.client));
    return trace.track(kClients + caller.client, "calls");
  };
  std::map<std::pair<std::uint64_t, AppLife>, std::uint64_t> begun;
  for (const Event& event : events_) {
    const std::string_view what = event.what;
    if (what == "asks") {
      trace.add_mark(asker_of(event.number), name(event.number), event.at_ns);
    } else if (what == "begins") {
      begun[{event.number, event.life}] = event.at_ns;
      trace.add_message(asker_of(event.number), records_[event.number - 1].asked_ns,
                        track_of(event.life), event.at_ns, 0);
    } else if (what == "ends") {
      const auto begin = begun.find({event.number, event.life});
      if (begin == begun.end()) continue;
      trace.add_span(track_of(event.life), name(event.number), begin->second, event.at_ns);
      begun.erase(begin);
    } else if (what == "is answered") {
      trace.add_mark(asker_of(event.number), name(event.number) + " is answered", event.at_ns,
                     std::string(seaway::to_string(event.code)));
    } else {
      trace.add_mark(track_of(event.life), std::string(what), event.at_ns);
    }
  }
  for (const auto& [key, begin_ns] : begun) {
    trace.add_mark(track_of(key.second), name(key.first) + " never ends", begin_ns);
  }
}

}  // namespace seaway::sim
