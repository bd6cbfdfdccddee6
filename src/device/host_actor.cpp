// The host's side of every conversation: decode, one call into the core, encode.

#include "device/host_actor.hpp"

#include <seaway.capnp.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/check.hpp"
#include "base/fault_point.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "device/annex_codec.hpp"
#include "device/function_messages.hpp"
#include "program/codec.hpp"
#include "program/plan_codec.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::device {

using actor::Role;
using transport::Lane;
using wire::Message;

namespace {

/// Whether a view that was said to `meant` is for a host in its life `life`. 0: nobody in
/// particular.
bool is_for(std::uint32_t life, std::uint32_t meant) {
  return life == 0 || meant == 0 || life == meant;
}

/// Whether the kind of `frame` is sent by clients only: see check_at_door().
bool is_of_client(const Frame& frame) {
  bool is_of_client = false;
  const Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    const bool is_upload =
        message.isBulk() && message.getBulk().getKind() == wire::Bulk::Kind::UPLOAD;
    is_of_client = is_upload || message.isTaken();
  });
  return status.ok() && is_of_client;
}

}  // namespace

/// What reads parts of a message; here, as the format is known to this file alone.
struct HostActor::Decoder {
  static void launches(HostActor& host, wire::LaunchBatch::Reader batch) {
    const auto ids = batch.getIds();
    for (const auto launch : batch.getRecords()) {
      const std::uint32_t begin = launch.getBegin();
      host.core_.launch(launch.getStamp(), launch.getRun(), launch.getPlan(), launch.getTenant(),
                        launch.getAcknowledge(), [&ids, begin](std::uint32_t index) -> ArrayId {
                          const std::uint64_t at = std::uint64_t{begin} + index;
                          return at < ids.size() ? ids[static_cast<unsigned>(at)] : 0;
                        });
    }
    for (const auto fetch : batch.getFetches()) {
      host.core_.fetch(fetch.getArray(), fetch.getClient(), fetch.getObject(), fetch.getStreams());
    }
    if (batch.getOldest() > 0) host.core_.forget_failures(batch.getOldest());
  }

  /// What the controller says to a host that it works with.
  static bool is_of_work(Message::Which kind) {
    return kind == Message::LAUNCHES || kind == Message::ARRAYS || kind == Message::DEFINE_PLAN ||
           kind == Message::DEFINE_SPEC || kind == Message::COMPILE || kind == Message::FORGET ||
           kind == Message::CUT_EDGES;
  }

  /// What may end parts, or the life in which they have their stamps. All else adds to the end of
  /// the order or is looked at when a gang's turn comes, as failures and cancels are.
  static bool may_change_next(Message::Which kind) {
    return kind == Message::VIEW || kind == Message::CUT_EDGES || kind == Message::PEER ||
           kind == Message::FORGET;
  }

  static void view(HostActor& host, wire::View::Reader view) {
    if (!is_for(host.core_.options().life, view.getLife())) return;
    if (host.view_ == 0) host.core_.begin_life(view.getLastStamp());
    host.view_ = view.getNumber();
    host.is_view_over_ = false;
    host.core_.begin_view();
    host.send_state();
  }

  static void cut_edges(HostActor& host, wire::CutEdges::Reader cut) {
    host.core_.cut_edges(cut.getPeer(), cut.getLastStamp(),
                         wire::read_status(cut.getCode(), cut.getMessage()));
  }

