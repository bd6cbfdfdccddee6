// HostWorld: one host's core by hand: what it is told, what it says, and what its devices do.

#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/host_core.hpp"
#include "unit/device/part_maker.hpp"

namespace seaway::device {

/// Each number of each output is 1 + the sum of the same numbers of all operands.
class SumKernel final : public function::Executable {
 public:
  SumKernel(std::size_t parameters, std::size_t outputs, std::size_t scratch_bytes = 0,
            std::uint64_t cost_ns = 100)
      : parameter_types_(parameters, f32({16})),
        output_types_(outputs, f32({16})),
        scratch_bytes_(scratch_bytes),
        cost_ns_(cost_ns) {}

  const std::vector<TensorType>& parameter_types() const override { return parameter_types_; }
  const std::vector<TensorType>& output_types() const override { return output_types_; }
  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  std::uint64_t cost_ns() const override { return cost_ns_; }
  Status run(std::span<const function::ShardedBuffer> operands,
             std::span<const function::ShardedBuffer> outputs, function::ShardedBuffer,
             std::size_t shards, function::Parallelism*) const override {
    return run_stage(0, false, operands, outputs, {}, {0, shards, shards}, nullptr);
  }
  Status run_stage(std::size_t, bool, std::span<const function::ShardedBuffer> operands,
                   std::span<const function::ShardedBuffer> outputs, function::ShardedBuffer,
                   function::ShardRange shards, function::Parallelism*) const override {
    for (std::size_t shard = shards.begin; shard < shards.end; ++shard) {
      std::array<float, 16> sums;
      sums.fill(1);
      for (const function::ShardedBuffer& operand : operands) {
        std::array<float, 16> term;
        std::memcpy(term.data(), operand.shard(shard), kShardBytes);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += term[i];
      }
      for (const function::ShardedBuffer& output : outputs) {
        std::memcpy(output.shard(shard), sums.data(), kShardBytes);
      }
    }
    return {};
  }

 private:
  std::vector<TensorType> parameter_types_, output_types_;
  std::size_t scratch_bytes_;
  std::uint64_t cost_ns_;
};

/// Gangs of up to 10 us run in line and take 1 us of the clock; longer ones, and copies when they
/// are held, run when the test says so.
class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(ManualClock& clock) : clock_(clock) {}

