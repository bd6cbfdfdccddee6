// ControllerWorld: the controller's core by hand: what clients and islands tell it, what it says.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/controller_core.hpp"

namespace seaway::controller {

/// Binds each slice to the first devices of the island that is asked for; anew to `next`.
class FakeBinder final : public program::SliceBinder {
 public:
  Result<program::Binding> acquire(ClientId, SliceId slice,
                                   const program::SliceRequest& request) override {
    program::Binding binding{static_cast<IslandId>(request.island), {}};
    for (DeviceId device = 0; device < request.devices; ++device) binding.devices.push_back(device);
    held[slice] = binding;
    return binding;
  }
  Result<program::Binding> rebind(SliceId slice, const program::IslandFilter& may_go) override {
    if (!held.contains(slice)) return invalid_argument("the slice is not held");
    if (!is_room) return Status(StatusCode::kDeviceLost, "slice 11 refused: 1 of 1 is lost");
    if (next.island != held[slice].island && !may_go(next.island)) {
      refused.push_back(next.island);
      return Status(StatusCode::kDeviceLost, "slice 11 refused: it may not go there");
    }
    return held[slice] = next;
  }
  Status release(SliceId slice) override {
    return held.erase(slice) == 1 ? Status() : invalid_argument("the slice is not held");
  }
  bool lose(IslandId island, DeviceId device) override {
    return lost.emplace(island, device).second;
  }
  void find_again(IslandId island, DeviceId device) override { lost.erase({island, device}); }
  std::string to_string() const override { return ""; }

  std::map<SliceId, program::Binding> held;
  program::Binding next;
  bool is_room = true;            // For slices that are bound anew.
  std::vector<IslandId> refused;  // Where they could have gone, and may not.
  std::set<std::pair<IslandId, DeviceId>> lost;
};

struct FunctionOptions {
  std::size_t parameters = 1;
  std::uint64_t cost_ns = 1000;
  bool is_compiled = true;
  bool irregular = false;
  bool idempotent = true;
};

/// A chain of calls of one function, each on a slice of its own; all slices have as many devices.
struct ChainOptions {
  FunctionId function = 0;
  std::vector<SliceId> slices = {};
  bool donated = false;
  program::Dispatch dispatch = program::Dispatch::kParallel;
};

struct RunIds {
  RunId run = 0;
  ArrayId output = 0;
};

/// Every value has 64 bytes on each device. A client's ids: its runs are 1, 2 and so on, their
/// outputs 1001, its uploads 501, its slices 11, its functions 21, its programs 31.
class ControllerWorld {
 public:
  static ControllerOptions with_defaults(ControllerOptions options) {
    if (options.device_bytes == 0) options.device_bytes = 1 << 20;
    if (options.kept_bytes_max == 0) options.kept_bytes_max = 1 << 20;
    return options;
  }
  explicit ControllerWorld(ControllerOptions options = {})
      : core(with_defaults(options), binder, clock, events), islands_(options.islands) {}

