// The parts of the event stream that are not on the hot path.

#include "events/event_stream.hpp"

namespace seaway::events {

std::vector<Event> EventRing::snapshot() const {
  std::vector<Event> events;
  events.reserve(size());
  for (std::size_t index = 0; index < size(); ++index) events.push_back(at(index));
  return events;
}

void EventStream::notify(const Event& event) {
  for (EventSink* observer : observers_) observer->record(event);
}

}  // namespace seaway::events
