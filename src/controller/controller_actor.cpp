// The controller's side of every conversation: decode and one call into the core.

#include "controller/controller_actor.hpp"

#include <seaway.capnp.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/fault_point.hpp"
#include "base/probe.hpp"
#include "controller/definition_messages.hpp"
#include "program/codec.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::controller {

using actor::Role;
using wire::Message;

/// What reads parts of a message; here, as the format is known to this file alone.
struct ControllerActor::Decoder {
  static Status runs(ControllerActor& self, ClientId client, wire::RunBatch::Reader batch) {
    const auto ids = batch.getIds();
    for (const auto record : batch.getRecords()) {
      const std::uint64_t ids_end = std::uint64_t{record.getArgBegin()} + record.getArgCount();
      if (ids_end > ids.size()) {
        return protocol_error("a run takes arguments up to " + std::to_string(ids_end) + " of " +
                              std::to_string(ids.size()));
      }
      switch (record.getKind()) {
        case wire::ClientRecord::Kind::RUN:
          self.request_.run = record.getId();
          self.request_.program = record.getObject();
          self.request_.first_output = record.getFirst();
          self.request_.args.clear();
          for (std::uint32_t i = 0; i < record.getArgCount(); ++i) {
            self.request_.args.push_back(ids[record.getArgBegin() + i]);
          }
          self.core_.run(client, self.request_);
          break;
        case wire::ClientRecord::Kind::PUT:
          self.core_.put(client, record.getId(), record.getObject());
          break;
        case wire::ClientRecord::Kind::RELEASE:
          self.core_.release(client, record.getId());
          break;
        case wire::ClientRecord::Kind::FETCH:
          self.core_.fetch(client, record.getId(), record.getObject(),
                           {(record.getFirst() & 1) != 0, (record.getFirst() & 2) != 0});
          break;
        case wire::ClientRecord::Kind::CANCEL:
          self.core_.cancel(client, record.getId());
          break;
        case wire::ClientRecord::Kind::GOT:
          self.core_.fetched(client, record.getId());
          break;
        case wire::ClientRecord::Kind::FORGET:
          self.core_.release_definition(client, record.getId());
          break;
      }
    }
    return {};
  }

  /// One that is not there any more, or was never, cannot join.
  static Status join(ControllerActor& self, wire::Join::Reader join) {
    const auto role = static_cast<Role>(join.getRole());
    const IslandId island = join.getIsland();
    const auto life = self.lives_.find({role, island});
    if (life == self.lives_.end() || life->second != join.getEpoch()) {
      return protocol_error("the " + std::string(role == Role::kHost ? "host" : "scheduler") +
                            " of island " + std::to_string(island) + " has joined in life " +
                            std::to_string(join.getEpoch()) +
                            ", and the one that is connected is in life " +
                            std::to_string(life == self.lives_.end() ? 0 : life->second));
    }
    if (role == Role::kHost) {
      self.core_.host_joined(island, join.getEpoch());
    } else {
      self.core_.scheduler_joined(island, join.getEpoch());
    }
    return {};
  }

  static void complaint(ControllerActor& self, wire::Complaint::Reader complaint) {
    const auto about = static_cast<Role>(complaint.getRole());
    const auto by = static_cast<Role>(complaint.getByRole());
    if (about == Role::kIsland) {
      self.core_.complain_of_pair(complaint.getIndex());
    } else if (about == Role::kClient) {
      self.core_.complain_of_reader(complaint.getIndex(), complaint.getByIndex());
    } else if (by == Role::kClient) {
      self.core_.complain_of_reader(complaint.getByIndex(), complaint.getIndex());
    } else if (by == Role::kIsland) {
      self.core_.complain_of_pair(complaint.getIndex());
    } else {
      self.core_.complain_of_peer(complaint.getByIndex(), complaint.getIndex(),
                                  complaint.getEpoch());
    }
  }

  /// Whoever is there joins by himself.
  static void peer(ControllerActor& self, wire::Peer::Reader peer) {
    const auto role = static_cast<Role>(peer.getRole());
    if (!peer.getLost()) {
      if (role != Role::kClient) self.lives_[{role, peer.getIndex()}] = peer.getEpoch();
      return;
    }
    self.lives_.erase({role, peer.getIndex()});
    switch (role) {
      case Role::kHost:
        return self.core_.host_lost(peer.getIndex(), peer.getMessage().cStr());
      case Role::kIsland:
        return self.core_.scheduler_lost(peer.getIndex());
      case Role::kClient:
        return self.core_.client_lost(peer.getIndex());
      case Role::kController:
      case Role::kAnnex:  // Its host is lost with it.
        return;
    }
  }
};

