// What goes to and fro between a controller, a scheduler, a host and its devices.

#include "sim/exhaustive/host_world.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "sim/exhaustive/part_maker.hpp"

namespace seaway::exhaustive {
namespace {

using device::HostOutbox;
using island::Action;
using program::OrderKind;

constexpr ClientId kClient = 5;
constexpr std::size_t kFloats = kShardBytes / sizeof(float);

std::string text(std::uint64_t number) { return std::to_string(number); }

/// Each number of each output is 1 + the sum of the same numbers of all operands.
class Sum final : public function::Executable {
 public:
  Sum(std::size_t parameters, std::size_t outputs)
      : parameter_types_(parameters, f32({kFloats})), output_types_(outputs, f32({kFloats})) {}

  const std::vector<TensorType>& parameter_types() const override { return parameter_types_; }
  const std::vector<TensorType>& output_types() const override { return output_types_; }
  std::size_t scratch_bytes() const override { return 0; }
  std::uint64_t cost_ns() const override { return 100; }
  Status run(std::span<const function::ShardedBuffer> operands,
             std::span<const function::ShardedBuffer> outputs, function::ShardedBuffer,
             std::size_t shards, function::Parallelism*) const override {
    for (std::size_t shard = 0; shard < shards; ++shard) {
      std::array<float, kFloats> sums;
      sums.fill(1);
      for (const function::ShardedBuffer& operand : operands) {
        std::array<float, kFloats> term;
        std::memcpy(term.data(), operand.shard(shard), kShardBytes);
        for (std::size_t i = 0; i < kFloats; ++i) sums[i] += term[i];
      }
      for (const function::ShardedBuffer& output : outputs)
        std::memcpy(output.shard(shard), sums.data(), kShardBytes);
    }
    return {};
  }

 private:
  std::vector<TensorType> parameter_types_, output_types_;
};

island::CoreOptions options_of(const HostSpec& spec) {
  island::CoreOptions options;
  options.devices = spec.devices;
  options.memory_bytes = spec.device_bytes;
  options.spill_bytes = 10'000;
  return options;
}

OrderKind order_of(Action::Kind kind) {
  switch (kind) {
    case Action::Kind::kPlace:
      return OrderKind::kPlace;
    case Action::Kind::kFree:
      return OrderKind::kFree;
    case Action::Kind::kSpill:
      return OrderKind::kSpill;
    case Action::Kind::kCancel:
      return OrderKind::kCancel;
    case Action::Kind::kMoveSends:
      return OrderKind::kMoveSends;
    default:
      return OrderKind::kAdmit;
  }
}

}  // namespace

/// Gangs run until they are told to end; so do copies when they are slow.
class HostCluster::Devices final : public device::Backend {
 public:
  explicit Devices(const HostSpec& spec)
      : has_slow_copies_(spec.has_slow_copies),
        skips_gangs_(spec.weakening == HostSpec::Weakening::kSkippedGang) {}

  void watch(device::DeviceLost) override {}
  void compile(function::Graph, function::AxisSizes, device::CompileDone) override {
    SEAWAY_CHECK(false);  // A host's core compiles nothing.
  }
  bool runs_inline(std::uint64_t) const override { return false; }
  Status run(const device::GangWork&, std::optional<DeviceId>&) override {
    return invalid_argument("gangs run beside the host's thread here");
  }
  void start(const device::GangWork& work, std::uint64_t, device::GangDone done) override {
    jobs_.push_back({work,
                     {work.operands.begin(), work.operands.end()},
                     {work.outputs.begin(), work.outputs.end()},
                     std::move(done)});
  }
  std::optional<DeviceId> give_up(std::span<const DeviceId>) override { return std::nullopt; }
  void copy(std::uint64_t, std::function<void()> body, std::function<void()> done) override {
    copies_.push_back([body = std::move(body), done = std::move(done)] {
      body();
      done();
    });
    if (!has_slow_copies_) end_copy(copies_.size() - 1);
  }