  void watch(DeviceLost) override {}
  void compile(function::Graph graph, function::AxisSizes, CompileDone) override {
    if (on_compile) return on_compile(graph);
    ADD_FAILURE() << "a host's core compiles nothing";
  }
  bool runs_inline(std::uint64_t cost_ns) const override { return cost_ns <= 10'000; }
  Status run(const GangWork& work, std::optional<DeviceId>& unlaunched_on) override {
    clock_.advance_to(clock_.now_ns() + 1000);
    ++runs;
    if (during_run) during_run();
    if (!unlaunched.empty()) {
      unlaunched_on = unlaunched.front();
      unlaunched.pop_front();
      return why_unlaunched;
    }
    if (!failure.ok() && gangs_to_failure-- == 0) return std::exchange(failure, Status());
    const Status status =
        work.executable->run(work.operands, work.outputs, work.scratch, work.shards, nullptr);
    if (after_run) after_run(work.outputs);
    return status;
  }
  bool looks_ahead(const GangWork&) const override { return looks; }
  void forget_next() override {
    ++forgotten;
    if (on_forget) on_forget();
  }
  void start(const GangWork& work, std::uint64_t, GangDone done) override {
    alone.push_back(work.is_alone);
    for (const ForeseenGang* next = work.next; next; next = next->work.next) {
      foreseen.push_back(words_of(*next));
    }
    if (ends_at_once) {
      std::optional<DeviceId> unlaunched_on;
      const std::uint64_t begin_ns = clock_.now_ns();
      const Status status = run(work, unlaunched_on);
      return done({.status = status,
                   .begin_ns = begin_ns,
                   .end_ns = clock_.now_ns(),
                   .unlaunched_on = unlaunched_on});
    }
    jobs_.push_back({work,
                     {work.operands.begin(), work.operands.end()},
                     {work.outputs.begin(), work.outputs.end()},
                     clock_.now_ns(),
                     std::move(done)});
  }
  void start_stage(const StageWork& work, std::uint64_t cost_ns, GangDone done) override {
    if (!holds_stages) return Backend::start_stage(work, cost_ns, std::move(done));
    stages_.push_back({work,
                       {work.operands.begin(), work.operands.end()},
                       {work.outputs.begin(), work.outputs.end()},
                       std::move(done)});
  }
  void copy(std::uint64_t, std::function<void()> body, std::function<void()> done) override {
    if (holds_copies) {
      copies_.push_back([body = std::move(body), done = std::move(done)] { body(), done(); });
    } else {
      body();
      done();
    }
  }

  /// Ends job number `index` of those that run, in the order of their starts.
  void end_job(std::size_t index, const Status& status) {
    ASSERT_LT(index, jobs_.size());
    Job job = std::move(jobs_[index]);
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(index));
    clock_.advance_to(clock_.now_ns() + 1000);
    const Status ran = job.work.executable->run(job.operands, job.outputs, job.work.scratch,
                                                job.work.shards, nullptr);
    ++runs;
    if (after_run) after_run(job.outputs);
    const Status ended = status.ok() ? ran : status;
    job.done({.status = ended,
              .begin_ns = job.begin_ns,
              .end_ns = clock_.now_ns(),
              .last = last,
              .waited_ns = waited_ns,
              .made = ended.ok() ? keep(job) : std::vector<transport::Payload>(),
              .held = ended.ok() ? hold(job) : std::vector<std::shared_ptr<void>>()});
  }
  /// The first job that runs is not launched after all, for `device` cannot.
  void refuse_job(DeviceId device) {
    ASSERT_FALSE(jobs_.empty());
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    job.done({.status = why_unlaunched, .unlaunched_on = device});
  }
  std::optional<DeviceId> give_up(std::span<const DeviceId> devices) override {
    given_up.push_back({devices.begin(), devices.end()});
    return laggard;
  }
  void end_copy() {
    ASSERT_FALSE(copies_.empty());
    const auto copy = std::move(copies_.front());
    copies_.pop_front();
    copy();
  }
  /// Ends the first stage that is held.
  void end_stage() {
    ASSERT_FALSE(stages_.empty());
    Stage stage = std::move(stages_.front());
    stages_.pop_front();
    stage.work.operands = stage.operands;
    stage.work.outputs = stage.outputs;
    Backend::start_stage(stage.work, 0, std::move(stage.done));
  }
  std::size_t stages() const { return stages_.size(); }
  std::size_t jobs() const { return jobs_.size(); }
  std::size_t copies() const { return copies_.size(); }

  bool ends_at_once = false;          // What is started: before start() returns.
  std::vector<bool> alone;            // Whether what was started was said to be.
  bool looks = false;                 // At what stands behind a gang,
  std::vector<std::string> foreseen;  // "2.0: made 1, there": what that was and reads,
  std::size_t forgotten = 0;          // and how often it did not begin.
  std::function<void()> on_forget;
  inline static const Status kUnlaunched{StatusCode::kDeviceLost, "a bit flipped"};
  Status why_unlaunched = kUnlaunched;
  std::deque<DeviceId> unlaunched;  // Who does not launch the next gangs that run in line.
  std::optional<DeviceId> laggard;  // Whom to blame for gangs that do not end.
  std::vector<std::vector<DeviceId>> given_up;  // Where such gangs ran.
  DeviceId last = 0;                            // Which device ends last of each job,
  std::uint64_t waited_ns = 0;                  // and how long the others wait for it.
  bool holds_copies = false, holds_stages = false;
  Status failure;                    // Of a gang that runs in line,
  std::size_t gangs_to_failure = 0;  // behind so many others.
  std::function<void(const function::Graph&)> on_compile;
  std::function<void()> during_run;  // What happens while a gang runs in line,
  std::function<void(std::span<const function::ShardedBuffer>)> after_run;  // behind any gang.
  std::size_t runs = 0;                                                     // Of gangs, by now.
  bool keeps = false;                     // Outputs that may stay where a job makes them,
  std::vector<std::weak_ptr<void>> kept;  // and those, while anybody reads them.
  bool holds = false;                     // Something of operands, if it may,
  std::vector<std::weak_ptr<void>> held;  // and that.

