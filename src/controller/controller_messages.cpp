// What the controller says: outboxes into frames.

#include <seaway.capnp.h>

#include <optional>
#include <string>
#include <utility>

#include "base/fault_point.hpp"
#include "controller/controller_actor.hpp"
#include "program/codec.hpp"
#include "wire/frame_builder.hpp"
#include "wire/status_codec.hpp"

namespace seaway::controller {

using actor::Role;
using wire::Message;

namespace {

/// Empties outbox.fetches into `list`, which has their size.
void write_fetches(ControllerOutbox::Island& outbox, capnp::List<wire::ArrayRecord>::Builder list) {
  for (unsigned i = 0; i < outbox.fetches.size(); ++i) {
    list[i].setKind(wire::ArrayRecord::Kind::FETCH);
    list[i].setArray(outbox.fetches[i].array);
    list[i].setClient(outbox.fetches[i].client);
    list[i].setObject(outbox.fetches[i].request);
    list[i].setStreams(outbox.fetches[i].streams);
  }
  outbox.fetches.clear();
}

/// `batch` gets the records, in their order, and the ids that they name.
void write_launches(wire::LaunchBatch::Builder batch,
                    const std::vector<ControllerOutbox::Launch>& launches,
                    const std::vector<std::uint64_t>& launch_ids, bool has_frees) {
  auto records = batch.initRecords(static_cast<unsigned>(launches.size()));
  for (unsigned i = 0; i < launches.size(); ++i) {
    const ControllerOutbox::Launch& launch = launches[i];
    auto record = records[i];
    record.setStamp(launch.stamp);
    record.setRun(launch.run);
    record.setPlan(launch.plan);
    record.setTenant(launch.tenant);
    record.setBegin(launch.begin);
    record.setAcknowledge(launch.acknowledge);
    record.setFreesBefore(has_frees ? launch.frees_before : 0);
  }
  auto ids = batch.initIds(static_cast<unsigned>(launch_ids.size()));
  for (unsigned i = 0; i < launch_ids.size(); ++i) ids.set(i, launch_ids[i]);
}

}  // namespace

/// To a role of an island, if it lives: what it has to know it is told when it begins a new life.
/// Without a host a scheduler has nothing to do until the next view.
void ControllerActor::send(Role role, IslandId island, Frame frame) {
  const bool is_there =
      core_.has_host(island) && (role == Role::kHost || core_.has_scheduler(island));
  if (is_there) router_.send(role, island, std::move(frame));
}

void ControllerActor::flush_island(IslandId island) {
  if (const auto timer = std::exchange(timers_[island], std::nullopt)) engine_->cancel(*timer);
  if (!core_.has_members()) return say_all(island);
  if (core_.outbox().islands[island].is_empty()) return;
  wire::FrameBuilder builder;
  builder.init_root<Message>().setTurn(++turns_[island]);
  const Frame turn = builder.finish();
  send(Role::kIsland, island, turn);
  say_all(island);
  send(Role::kHost, island, turn);
}

void ControllerActor::say_all(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  const bool is_told = outbox.has_new_view;
  if (is_told) flush_view(island);
  if (!outbox.weights.empty()) flush_weights(island);
  for (Frame& definition : outbox.definitions) {
    send(Role::kHost, island, std::move(definition));
  }
  outbox.definitions.clear();
  if (!outbox.plans.empty()) flush_plans(island, is_told);
  if (!outbox.puts.empty()) flush_puts(island);
  if (!outbox.launches.empty()) flush_launches(island, is_told);
  if (!outbox.fetches.empty() || !outbox.frees.empty()) flush_arrays(island);
  if (!outbox.cancels.empty()) {
    wire::FrameBuilder builder;
    auto list =
        builder.init_root<Message>().initCancels(static_cast<unsigned>(outbox.cancels.size()));
    for (unsigned i = 0; i < outbox.cancels.size(); ++i) {
      list[i].setStamp(outbox.cancels[i].stamp);
      list[i].setCode(static_cast<std::uint8_t>(outbox.cancels[i].status.code()));
      list[i].setMessage(outbox.cancels[i].status.message());
    }
    outbox.cancels.clear();
    send(Role::kIsland, island, builder.finish());
  }
  if (!outbox.cuts.empty()) flush_cuts(island);
  for (const auto& [request, stamp] : outbox.questions) {
    wire::FrameBuilder builder;
    auto question = builder.init_root<Message>().initWhyQuestion();
    question.setRequest(request);
    question.setStamp(stamp);
    const Frame frame = builder.finish();
    send(Role::kIsland, island, frame);
    send(Role::kHost, island, frame);
  }
  outbox.questions.clear();
  if (outbox.has_forgotten()) flush_forgotten(island);
}

/// Tells the scheduler everything that is unfinished: plans and launches that were gathered for it
/// are part of that. Plans come before the view that names them, each in a frame of its own.
void ControllerActor::flush_view(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  outbox.has_new_view = false;
  ControllerOutbox::View view = core_.view_of(island);
  {
    wire::FrameBuilder builder;
    auto message = builder.init_root<Message>().initView();
    message.setNumber(view.number);
    message.setLastStamp(core_.born_stamp(island));
    message.setLife(core_.host_life(island));
    send(Role::kHost, island, builder.finish());
  }
  wire::FrameBuilder builder;
  auto message = builder.init_root<Message>().initView();
  message.setNumber(view.number);
  auto plans = message.initPlans(static_cast<unsigned>(view.plans.size()));
  for (unsigned i = 0; i < plans.size(); ++i) {
    plans.set(i, view.plans[i].first);
    send(Role::kIsland, island, std::move(view.plans[i].second));
  }
  write_launches(message.initLaunches(), view.launches, view.ids, false);
  auto named = message.initNamed(static_cast<unsigned>(view.named.size()));
  for (unsigned i = 0; i < view.named.size(); ++i) named.set(i, view.named[i]);
  send(Role::kIsland, island, builder.finish());
  outbox.weights = std::move(view.weights);
  outbox.cancels = std::move(view.cancels);
}

void ControllerActor::flush_cuts(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  for (const ControllerOutbox::Cut& cut : outbox.cuts) {
    wire::FrameBuilder builder;
    auto message = builder.init_root<Message>().initCutEdges();
    message.setPeer(cut.peer);
    message.setLastStamp(cut.last_stamp);
    message.setCode(static_cast<std::uint8_t>(cut.status.code()));
    message.setMessage(cut.status.message());
    send(Role::kHost, island, builder.finish());
  }
  outbox.cuts.clear();
}

void ControllerActor::flush_weights(IslandId island) {
  auto& weights = core_.outbox().islands[island].weights;
  wire::FrameBuilder builder;
  auto list = builder.init_root<Message>().initWeights(static_cast<unsigned>(weights.size()));
  for (unsigned i = 0; i < weights.size(); ++i) {
    list[i].setTenant(weights[i].tenant);
    list[i].setWeight(weights[i].weight);
  }
  weights.clear();
  const Frame frame = builder.finish();
  send(Role::kIsland, island, frame);
  send(Role::kHost, island, frame);
}

void ControllerActor::flush_plans(IslandId island, bool is_told) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  for (const Frame& plan : outbox.plans) {
    if (!is_told) send(Role::kIsland, island, plan);
    send(Role::kHost, island, plan);
  }
  outbox.plans.clear();
}

