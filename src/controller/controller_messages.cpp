// What the controller says: outboxes into frames.

#include <seaway.capnp.h>

#include <string>

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
  }
  outbox.fetches.clear();
}

}  // namespace

void ControllerActor::flush_island(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  if (!outbox.weights.empty()) flush_weights(island);
  for (Frame& definition : outbox.definitions) {
    router_.send(Role::kHost, island, std::move(definition));
  }
  outbox.definitions.clear();
  if (!outbox.plans.empty()) flush_plans(island);
  if (!outbox.puts.empty()) flush_puts(island);
  if (!outbox.launches.empty()) flush_launches(island);
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
    router_.send(Role::kIsland, island, builder.finish());
  }
  for (const auto& [request, stamp] : outbox.questions) {
    wire::FrameBuilder builder;
    auto question = builder.init_root<Message>().initWhyQuestion();
    question.setRequest(request);
    question.setStamp(stamp);
    const Frame frame = builder.finish();
    router_.send(Role::kIsland, island, frame);
    router_.send(Role::kHost, island, frame);
  }
  outbox.questions.clear();
  if (!outbox.forgotten_clients.empty() || !outbox.forgotten_plans.empty()) flush_forgotten(island);
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
  router_.send(Role::kIsland, island, builder.finish());
}

void ControllerActor::flush_plans(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  for (const program::PartPlanPtr& plan : outbox.plans) {
    const Frame part = program::encode_frame(*plan);
    wire::FrameBuilder builder;
    auto definition = builder.init_root<Message>().initDefinePlan();
    definition.setId(plan->id);
    definition.setPart(wire::frame_data(part));
    const Frame frame = builder.finish();
    router_.send(Role::kIsland, island, frame);
    router_.send(Role::kHost, island, frame);
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
  const Frame frame = builder.finish();
  if (!outbox.forgotten_plans.empty()) router_.send(Role::kIsland, island, frame);
  router_.send(Role::kHost, island, frame);
  outbox.forgotten_clients.clear();
  outbox.forgotten_plans.clear();
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
  router_.send(Role::kIsland, island, frame);
  router_.send(Role::kHost, island, frame);
}

void ControllerActor::flush_launches(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  wire::FrameBuilder builder;
  auto batch = builder.init_root<Message>().initLaunches();
  auto records = batch.initRecords(static_cast<unsigned>(outbox.launches.size()));
  for (unsigned i = 0; i < outbox.launches.size(); ++i) {
    const ControllerOutbox::Launch& launch = outbox.launches[i];
    auto record = records[i];
    record.setStamp(launch.stamp);
    record.setRun(launch.run);
    record.setPlan(launch.plan);
    record.setTenant(launch.tenant);
    record.setBegin(launch.begin);
    record.setAcknowledge(launch.acknowledge);
  }
  auto ids = batch.initIds(static_cast<unsigned>(outbox.ids.size()));
  for (unsigned i = 0; i < outbox.ids.size(); ++i) ids.set(i, outbox.ids[i]);
  if (!outbox.fetches.empty()) {
    write_fetches(outbox, batch.initFetches(static_cast<unsigned>(outbox.fetches.size())));
  }
  if (!outbox.frees.empty()) {
    auto frees = batch.initFrees(static_cast<unsigned>(outbox.frees.size()));
    for (unsigned i = 0; i < outbox.frees.size(); ++i) frees.set(i, outbox.frees[i]);
    outbox.frees.clear();
  }
  outbox.launches.clear();
  outbox.ids.clear();
  const Frame frame = builder.finish();
  router_.send(Role::kIsland, island, frame);
  router_.send(Role::kHost, island, frame);
}

void ControllerActor::flush_arrays(IslandId island) {
  ControllerOutbox::Island& outbox = core_.outbox().islands[island];
  if (!outbox.fetches.empty()) {
    wire::FrameBuilder builder;
    write_fetches(outbox, builder.init_root<Message>().initArrays(
                              static_cast<unsigned>(outbox.fetches.size())));
    router_.send(Role::kHost, island, builder.finish());
  }
  if (!outbox.frees.empty()) {
    wire::FrameBuilder builder;
    auto list = builder.init_root<Message>().initArrays(static_cast<unsigned>(outbox.frees.size()));
    for (unsigned i = 0; i < outbox.frees.size(); ++i) {
      list[i].setKind(wire::ArrayRecord::Kind::FREE);
      list[i].setArray(outbox.frees[i]);
    }
    outbox.frees.clear();
    router_.send(Role::kIsland, island, builder.finish());
  }
}

void ControllerActor::flush_client(ClientId id, ControllerOutbox::Client& outbox) {
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
    router_.send(Role::kClient, id, builder.finish());
  }
  outbox.replies.clear();
}

}  // namespace seaway::controller
