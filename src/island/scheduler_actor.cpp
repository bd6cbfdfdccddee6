// The scheduler's side of every conversation: decode, one call into the core, encode.

#include "island/scheduler_actor.hpp"

#include <seaway.capnp.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "program/plan_codec.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::island {

using actor::Role;
using events::EventKind;
using wire::Message;

/// What reads parts of a message; here, as the format is known to this file alone.
struct SchedulerActor::Decoder {
  static Status read_launch(const SchedulerActor& self, wire::Launch::Reader record,
                            capnp::List<std::uint64_t>::Reader ids, Launch& launch) {
    const auto plan = self.plans_.find(record.getPlan());
    if (plan == self.plans_.end()) {
      return protocol_error("a launch names plan " + std::to_string(record.getPlan()) +
                            ", which is not known here");
    }
    const std::uint64_t ids_end =
        std::uint64_t{record.getBegin()} + plan->second->args.size() + plan->second->outputs.size();
    if (ids_end > ids.size()) {
      return protocol_error("a launch names arrays up to " + std::to_string(ids_end) + " of " +
                            std::to_string(ids.size()));
    }
    launch.stamp = record.getStamp();
    launch.run = record.getRun();
    launch.tenant = record.getTenant();
    launch.plan = plan->second;
    std::uint32_t next = record.getBegin();
    launch.args.resize(launch.plan->args.size());
    for (ArrayId& id : launch.args) id = ids[next++];
    launch.outputs.resize(launch.plan->outputs.size());
    for (ArrayId& id : launch.outputs) id = ids[next++];
    return {};
  }

  /// What the controller says to a scheduler that it works with.
  static bool is_of_work(Message::Which kind) {
    return kind == Message::LAUNCHES || kind == Message::ARRAYS || kind == Message::CANCELS ||
           kind == Message::WEIGHTS || kind == Message::FORGET;
  }

  static bool is_of_peer(const Frame& frame) {
    bool is_exists = false;
    const Status status = wire::read_frame<Message>(frame, [&is_exists](Message::Reader message) {
      is_exists = message.which() == Message::EXISTS;
      return Status();
    });
    return status.ok() && is_exists;
  }

  /// Everything that was known is forgotten but for what peers have said, who say it once: what is
  /// so is what the host says, in this view.
  static Status view(SchedulerActor& self, wire::View::Reader view) {
    self.view_ = view.getNumber();
    self.is_view_over_ = false;
    self.is_waiting_ = true;
    self.orders_.clear();
    self.exists_.clear();
    self.finished_.clear();
    self.failed_.clear();
    self.held_.drop_if([](const Frame& frame) { return !is_of_peer(frame); });
    self.launches_.clear();
    self.named_.clear();
    std::set<PlanId> plans;
    for (const PlanId plan : view.getPlans()) plans.insert(plan);
    std::erase_if(self.plans_, [&plans](const auto& plan) { return !plans.contains(plan.first); });
    // Once: a message is read only for so long, and each look at a list counts as reading all of
    // it.
    const auto ids = view.getLaunches().getIds();
    for (const auto record : view.getLaunches().getRecords()) {
      Status status = read_launch(self, record, ids, self.launches_.emplace_back());
      if (!status.ok()) return status;
    }
    for (const std::uint64_t array : view.getNamed()) self.named_.push_back(array);
    // Of unfinished parts it is said anew. What is over here may still have to be said again.
    std::erase_if(self.said_, [&self](const Said& said) {
      return std::ranges::binary_search(self.launches_, said.stamp, {}, &Launch::stamp);
    });
    return {};
  }

  static void state(SchedulerActor& self, wire::IslandState::Reader state) {
    if (!self.is_waiting_ || state.getNumber() != self.view_) return;
    for (const auto failure : state.getFailures()) {
      self.failed_.push_back(
          {failure.getStamp(), wire::read_status(failure.getCode(), failure.getMessage())});
    }
    Snapshot snapshot;
    snapshot.last_stamp = state.getLastStamp();
    for (const auto part : state.getParts()) {
      PartState& read = snapshot.parts.emplace_back();
      read.stamp = part.getStamp();
      read.admitted = part.getAdmitted();
      read.overtakes = part.getOvertook();
      read.beside = part.getBeside();
      read.cancelled = part.getCancelled();
      read.fencing = part.getFencing();
      read.moving = part.getMoving();
      read.moved = part.getMoved();
      read.gangs_placed = part.getPlaced();
      const auto done = part.getDone();
      for (unsigned i = 0; i + 1 < done.size(); i += 2) {
        read.gangs_done.push_back({done[i], done[i + 1]});
      }
      for (const std::uint32_t edge : part.getReceived()) read.values_here.push_back(edge);
      for (const std::uint32_t edge : part.getDelivered()) read.sends_closed.push_back(edge);
    }
    for (const auto array : state.getArrays()) {
      ArrayState& read = snapshot.arrays.emplace_back();
      read.id = array.getArray();
      read.bytes_per_device = array.getBytes();
      read.poison = array.getPoison();
      for (const std::uint32_t device : array.getDevices()) read.devices.push_back(device);
      switch (array.getPlace()) {
        case wire::ArrayState::Place::NOWHERE:
          read.place = ArrayState::Place::kNowhere;
          break;
        case wire::ArrayState::Place::DEVICE:
          read.place = ArrayState::Place::kDevices;
          break;
        case wire::ArrayState::Place::UPLOAD_ROOM:
          read.place = ArrayState::Place::kUploadRoom;
          break;
        case wire::ArrayState::Place::SPILL_ROOM:
          read.place = ArrayState::Place::kSpillRoom;
          break;
      }
    }
    self.restore(snapshot);
  }

