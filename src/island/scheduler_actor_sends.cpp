// What a scheduler sends when its mailbox runs empty: one frame to its host, to each scheduler that
// waits for its values, and to the controller.

#include <seaway.capnp.h>

#include <algorithm>
#include <cstdint>

#include "base/fault_point.hpp"
#include "island/scheduler_actor.hpp"
#include "program/order_kind.hpp"
#include "wire/frame_builder.hpp"

namespace seaway::island {

using actor::Role;
using program::OrderKind;
using wire::Message;

void SchedulerActor::idle() {
  flush_orders();
  flush_exists();
  flush_finished();
}

void SchedulerActor::flush_orders() {
  if (orders_.empty()) return;
  wire::FrameBuilder builder;
  auto message = builder.init_root<Message>();
  message.setInView(view_);
  message.setAfterTurn(turn_);
  auto list = message.initOrders(static_cast<unsigned>(orders_.size()));
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
    if (action.kind == Action::Kind::kAdmit && action.overtakes) {
      list[i].setFirst(1);
      if (action.beside != 0) {
        list[i].setLast(static_cast<std::uint32_t>(action.stamp - action.beside));
      }
    }
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
    std::size_t end = begin + 1;
    while (end < exists_.size() && exists_[end].peer == peer && !SEAWAY_FAULT(kExistsApart)) ++end;
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