/// What is offloaded ends with a look at what it has made possible.
ControllerOptions ControllerActor::with_idle(ControllerOptions options, ControllerActor& self) {
  if (!options.offload.offload) return options;
  options.offload.offload = [offload = options.offload.offload, &self](auto work, auto then) {
    offload(std::move(work), [&self, then = std::move(then)] {
      then();
      self.idle();
    });
  };
  return options;
}

ControllerActor::ControllerActor(ControllerOptions options, program::SliceBinder& binder,
                                 actor::Router& router, const Clock& clock,
                                 events::EventStream& events)
    : router_(router),
      clock_(clock),
      offload_(options.offload),
      core_(with_idle(std::move(options), *this), binder, clock_, events),
      islands_(options.islands),
      timers_(options.islands),
      turns_(options.islands, std::uint64_t{options.life} << 48) {}

void ControllerActor::receive(const Frame& frame) {
  if (waits(frame)) return;
  handle(frame);
}

/// Whether a program or function that its client sent before is still being decoded.
bool ControllerActor::waits(const Frame& frame) {
  if (waiting_.empty()) return false;
  bool is_waiting = false;
  const Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    const auto found = waiting_.find(message.getClient());
    is_waiting = message.getClient() != 0 && found != waiting_.end();
    if (is_waiting) hold(message.getClient(), found->second, frame);
    const bool is_loss = message.isPeer() && message.getPeer().getLost() &&
                         message.getPeer().getRole() == static_cast<std::uint8_t>(Role::kClient);
    if (is_loss) waiting_.erase(message.getPeer().getIndex());
    return Status();
  });
  return status.ok() && is_waiting;
}

/// Above the limits the session of the client ends.
void ControllerActor::hold(ClientId client, actor::HeldFrames& waiting, const Frame& frame) {
  const Status held = waiting.hold(frame);
  if (held.ok()) return;
  router_.malformed(Role::kClient, client,
                    resource_exhausted("a program or function of client " + std::to_string(client) +
                                       " is decoded, and behind it " + held.message() +
                                       ": send fewer large programs and functions at once"));
  waiting_.erase(client);
}

void ControllerActor::handle(const Frame& frame) {
  clock_.look();
  has_looked_ = true;
  // Schedulers' and hosts' frames have been read already where they came in.
  Role from = Role::kController;
  std::uint32_t index = 0;
  const Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    const ClientId client = message.getClient();
    from = Role::kClient;
    index = client;
    switch (message.which()) {
      case Message::HELLO: {
        const auto hello = message.getHello();
        core_.hello(client, hello.getTenant().cStr(), hello.getWeight(), hello.getRequest(),
                    hello.getWaitsWhenFull());
        break;
      }
      case Message::GOODBYE:
        core_.goodbye(client);
        break;
      case Message::DEFINE_FUNCTION:
        define_function(client, frame);
        break;
      case Message::DEFINE_PROGRAM:
        define_program(client, frame);
        break;
      case Message::RUNS:
        return Decoder::runs(*this, client, message.getRuns());
      case Message::REQUEST:
        return read_request(client, frame);
      case Message::COMPILED: {
        const auto compiled = message.getCompiled();
        function::OutputOperandPairs in_place;
        for (const auto pair : compiled.getInPlace()) {
          in_place.emplace_back(pair.getOutput(), pair.getOperand());
        }
        Status outcome = wire::read_status(compiled.getCode(), compiled.getMessage());
        Result<program::ForeignCompiled> foreign = Status();
        const bool is_foreign = compiled.getForeign().size() > 0;
        if (is_foreign) {
          foreign = program::decode_foreign_compiled(wire::data_frame(compiled.getForeign()));
          if (!foreign.ok()) outcome = foreign.status();
        }
        core_.compiled(compiled.getFunction(), compiled.getHost(), std::move(outcome),
                       compiled.getScratchBytes(), compiled.getCostNs(), in_place,
                       is_foreign && foreign.ok() ? &*foreign : nullptr);
        break;
      }
      case Message::FINISHED:
        for (const auto finished : message.getFinished()) {
          // A stamp without a part on this island may belong to a run of another client.
          if (!core_.has_part(finished.getStamp(), finished.getIsland())) continue;
          if (finished.getPlaced()) {
            core_.part_enqueued(finished.getStamp());
          } else if (finished.getDone()) {
            core_.part_finished(finished.getStamp(), finished.getIsland());
          } else {
            core_.part_failed(finished.getStamp(),
                              wire::read_status(finished.getCode(), finished.getMessage()));
          }
        }
        break;
      case Message::WHY_ANSWER: {
        const auto answer = message.getWhyAnswer();
        core_.why_answer(answer.getRequest(), answer.getIsland(), answer.getText().cStr());
        break;
      }
      case Message::DEVICE_LOST: {
        const auto lost = message.getDeviceLost();
        core_.device_lost(lost.getIsland(), lost.getDevice(),
                          {StatusCode::kDeviceLost, lost.getMessage().cStr()});
        break;
      }
      case Message::ARRIVED:
        for (const std::uint64_t array : message.getArrived()) core_.arrived(array);
        break;
      case Message::JOIN:
        from = static_cast<Role>(message.getJoin().getRole());
        index = message.getJoin().getIsland();
        return Decoder::join(*this, message.getJoin());
      case Message::COMPLAINT:
        Decoder::complaint(*this, message.getComplaint());
        break;
      case Message::PEER:
        Decoder::peer(*this, message.getPeer());
        break;
      default:
        return protocol_error("the controller got a message of kind " +
                              std::to_string(static_cast<int>(message.which())) +
                              ", which is not for it");
    }
    return Status();
  });
  if (!status.ok()) router_.malformed(from, index, status);
}