  /// The bytes wait in the transport for the word that announces them; an upload's are the word.
  static Status bulk(HostActor& host, wire::Bulk::Reader bulk) {
    // Once: each look counts as reading all of it.
    const capnp::Data::Reader data = bulk.getData();
    transport::Payload payload = transport::copy_payload(
        std::as_bytes(std::span(data.begin(), data.size())), bulk.getStride());
    switch (bulk.getKind()) {
      case wire::Bulk::Kind::EDGE: {
        const std::uint64_t stamp = bulk.getId();
        if (!host.core_.awaits_edge(stamp, bulk.getEdge())) return {};
        Status fits = host.core_.check_edge(stamp, bulk.getEdge(), data.size(), bulk.getStride());
        if (fits.ok()) host.wiring_.bulk.offer_edge(stamp, bulk.getEdge(), std::move(payload));
        return fits;
      }
      case wire::Bulk::Kind::UPLOAD:
        host.take_upload(bulk.getId(), bulk.getStreams(), data.size(), bulk.getStride(),
                         std::move(payload));
        return {};
      case wire::Bulk::Kind::VALUE:
        break;
    }
    return protocol_error("host " + std::to_string(host.core_.options().host) +
                          " got bytes of kind " + std::to_string(static_cast<int>(bulk.getKind())) +
                          ", which are not for hosts");
  }

  /// What waits is in the sender's memory. An error: it cannot be read there.
  static Status loan(HostActor& host, wire::Edge::Reader edge) {
    if (!host.core_.awaits_edge(edge.getStamp(), edge.getEdge())) return {};
    const auto loan = edge.getLoan();
    if (!host.wiring_.near) return protocol_error("this host reads nobody's memory");
    Status fits =
        host.core_.check_edge(edge.getStamp(), edge.getEdge(), loan.getBytes(), loan.getStride());
    if (!fits.ok()) return fits;
    auto read = host.wiring_.near->read(
        edge.getHost(), {loan.getOffset(), loan.getBytes(), loan.getSlot(), loan.getTurn()});
    if (!read.ok()) return read.status();
    transport::Payload payload{read->base, loan.getStride(), nullptr};
    payload.loan = std::move(read->loan);
    payload.may_be_kept = edge.getKeeps();
    host.wiring_.bulk.offer_edge(edge.getStamp(), edge.getEdge(), std::move(payload));
    return {};
  }

  /// What waits is to be fetched. An error: it is something else.
  static Status offer(HostActor& host, wire::Edge::Reader edge) {
    if (!host.core_.awaits_edge(edge.getStamp(), edge.getEdge())) return {};
    if (!host.wiring_.data) return protocol_error("this host fetches nothing");
    Status fits = host.core_.check_offer(edge.getStamp(), edge.getEdge(), edge.getStreams());
    if (!fits.ok()) return fits;
    transport::Payload payload;
    payload.offered_bytes = edge.getStreams();
    host.wiring_.bulk.offer_edge(edge.getStamp(), edge.getEdge(), std::move(payload));
    return {};
  }

  /// What an annex says of a function.
  static Status compiled(HostActor& self, wire::Compiled::Reader compiled) {
    const std::uint32_t host = compiled.getHost();
    if (host == 0 || host >= self.core_.annexes().hosts()) {
      return protocol_error("host " + std::to_string(host) + " is none, and has compiled");
    }
    Status status = wire::read_status(compiled.getCode(), compiled.getMessage());
    if (!status.ok()) {
      status = Status(status.code(), "host " + std::to_string(host) + " of island " +
                                         std::to_string(self.core_.options().island) + ": " +
                                         status.message());
    }
    const FunctionId function = compiled.getFunction();
    self.end_compilation(self.compilations_.end(function, status), function);
    return {};
  }