  ClientId client(const std::string& tenant = "tenant", std::uint32_t weight = 0,
                  bool waits_when_full = false) {
    core.hello(++clients_, tenant, weight, 1, waits_when_full);
    said();
    return clients_;
  }
  SliceId slice(ClientId client, IslandId island = 0, std::uint32_t devices = 1) {
    const SliceId id = next_id(client, 11);
    program::SliceRequest wanted;
    wanted.devices = devices;
    wanted.island = static_cast<std::int32_t>(island);
    wanted.axes = {{"x", devices}};
    core.acquire_slice(client, 1, id, std::move(wanted));
    meshes_[id] = Mesh(id, {{"x", devices}});
    said();
    return id;
  }
  FunctionId function(ClientId client, const std::string& name, FunctionOptions options = {}) {
    program::FunctionInfo info;
    info.id = next_id(client, 21);
    info.name = name;
    info.parameters.assign(options.parameters, f32({16}));
    info.outputs = {f32({16})};
    info.irregular = options.irregular;
    info.idempotent = options.idempotent;
    const FunctionId id = info.id;
    core.define_function(client, std::move(info), Frame());
    if (options.is_compiled) compiled(id, options.cost_ns);
    return id;
  }
  void compiled(FunctionId function, std::uint64_t cost_ns = 1000, const Status& status = {}) {
    for (HostId host = 0; host < islands_; ++host) {
      core.compiled(function, host, status, 0, cost_ns);
    }
  }
  ArraySpec spec(SliceId slice) const {
    const Mesh& mesh = meshes_.at(slice);
    return {f32({16 * mesh.device_count()}), NamedSharding(mesh, P("x"))};
  }
  ProgramId chain(ClientId client, const ChainOptions& options) {
    program::ProgramGraph graph;
    graph.id = next_id(client, 31);
    graph.name = "chain";
    graph.dispatch = options.dispatch;
    graph.parameters = {spec(options.slices.front())};
    graph.donated = {options.donated};
    program::ValueRef last{program::ValueRef::kParameter, 0};
    for (const SliceId slice : options.slices) {
      program::Node node;
      node.function = options.function;
      node.mesh = meshes_.at(slice);
      node.operands = {last};
      node.in_specs = {P("x")};
      node.outputs = {spec(slice)};
      node.site = "test.cpp:1";
      last = {static_cast<std::uint32_t>(graph.nodes.size()), 0};
      graph.nodes.push_back(std::move(node));
    }
    graph.outputs = {last};
    const ProgramId id = graph.id;
    core.define_program(client, std::move(graph));
    return id;
  }
  ArrayId put(ClientId client, SliceId slice) {
    const ArrayId array = next_id(client, kUploads);
    EXPECT_TRUE(core.define_spec(client, array, spec(slice), Frame()).ok());
    core.put(client, array, array);
    return array;
  }
  RunIds run(ClientId client, ProgramId program, std::vector<ArrayId> args) {
    const RunId run = next_id(client, 1);
    const ArrayId output = run + 1000;
    core.run(client, {run, program, output, std::move(args)});
    return {run, output};
  }

  void lose(IslandId island, DeviceId device) {
    core.device_lost(island, device,
                     {StatusCode::kDeviceLost, "device " + std::to_string(device) + " of island " +
                                                   std::to_string(island) + " is lost: no word"});
  }
  /// A new life of everybody on `islands`, in the world's first epoch if nothing else is said.
  void join(std::vector<IslandId> islands, std::uint32_t epoch = 1) {
    for (const IslandId island : islands) {
      core.host_joined(island, epoch);
      core.scheduler_joined(island, epoch);
    }
  }
  /// An upload whose bytes have reached their host.
  ArrayId upload(ClientId client, SliceId slice) {
    const ArrayId array = put(client, slice);
    core.arrived(array);
    return array;
  }
  void finish(Stamp stamp, std::vector<IslandId> islands = {0}) {
    for (const IslandId island : islands) core.part_finished(stamp, island);
  }

