// A framework's calls in simulated worlds whose devices hang, are slow, have no memory and are
// lost: for `seaway chaos user`, and as a test of its own.

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "front/front_client.hpp"
#include "front/front_executable.hpp"
#include "front/recording.hpp"
#include "seaway/app/explore.hpp"
#include "sim/foreign_reference.hpp"
#include "unit/front/compile_options_on.hpp"
#include "unit/function/cpu_testing.hpp"

namespace seaway::front {
namespace {

using Values = std::vector<float>;
constexpr std::size_t kSize = 4, kHeldMax = 12, kSteps = 60;
constexpr std::uint32_t kIslands = 2, kDevices = 2;
constexpr const char* kCluster = "embedded:islands=2,devices=2";

function::Graph doubling(bool gives_up) {
  function::TestGraph graph;
  const auto x = graph.parameter(f32({kSize}));
  function::Graph built = graph.build({graph.same(function::Op::kAdd, {x, x})});
  built.name = gives_up ? "doubling_gives_up" : "doubling";
  return built;
}

function::Graph adding() {
  function::TestGraph graph;
  const auto x = graph.parameter(f32({kSize})), y = graph.parameter(f32({kSize}));
  function::Graph built = graph.build({graph.same(function::Op::kAdd, {x, y})});
  built.name = "adding";
  return built;
}

function::Graph summing() {
  function::TestGraph graph;
  const auto x = graph.parameter(f32({kSize}));
  function::Instruction sum{.op = function::Op::kAllReduce, .type = f32({kSize}), .operands = {x}};
  sum.axis = "shard";
  function::Graph built = graph.build({graph.add(std::move(sum))});
  built.name = "summing";
  return built;
}

/// What the framework has, what it should be, and the devices that it and what it came from were
/// on; of what was recorded together, all of them.
struct Held {
  std::unique_ptr<FrontBuffer> buffer;
  Values expected;
  std::set<int> touched;
  std::shared_ptr<std::set<int>> recorded = nullptr;

  std::set<int> all_touched() const {
    std::set<int> all = touched;
    if (recorded) all.insert(recorded->begin(), recorded->end());
    return all;
  }
};

/// What was found to have failed, for the checks behind the world.
struct Failed {
  std::set<int> touched;
  Status status;
};
std::vector<Failed> all_failed;
bool was_short_of_memory = false;

/// One framework's thread.
class Framework {
 public:
  Framework(Simulation& world, FrontClient& front) : world_(world), front_(front) {}

  Status compile() {
    for (const auto& [graph, ids] :
         std::vector<std::pair<function::Graph, std::vector<std::uint64_t>>>{{doubling(false), {0}},
                                                                             {doubling(true), {0}},
                                                                             {adding(), {0}},
                                                                             {summing(), {0, 1}},
                                                                             {summing(), {3, 2}}}) {
      auto made = front_.compile(sim::foreign_code(graph), sim::kGraphFormat,
                                 ids.size() == 1 ? std::string() : compile_options_on(ids));
      if (!made.ok()) return made.status();
      programs_.push_back(std::move(*made));
    }
    return {};
  }

  void step() {
    switch (draw(10)) {
      case 0:
      case 1:
        return put();
      case 2:
        return execute(0);
      case 3:
        return execute(1);
      case 4:
        return add();
      case 5:
        return sum();
      case 6:
        return copy();
      case 7:
        return drop();
      case 8:
        return look();
      default:
        return record();
    }
  }

  /// Everything has an outcome, and the right one.
  void look_at_all() {
    stop_recording();
    for (Held& held : held_) look_at(held);
  }
  void let_go() {
    stop_recording();
    held_.clear();
    programs_.clear();
  }

 private:
  std::size_t draw(std::size_t count) { return world_.random() % count; }
  FrontDevice& device(std::size_t id) { return *front_.devices().find(static_cast<int>(id)); }

  void put() {
    FrontDevice& where = device(draw(kIslands * kDevices));
    Values values(kSize);
    for (float& value : values) value = static_cast<float>(draw(100));
    auto buffer =
        front_.put(f32({kSize}), reinterpret_cast<const std::byte*>(values.data()), {}, where);
    if (!buffer.ok()) return excuse(buffer.status(), {where.id});
    keep({std::move(*buffer), std::move(values), {where.id}});
  }

  void execute(std::size_t program) {
    if (held_.empty()) return put();
    const std::size_t index = draw(held_.size());
    Held& held = held_[index];
    FrontBuffer* const operand = held.buffer.get();
    FrontBuffer* const* const operands[] = {&operand};
    auto execution = programs_[program]->execute(operands, 1, {}, held.buffer->device);
    if (!execution.ok()) return excuse(execution.status(), held.all_touched());
    Held result{std::move(execution->outputs[0][0]), held.expected, held.all_touched()};
    for (float& value : result.expected) value += value;
    if (program == 1) {
      world_.expect(held.buffer->is_deleted(), "donation", "what was given up is still there");
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
    }
    keep(std::move(result));
  }

  void add() {
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const Held& one = held_[i];
      const Held& other = held_[draw(held_.size())];
      if (one.buffer->device != other.buffer->device) continue;
      FrontBuffer* const both[] = {one.buffer.get(), other.buffer.get()};
      FrontBuffer* const* const operands[] = {both};
      auto execution = programs_[2]->execute(operands, 2, {}, one.buffer->device);
      std::set<int> touched = united(one, other);
      if (!execution.ok()) return excuse(execution.status(), touched);
      return keep({std::move(execution->outputs[0][0]), sum_of(one, other), std::move(touched)});
    }
  }

