// The scheduler's side of every conversation: decode, one call into the core, encode.

#include "island/scheduler_actor.hpp"

#include <seaway.capnp.h>

#include <algorithm>
#include <string>

#include "base/check.hpp"
#include "program/codec.hpp"
#include "program/order_kind.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::island {

using actor::Role;
using events::EventKind;
using program::OrderKind;
using wire::Message;

/// What reads parts of a message; here, as the format is known to this file alone.
struct SchedulerActor::Decoder {
  static void launches(SchedulerActor& self, wire::LaunchBatch::Reader batch) {
    const auto ids = batch.getIds();
    for (const auto record : batch.getRecords()) {
      const auto plan = self.plans_.find(record.getPlan());
      SEAWAY_CHECK(plan != self.plans_.end(), record.getPlan());
      Launch& launch = self.launch_;  // Its lists keep their room from one launch to the next.
      launch.stamp = record.getStamp();
      launch.run = record.getRun();
      launch.tenant = record.getTenant();
      launch.plan = plan->second;
      std::uint32_t next = record.getBegin();
      launch.args.resize(launch.plan->args.size());
      for (ArrayId& id : launch.args) id = ids[next++];
      launch.outputs.resize(launch.plan->outputs.size());
      for (ArrayId& id : launch.outputs) id = ids[next++];
      self.events_.record({.time_ns = self.now_ns_,
                           .stamp = launch.stamp,
                           .object = launch.run,
                           .tenant = launch.tenant,
                           .island = static_cast<std::uint16_t>(self.island_),
                           .kind = EventKind::kLaunch});
      const Status launched = self.core_.launch(launch);
      SEAWAY_CHECK(launched.ok(), launched.to_string());
      self.take_actions();
    }
    for (const std::uint64_t array : batch.getFrees()) self.core_.free(array);
  }

  static void dones(SchedulerActor& self, wire::DoneBatch::Reader batch) {
    for (const auto failure : batch.getFailures()) {
      self.failed_.push_back(
          {failure.getStamp(), wire::read_status(failure.getCode(), failure.getMessage())});
    }
    for (const auto done : batch.getRecords()) {
      switch (done.getKind()) {
        case wire::Done::Kind::GANGS:
          self.core_.done(done.getId(), done.getFirst(), done.getLast());
          break;
        case wire::Done::Kind::RECEIVED:
          self.core_.received(done.getId(), done.getFirst());
          break;
        case wire::Done::Kind::SPILLED:
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
  }
};

SchedulerActor::SchedulerActor(IslandId island, const CoreOptions& options, actor::Router& router,
                               const Clock& clock, events::EventStream& events)
    : island_(island), router_(router), clock_(clock), events_(events), core_(options) {}

void SchedulerActor::receive(const Frame& frame) {
  // What one message causes happens at one time: a reading for each event costs more than the rest
  // of recording it.
  now_ns_ = clock_.now_ns();
  const Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    switch (message.which()) {
      case Message::LAUNCHES:
        Decoder::launches(*this, message.getLaunches());
        break;
      case Message::DONES:
        Decoder::dones(*this, message.getDones());
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
            core_.put(array.getArray(), devices, array.getBytes());
          } else {
            core_.free(array.getArray());
          }
        }
        break;
      case Message::CANCELS:
        for (const auto cancel : message.getCancels()) core_.cancel(cancel.getStamp());
        // Ahead of the orders: what becomes poison there names the cause.
        router_.send(Role::kHost, island_, frame);
        break;
      case Message::WEIGHTS:
        for (const auto weight : message.getWeights()) {
          core_.set_weight(weight.getTenant(), weight.getWeight());
        }
        break;
      case Message::DEFINE_PLAN: {
        auto part = program::decode_part_plan(wire::data_frame(message.getDefinePlan().getPart()));
        if (!part.ok()) return part.status();
        const PlanId id = part->id;
        plans_[id] = std::make_shared<const program::PartPlan>(std::move(part).value());
        break;
      }
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
  SEAWAY_CHECK(status.ok(), status.to_string());
  take_actions();
}

void SchedulerActor::forget_plan(PlanId id) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return;
  core_.forget_plan(found->second);
  plans_.erase(found);
  launch_.plan = nullptr;
}

void SchedulerActor::take_actions() {
  for (const Action& action : core_.actions()) {
    record(action);
    if (action.kind == Action::Kind::kExists) {
      exists_.push_back(action);
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

void SchedulerActor::idle() {
  flush_orders();
  flush_exists();
  flush_finished();
}

void SchedulerActor::flush_orders() {
  if (orders_.empty()) return;
  wire::FrameBuilder builder;
  auto list = builder.init_root<Message>().initOrders(static_cast<unsigned>(orders_.size()));
  for (unsigned i = 0; i < orders_.size(); ++i) {
    const Action& action = orders_[i];
    OrderKind kind = OrderKind::kAdmit;
    std::uint64_t id = action.stamp;
    switch (action.kind) {
      case Action::Kind::kPlace:
        kind = OrderKind::kPlace;
        break;
      case Action::Kind::kFree:
        kind = OrderKind::kFree;
        id = action.array;
        break;
      case Action::Kind::kSpill:
        kind = OrderKind::kSpill;
        id = action.array;
        break;
      case Action::Kind::kCancel:
        kind = OrderKind::kCancel;
        break;
      case Action::Kind::kMoveSends:
        kind = OrderKind::kMoveSends;
        break;
      default:
        break;
    }
    list[i].setKind(static_cast<std::uint8_t>(kind));
    list[i].setId(id);
    list[i].setFirst(action.first);
    list[i].setLast(action.last);
  }
  orders_.clear();
  // One host serves an island: hosts and islands have the same numbers.
  router_.send(Role::kHost, island_, builder.finish());
}

void SchedulerActor::flush_exists() {
  std::stable_sort(exists_.begin(), exists_.end(),
                   [](const Action& a, const Action& b) { return a.peer < b.peer; });
  for (std::size_t begin = 0; begin < exists_.size();) {
    const IslandId peer = exists_[begin].peer;
    std::size_t end = begin;
    while (end < exists_.size() && exists_[end].peer == peer) ++end;
    wire::FrameBuilder builder;
    auto list = builder.init_root<Message>().initExists(static_cast<unsigned>(end - begin));
    for (std::size_t i = begin; i < end; ++i) {
      list[static_cast<unsigned>(i - begin)].setStamp(exists_[i].stamp);
      list[static_cast<unsigned>(i - begin)].setEdge(exists_[i].edge);
    }
    router_.send(Role::kIsland, peer, builder.finish());
    begin = end;
  }
  exists_.clear();
}

void SchedulerActor::flush_finished() {
  if (finished_.empty() && failed_.empty()) return;
  wire::FrameBuilder builder;
  auto list = builder.init_root<Message>().initFinished(
      static_cast<unsigned>(failed_.size() + finished_.size()));
  unsigned next = 0;
  // Failures first: a part's end then finds its cause known.
  for (const Failed& failed : failed_) {
    auto record = list[next++];
    record.setStamp(failed.stamp);
    record.setIsland(island_);
    record.setCode(static_cast<std::uint8_t>(failed.status.code()));
    record.setMessage(failed.status.message());
  }
  for (const Action& action : finished_) {
    auto record = list[next++];
    record.setStamp(action.stamp);
    record.setIsland(island_);
    record.setDone(true);
  }
  failed_.clear();
  finished_.clear();
  router_.send(Role::kController, 0, builder.finish());
}

}  // namespace seaway::island