  /// Where there is a new life the controller knows what to do about it; where both live and have
  /// lost what was said between them, nobody but this host knows.
  static void peer(HostActor& host, wire::Peer::Reader peer) {
    const HostCore::Options& options = host.core_.options();
    const auto role = static_cast<Role>(peer.getRole());
    const bool is_scheduler = role == Role::kIsland && peer.getIndex() == options.island;
    if (!peer.getLost()) return;
    if (role == Role::kClient) host.core_.lose_client(peer.getIndex());
    if (role == Role::kController || (role == Role::kIsland && !is_scheduler)) return;
    // What it says from now on may follow what was lost: the complaint begins a new view.
    if (is_scheduler) host.is_view_over_ = true;
    wire::FrameBuilder builder;
    auto complaint = builder.init_root<Message>().initComplaint();
    complaint.setRole(peer.getRole());
    complaint.setIndex(peer.getIndex());
    complaint.setEpoch(peer.getEpoch());
    if (role == Role::kHost) {
      // What was said of runs behind the loss of that life was meant for the next one: 0.
      const Stamp said = std::exchange(host.said_[peer.getIndex()], 0);
      if (said > host.core_.cut_until(peer.getIndex())) complaint.setEpoch(0);
    }
    complaint.setByRole(static_cast<std::uint8_t>(Role::kHost));
    complaint.setByIndex(options.host);
    host.wiring_.router.send(Role::kController, 0, builder.finish());
  }
};

HostActor::HostActor(HostCore::Options options, HostWiring wiring, Backend& backend)
    : wiring_(std::move(wiring)),
      backend_(backend),
      core_(options, backend, wiring_.bulk, wiring_.engine.clock(), wiring_.events, wiring_.near,
            wiring_.data, wiring_.spill),
      preparing_(
          wiring_.offload, [this](const Frame& frame) { receive(frame); }, [this] { idle(); }) {
  core_.watch_spill([this] { idle(); });
  backend_.watch(
      [this](DeviceId device, const std::string& cause) { core_.lose_device(device, cause); });
}

void HostActor::receive(const Frame& frame) {
  if (preparing_.is_busy() && !is_of_client(frame)) return preparing_.hold(frame);
  if (core_.options().is_process && is_early(frame)) {
    const Status held = early_.hold(frame);
    if (held.ok()) return;
    // Frames of a connection that ends mean nothing in the next one.
    early_ = actor::HeldFrames();
    return wiring_.router.malformed(
        Role::kIsland, core_.options().island,
        resource_exhausted("the scheduler speaks of turns that this host has not heard of: " +
                           held.message()));
  }
  handle(frame);
  handle_early();
}

void HostActor::handle_early() {
  while (!preparing_.is_busy() && !early_.empty() && !is_early(early_.front())) {
    handle(early_.pop());
  }
}

Status HostActor::define_plan(const Frame& frame, std::size_t bytes) {
  if (!preparing_.takes_frame(bytes)) {
    auto part = program::decode_plan_frame(frame);
    if (!part.ok()) return part.status();
    core_.define_plan(std::move(part).value());
    return {};
  }
  SEAWAY_PROBE("a host prepares a plan away from its control thread");
  preparing_.begin([this, frame, make = core_.plan_maker()] {
    using Made = Result<std::unique_ptr<HostPlan>>;
    auto part = program::decode_plan_frame(frame);
    const auto made =
        std::make_shared<Made>(part.ok() ? make(std::move(part).value()) : Made(part.status()));
    return [this, made] { add_plan(std::move(*made)); };
  });
  return {};
}

void HostActor::add_plan(Result<std::unique_ptr<HostPlan>> plan) {
  if (plan.ok()) {
    core_.add_plan(std::move(plan).value());
  } else {
    wiring_.router.malformed(Role::kController, 0, plan.status());
  }
  handle_early();
}

/// Whether the scheduler has heard more of the controller than this host, and says so by what it
/// asks for; or is behind somebody who does.
bool HostActor::is_early(const Frame& frame) {
  std::uint64_t turn = 0;
  const Status status = wire::read_frame<Message>(frame, [&turn](Message::Reader message) {
    turn = message.getAfterTurn();
    return Status();
  });
  if (!status.ok()) return false;  // Whoever handles it finds out.
  const bool is_first = early_.empty() || &frame == &early_.front();
  return turn > 0 && (turn > turn_ || !is_first);
}

