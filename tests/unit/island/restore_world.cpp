// The links, the peers and the controller of a RestoreWorld; losing its scheduler.

#include "unit/island/restore_world.hpp"

#include <algorithm>

#include "unit/island/plans.hpp"

namespace seaway::island {
namespace {

using Place = ArrayState::Place;

/// Order of last use is lost with a scheduler: choices are compared as a set.
std::vector<std::string> choices_of(const SchedulerCore& core) {
  std::vector<Choice> choices;
  core.choices(choices);
  std::vector<std::string> texts;
  for (const Choice& choice : choices)
    texts.push_back(std::to_string(static_cast<int>(choice.kind)) + " " +
                    std::to_string(choice.stamp) + " " + std::to_string(choice.array));
  std::sort(texts.begin(), texts.end());
  return texts;
}

/// Whether the scheduler has nothing more to do by itself. After an overtaking it looks at what
/// waits with the next event only, here a launch that needs nothing; a restored one looks at once.
bool is_at_rest(SchedulerCore core, Stamp next) {
  Launch launch;
  launch.stamp = launch.run = next;
  launch.plan = PlanMaker({0}).gangs(1).make();
  return core.launch(launch).ok() &&
         std::all_of(core.actions().begin(), core.actions().end(),
                     [next](const Action& action) { return action.stamp == next; });
}

}  // namespace

void RestoreWorld::fail(const std::string& text) {
  if (violation_.empty()) violation_ = text;
}

// ---- Steps ----------------------------------------------------------------------------------

void RestoreWorld::steps(std::vector<Step>& out) {
  std::vector<Step> late;
  if (!orders_.empty() && (orders_.front().stamp <= last_at_host_ || orders_.front().stamp == 0))
    out.push_back({Step::Kind::kOrder});
  if (!outward_.empty()) out.push_back({Step::Kind::kOutward});
  if (!from_host_.empty()) out.push_back({Step::Kind::kHostWord});
  if (!from_peers_.empty()) out.push_back({Step::Kind::kPeerWord});
  if (!from_controller_.empty()) out.push_back({Step::Kind::kControllerWord});
  if (!to_host_.empty()) out.push_back({Step::Kind::kHostLaunch});
  if (issued_ < launches_.size()) out.push_back({Step::Kind::kIssue});
  for (const ArrayId id : named_)
    if (last_use_[id] < issued_) {
      if (issued_ == launches_.size() || random_.chance(5)) late.push_back({Step::Kind::kFree, id});
    }
  for (const Stamp stamp : unfinished_) {
    if (cancels_ && !cancelled_.contains(stamp) && random_.chance(2))
      out.push_back({Step::Kind::kCancel, stamp});
    const auto launch = std::find_if(launches_.begin(), launches_.end(),
                                     [stamp](const Launch& one) { return one.stamp == stamp; });
    for (const program::Receive& receive : launch->plan->receives)
      if (!said_.contains({stamp, receive.edge}))
        late.push_back({Step::Kind::kExists, stamp, receive.edge});
  }
  std::vector<Choice> choices;
  if (options_.manual) core_.choices(choices);
  for (std::uint32_t i = 0; i < choices.size(); ++i) out.push_back({Step::Kind::kChoice, 0, i});
  host_steps(out, late);
  // What waits long makes others overtake, spill and move.
  if (out.empty() || random_.chance(15)) out.insert(out.end(), late.begin(), late.end());
}

bool RestoreWorld::step() {
  std::vector<Step> possible;
  steps(possible);
  if (possible.empty() || !violation_.empty()) return false;
  take(possible[random_.below(possible.size())]);
  take_actions();
  give_back_copies();
  return violation_.empty();
}

bool RestoreWorld::over() const {
  return issued_ == launches_.size() && unfinished_.empty() && named_.empty() && orders_.empty() &&
         parts_.empty() && arrays_.empty() && from_controller_.empty();
}

void RestoreWorld::take(const Step& step) {
  const auto part = parts_.find(step.id);
  switch (step.kind) {
    case Step::Kind::kOrder:
      deliver_order();
      break;
    case Step::Kind::kOutward:
      deliver_outward();
      break;
    case Step::Kind::kHostWord:
      hear(from_host_.front());
      from_host_.pop_front();
      break;
    case Step::Kind::kPeerWord:
      hear(from_peers_.front());
      from_peers_.pop_front();
      break;
    case Step::Kind::kControllerWord:
      hear(from_controller_.front());
      from_controller_.pop_front();
      break;
    case Step::Kind::kHostLaunch:
      launch_at_host(*to_host_.front());
      to_host_.pop_front();
      break;
    case Step::Kind::kIssue: {
      const Launch& launch = launches_[issued_++];
      unfinished_.insert(launch.stamp);
      for (std::size_t i = 0; i < launch.args.size(); ++i) {
        const ArrayId id = launch.args[i];
        if (uploads_.contains(id) && !arrays_.contains(id) && named_.insert(id).second)
          arrays_[id].state = {
              id, shapes_[id].first, shapes_[id].second, Place::kUploadRoom, false, false};
        if (launch.plan->args[i].donated) named_.erase(id);
      }
      named_.insert(launch.outputs.begin(), launch.outputs.end());
      from_controller_.push_back({Word::Kind::kLaunch, issued_ - 1});
      to_host_.push_back(&launch);
      break;
    }
    case Step::Kind::kFree:
      named_.erase(step.id);
      from_controller_.push_back({Word::Kind::kFree, step.id});
      break;
    case Step::Kind::kCancel:
      cancelled_.insert(step.id);
      from_controller_.push_back({Word::Kind::kCancel, step.id});
      break;
    case Step::Kind::kExists:
      said_.insert({step.id, step.number});
      from_peers_.push_back({Word::Kind::kExists, step.id, step.number});
      break;
    case Step::Kind::kChoice: {
      std::vector<Choice> choices;
      core_.choices(choices);
      core_.apply(choices[step.number]);
      break;
    }
    case Step::Kind::kStart:
      start(part->second, step.number);
      break;
    case Step::Kind::kFinish:
      finish(part->second, step.number);
      break;
    case Step::Kind::kValue:
      part->second.state.values_here.push_back(step.number);
      break;
    case Step::Kind::kClose:
      part->second.state.sends_closed.push_back(step.number);
      from_host_.push_back({Word::Kind::kReceived, step.id, step.number});
      end_if_over(step.id);
      break;
    case Step::Kind::kSpill: {
      HostArray& array = arrays_[step.id];
      array.present.clear();
      array.state.place = Place::kSpillRoom;
      array.behind = array.unsure_copy = false;
      from_host_.push_back({Word::Kind::kSpilled, step.id});
      break;
    }
    case Step::Kind::kMove:
      part->second.state.moved = true;
      from_host_.push_back({Word::Kind::kMoved, step.id});
      break;
    case Step::Kind::kFence:
      part->second.state.fencing = false;
      for (const DeviceId device : part->second.vanished) part->second.begun.erase(device);
      from_host_.push_back({Word::Kind::kFenced, step.id});
      end_if_over(step.id);
      break;
  }
}

// ---- Links ----------------------------------------------------------------------------------

void RestoreWorld::take_actions() {
  for (const Action& action : core_.actions()) {
    const bool leaves =
        action.kind == Action::Kind::kExists || action.kind == Action::Kind::kFinished;
    (leaves ? outward_ : orders_).push_back(action);
  }
  core_.actions().clear();
}

void RestoreWorld::hear(const Word& word) {
  switch (word.kind) {
    case Word::Kind::kDone:
      return core_.done(word.id, word.number, word.number + 1);
    case Word::Kind::kReceived:
      return core_.received(word.id, word.number);
    case Word::Kind::kMoved:
      return core_.moved(word.id);
    case Word::Kind::kFenced:
      return core_.fenced(word.id);
    case Word::Kind::kSpilled:
      return core_.spilled(word.id);
    case Word::Kind::kExists:
      return core_.exists(word.id, word.number);
    case Word::Kind::kCancel:
      return core_.cancel(word.id);
    case Word::Kind::kFree:
      return core_.free(word.id);
    case Word::Kind::kLaunch:
      if (const Status status = core_.launch(launches_[word.id]); !status.ok())
        fail(status.to_string());
      return;
  }
}

/// False: the next one is for a part whose launch has not reached the host.
bool RestoreWorld::deliver_order() {
  const Action order = orders_.front();
  if (order.stamp > last_at_host_) return false;
  orders_.pop_front();
  apply(order);
  give_back_copies();
  return true;
}

void RestoreWorld::deliver_outward() {
  const Action action = outward_.front();
  outward_.pop_front();
  if (action.kind == Action::Kind::kExists) {
    heard_.insert({action.stamp, action.edge});
    return;
  }
  if (unfinished_.erase(action.stamp) == 0) fail("a part finished twice");
  if (cancelled_.contains(action.stamp)) return;
  for (const Launch& launch : launches_)
    for (const program::Send& send : launch.plan->sends)
      if (launch.stamp == action.stamp && !heard_.contains({launch.stamp, send.edge}))
        fail("a part finished, but a peer never heard that edge " + std::to_string(send.edge) +
             " exists");
}

template <class Queue>
void RestoreWorld::deliver_all(Queue& queue) {
  while (!queue.empty()) {
    hear(queue.front());
    queue.pop_front();
    take_actions();
  }
}

// ---- Losing the scheduler -------------------------------------------------------------------

Snapshot RestoreWorld::snapshot() const {
  Snapshot made;
  made.last_stamp = last_at_host_;
  for (const auto& [stamp, part] : parts_) {
    made.parts.push_back(part.state);
    for (std::uint32_t gang = 0; gang < part.done.size(); ++gang)
      if (part.done[gang]) made.parts.back().gangs_done.push_back({gang, gang + 1});
  }
  for (const auto& [id, array] : arrays_) made.arrays.push_back(array.state);
  return made;
}

void RestoreWorld::say_again_exists() {
  for (const auto& [stamp, edge] : said_) core_.exists(stamp, edge);
}

void RestoreWorld::restore(bool says_exists_before) {
  core_ = SchedulerCore(options_);
  std::vector<Launch> launches;
  for (std::size_t i = 0; i < issued_; ++i)
    if (unfinished_.contains(launches_[i].stamp)) launches.push_back(launches_[i]);
  const std::vector<ArrayId> named(named_.begin(), named_.end());
  if (says_exists_before) say_again_exists();
  const Snapshot known = snapshot();
  note(known);
  if (const Status status = core_.restore(known, launches, named); !status.ok())
    return fail(status.to_string());
  if (!says_exists_before) say_again_exists();
  for (const Stamp stamp : cancelled_) core_.cancel(stamp);
}

void RestoreWorld::note(const Snapshot& known) {
  for (const PartState& part : known.parts) {
    seen_.overtakers += part.overtakes;
    seen_.moved += part.moved && part.sends_closed.empty();
    seen_.fencing += part.cancelled && part.fencing;
    seen_.only_at_host += !unfinished_.contains(part.stamp);
    for (const GangRange& range : part.gangs_done)
      seen_.out_of_order += range.first >= part.gangs_done.size();
  }
  for (const ArrayState& array : known.arrays) {
    seen_.in_spill_room += array.place == Place::kSpillRoom;
    seen_.spilling += array.place == Place::kSpilling;
    seen_.poison += array.poison;
    seen_.donated += given_.contains(array.id) && !named_.contains(array.id);
  }
  for (const Stamp stamp : unfinished_)
    (stamp > known.last_stamp ? seen_.not_at_host : seen_.over_at_host) += !parts_.contains(stamp);
}

void RestoreWorld::lose_scheduler() {
  for (std::uint64_t more = random_.below(orders_.size() + 1); more > 0 && deliver_order();) --more;
  for (std::uint64_t more = random_.below(outward_.size() + 1); more > 0; --more) deliver_outward();
  // The controller asks the host behind the launches of parts that it has heard the end of.
  Stamp finished = 0;
  for (std::size_t i = 0; i < issued_; ++i)
    if (!unfinished_.contains(launches_[i].stamp)) finished = launches_[i].stamp;
  for (; !to_host_.empty() && to_host_.front()->stamp <= finished; to_host_.pop_front())
    launch_at_host(*to_host_.front());
  orders_.clear();
  outward_.clear();
  from_host_.clear();
  from_peers_.clear();
  from_controller_.clear();
  restore(random_.chance(50));
  take_actions();
  give_back_copies();
}

/// Whether the lost scheduler's books were up to date. They say more than what is, until it hears:
/// of a load that a cancelled part will not do; of the copy in spill room of an array that was
/// given away or freed while it was pinned, or that was never unused in its eyes; of poison that
/// gave its room back at once; of sends that were received or moved when it had cancelled their
/// part already.
bool RestoreWorld::books_are_exact() const {
  for (const auto& [id, array] : arrays_) {
    if (array.behind) return false;
    for (const auto& [stamp, part] : parts_)
      if (array.unsure_copy && uses(part, id)) return false;
  }
  for (const auto& [stamp, part] : parts_) {
    if (!part.state.cancelled) continue;
    if (part.state.moving || !part.state.sends_closed.empty()) return false;
    for (const ArrayId id : part.launch->args)
      if (!arrays_.contains(id)) return false;
  }
  return true;
}

void RestoreWorld::replace_scheduler() {
  for (;;) {
    while (!to_host_.empty()) {
      launch_at_host(*to_host_.front());
      to_host_.pop_front();
    }
    deliver_all(from_controller_);
    deliver_all(from_peers_);
    deliver_all(from_host_);
    give_back_copies();
    if (orders_.empty() && outward_.empty()) break;
    while (!orders_.empty()) deliver_order();
    while (!outward_.empty()) deliver_outward();
  }
  if (!violation_.empty()) return;
  const SchedulerCore old = core_;
  const bool is_exact = books_are_exact() && is_at_rest(old, launches_.back().stamp + 1);
  restore(true);
  if (!violation_.empty()) return;
  const std::string both = "\nlost:\n" + old.to_string() + "restored:\n" + core_.to_string();
  for (const Action& action : core_.actions())
    if (action.kind != Action::Kind::kExists && action.kind != Action::Kind::kFree && is_exact)
      fail("the restored scheduler does what the lost one would not: action " +
           std::to_string(static_cast<int>(action.kind)) + " of part " +
           std::to_string(action.stamp) + both);
  for (DeviceId device = 0; device < options_.devices; ++device)
    if ((options_.manual && core_.used_bytes(device) > old.used_bytes(device)) ||
        (is_exact && core_.used_bytes(device) != old.used_bytes(device)))
      fail("used bytes of device " + std::to_string(device) + " differ" + both);
  if (is_exact) {
    ++exact_;
    if (core_.hash() != old.hash()) fail("hashes differ" + both);
    if (choices_of(core_) != choices_of(old)) fail("choices differ" + both);
    if (core_.counters().spilled_bytes != old.counters().spilled_bytes) fail("spill room" + both);
    if (core_.counters().send_room_used_bytes != old.counters().send_room_used_bytes)
      fail("send room" + both);
    if (core_.counters().parts_waiting != old.counters().parts_waiting) fail("waiting" + both);
    if (core_.array_count() != old.array_count()) fail("arrays" + both);
  }
  if (core_.counters().parts != old.counters().parts) fail("parts" + both);
  take_actions();
}

std::string RestoreWorld::to_string() const {
  std::string out = core_.to_string();
  for (const auto& [stamp, part] : parts_)
    out += "host: part " + std::to_string(stamp) + ", placed " +
           std::to_string(part.state.gangs_placed) + (part.state.cancelled ? ", cancelled" : "") +
           (part.state.fencing ? ", fencing" : "") + "\n";
  for (const auto& [id, array] : arrays_)
    out += "host: array " + std::to_string(id) + " at place " +
           std::to_string(static_cast<int>(array.state.place)) + "\n";
  for (const Stamp stamp : unfinished_) out += "unfinished: " + std::to_string(stamp) + "\n";
  return out;
}

}  // namespace seaway::island