  /// Pumps, and tells what was said since the last look: "launch 1@0, free 1001@0, run 1 OK", with
  /// the island behind the @. Ids of other clients than the first are written 2/1001, those of the
  /// controller's own i1. Plans, definitions, and uploads that are taken are left out. The hosts of
  /// a cut are written "cut 1 to 7@0": edges of host 0 to host 1, of stamps up to 7.
  std::string said() {
    core.pump();
    std::string text;
    const auto add = [&text](const std::string& word) {
      text += (text.empty() ? "" : ", ") + word;
    };
    ControllerOutbox& outbox = core.outbox();
    for (IslandId i = 0; i < islands_; ++i) {
      ControllerOutbox::Island& island = outbox.islands[i];
      const std::string at = "@" + std::to_string(i);
      for (const auto& weight : island.weights) {
        add("weight " + std::to_string(weight.tenant) + "=" + std::to_string(weight.weight) + at);
      }
      for (const auto& launch : island.launches) {
        add("launch " + std::to_string(launch.stamp) + at);
        launches.push_back(launch);
        const std::size_t end =
            &launch == &island.launches.back() ? island.ids.size() : (&launch)[1].begin;
        named[launch.stamp].assign(island.ids.begin() + launch.begin,
                                   island.ids.begin() + static_cast<std::ptrdiff_t>(end));
      }
      for (const auto& fetch : island.fetches) add("fetch " + name(fetch.array) + at);
      for (const ArrayId array : island.frees) add("free " + name(array) + at);
      for (const auto& cancel : island.cancels) add("cancel " + std::to_string(cancel.stamp) + at);
      for (const auto& cut : island.cuts) {
        add("cut " + std::to_string(cut.peer) + " to " + std::to_string(cut.last_stamp) + at);
      }
      if (island.has_new_view) add("view" + at);
      definitions[i] += island.definitions.size();
      plans += island.plans.size();
      for (const auto& put : island.puts) puts[put.array] = i;
      for (const auto& [question, stamp] : island.questions)
        add("why " + std::to_string(stamp) + at);
      for (const ClientId id : island.forgotten_clients) {
        add("forget client " + std::to_string(id) + at);
      }
      forgotten_plans[i].insert(forgotten_plans[i].end(), island.forgotten_plans.begin(),
                                island.forgotten_plans.end());
      auto& forgotten = forgotten_definitions[i];
      forgotten.insert(forgotten.end(), island.forgotten_definitions.begin(),
                       island.forgotten_definitions.end());
      island = {};
    }
    for (const auto& [id, client] : outbox.clients) {
      for (const auto& resolved : client.resolved) {
        const bool is_run = sequence_of(resolved.id) < kUploads;
        if (!is_run && resolved.status.ok()) continue;
        add((is_run ? "run " : "put ") + name(resolved.id) + " " + resolved.status.to_string());
      }
      for (const auto& fetched : client.fetched) {
        add("answer " + std::to_string(fetched.request) + " " + fetched.status.to_string());
      }
      for (const auto& reply : client.replies) {
        add("reply " + std::to_string(reply.request) + " " + reply.status.to_string() +
            (reply.text.empty() ? "" : " " + reply.text));
      }
    }
    outbox.clients.clear();
    return text;
  }
  static std::string name(std::uint64_t id) {
    const ClientId client = client_of(id);
    const std::string prefix = client == 0 ? "i" : client == 1 ? "" : std::to_string(client) + "/";
    return prefix + std::to_string(sequence_of(id));
  }
  /// Bytes that live arrays and runs keep, as `stats` has it.
  std::string kept(ClientId client) {
    said();
    core.stats(client, 1);
    const std::string text = said();
    const std::size_t begin = text.find("kept_bytes\":") + 12;
    return text.substr(begin, text.find(',', begin) - begin);
  }

  FakeBinder binder;
  ManualClock clock;
  events::EventStream events{1 << 12};
  std::vector<ControllerOutbox::Launch> launches;
  std::map<ArrayId, IslandId> puts;
  std::map<Stamp, std::vector<ArrayId>> named;  // By launches: arguments, then outputs.
  std::map<IslandId, std::size_t> definitions;
  std::size_t plans = 0;
  std::map<IslandId, std::vector<PlanId>> forgotten_plans;
  std::map<IslandId, std::vector<std::uint64_t>> forgotten_definitions;
  ControllerCore core;

 private:
  static constexpr std::uint64_t kUploads = 501;

  /// Of each client and kind, from `first` on.
  std::uint64_t next_id(ClientId client, std::uint64_t first) {
    return make_id(client, first + ids_[{client, first}]++);
  }

  std::uint32_t islands_ = 1;
  ClientId clients_ = 0;
  std::map<std::pair<ClientId, std::uint64_t>, std::uint64_t> ids_;
  std::map<SliceId, Mesh> meshes_;
};

}  // namespace seaway::controller