 private:
  struct Job {
    GangWork work;
    std::vector<function::ShardedBuffer> operands, outputs;
    std::uint64_t begin_ns;
    GangDone done;
  };
  /// Nothing lies behind the last shard, and nobody writes to any.
  std::vector<transport::Payload> keep(const Job& job) {
    if (!keeps || !job.work.may_keep_outputs) return {};
    std::vector<transport::Payload> made;
    for (const function::ShardedBuffer& output : job.outputs) {
      const auto memory = std::make_shared<std::vector<std::byte>>(job.work.shards * kShardBytes);
      for (std::size_t s = 0; s < job.work.shards; ++s) {
        std::memcpy(memory->data() + s * kShardBytes, output.shard(s), kShardBytes);
        std::memset(output.shard(s), 0xee, kShardBytes);
      }
      const std::shared_ptr<void> owner(memory.get(), [memory, was = *memory](void*) {
        EXPECT_EQ(*memory, was) << "somebody has written to what the backend keeps";
      });
      kept.push_back(owner);
      made.push_back({memory->data(), kShardBytes, owner});
    }
    return made;
  }
  /// Operands stay as they are until that is over.
  std::vector<std::shared_ptr<void>> hold(const Job& job) {
    if (!holds || !job.work.may_hold_operands) return {};
    std::vector<std::shared_ptr<void>> all;
    for (const function::ShardedBuffer& operand : job.operands) {
      const std::vector<std::byte> was(operand.base, operand.base + kShardBytes);
      all.push_back(std::shared_ptr<void>(operand.base, [was](void* place) {
        EXPECT_EQ(std::memcmp(place, was.data(), was.size()), 0) << "what is held has changed";
      }));
      held.push_back(all.back());
    }
    return all;
  }
  static std::string words_of(const ForeseenGang& next) {
    std::string text = std::to_string(next.work.stamp) + "." + std::to_string(next.work.gang) + ":";
    for (std::size_t i = 0; i < next.sources.size(); ++i) {
      const auto [places, output] = next.sources[i];
      EXPECT_EQ(next.work.operands[i].base != nullptr, places == 0);
      text += i > 0 ? ", " : " ";
      text += places == 0 ? "there" : "made " + std::to_string(output);
      if (places > 1) text += " " + std::to_string(places) + " ahead";
    }
    return text;
  }

  ManualClock& clock_;
  std::deque<Job> jobs_;
  std::deque<std::function<void()>> copies_;
  struct Stage {
    StageWork work;
    std::vector<function::ShardedBuffer> operands, outputs;
    GangDone done;
  };
  std::deque<Stage> stages_;
};

/// The cost of a gang that runs until the test ends it; far from ending advance()'s burst.
constexpr std::uint64_t kSlow = 20'000;

/// One host, its backend, and what it said and did since the last look, one word or two a thing.
class HostWorld {
 public:
  explicit HostWorld(std::uint32_t devices = 1, std::uint64_t device_bytes = 1 << 20,
                     HostId host = 0, transport::LocalBulk* shared = nullptr,
                     Integrity integrity = {}, std::uint32_t hosts = 1,
                     transport::NearMemory* near = nullptr, transport::DataPlane* data = nullptr,
                     store::SpillFile* spill = nullptr, std::uint64_t spill_memory = 0,
                     ExchangeOptions exchange = {})
      : bulk(shared ? *shared : own_bulk_),
        core({.host = host,
              .island = host,
              .devices = devices,
              .hosts = hosts,
              .device_bytes = device_bytes,
              .is_process = hosts > 1 || near || data,
              .integrity = integrity,
              .exchange = exchange,
              .spill_memory_bytes = spill_memory,
              .spill_file_bytes = 1 << 20},
             backend, bulk, clock, events, near, data, spill) {
    if (near || data) core.begin_life(0);
    for (std::size_t parameters = 0; parameters < 4; ++parameters) {
      for (std::size_t outputs = 0; outputs < 4; ++outputs) {
        core.add_function(kernel_id(parameters, outputs),
                          std::make_shared<SumKernel>(parameters, outputs));
      }
    }
  }

