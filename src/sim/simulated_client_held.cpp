// What a simulated client does with runs and arrays that it has: gives up, moves, lets go.

#include <utility>

#include "sim/simulated_client.hpp"

namespace seaway::sim {

void SimulatedClient::cancel() {
  if (!world_.has_cancels || flights_.empty()) return;
  Flight& flight = flights_[random_.below(flights_.size())];
  if (!flight.run) return;
  scribe_.history().cancel(flight.written);
  flight.run.cancel();
  cover(Feature::kCancel);
  if (flight.expectation == Expectation::kValue) flight.expectation = Expectation::kEither;
  // Whatever was made from it may be poison now, and so may what was made from that.
  for (Held& held : held_) {
    if (held.expectation == Expectation::kValue) held.expectation = Expectation::kEither;
  }
  for (Fetch& fetch : fetches_) {
    if (fetch.expectation == Expectation::kValue) fetch.expectation = Expectation::kEither;
  }
  for (Flight& other : flights_) {
    if (other.expectation == Expectation::kValue) other.expectation = Expectation::kEither;
  }
}

void SimulatedClient::reshard() {
  if (held_.empty()) return;
  const Held held = held_[random_.below(held_.size())];
  const Slice& slice = slices_[random_.below(slices_.size())];
  const NamedSharding target(slice.mesh(), make_spec(slice.mesh(), random_));
  std::set<SliceId> slices = held.slices;
  slices.insert(slice.id());
  const CallId written = scribe_.begin(CallKind::kReshard, {held.written});
  auto moved = held.array.reshard(target);
  if (!moved.ok()) {
    scribe_.history().end(written, moved.status().code());
    if (held.expectation == Expectation::kValue && !is_excused(moved.status(), slices)) {
      complain("I3", "reshard was refused: " + moved.status().to_string());
    }
    return;
  }
  const bool is_certain = held.expectation == Expectation::kValue;
  const Expectation expectation = is_certain ? Expectation::kValue : Expectation::kEither;
  cover(Feature::kReshard);
  // A reshard is a run too, of a program with no name.
  count(&Counts::runs);
  flights_.push_back(
      {moved->ready(), expectation, "reshard to " + moved->to_string(), {}, slices, now_ns()});
  flights_.back().written = written;
  scribe_.watch(written, flights_.back().status);
  held_.push_back({*moved, expectation, held.value, false, std::move(slices),
                   scribe_.history().moved(written, held.written)});
}

void SimulatedClient::rebind() {
  if (!world_.has_rebinds) return;
  Slice& slice = slices_[random_.below(slices_.size())];
  CodeSet wishes = {StatusCode::kResourceExhausted};
  if (late_rebinds_.contains(slice.id())) wishes |= {StatusCode::kInvalidArgument};
  if (world_.has_processes) wishes |= {StatusCode::kIslandUnavailable};
  const Status status = ask(
      CallKind::kRebind, [&slice] { return slice.rebind(); }, wishes);
  if (status.ok()) cover(Feature::kRebind);
  // Nobody answered in time: it goes on all the same, and another one has to wait for it.
  if (status.code() == StatusCode::kDeadlineExceeded) late_rebinds_.insert(slice.id());
  const bool waits_for_other =
      status.code() == StatusCode::kInvalidArgument && late_rebinds_.contains(slice.id());
  const bool is_drained = status.code() == StatusCode::kIslandUnavailable && excuses_.of_devices();
  if (!status.ok() && !waits_for_other && !is_drained &&
      status.code() != StatusCode::kResourceExhausted && !is_excused(status, {slice.id()}) &&
      !is_of_session(status)) {
    complain("I3", "rebind was refused: " + status.to_string());
  }
}

void SimulatedClient::drop() {
  if (held_.empty()) return;
  const std::size_t at = random_.below(held_.size());
  if (random_.chance(20)) {
    Array array = held_[at].array;
    array.delete_now();
    scribe_.ask_for_gone(array, held_[at].written);
    cover(Feature::kDeletedArray);
    // All handles of it are of no use now.
    std::erase_if(held_, [&array](const Held& held) { return held.array == array; });
    return;
  }
  cover(Feature::kDroppedHandle);
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace seaway::sim