Status ControllerActor::read_request(ClientId client, const Frame& frame) {
  return wire::read_frame<Message>(frame, [&](Message::Reader message) {
    const auto request = message.getRequest();
    const std::uint64_t number = request.getRequest();
    switch (request.which()) {
      case wire::Request::ACQUIRE_SLICE: {
        const auto acquire = request.getAcquireSlice();
        program::SliceRequest wanted;
        wanted.devices = acquire.getDevices();
        for (const auto axis : acquire.getAxes()) {
          wanted.axes.emplace_back(axis.getName().cStr(), axis.getSize());
        }
        wanted.kind = acquire.getKind().cStr();
        wanted.island = acquire.getIsland();
        wanted.contiguous = acquire.getContiguous();
        wanted.spread = acquire.getSpread();
        core_.acquire_slice(client, number, acquire.getId(), std::move(wanted));
        break;
      }
      case wire::Request::RELEASE_SLICE:
        core_.release_slice(client, number, request.getReleaseSlice());
        break;
      case wire::Request::REBIND_SLICE:
        core_.rebind_slice(client, number, request.getRebindSlice());
        break;
      case wire::Request::WHY:
        core_.why(client, number, request.getWhy());
        break;
      case wire::Request::STATS:
        core_.stats(client, number);
        break;
      case wire::Request::DEFINE_SPEC: {
        auto checked = check_spec(client, request.getDefineSpec());
        if (!checked.ok()) return checked.status();
        core_.answer(client, number,
                     core_.define_spec(client, checked->id, std::move(checked->spec),
                                       std::move(checked->define)));
        break;
      }
      case wire::Request::DRAIN:
        core_.drain(client, number);
        break;
      case wire::Request::DEFINE_FOREIGN: {
        auto checked = check_foreign(client, request.getDefineForeign());
        if (!checked.ok()) return checked.status();
        core_.define_foreign(client, number, std::move(checked->info), std::move(checked->compile));
        break;
      }
    }
    return Status();
  });
}

namespace {

Status read_program(const Frame& frame, program::ProgramGraph& graph) {
  return wire::read_frame<Message>(frame, [&](Message::Reader message) {
    const auto chunks = message.getDefineProgram().getGraph();
    std::size_t size = 0;
    for (const auto chunk : chunks) size += chunk.size();
    if (size % sizeof(std::uint64_t) != 0) {
      return protocol_error("a program of " + std::to_string(size) + " bytes is not in words");
    }
    const Frame words = Frame::make(size / sizeof(std::uint64_t), [&](auto words) {
      std::size_t offset = 0;
      for (const auto chunk : chunks) {
        std::copy(chunk.begin(), chunk.end(), reinterpret_cast<kj::byte*>(words.data()) + offset);
        offset += chunk.size();
      }
    });
    auto decoded = program::decode_program_graph(words);
    if (decoded.ok()) graph = std::move(decoded).value();
    return decoded.status();
  });
}

}  // namespace