  void end_gang(std::size_t index) {
    Job job = std::move(jobs_[index]);
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(index));
    // Its outputs are what lay in memory, or what another gang has left there.
    const Status status =
        skips_gangs_ ? Status()
                     : job.work.executable->run(job.operands, job.outputs, job.work.scratch,
                                                job.work.shards, nullptr);
    job.done({.status = status});
  }
  void end_copy(std::size_t index) {
    const auto copy = std::move(copies_[index]);
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(index));
    copy();
  }
  std::size_t jobs() const { return jobs_.size(); }
  std::size_t copies() const { return copies_.size(); }

 private:
  struct Job {
    device::GangWork work;
    std::vector<function::ShardedBuffer> operands, outputs;
    device::GangDone done;
  };
  const bool has_slow_copies_, skips_gangs_;
  std::vector<Job> jobs_;
  std::vector<std::function<void()>> copies_;
};

HostCluster::HostCluster(const HostSpec& spec)
    : spec_(spec),
      options_(options_of(spec)),
      backend_(std::make_unique<Devices>(spec)),
      host_(std::make_unique<device::HostCore>(
          device::HostCore::Options{.devices = spec.devices,
                                    .device_bytes = spec.device_bytes,
                                    .is_process = true,
                                    .gang_timeout_min_ns = 0},
          *backend_, bulk_, clock_, events_)),
      core_(options_) {
  for (std::size_t i = 0; i < spec_.uploads.size(); ++i) {
    const HostSpec::Array& array = spec_.uploads[i];
    const auto shards = static_cast<std::int64_t>(array.devices.size());
    values_[array.id] = static_cast<float>(10 * (i + 1));
    auto owner =
        std::make_shared<std::vector<float>>(kFloats * array.devices.size(), values_[array.id]);
    auto* const base = reinterpret_cast<std::byte*>(owner->data());
    host_->define_spec(array.id, {f32({static_cast<std::int64_t>(kFloats) * shards}),
                                  NamedSharding(Mesh(1, {{"x", shards}}), P("x"))});
    bulk_.offer_upload(array.id, {base, kShardBytes, std::move(owner)});
    host_->put(array.id, array.id, array.devices);
    host_->upload_arrived(array.id);
    words_.push_back({Word::Kind::kPut, i});
  }
  for (std::size_t run = 0; run < spec_.runs.size(); ++run) {
    const HostSpec::Run& part = spec_.runs[run];
    for (const program::Gang& gang : part.plan->gangs)
      host_->add_function(gang.function,
                          std::make_shared<Sum>(gang.operands.size(), gang.results.size()));
    host_->define_plan(part.plan);
    std::vector<ArrayId> ids = part.args;
    ids.insert(ids.end(), part.outputs.begin(), part.outputs.end());
    host_->launch(run + 1, run + 1, part.plan->id, 0, false,
                  [&ids](std::uint32_t index) { return ids.at(index); });
    words_.push_back({Word::Kind::kLaunch, run});
    std::map<std::uint32_t, float> values;  // Of this part, by number.
    for (std::size_t i = 0; i < part.args.size(); ++i)
      values[part.plan->args[i].value] = values_.at(part.args[i]);
    for (const program::Gang& gang : part.plan->gangs) {
      float sum = 1;
      for (const std::uint32_t operand : gang.operands) sum += values.at(operand);
      for (const std::uint32_t result : gang.results) values[result] = sum;
    }
    for (std::size_t i = 0; i < part.outputs.size(); ++i)
      values_[part.outputs[i]] = values.at(part.plan->outputs[i].value);
  }
  for (const ArrayId array : spec_.fetched) host_->fetch(array, kClient, array);
  for (std::size_t i = 0; i < spec_.freed.size(); ++i) words_.push_back({Word::Kind::kFree, i});
  take_outbox();
}

HostCluster::~HostCluster() = default;

std::string HostCluster::setting() const {
  std::string out = text(spec_.devices) + " devices of " + text(spec_.device_bytes) + " bytes\n";
  for (const HostSpec::Array& array : spec_.uploads) out += "  upload " + text(array.id) + "\n";
  for (std::size_t run = 0; run < spec_.runs.size(); ++run) {
    const HostSpec::Run& part = spec_.runs[run];
    out += "  run " + text(run + 1) + " on devices";
    for (const DeviceId device : part.plan->groups[0].devices) out += " " + text(device);
    for (const ArrayId array : part.args) out += ", reads " + text(array);
    for (const ArrayId array : part.outputs) out += ", makes " + text(array);
    out += "\n";
  }
  return out;
}

