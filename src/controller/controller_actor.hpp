// ControllerActor: messages to and from the controller.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actor/actor.hpp"
#include "actor/engine.hpp"
#include "actor/held_frames.hpp"
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

  /// Of a controller whose islands are processes of their own. `begin_anew` tells the processes of
  /// an island that has failed; it is called on the control thread. The engine outlives this.
  void supervise(actor::Engine& engine, std::function<void(IslandId)> begin_anew);

  /// Why a run has no outcome yet: `done` is called once with some lines, when its schedulers and
  /// hosts have answered; from the control thread. False when too many questions are open.
  bool explain(RunId run, std::function<void(std::string)> done);

  /// Begins a drain, or ends it; see ControllerCore::drain_island.
  Status drain_island(IslandId island, std::optional<Drain> how);

  ControllerCore& core() { return core_; }

 private:
  struct Decoder;

  static ControllerOptions with_idle(ControllerOptions options, ControllerActor& self);
  void supervise_islands();
  bool gathers(IslandId island);
  Status read_request(ClientId client, const Frame& frame);
  void define_function(ClientId client, const Frame& frame);
  void define_program(ClientId client, const Frame& frame);
  void decode(ClientId client, const Frame& frame, std::function<Status()> decode,
              std::function<void()> add);
  bool waits(const Frame& frame);
  void hold(ClientId client, actor::HeldFrames& waiting, const Frame& frame);
  void handle(const Frame& frame);
  void flush_island(IslandId island);
  void say_all(IslandId island);
  void send(actor::Role role, IslandId island, Frame frame);
  void flush_view(IslandId island);
  void flush_cuts(IslandId island);
  void flush_weights(IslandId island);
  void flush_plans(IslandId island, bool is_told);
  void flush_forgotten(IslandId island);
  void flush_puts(IslandId island);
  void flush_launches(IslandId island, bool is_told);
  void flush_arrays(IslandId island);
  void flush_client(ClientId id, ControllerOutbox::Client& outbox);
  void flush_operator(ControllerOutbox::Client& outbox);

  actor::Router& router_;
  HeldClock clock_;  // One message, one time; what comes of it is decided at the same.
  bool has_looked_ = false;
  RunRequest request_;
  const actor::OffloadOptions offload_;
  /// What a client has sent while its program or function is decoded.
  std::map<ClientId, actor::HeldFrames> waiting_;
  ControllerCore core_;
  const std::uint32_t islands_;
  actor::Engine* engine_ = nullptr;
  std::function<void(IslandId)> begin_anew_;
  std::vector<std::optional<actor::TimerId>> timers_;  // Of islands for which something waits.
  bool has_timer_ = false;                             // For the next island that returns.
  std::map<std::uint64_t, std::function<void(std::string)>> questions_;
  std::uint64_t last_question_ = 0;
  /// Of each island: how often it was spoken to, above the life of this controller: a host that
  /// hears another one waits for no turn of the one before.
  std::vector<std::uint64_t> turns_;
  /// The life in which each scheduler and host is connected.
  std::map<std::pair<actor::Role, IslandId>, std::uint32_t> lives_;
};

}  // namespace seaway::controller