  /// Over both devices of an island.
  void sum() {
    const std::size_t island = draw(kIslands);
    const std::vector<int> ids = island == 0 ? std::vector<int>{0, 1} : std::vector<int>{3, 2};
    const Held* on[2] = {nullptr, nullptr};
    for (const Held& held : held_) {
      for (int shard = 0; shard < 2; ++shard) {
        if (held.buffer->device->id == ids[static_cast<std::size_t>(shard)]) on[shard] = &held;
      }
    }
    if (on[0] == nullptr || on[1] == nullptr) return put();
    FrontBuffer* const first = on[0]->buffer.get();
    FrontBuffer* const second = on[1]->buffer.get();
    FrontBuffer* const* const operands[] = {&first, &second};
    auto execution = programs_[3 + island]->execute(operands, 1, {}, nullptr);
    const std::set<int> touched = united(*on[0], *on[1]);
    if (!execution.ok()) return excuse(execution.status(), touched);
    const Values total = sum_of(*on[0], *on[1]);
    for (auto& outputs : execution->outputs) keep({std::move(outputs[0]), total, touched});
  }

  void copy() {
    if (held_.empty()) return put();
    Held& held = held_[draw(held_.size())];
    FrontDevice& target = device(draw(kIslands * kDevices));
    auto made = FrontClient::copy(*held.buffer, target);
    std::set<int> touched = held.all_touched();
    touched.insert(target.id);
    if (!made.ok()) return excuse(made.status(), touched);
    keep({std::move(*made), held.expected, std::move(touched)});
  }

  void drop() {
    if (held_.empty()) return;
    const std::size_t index = draw(held_.size());
    if (draw(2) == 0) held_[index].buffer->delete_now();
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void look() {
    if (!held_.empty()) look_at(held_[draw(held_.size())]);
  }

  void record() {
    if (is_recording_) return stop_recording();
    Recording::begin();
    is_recording_ = true;
    together_ = std::make_shared<std::set<int>>();
  }
  void stop_recording() {
    if (std::exchange(is_recording_, false)) Recording::end();
  }

  void look_at(Held& held) {
    Values values(kSize);
    const Status fetched =
        held.buffer->array().to_host(std::as_writable_bytes(std::span(values))).get().status();
    const Status ready = held.buffer->array().ready().get().status();
    if (!fetched.ok()) return excuse(fetched, held.all_touched());
    world_.expect(values == held.expected, "value", "a fetched value is not what was computed");
    world_.expect(ready.ok(), "event", "a value came, and its event failed: " + ready.to_string());
  }

  void excuse(const Status& status, std::set<int> touched) {
    if (status.code() == StatusCode::kInvalidArgument) {
      world_.expect(false, "error", "a call that is right is refused: " + status.to_string());
    }
    was_short_of_memory |= status.message().find("memory") != std::string::npos;
    all_failed.push_back({std::move(touched), status});
  }

  void keep(Held held) {
    if (is_recording_) {
      together_->insert(held.touched.begin(), held.touched.end());
      held.recorded = together_;
    }
    if (held_.size() == kHeldMax) held_.erase(held_.begin());
    held_.push_back(std::move(held));
  }

  static std::set<int> united(const Held& one, const Held& other) {
    std::set<int> touched = one.all_touched();
    touched.merge(other.all_touched());
    return touched;
  }
  static Values sum_of(const Held& one, const Held& other) {
    Values sum = one.expected;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other.expected[i];
    return sum;
  }

  Simulation& world_;
  FrontClient& front_;
  std::vector<std::shared_ptr<FrontExecutable>> programs_;
  std::vector<Held> held_;
  bool is_recording_ = false;
  std::shared_ptr<std::set<int>> together_;  // Devices of what is recorded.
};

void body(Simulation& world) {
  all_failed.clear();
  was_short_of_memory = false;
  ClientOptions options;
  options.when_full = WhenFull::kWait;
  auto client = world.connect(options);
  if (!client.ok()) return;
  auto front = FrontClient::make(std::move(*client), "");
  if (!front.ok()) return;  // A device was lost before it came.
  Framework framework(world, **front);
  if (!framework.compile().ok()) return;
  for (std::size_t step = 0; step < kSteps; ++step) {
    framework.step();
    if (world.random() % 4 == 0) world.sleep(std::chrono::microseconds(world.random() % 4000));
  }
  world.heal();
  framework.look_at_all();
  framework.let_go();
}

/// Whatever has failed came from an island one of whose devices something happened to: all devices
/// of an island are one slice of the front's.
void checks(sim::Explored& explored) {
  std::set<int> struck;
  for (const sim::WorldEvent& event : explored.events()) {
    if (event.kind == "device_lost" || event.kind == "gang_given_up") {
      for (std::uint32_t device = 0; device < kDevices; ++device) {
        struck.insert(static_cast<int>(event.island * kDevices + device));
      }
    }
  }
  for (const Failed& failed : all_failed) {
    const bool is_excused = std::any_of(failed.touched.begin(), failed.touched.end(),
                                        [&struck](int id) { return struck.contains(id); });
    explored.expect(is_excused || was_short_of_memory, "innocence",
                    "an array failed that came from no device that anything happened to: " +
                        failed.status.to_string());
  }
}

}  // namespace
}  // namespace seaway::front

int main() {
  using namespace seaway;
  sim::ExploreWorld faults, calm;
  faults.cluster = calm.cluster = front::kCluster;
  faults.fault_time = std::chrono::milliseconds(60);
  calm.faults = sim::WorldFaults::none();
  int wrong = 0;
  const auto explore = [&wrong](const char* name, const sim::ExploreWorld& world) {
    const auto report = sim::explore({.name = name, .seeds = 300, .repro_directory = ""}, world,
                                     front::body, front::checks);
    std::printf("%s: %s\n", name, report.to_string().c_str());
    wrong += !report.ok;
  };
  explore("front", faults);
  explore("calm front", calm);
  return wrong;
}