void ControllerActor::flush_forgotten(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  wire::FrameBuilder builder;
  auto forget = builder.init_root<Message>().initForget();
  auto clients = forget.initClients(static_cast<unsigned>(outbox.forgotten_clients.size()));
  for (unsigned i = 0; i < clients.size(); ++i) clients.set(i, outbox.forgotten_clients[i]);
  auto plans = forget.initPlans(static_cast<unsigned>(outbox.forgotten_plans.size()));
  for (unsigned i = 0; i < plans.size(); ++i) plans.set(i, outbox.forgotten_plans[i]);
  auto definitions =
      forget.initDefinitions(static_cast<unsigned>(outbox.forgotten_definitions.size()));
  for (unsigned i = 0; i < definitions.size(); ++i) {
    definitions.set(i, outbox.forgotten_definitions[i]);
  }
  const Frame frame = builder.finish();
  if (!outbox.forgotten_plans.empty()) send(Role::kIsland, island, frame);
  send(Role::kHost, island, frame);
  outbox.forgotten_clients.clear();
  outbox.forgotten_plans.clear();
  outbox.forgotten_definitions.clear();
}

void ControllerActor::flush_puts(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  wire::FrameBuilder builder;
  auto list = builder.init_root<Message>().initArrays(static_cast<unsigned>(outbox.puts.size()));
  for (unsigned i = 0; i < outbox.puts.size(); ++i) {
    const ControllerOutbox::Put& put = outbox.puts[i];
    list[i].setKind(wire::ArrayRecord::Kind::PUT);
    list[i].setArray(put.array);
    list[i].setObject(put.spec);
    list[i].setTenant(put.tenant);
    list[i].setBytes(put.shard_bytes);
    auto devices = list[i].initDevices(static_cast<unsigned>(put.devices.size()));
    for (unsigned d = 0; d < put.devices.size(); ++d) devices.set(d, put.devices[d]);
  }
  outbox.puts.clear();
  const Frame frame = builder.finish();
  send(Role::kIsland, island, frame);
  send(Role::kHost, island, frame);
}