  /// The number of the run is 100 more than its stamp.
  void launch(Stamp stamp, const PartMaker& part, std::vector<ArrayId> ids = {},
              bool acknowledge = false) {
    const program::PartPlanPtr plan = part.make();
    if (!core.find_plan(plan->id)) core.define_plan(plan);
    core.launch(stamp, 100 + stamp, plan->id, tenant, acknowledge,
                [&ids](std::uint32_t index) { return ids.at(index); });
  }
  void admit(Stamp stamp) { core.order(program::OrderKind::kAdmit, stamp, 0, 0); }
  void place(Stamp stamp, std::uint32_t first, std::uint32_t last) {
    core.order(program::OrderKind::kPlace, stamp, first, last);
  }
  void cancel(Stamp stamp) { core.order(program::OrderKind::kCancel, stamp, 0, 0); }
  void move_sends(Stamp stamp) { core.order(program::OrderKind::kMoveSends, stamp, 0, 0); }
  void free(ArrayId array) { core.order(program::OrderKind::kFree, array, 0, 0); }
  void spill(ArrayId array) { core.order(program::OrderKind::kSpill, array, 0, 0); }

  /// Launches, admits and places all of it, and runs what can run.
  void run(Stamp stamp, const PartMaker& part, std::vector<ArrayId> ids = {}) {
    launch(stamp, part, std::move(ids));
    admit(stamp);
    place(stamp, 0, static_cast<std::uint32_t>(part.make()->gangs.size()));
    core.advance();
  }
  void end_gang(Status status = {}, std::size_t index = 0) {
    backend.end_job(index, status);
    core.advance();
  }
  void end_copy() {
    backend.end_copy();
    core.advance();
  }

  void lose(DeviceId device) {
    core.lose_device(device, "it fell off the bus");
    core.advance();
  }

  /// Uploads `values` over all of `devices`.
  void put(ArrayId array, const std::vector<float>& values, std::vector<DeviceId> devices = {0}) {
    const auto count = static_cast<std::int64_t>(devices.size());
    const Mesh mesh(1, {{"x", count}});
    core.define_spec(array, {f32({16 * count}), NamedSharding(mesh, P("x"))});
    bulk.offer_upload(array, payload(values));
    core.put(array, array, devices);
  }
  /// What another island sends.
  void offer(Stamp stamp, std::uint32_t edge, const std::vector<float>& values) {
    bulk.offer_edge(stamp, edge, payload(values));
  }
  static transport::Payload payload(const std::vector<float>& values) {
    auto owner = std::make_shared<std::vector<float>>(values);
    auto* base = reinterpret_cast<std::byte*>(owner->data());
    return {base, kShardBytes, std::move(owner)};
  }

  void delivered(Stamp stamp, std::uint32_t edge, HostId from, Status status = {}) {
    core.edge(HostOutbox::Edge::Kind::kDelivered, stamp, edge, from, std::move(status));
    core.advance();
  }
  void armed(Stamp stamp, std::uint32_t edge, HostId from, bool is_near = false) {
    core.edge(HostOutbox::Edge::Kind::kArmed, stamp, edge, from, {}, is_near);
    core.advance();
  }
  void declined(Stamp stamp, std::uint32_t edge, HostId from) {
    core.edge(HostOutbox::Edge::Kind::kDeclined, stamp, edge, from, {});
    core.advance();
  }
  void consumed(Stamp stamp, std::uint32_t edge, HostId from, bool keeps = false) {
    core.edge(HostOutbox::Edge::Kind::kConsumed, stamp, edge, from, {}, false, keeps);
    core.advance();
  }
  void returned(Stamp stamp, std::uint32_t edge, HostId from) {
    core.edge(HostOutbox::Edge::Kind::kReturned, stamp, edge, from, {});
    core.advance();
  }

