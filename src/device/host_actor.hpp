// HostActor: messages to and from one island's host.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actor/actor.hpp"
#include "actor/engine.hpp"
#include "actor/held_frames.hpp"
#include "actor/offload.hpp"
#include "actor/ordered_offload.hpp"
#include "actor/router.hpp"
#include "device/function_messages.hpp"
#include "device/host_core.hpp"
#include "function/native_registry.hpp"

namespace seaway::device {

/// How long a value of `bytes` bytes takes from this host to `peer`, given that it leaves at
/// `now_ns`: when it arrives. The simulator and embedded links share this seam.
using LinkArrival =
    std::function<std::uint64_t(HostId peer, std::uint64_t now_ns, std::uint64_t bytes)>;

/// What a host is given at its start; everything outlives it.
struct HostWiring {
  actor::Engine& engine;
  actor::Router& router;
  transport::LocalBulk& bulk;
  const function::NativeRegistry& natives;
  events::EventStream& events;
  LinkArrival arrival;
  transport::NearMemory* near = nullptr;  // See HostCore;
  transport::DataPlane* data = nullptr;   // the same;
  store::SpillFile* spill = nullptr;      // the same.
  actor::OffloadOptions offload = {};     // For large plans and functions.
};

/// The host of one island: it compiles, prepares, executes in order, and moves payload. One frame
/// to each role it talks to when its mailbox runs empty.
class HostActor final : public actor::Actor {
 public:
  HostActor(HostCore::Options options, HostWiring wiring, Backend& backend);

  void receive(const Frame& frame) override;
  void idle() override;

  /// `client` is to make a connection for data.
  void call_back(ClientId client);

  /// The upload `array` lies in a file. Errors: kProtocolError when it has other bytes.
  Status take_file(ArrayId array, transport::Payload payload);

  HostCore& core() { return core_; }

 private:
  struct Decoder;

  Status define_function(const Frame& frame);
  Status define_plan(const Frame& frame, std::size_t bytes);
  void add_plan(Result<std::unique_ptr<HostPlan>> plan);
  void handle_early();
  void end_compilation(const std::optional<Compilations::Ended>& ended, FunctionId function);
  Status take_answers(const Frame& frame);
  Status hear_words(const Frame& frame);
  void tell_annexes(const Frame& frame);
  void flush_annexes();
  bool is_early(const Frame& frame);
  void handle(const Frame& frame);
  void flush_dones();
  void flush_edges();
  void flush_fetched();
  void flush_enqueued();
  void flush_lost();
  void flush_pulls();
  void flush_wrong();
  void take_upload(ArrayId array, std::uint64_t streams, std::uint64_t bytes, std::uint64_t stride,
                   transport::Payload payload);
  void flush_arrived();
  void send_bulk(const HostOutbox::Edge& edge);
  void send_value(const HostOutbox::Fetched& answer);
  void send_state();
  void watch_gangs();

  HostWiring wiring_;
  Backend& backend_;
  HostCore core_;
  Compilations compilations_;
  bool is_poked_ = false;
  std::uint32_t view_ = 0;     // Of the island; orders of another one are not followed.
  bool is_view_over_ = false;  // Words of it were lost: the next one is near.
  std::uint64_t turn_ = 0;     // Of the controller, up to which all has been heard;
  actor::HeldFrames early_;    // what the scheduler says behind later ones waits.
  /// A plan is being prepared on another thread. Messages of clients are handled meanwhile, all
  /// others wait.
  actor::OrderedOffload preparing_;
  std::map<HostId, Stamp> said_;  // The newest that a peer was told of, in this conversation.
  /// One timer for all gangs that run beside this thread: at the time when the first is over its
  /// time, or before.
  std::optional<actor::TimerId> timer_;
  std::uint64_t timer_ns_ = 0;  // When it fires.
};

}  // namespace seaway::device