void ControllerActor::flush_launches(IslandId island, bool is_told) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  wire::FrameBuilder builder;
  auto batch = builder.init_root<Message>().initLaunches();
  // The frames behind this one have them then.
  const bool is_apart = !is_told && SEAWAY_FAULT(kArraysApart);
  write_launches(batch, outbox.launches, outbox.ids, !is_apart);
  if (!outbox.fetches.empty() && !is_apart) {
    write_fetches(outbox, batch.initFetches(static_cast<unsigned>(outbox.fetches.size())));
  }
  if (!outbox.frees.empty() && !is_apart) {
    auto frees = batch.initFrees(static_cast<unsigned>(outbox.frees.size()));
    for (unsigned i = 0; i < outbox.frees.size(); ++i) frees.set(i, outbox.frees[i]);
    outbox.frees.clear();
  }
  if (core_.has_members()) batch.setOldest(core_.oldest_stamp());
  outbox.launches.clear();
  outbox.ids.clear();
  const Frame frame = builder.finish();
  if (!is_told) send(Role::kIsland, island, frame);
  send(Role::kHost, island, frame);
}

void ControllerActor::flush_arrays(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  if (!outbox.fetches.empty()) {
    wire::FrameBuilder builder;
    write_fetches(outbox, builder.init_root<Message>().initArrays(
                              static_cast<unsigned>(outbox.fetches.size())));
    send(Role::kHost, island, builder.finish());
  }
  if (!outbox.frees.empty()) {
    wire::FrameBuilder builder;
    auto list = builder.init_root<Message>().initArrays(static_cast<unsigned>(outbox.frees.size()));
    for (unsigned i = 0; i < outbox.frees.size(); ++i) {
      list[i].setKind(wire::ArrayRecord::Kind::FREE);
      list[i].setArray(outbox.frees[i]);
    }
    outbox.frees.clear();
    send(Role::kIsland, island, builder.finish());
  }
}

void ControllerActor::flush_client(ClientId id, ControllerOutbox::Client& outbox) {
  if (id == ControllerCore::kOperator) return flush_operator(outbox);
  if (!outbox.resolved.empty()) {
    wire::FrameBuilder builder;
    auto list =
        builder.init_root<Message>().initResolved(static_cast<unsigned>(outbox.resolved.size()));
    for (unsigned i = 0; i < outbox.resolved.size(); ++i) {
      const ControllerOutbox::Resolved& resolved = outbox.resolved[i];
      list[i].setId(resolved.id);
      list[i].setCode(static_cast<std::uint8_t>(resolved.status.code()));
      if (!resolved.status.ok()) list[i].setMessage(resolved.status.message());
    }
    outbox.resolved.clear();
    router_.send(Role::kClient, id, builder.finish());
  }
  if (!outbox.fetched.empty()) {
    wire::FrameBuilder builder;
    auto list =
        builder.init_root<Message>().initFetched(static_cast<unsigned>(outbox.fetched.size()));
    for (unsigned i = 0; i < outbox.fetched.size(); ++i) {
      list[i].setRequest(outbox.fetched[i].request);
      list[i].setCode(static_cast<std::uint8_t>(outbox.fetched[i].status.code()));
      list[i].setMessage(outbox.fetched[i].status.message());
    }
    outbox.fetched.clear();
    router_.send(Role::kClient, id, builder.finish());
  }
  for (const ControllerOutbox::Reply& answer : outbox.replies) {
    wire::FrameBuilder builder;
    auto reply = builder.init_root<Message>().initReply();
    reply.setRequest(answer.request);
    reply.setCode(static_cast<std::uint8_t>(answer.status.code()));
    reply.setMessage(answer.status.ok() ? answer.text : answer.status.message());
    if (answer.foreign) {
      const Frame foreign = program::encode_frame(*answer.foreign);
      const auto words = foreign.words();
      reply.setData({reinterpret_cast<const kj::byte*>(words.data()), words.size_bytes()});
    }
    router_.send(Role::kClient, id, builder.finish());
  }
  outbox.replies.clear();
}

}  // namespace seaway::controller