  /// What the core says next, as the actor would send it: "armed 1.7 to 1, gangs 2 0-3".
  std::string said() {
    constexpr const char* kEdges[] = {"armed", "declined", "delivered", "consumed", "returned"};
    constexpr const char* kDones[] = {"gangs", "received", "spilled", "moved", "fenced"};
    HostOutbox& outbox = core.outbox();
    std::string text;
    const auto add = [&text](const std::string& word) {
      text += (text.empty() ? "" : ", ") + word;
    };
    for (const auto& lost : outbox.lost) add("lost " + std::to_string(lost.device));
    for (const Stamp stamp : outbox.enqueued) add("enqueued " + std::to_string(stamp));
    for (const auto& edge : outbox.edges) {
      add(kEdges[static_cast<int>(edge.kind)] + (" " + std::to_string(edge.stamp)) + "." +
          std::to_string(edge.edge) + (edge.keeps ? " (keeps) to " : " to ") +
          std::to_string(edge.peer) + (edge.status.ok() ? "" : " " + edge.status.to_string()));
    }
    for (const auto& done : outbox.dones) {
      using Kind = HostOutbox::Done::Kind;
      add(kDones[static_cast<int>(done.kind)] + (" " + std::to_string(done.id)) +
          (done.kind == Kind::kGangs
               ? " " + std::to_string(done.first) + "-" + std::to_string(done.last)
               : "") +
          (done.kind == Kind::kReceived ? "." + std::to_string(done.first) : ""));
    }
    for (const auto& failure : outbox.failures) {
      add("failed " + std::to_string(failure.stamp) + " " + failure.status.to_string());
    }
    outbox.lost.clear();
    outbox.enqueued.clear();
    outbox.edges.clear();
    outbox.dones.clear();
    outbox.failures.clear();
    return text;
  }
  /// What the gangs did, from the event stream: "start 1.0, end 1.0, noop 2.0".
  std::string seen() {
    std::string text;
    for (; seen_ < events.ring().size(); ++seen_) {
      const events::Event& event = events.ring().at(seen_);
      const char* word = event.kind == events::EventKind::kGangStart  ? "start "
                         : event.kind == events::EventKind::kGangEnd  ? "end "
                         : event.kind == events::EventKind::kGangNoop ? "noop "
                                                                      : nullptr;
      if (!word) continue;
      text += (text.empty() ? "" : ", ") + (word + std::to_string(event.stamp)) + "." +
              std::to_string(event.position);
    }
    return text;
  }

  std::uint64_t used(DeviceId device = 0) { return core.device(device).used_bytes; }

  /// Asks for an array as client 5; answers come with answers().
  void fetch(ArrayId array, std::uint64_t request, std::size_t shards = 1) {
    auto& target = targets_[request % targets_.size()];
    target.assign(16 * shards, -1);
    bulk.offer_target(5, request, std::as_writable_bytes(std::span<float>(target)));
    core.fetch(array, 5, request);
  }
  /// "3: 42" for a value that begins with 42, or "3: " and the error.
  std::string answers() {
    std::string text;
    for (const HostOutbox::Fetched& answer : core.outbox().fetched) {
      EXPECT_EQ(answer.client, 5u);
      text += (text.empty() ? "" : ", ") + std::to_string(answer.request) + ": ";
      std::vector<float> values = targets_[answer.request % targets_.size()];
      if (core.options().is_process) {
        values.resize(answer.value.size() / sizeof(float));
        if (!values.empty()) {
          std::memcpy(values.data(), answer.value.data(), answer.value.size());
        }
      }
      text += answer.status.ok() ? numbers(values) : answer.status.to_string();
    }
    core.outbox().fetched.clear();
    return text;
  }
  /// The value of a settled array: the first number of each shard.
  std::string value(ArrayId array, std::size_t shards = 1) {
    fetch(array, 99, shards);
    const std::string text = answers();
    return text.substr(std::min<std::size_t>(4, text.size()));
  }
  static std::vector<float> row(float value, std::size_t shards = 1) {
    return std::vector<float>(16 * shards, value);
  }

  ManualClock clock;
  events::EventStream events{1 << 12};
  FakeBackend backend{clock};
  TenantId tenant = 0;  // Of what is launched.
  transport::LocalBulk& bulk;
  HostCore core;

 private:
  static std::string numbers(const std::vector<float>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); i += 16) {
      text += (i > 0 ? " " : "") + std::to_string(static_cast<int>(values[i]));
    }
    return text;
  }

  transport::LocalBulk own_bulk_;
  std::array<std::vector<float>, 100> targets_;
  std::size_t seen_ = 0;
};

}  // namespace seaway::device