void HostCluster::fail(const std::string& text) {
  if (violation_.empty()) violation_ = text;
}

// ---- What may happen ------------------------------------------------------------------------

void HostCluster::moves(std::vector<Move>& out) const {
  if (!words_.empty()) out.push_back({Move::Kind::kTell});
  if (!orders_.empty()) out.push_back({Move::Kind::kOrder});
  if (!dones_.empty()) out.push_back({Move::Kind::kHostWord});
  for (std::uint32_t i = 0; i < backend_->jobs(); ++i) out.push_back({Move::Kind::kEndGang, i});
  for (std::uint32_t i = 0; i < backend_->copies(); ++i) out.push_back({Move::Kind::kEndCopy, i});
  if (is_done()) return;
  if (schedulers_lost_ < spec_.schedulers_lost_max) out.push_back({Move::Kind::kLoseScheduler});
  if (devices_lost_ < spec_.devices_lost_max)
    for (std::uint32_t device = 0; device < spec_.devices; ++device)
      if ((lost_ >> device & 1) == 0) out.push_back({Move::Kind::kLoseDevice, device});
  if (cancels_ < spec_.cancels_max)
    for (std::uint32_t stamp = 1; stamp <= spec_.runs.size(); ++stamp)
      if (!finished_.contains(stamp) && !cancelled_.contains(stamp))
        out.push_back({Move::Kind::kCancel, stamp});
}

void HostCluster::take(const Move& move) {
  const auto tell_host = [&](std::uint64_t a, std::uint64_t b = 0) {
    host_history_.add(static_cast<std::uint64_t>(move.kind) << 56 | a << 24 | b);
  };
  switch (move.kind) {
    case Move::Kind::kTell: {
      const Word word = words_.front();
      words_.pop_front();
      tell(word);
      break;
    }
    case Move::Kind::kOrder: {
      const Action order = orders_.front();
      orders_.pop_front();
      const bool is_of_array =
          order.kind == Action::Kind::kFree || order.kind == Action::Kind::kSpill;
      const std::uint64_t id = is_of_array ? order.array : order.stamp;
      std::uint32_t first = order.first, last = order.last;
      if (order.kind == Action::Kind::kAdmit && order.overtakes) {
        first = 1;
        if (order.beside != 0) last = static_cast<std::uint32_t>(order.stamp - order.beside);
      }
      tell_host(static_cast<std::uint64_t>(order.kind) << 16 | id, first << 8 | last);
      host_->order(order_of(order.kind), id, first, last);
      break;
    }
    case Move::Kind::kHostWord: {
      const HostOutbox::Done done = dones_.front();
      dones_.pop_front();
      switch (done.kind) {
        case HostOutbox::Done::Kind::kGangs:
          core_.done(done.id, done.first, done.last);
          break;
        case HostOutbox::Done::Kind::kReceived:
          core_.received(done.id, done.first);
          break;
        case HostOutbox::Done::Kind::kSpilled:
          core_.spilled(done.id);
          break;
        case HostOutbox::Done::Kind::kMoved:
          core_.moved(done.id);
          break;
        case HostOutbox::Done::Kind::kFenced:
          core_.fenced(done.id);
          break;
      }
      break;
    }
    case Move::Kind::kEndGang:
      tell_host(move.index);
      backend_->end_gang(move.index);
      break;
    case Move::Kind::kEndCopy:
      tell_host(move.index);
      backend_->end_copy(move.index);
      break;
    case Move::Kind::kLoseScheduler:
      ++schedulers_lost_;
      lose_scheduler();
      break;
    case Move::Kind::kLoseDevice:
      ++devices_lost_;
      lost_ |= 1u << move.index;
      tell_host(move.index);
      host_->lose_device(move.index, "it fell off the bus");
      break;
    case Move::Kind::kCancel:
      ++cancels_;
      cancel(move.index);
      break;
  }
  take_actions();
  while (host_->advance()) {
  }
  take_outbox();
  for (DeviceId device = 0; device < spec_.devices; ++device)
    if (host_->device(device).used_bytes > spec_.device_bytes)
      fail("device " + text(device) + " holds " + text(host_->device(device).used_bytes) + " of " +
           text(spec_.device_bytes) + " bytes");
  if (words_.empty() && orders_.empty() && dones_.empty() && backend_->jobs() == 0 &&
      backend_->copies() == 0 && finished_.size() == spec_.runs.size() && host_->is_idle()) {
    const std::size_t kept = values_.size() - spec_.freed.size();
    if (host_->array_count() > kept)
      fail("the host keeps " + text(host_->array_count()) + " arrays of " + text(kept));
    if (core_.array_count() > kept)
      fail("the scheduler knows " + text(core_.array_count()) + " arrays of " + text(kept));
    for (DeviceId device = 0; kept == 0 && device < spec_.devices; ++device)
      if (host_->device(device).used_bytes > 0)
        fail("device " + text(device) + " is charged " + text(host_->device(device).used_bytes) +
             " bytes when everything is over");
  }
}