void HostActor::handle(const Frame& frame) {
  core_.begin_turn();
  // Who is lost when the frame is none: other hosts speak of edges alone.
  Role from = Role::kController;
  std::uint32_t index = 0;
  const Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
    // It was meant for the life before, of whose end the controller had not heard.
    const bool is_unborn = core_.options().is_process && view_ == 0;
    if (is_unborn && Decoder::is_of_work(message.which())) return Status();
    if (Decoder::may_change_next(message.which())) core_.forget_foreseen();
    switch (message.which()) {
      case Message::LAUNCHES:
        Decoder::launches(*this, message.getLaunches());
        break;
      case Message::ORDERS:
        if (message.getInView() != view_ && !SEAWAY_MUTANT("orders of an earlier view count"))
          break;
        if (is_view_over_) break;
        for (const auto order : message.getOrders()) {
          core_.order(static_cast<program::OrderKind>(order.getKind()), order.getId(),
                      order.getFirst(), order.getLast());
        }
        break;
      case Message::CANCELS:
        if (message.getInView() != view_ || is_view_over_) break;
        for (const auto cancel : message.getCancels()) {
          core_.explain_cancel(cancel.getStamp(),
                               wire::read_status(cancel.getCode(), cancel.getMessage()));
        }
        break;
      case Message::EDGES:
        for (const auto edge : message.getEdges()) {
          Status status = wire::read_status(edge.getCode(), edge.getMessage());
          if (status.ok() && edge.getLoan().getTurn() != 0) status = Decoder::loan(*this, edge);
          if (status.ok() && edge.getStreams() != 0) status = Decoder::offer(*this, edge);
          core_.edge(static_cast<HostOutbox::Edge::Kind>(edge.getKind()), edge.getStamp(),
                     edge.getEdge(), edge.getHost(), std::move(status), edge.getReadsYou(),
                     edge.getKeeps());
        }
        break;
      case Message::ARRAYS:
        for (const auto array : message.getArrays()) {
          if (array.getKind() == wire::ArrayRecord::Kind::PUT) {
            std::vector<DeviceId> devices;
            for (const std::uint32_t device : array.getDevices()) devices.push_back(device);
            core_.put(array.getArray(), array.getObject(), devices);
          } else {
            core_.fetch(array.getArray(), array.getClient(), array.getObject(), array.getStreams());
          }
        }
        break;
      case Message::DEFINE_PLAN:
        return define_plan(frame, frame.size_bytes());
      case Message::DEFINE_SPEC: {
        auto spec = program::decode_array_spec(wire::data_frame(message.getDefineSpec().getSpec()));
        if (!spec.ok()) return spec.status();
        core_.define_spec(message.getDefineSpec().getId(), std::move(spec).value());
        break;
      }
      case Message::COMPILE:
        return define_function(frame);
      case Message::COMPILED:
        return Decoder::compiled(*this, message.getCompiled());
      case Message::ANNEX_ANSWERS:
        return take_answers(frame);
      case Message::EXCHANGE_WORDS:
        return hear_words(frame);
      case Message::FORGET:
        for (const PlanId plan : message.getForget().getPlans()) core_.forget_plan(plan);
        for (const std::uint64_t id : message.getForget().getDefinitions()) {
          core_.forget_definition(id);
        }
        for (const ClientId client : message.getForget().getClients()) core_.forget_client(client);
        break;
      case Message::WHY_QUESTION: {
        const auto question = message.getWhyQuestion();
        wire::FrameBuilder builder;
        auto answer = builder.init_root<Message>().initWhyAnswer();
        answer.setRequest(question.getRequest());
        answer.setIsland(core_.options().island);
        answer.setText(core_.why(question.getStamp()));
        wiring_.router.send(Role::kController, 0, builder.finish());
        break;
      }
      case Message::WEIGHTS:
        for (const auto weight : message.getWeights()) {
          if (wiring_.data) wiring_.data->set_weight(weight.getTenant(), weight.getWeight());
        }
        tell_annexes(frame);
        break;
      case Message::TURN:
        turn_ = message.getTurn();
        break;
      case Message::VIEW:
        Decoder::view(*this, message.getView());
        break;
      case Message::CUT_EDGES:
        Decoder::cut_edges(*this, message.getCutEdges());
        break;
      case Message::BULK:
        if (const auto bulk = message.getBulk(); bulk.getKind() == wire::Bulk::Kind::EDGE) {
          const auto source = core_.awaits_edge(bulk.getId(), bulk.getEdge());
          if (!source) return Status();  // Nobody waits for it.
          from = Role::kHost;
          index = *source;
        }
        return Decoder::bulk(*this, message.getBulk());
      case Message::TAKEN:
        for (const auto taken : message.getTaken()) {
          core_.taken(message.getClient(), taken.getRequest(), taken.getOffer());
        }
        break;
      case Message::PEER:
        Decoder::peer(*this, message.getPeer());
        break;
      case Message::POKE:
        is_poked_ = false;
        break;
      default:
        return protocol_error(
            "host " + std::to_string(core_.options().host) + " got a message of kind " +
            std::to_string(static_cast<int>(message.which())) + ", which is not for hosts");
    }
    return Status();
  });
  if (!status.ok()) wiring_.router.malformed(from, index, status);
}