  /// A peer that begins anew has not heard what was said to it; a host that lives and cannot be
  /// reached is for the controller to know.
  static void peer(SchedulerActor& self, wire::Peer::Reader peer) {
    const auto role = static_cast<Role>(peer.getRole());
    if (role == Role::kIsland && !peer.getLost()) {
      for (const Said& said : self.said_) {
        if (said.peer != peer.getIndex()) continue;
        Action& exists = self.exists_.emplace_back();
        exists.stamp = said.stamp;
        exists.edge = said.edge;
        exists.peer = said.peer;
      }
    }
    if (role != Role::kHost || peer.getIndex() != self.island_ || !peer.getLost()) return;
    self.is_view_over_ = true;
    wire::FrameBuilder builder;
    auto complaint = builder.init_root<Message>().initComplaint();
    complaint.setRole(peer.getRole());
    complaint.setIndex(peer.getIndex());
    complaint.setEpoch(peer.getEpoch());
    complaint.setByRole(static_cast<std::uint8_t>(Role::kIsland));
    complaint.setByIndex(self.island_);
    self.router_.send(Role::kController, 0, builder.finish());
  }

  static Status launches(SchedulerActor& self, wire::LaunchBatch::Reader batch) {
    const auto ids = batch.getIds();
    const auto frees = batch.getFrees();
    unsigned freed = 0;
    const auto free_until = [&self, &frees, &freed](unsigned end) {
      while (freed < std::min(end, frees.size())) self.core_.free(frees[freed++]);
    };
    for (const auto record : batch.getRecords()) {
      // Their room ends there, and not behind all that is placed at once.
      free_until(record.getFreesBefore());
      Launch& launch = self.launch_;  // Its lists keep their room from one launch to the next.
      if (Status status = read_launch(self, record, ids, launch); !status.ok()) return status;
      self.events_.record({.time_ns = self.now_ns_,
                           .stamp = launch.stamp,
                           .object = launch.run,
                           .tenant = launch.tenant,
                           .island = static_cast<std::uint16_t>(self.island_),
                           .kind = EventKind::kLaunch});
      const Status launched = self.core_.launch(launch);
      if (!launched.ok()) return protocol_error(launched.message());
      self.take_actions();
    }
    free_until(frees.size());
    // Until the receiver's part is over, whoever has lost what was said may have to hear it again.
    const Stamp oldest = batch.getOldest();
    std::erase_if(self.said_, [oldest](const Said& said) { return said.stamp < oldest; });
    return {};
  }

  static Status dones(SchedulerActor& self, wire::DoneBatch::Reader batch) {
    for (const auto failure : batch.getFailures()) {
      self.failed_.push_back(
          {failure.getStamp(), wire::read_status(failure.getCode(), failure.getMessage())});
    }
    for (const auto done : batch.getRecords()) {
      switch (done.getKind()) {
        case wire::Done::Kind::GANGS:
          if (Status status = self.core_.check_done(done.getId(), done.getFirst(), done.getLast());
              !status.ok()) {
            return status;
          }
          self.core_.done(done.getId(), done.getFirst(), done.getLast());
          break;
        case wire::Done::Kind::RECEIVED:
          self.core_.received(done.getId(), done.getFirst());
          break;
        case wire::Done::Kind::SPILLED:
          if (Status status = self.core_.check_spilled(done.getId()); !status.ok()) return status;
          self.core_.spilled(done.getId());
          break;
        case wire::Done::Kind::FENCED:
          self.core_.fenced(done.getId());
          break;
        case wire::Done::Kind::MOVED:
          self.core_.moved(done.getId());
          break;
      }
    }
    return {};
  }
};