// ---- The controller -------------------------------------------------------------------------

island::Launch HostCluster::launch_of(std::size_t run) const {
  const HostSpec::Run& part = spec_.runs[run];
  return {run + 1, run + 1, 0, part.plan, part.args, part.outputs};
}

void HostCluster::tell(const Word& word) {
  switch (word.kind) {
    case Word::Kind::kPut:
      core_.put(spec_.uploads[word.index].id, spec_.uploads[word.index].devices, kShardBytes);
      break;
    case Word::Kind::kLaunch:
      if (const Status status = core_.launch(launch_of(word.index)); !status.ok())
        fail(status.to_string());
      break;
    case Word::Kind::kFree:
      core_.free(spec_.freed[word.index]);
      break;
    case Word::Kind::kCancel:
      core_.cancel(word.index);
      break;
  }
}

void HostCluster::cancel(Stamp stamp) {
  if (finished_.contains(stamp) || !cancelled_.insert(stamp).second) return;
  words_.push_back({Word::Kind::kCancel, stamp});
}

/// Another one learns from the controller all that it has ever said, and from the host what is so.
void HostCluster::lose_scheduler() {
  words_.clear();
  orders_.clear();
  dones_.clear();
  host_->begin_view();
  host_history_.add(~0ull);
  const device::HostState seen = host_->state();
  island::Snapshot known;
  known.last_stamp = seen.last_stamp;
  for (const device::HostPart& part : seen.parts) {
    island::PartState& state = known.parts.emplace_back();
    state.stamp = part.stamp;
    state.admitted = part.is_admitted;
    state.overtakes = part.has_overtaken;
    state.beside = part.beside;
    state.cancelled = part.is_cancelled;
    state.fencing = part.is_fencing;
    state.moving = part.is_moving;
    state.moved = part.is_moved;
    state.gangs_placed = part.placed;
    for (const auto& [first, last] : part.done) state.gangs_done.push_back({first, last});
    state.values_here = part.received;
    state.sends_closed = part.delivered;
  }
  for (const device::HostArray& array : seen.arrays) {
    using Place = island::ArrayState::Place;
    constexpr Place kPlaces[] = {Place::kNowhere, Place::kDevices, Place::kUploadRoom,
                                 Place::kSpillRoom};
    known.arrays.push_back({array.array, *array.devices, array.shard_bytes,
                            kPlaces[static_cast<std::size_t>(array.place)], array.is_poison});
  }
  std::vector<island::Launch> launches;
  for (std::size_t run = 0; run < spec_.runs.size(); ++run)
    if (!finished_.contains(run + 1)) launches.push_back(launch_of(run));
  std::vector<ArrayId> named;
  for (const auto& [array, value] : values_)
    if (std::find(spec_.freed.begin(), spec_.freed.end(), array) == spec_.freed.end())
      named.push_back(array);
  core_ = island::SchedulerCore(options_);
  if (const Status status = core_.restore(known, launches, named); !status.ok())
    fail(status.to_string());
  for (const Stamp stamp : cancelled_)
    if (!finished_.contains(stamp)) core_.cancel(stamp);
}

// ---- What is said ---------------------------------------------------------------------------

void HostCluster::take_actions() {
  for (const Action& action : core_.actions()) {
    if (action.kind == Action::Kind::kFinished) {
      if (!finished_.insert(action.stamp).second)
        fail("run " + text(action.stamp) + " finished twice");
    } else if (action.kind != Action::Kind::kExists) {
      orders_.push_back(action);
    }
  }
  core_.actions().clear();
}