void HostActor::idle() {
  const bool has_more = core_.advance();
  core_.record_room();
  flush_lost();
  flush_enqueued();
  if (!core_.outbox().pulls.empty()) flush_pulls();
  if (!core_.outbox().arrived.empty() && !core_.may_tell_later()) flush_arrived();
  flush_wrong();
  flush_edges();
  flush_fetched();
  if (core_.annexes().any()) flush_annexes();
  const bool is_late = !core_.outbox().dones.empty() && SEAWAY_FAULT(kLateDones);
  if (!is_late && !(core_.may_tell_later() && core_.has_only_ends())) flush_dones();
  watch_gangs();
  if ((has_more || is_late) && !is_poked_) {
    is_poked_ = true;
    wire::FrameBuilder builder;
    builder.init_root<Message>().setPoke();
    wiring_.router.send(Role::kHost, core_.options().host, builder.finish());
  }
}

/// Gangs that follow one another share a timer: it is set anew when it fires, or for one that is
/// due before.
void HostActor::watch_gangs() {
  const std::optional<std::uint64_t> due_ns = core_.due_ns();
  if (!due_ns && !timer_) return;
  if (due_ns && timer_ && *due_ns >= timer_ns_) return;
  if (timer_) wiring_.engine.cancel(*timer_);
  timer_.reset();
  if (!due_ns) return;
  timer_ns_ = *due_ns;
  if (SEAWAY_FAULT(kEarlyWatch))
    timer_ns_ = std::midpoint(wiring_.engine.clock().now_ns(), *due_ns);
  timer_ = wiring_.engine.schedule(timer_ns_, [this] {
    timer_.reset();
    core_.tick(wiring_.engine.clock().now_ns());
    idle();
  });
}

void HostActor::flush_dones() {
  HostOutbox& outbox = core_.outbox();
  if (outbox.dones.empty() && outbox.failures.empty()) return;
  wire::FrameBuilder builder;
  auto message = builder.init_root<Message>();
  message.setInView(view_);
  auto batch = message.initDones();
  auto records = batch.initRecords(static_cast<unsigned>(outbox.dones.size()));
  for (unsigned i = 0; i < outbox.dones.size(); ++i) {
    const HostOutbox::Done& done = outbox.dones[i];
    records[i].setKind(static_cast<wire::Done::Kind>(done.kind));
    records[i].setId(done.id);
    records[i].setFirst(done.first);
    records[i].setLast(done.last);
  }
  auto failures = batch.initFailures(static_cast<unsigned>(outbox.failures.size()));
  for (unsigned i = 0; i < outbox.failures.size(); ++i) {
    failures[i].setStamp(outbox.failures[i].stamp);
    failures[i].setCode(static_cast<std::uint8_t>(outbox.failures[i].status.code()));
    failures[i].setMessage(outbox.failures[i].status.message());
  }
  outbox.dones.clear();
  outbox.failures.clear();
  wiring_.router.send(Role::kIsland, core_.options().island, builder.finish());
}