SchedulerActor::SchedulerActor(IslandId island, const CoreOptions& options, actor::Router& router,
                               const Clock& clock, events::EventStream& events, bool is_process)
    : island_(island),
      options_(options),
      router_(router),
      clock_(clock),
      events_(events),
      core_(options),
      is_process_(is_process) {
  use({});
}

void SchedulerActor::use(actor::OffloadOptions offload) {
  decoding_ = std::make_unique<actor::OrderedOffload>(
      std::move(offload), [this](const Frame& frame) { receive(frame); }, [this] { idle(); });
}

void SchedulerActor::receive(const Frame& frame) {
  if (decoding_->is_busy()) return decoding_->hold(frame);
  handle(frame);
}

/// Above the limit this scheduler begins a new life: controller, host and peers send everything
/// that it waits for again.
void SchedulerActor::hold(actor::HeldFrames& frames, const Frame& frame) {
  const Status held = frames.hold(frame);
  if (held.ok()) return;
  frames = actor::HeldFrames();
  router_.malformed(Role::kController, 0,
                    resource_exhausted("the scheduler of island " + std::to_string(island_) +
                                       " waits for a view: " + held.message()));
}

/// Before a view all plans come again.
void SchedulerActor::define_plan(PlanId plan, const Frame& frame) {
  if (plans_.contains(plan)) return;
  if (!decoding_->takes_frame(frame.size_bytes())) {
    return add_plan(program::decode_plan_frame(frame));
  }
  SEAWAY_PROBE("a scheduler decodes a plan away from its control thread");
  decoding_->begin([this, frame] {
    return [this, plan = program::decode_plan_frame(frame)] { add_plan(plan); };
  });
}

void SchedulerActor::add_plan(Result<program::PartPlanPtr> plan) {
  if (!plan.ok()) return router_.malformed(Role::kController, 0, plan.status());
  const PlanId id = (*plan)->id;
  plans_[id] = std::move(plan).value();
}

/// Begins to work with what the host knows, and with what was said while that was on its way.
void SchedulerActor::restore(const Snapshot& snapshot) {
  is_waiting_ = false;
  SchedulerCore anew(options_);
  core_.pass_on_edges(anew);
  core_ = std::move(anew);
  events_.record({.time_ns = now_ns_,
                  .object = snapshot.parts.size(),
                  .value = view_,
                  .island = static_cast<std::uint16_t>(island_),
                  .kind = EventKind::kView});
  const Status restored = core_.restore(snapshot, launches_, named_);
  if (!restored.ok()) {
    // Of a core that was not restored nothing may be used.
    core_ = SchedulerCore(options_);
    is_waiting_ = true;
    // What the host has does not fit, or what the controller has told could not be launched at all.
    if (restored.code() == StatusCode::kProtocolError) return doubt_host(restored);
    return router_.malformed(Role::kController, 0, protocol_error(restored.message()));
  }
  launches_.clear();
  named_.clear();
  take_actions();
  for (actor::HeldFrames held = held_.take(); !held.empty();) handle(held.pop());
}