void HostCluster::take_outbox() {
  HostOutbox& outbox = host_->outbox();
  for (const HostOutbox::Done& done : outbox.dones)
    if (spec_.weakening != HostSpec::Weakening::kNoWordOfSpills ||
        done.kind != HostOutbox::Done::Kind::kSpilled)
      dones_.push_back(done);
  for (const HostOutbox::Failure& failure : outbox.failures) {
    if (devices_lost_ == 0 && cancels_ == 0)
      fail("run " + text(failure.stamp) + " failed: " + failure.status.to_string());
    cancel(failure.stamp);
  }
  for (const HostOutbox::Fetched& fetched : outbox.fetched) {
    const ArrayId array = fetched.request;
    if (!answered_.insert(array).second) fail("array " + text(array) + " is answered twice");
    if (!fetched.status.ok()) {
      if (devices_lost_ == 0 && cancels_ == 0)
        fail("array " + text(array) + ": " + fetched.status.to_string());
      continue;
    }
    for (std::size_t at = 0; at + kShardBytes <= fetched.value.size(); at += kShardBytes) {
      float value = 0;
      std::memcpy(&value, fetched.value.data() + at, sizeof(value));
      if (value != values_.at(array))
        fail("array " + text(array) + " is " + std::to_string(value) + ", and not " +
             std::to_string(values_.at(array)));
    }
  }
  outbox = {};
}

// ---- How it stands --------------------------------------------------------------------------

bool HostCluster::is_done() const {
  return words_.empty() && orders_.empty() && dones_.empty() && backend_->jobs() == 0 &&
         backend_->copies() == 0 && finished_.size() == spec_.runs.size() && host_->is_idle() &&
         answered_.size() == spec_.fetched.size();
}

std::uint64_t HostCluster::hash() const {
  History history;
  history.add(core_.hash());
  history.add(host_history_.hash());
  for (const Word& word : words_)
    history.add(static_cast<std::uint64_t>(word.kind) << 32 | word.index);
  history.add(orders_.size());
  for (const Action& order : orders_) {
    history.add(static_cast<std::uint64_t>(order.kind) << 32 | order.stamp << 16 | order.array);
    history.add(order.first | std::uint64_t{order.last} << 32 | (order.overtakes ? 1ull << 31 : 0));
    history.add(order.beside);
  }
  history.add(dones_.size());
  for (const HostOutbox::Done& done : dones_) {
    history.add(static_cast<std::uint64_t>(done.kind) << 32 | done.id);
    history.add(done.first | std::uint64_t{done.last} << 32);
  }
  for (const Stamp stamp : finished_) history.add(stamp);
  for (const Stamp stamp : cancelled_) history.add(stamp << 32);
  history.add(schedulers_lost_ | devices_lost_ << 8 | cancels_ << 16 | lost_ << 24);
  return history.hash();
}

std::string HostCluster::describe(const Move& move) {
  const std::string index = text(move.index);
  switch (move.kind) {
    case Move::Kind::kTell:
      return "the scheduler gets the controller's next word";
    case Move::Kind::kOrder:
      return "the host gets the next order";
    case Move::Kind::kHostWord:
      return "the scheduler gets the host's next word";
    case Move::Kind::kEndGang:
      return "gang " + index + " of those that run ends";
    case Move::Kind::kEndCopy:
      return "copy " + index + " of those under way ends";
    case Move::Kind::kLoseScheduler:
      return "fault: the scheduler is lost, another one begins";
    case Move::Kind::kLoseDevice:
      return "fault: device " + index + " is lost";
    case Move::Kind::kCancel:
      return "fault: run " + index + " is cancelled";
  }
  return {};
}

std::string HostCluster::to_string() const {
  std::string out = core_.to_string();
  for (Stamp stamp = 1; stamp <= spec_.runs.size(); ++stamp) out += host_->why(stamp);
  return out + text(words_.size()) + " words of the controller, " + text(orders_.size()) +
         " orders and " + text(dones_.size()) + " words of the host are under way; " +
         text(finished_.size()) + " runs finished, " + text(answered_.size()) +
         " arrays answered\n";
}

}  // namespace seaway::exhaustive