/// Everything that the scheduler has to know, as of now: what was gathered for it is part of that.
void HostActor::send_state() {
  core_.outbox().dones.clear();
  core_.outbox().failures.clear();
  const HostState state = core_.state();
  wire::FrameBuilder builder;
  auto message = builder.init_root<Message>().initIslandState();
  message.setNumber(view_);
  message.setLastStamp(state.last_stamp);
  auto parts = message.initParts(static_cast<unsigned>(state.parts.size()));
  const auto copy = [](const std::vector<std::uint32_t>& from, auto to) {
    for (unsigned i = 0; i < from.size(); ++i) to.set(i, from[i]);
  };
  for (unsigned i = 0; i < parts.size(); ++i) {
    const HostPart& part = state.parts[i];
    parts[i].setStamp(part.stamp);
    parts[i].setAdmitted(part.is_admitted);
    parts[i].setOvertook(part.has_overtaken);
    parts[i].setBeside(part.beside);
    parts[i].setCancelled(part.is_cancelled);
    parts[i].setFencing(part.is_fencing);
    parts[i].setMoving(part.is_moving);
    parts[i].setMoved(part.is_moved);
    parts[i].setPlaced(part.placed);
    std::vector<std::uint32_t> done;
    for (const auto& [first, last] : part.done) done.insert(done.end(), {first, last});
    copy(done, parts[i].initDone(static_cast<unsigned>(done.size())));
    copy(part.received, parts[i].initReceived(static_cast<unsigned>(part.received.size())));
    copy(part.delivered, parts[i].initDelivered(static_cast<unsigned>(part.delivered.size())));
  }
  auto arrays = message.initArrays(static_cast<unsigned>(state.arrays.size()));
  for (unsigned i = 0; i < arrays.size(); ++i) {
    const HostArray& array = state.arrays[i];
    arrays[i].setArray(array.array);
    arrays[i].setPlace(static_cast<wire::ArrayState::Place>(array.place));
    arrays[i].setPoison(array.is_poison);
    arrays[i].setBytes(array.shard_bytes);
    copy(*array.devices, arrays[i].initDevices(static_cast<unsigned>(array.devices->size())));
  }
  auto failures = message.initFailures(static_cast<unsigned>(state.failures.size()));
  for (unsigned i = 0; i < failures.size(); ++i) {
    failures[i].setStamp(state.failures[i].first);
    failures[i].setCode(static_cast<std::uint8_t>(state.failures[i].second.code()));
    failures[i].setMessage(state.failures[i].second.message());
  }
  wiring_.router.send(Role::kIsland, core_.options().island, builder.finish());
}

void HostActor::flush_lost() {
  for (const HostOutbox::LostDevice& lost : core_.outbox().lost) {
    wire::FrameBuilder builder;
    auto message = builder.init_root<Message>().initDeviceLost();
    message.setIsland(core_.options().island);
    message.setDevice(lost.device);
    message.setMessage(lost.status.message());
    wiring_.router.send(Role::kController, 0, builder.finish());
  }
  core_.outbox().lost.clear();
}

void HostActor::flush_enqueued() {
  auto& enqueued = core_.outbox().enqueued;
  if (enqueued.empty()) return;
  wire::FrameBuilder builder;
  auto list = builder.init_root<Message>().initFinished(static_cast<unsigned>(enqueued.size()));
  for (unsigned i = 0; i < enqueued.size(); ++i) {
    list[i].setStamp(enqueued[i]);
    list[i].setIsland(core_.options().island);
    list[i].setPlaced(true);
  }
  enqueued.clear();
  wiring_.router.send(Role::kController, 0, builder.finish());
}

}  // namespace seaway::device
