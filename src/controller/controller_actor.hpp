// ControllerActor: messages to and from the controller.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "actor/actor.hpp"
#include "actor/router.hpp"
#include "controller/controller_core.hpp"

namespace seaway::controller {

/// The one controller: decodes, calls the core, and tells islands, hosts and clients what it
/// decided, one frame for each receiver and kind when its mailbox runs empty.
class ControllerActor final : public actor::Actor {
 public:
  ControllerActor(ControllerOptions options, program::SliceBinder& binder, actor::Router& router,
                  const Clock& clock, events::EventStream& events);

  void receive(const Frame& frame) override;
  void idle() override;

  ControllerCore& core() { return core_; }

 private:
  struct Decoder;

  void read_request(ClientId client, const Frame& frame);
  void define_function(ClientId client, const Frame& frame);
  void define_program(ClientId client, const Frame& frame);
  void flush_island(IslandId island);
  void say_all(IslandId island);
  void send(actor::Role role, IslandId island, Frame frame);
  bool flush_view(IslandId island);
  void flush_cuts(IslandId island);
  void flush_weights(IslandId island);
  void flush_plans(IslandId island, bool is_told);
  void flush_forgotten(IslandId island);
  void flush_puts(IslandId island);
  void flush_launches(IslandId island, bool is_told);
  void flush_arrays(IslandId island);
  void flush_client(ClientId id, ControllerOutbox::Client& outbox);

  actor::Router& router_;
  HeldClock clock_;  // One message, one time.
  RunRequest request_;
  ControllerCore core_;
  const std::uint32_t islands_;
  std::vector<std::uint64_t> turns_;  // Of each island: how often it was spoken to.
};

}  // namespace seaway::controller