void SchedulerActor::handle(const Frame& frame) {
  // What one message causes happens at one time: a reading for each event costs more than the rest
  // of recording it.
  now_ns_ = clock_.now_ns();
  const Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    // It was meant for the life before, of whose end the controller had not heard.
    if (is_process_ && view_ == 0 && Decoder::is_of_work(message.which())) return Status();
    switch (message.which()) {
      case Message::DEFINE_PLAN:
      case Message::VIEW:
      case Message::TURN:
      case Message::ISLAND_STATE:
      case Message::PEER:
      case Message::WHY_QUESTION:
        break;
      default:
        if (message.which() == Message::DONES && message.getInView() > view_) {
          hold(early_, frame);
          return Status();
        }
        if (is_waiting_) {
          hold(held_, frame);
          return Status();
        }
    }
    switch (message.which()) {
      case Message::TURN:
        turn_ = message.getTurn();
        return Status();
      case Message::VIEW:
        if (Status status = Decoder::view(*this, message.getView()); !status.ok()) return status;
        for (actor::HeldFrames early = early_.take(); !early.empty();) handle(early.pop());
        return Status();
      case Message::ISLAND_STATE:
        if (message.getIslandState().getNumber() > view_) {
          hold(early_, frame);
        } else {
          Decoder::state(*this, message.getIslandState());
        }
        return Status();
      case Message::PEER:
        Decoder::peer(*this, message.getPeer());
        return Status();
      case Message::LAUNCHES:
        if (Status status = Decoder::launches(*this, message.getLaunches()); !status.ok()) {
          return status;
        }
        break;
      case Message::DONES:
        if (message.getInView() != view_ &&
            !SEAWAY_MUTANT("a host's word of an earlier view counts"))
          break;
        if (is_view_over_) break;
        if (Status status = Decoder::dones(*this, message.getDones()); !status.ok()) {
          doubt_host(status);
        }
        break;
      case Message::EXISTS:
        for (const auto exists : message.getExists()) {
          core_.exists(exists.getStamp(), exists.getEdge());
        }
        break;
      case Message::ARRAYS:
        for (const auto array : message.getArrays()) {
          if (array.getKind() == wire::ArrayRecord::Kind::PUT) {
            std::vector<DeviceId> devices;
            for (const std::uint32_t device : array.getDevices()) devices.push_back(device);
            if (Status status = core_.check_put(array.getArray(), devices); !status.ok()) {
              return status;
            }
            core_.put(array.getArray(), devices, array.getBytes());
          } else {
            core_.free(array.getArray());
          }
        }
        break;
      case Message::CANCELS:
        for (const auto cancel : message.getCancels()) core_.cancel(cancel.getStamp());
        // Ahead of the orders: what becomes poison there names the cause.
        if (!SEAWAY_MUTANT("a host is not told why a run is cancelled")) pass_on(frame);
        break;
      case Message::WEIGHTS:
        for (const auto weight : message.getWeights()) {
          core_.set_weight(weight.getTenant(), weight.getWeight());
        }
        break;
      case Message::DEFINE_PLAN:
        define_plan(message.getDefinePlan().getId(), frame);
        break;
      case Message::FORGET:
        for (const PlanId id : message.getForget().getPlans()) forget_plan(id);
        break;
      case Message::WHY_QUESTION: {
        const auto question = message.getWhyQuestion();
        wire::FrameBuilder builder;
        auto answer = builder.init_root<Message>().initWhyAnswer();
        answer.setRequest(question.getRequest());
        answer.setIsland(island_);
        answer.setText("island " + std::to_string(island_) + ": " + core_.why(question.getStamp()) +
                       "\n");
        router_.send(Role::kController, 0, builder.finish());
        break;
      }
      default:
        return protocol_error(
            "the scheduler of island " + std::to_string(island_) + " got a message of kind " +
            std::to_string(static_cast<int>(message.which())) + ", which is not for schedulers");
    }
    return Status();
  });
  // Others' frames have been read already where they came in.
  if (!status.ok()) router_.malformed(Role::kController, 0, status);
  take_actions();
}

/// The cancels of `frame` to the host, which hears of them after all that they may be about.
void SchedulerActor::pass_on(const Frame& frame) {
  if (turn_ == 0) return router_.send(Role::kHost, island_, frame);
  const Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    wire::FrameBuilder builder;
    auto copy = builder.init_root<Message>();
    copy.setCancels(message.getCancels());
    copy.setAfterTurn(turn_);
    copy.setInView(view_);
    router_.send(Role::kHost, island_, builder.finish());
    return Status();
  });
  SEAWAY_CHECK(status.ok(), status.to_string());
}

void SchedulerActor::forget_plan(PlanId id) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return;
  core_.forget_plan(found->second);
  plans_.erase(found);
  launch_.plan = nullptr;
}

/// What the host says from here on may follow from what was wrong: the next view begins anew.
void SchedulerActor::doubt_host(const Status& why) {
  is_view_over_ = true;
  router_.malformed(Role::kHost, island_, why);
}

void SchedulerActor::take_actions() {
  for (const Action& action : core_.actions()) {
    record(action);
    if (action.kind == Action::Kind::kExists) {
      exists_.push_back(action);
      if (view_ > 0) said_.push_back({action.stamp, action.edge, action.peer});
    } else if (action.kind == Action::Kind::kFinished) {
      finished_.push_back(action);
    } else {
      orders_.push_back(action);
    }
  }
  core_.actions().clear();
}

void SchedulerActor::record(const Action& action) {
  EventKind kind = EventKind::kAdmit;
  std::uint64_t value = 0;
  switch (action.kind) {
    case Action::Kind::kAdmit:
      break;
    case Action::Kind::kPlace:
      kind = EventKind::kPlace;
      value = action.last;
      break;
    case Action::Kind::kFinished:
      kind = EventKind::kFinished;
      break;
    case Action::Kind::kCancel:
      kind = EventKind::kCancel;
      break;
    default:
      return;
  }
  events_.record({.time_ns = now_ns_,
                  .stamp = action.stamp,
                  .object = action.run,
                  .value = value,
                  .position = action.first,
                  .tenant = action.tenant,
                  .island = static_cast<std::uint16_t>(island_),
                  .kind = kind});
}

}  // namespace seaway::island