/// Calls `decode` and then `add`, or ends the client's session with the error of `decode`. For a
/// large frame `decode` runs on another thread, and later frames of the client wait.
void ControllerActor::decode(ClientId client, const Frame& frame, std::function<Status()> decode,
                             std::function<void()> add) {
  const auto end = [this, client, add = std::move(add)](const Status& decoded) {
    if (!decoded.ok()) return router_.malformed(Role::kClient, client, decoded);
    add();
  };
  if (!offload_.takes_frame(frame.size_bytes())) return end(decode());
  SEAWAY_PROBE("a program or a function is decoded away from the control thread");
  waiting_[client];
  const auto decoded = std::make_shared<Status>();
  offload_.offload([decode = std::move(decode), decoded] { *decoded = decode(); },
                   [this, client, end, decoded] {
                     auto waiting = waiting_.extract(client);
                     if (waiting.empty()) return;  // The client is gone.
                     end(*decoded);
                     for (auto& held = waiting.mapped(); !held.empty();) receive(held.pop());
                     idle();
                   });
}

void ControllerActor::define_function(ClientId client, const Frame& frame) {
  const auto function = std::make_shared<CheckedFunction>();
  decode(
      client, frame,
      [client, frame, function] {
        return wire::read_frame<Message>(frame, [&](Message::Reader message) {
          auto checked = check_function(client, message.getDefineFunction());
          if (checked.ok()) *function = std::move(checked).value();
          return checked.status();
        });
      },
      [this, client, function] {
        core_.define_function(client, std::move(function->info), std::move(function->compile));
      });
}

void ControllerActor::define_program(ClientId client, const Frame& frame) {
  const auto graph = std::make_shared<program::ProgramGraph>();
  decode(
      client, frame, [frame, graph] { return read_program(frame, *graph); },
      [this, client, graph] { core_.define_program(client, std::move(*graph)); });
}

void ControllerActor::idle() {
  if (!std::exchange(has_looked_, false)) clock_.look();
  core_.pump();
  for (IslandId island = 0; island < islands_; ++island) {
    if (!gathers(island)) flush_island(island);
  }
  ControllerOutbox& outbox = core_.outbox();
  while (!outbox.clients.empty()) {
    flush_client(outbox.clients.begin()->first, outbox.clients.begin()->second);
    outbox.end_first_client();
  }
  if (engine_) supervise_islands();
}

/// What is for islands that are processes of their own may wait; a timer ends that.
bool ControllerActor::gathers(IslandId island) {
  if (!engine_ || core_.outbox().islands[island].is_empty()) return false;
  if (core_.is_pressing(island)) return false;
  if (!core_.can_wait(island) && !SEAWAY_FAULT(kLateLaunches)) return false;
  SEAWAY_PROBE("what an island is told waits for more");
  if (timers_[island]) return true;
  timers_[island] =
      engine_->schedule(clock_.now_ns() + core_.limits().gathering_ns, [this, island] {
        SEAWAY_PROBE("what has waited for more has waited long enough");
        timers_[island].reset();
        flush_island(island);
      });
  return true;
}

bool ControllerActor::explain(RunId run, std::function<void(std::string)> done) {
  constexpr std::size_t kQuestionsMax = 1024;
  if (questions_.size() >= kQuestionsMax) return false;
  questions_[++last_question_] = std::move(done);
  core_.why(ControllerCore::kOperator, last_question_, run);
  idle();
  return true;
}

Status ControllerActor::drain_island(IslandId island, std::optional<Drain> how) {
  Status status = how ? core_.drain_island(island, *how) : core_.end_drain(island);
  idle();
  return status;
}

void ControllerActor::flush_operator(ControllerOutbox::Client& outbox) {
  for (ControllerOutbox::Reply& answer : outbox.replies) {
    const auto asked = questions_.extract(answer.request);
    if (!asked.empty()) asked.mapped()(std::move(answer.text));
  }
  outbox.replies.clear();
}

void ControllerActor::supervise(actor::Engine& engine, std::function<void(IslandId)> begin_anew) {
  engine_ = &engine;
  begin_anew_ = std::move(begin_anew);
}

void ControllerActor::supervise_islands() {
  for (const IslandId island : std::exchange(core_.outbox().failed_islands, {})) {
    begin_anew_(island);
  }
  // One that comes too early, as something was lost meanwhile, finds out by itself.
  const std::uint64_t next_ns = core_.next_return_ns();
  if (next_ns == 0 || std::exchange(has_timer_, true)) return;
  engine_->schedule(next_ns, [this] {
    has_timer_ = false;
    idle();
  });
}

}  // namespace seaway::controller
