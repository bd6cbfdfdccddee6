// Simulated kernels, copies and compilations: all are timers of the engine.

#include "sim/sim_backend.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "sim/foreign_reference.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kLatencyStream = 0x6c6174656e637900;
constexpr std::uint64_t kKeepStream = 0x6b65657073000000;
constexpr std::byte kRubbish{0xa5};
const Status kUnlaunched{StatusCode::kDeviceLost, "its memory had an error that it could correct"};
const Status kNoMemory{StatusCode::kResourceExhausted, "its memory is in pieces"};

std::size_t bytes_of(const TensorType& type) { return type.bytes(); }

}  // namespace

/// An output in memory of the device's own.
struct SimBackend::Kept {
  Kept(std::size_t size, Complain to)
      : bytes(new (std::align_val_t(64)) std::byte[size]()), size(size), complain(std::move(to)) {}
  ~Kept() {
    if (before != all()) complain("an output that its device keeps was written to");
  }
  static std::unique_ptr<Kept> fix(std::unique_ptr<Kept> one) {
    one->before = one->all();
    return one;
  }
  std::vector<std::byte> all() const { return {bytes.get(), bytes.get() + size}; }

  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t(64)); }
  };
  const std::unique_ptr<std::byte[], Free> bytes;
  const std::size_t size;
  const Complain complain;
  std::vector<std::byte> before;
};

/// What a device has made of an operand, which it may read at any time until that is dropped.
struct SimBackend::Held {
  Held(function::ShardedBuffer where, std::size_t count, std::size_t bytes_each, Complain to)
      : place(where), shards(count), bytes(bytes_each), complain(std::move(to)), before(all()) {}
  ~Held() {
    if (before != all()) complain("an operand that its device holds has changed");
  }
  std::vector<std::byte> all() const {
    std::vector<std::byte> now(shards * bytes);
    for (std::size_t s = 0; s < shards && bytes > 0; ++s) {
      std::memcpy(now.data() + s * bytes, place.shard(s), bytes);
    }
    return now;
  }

  const function::ShardedBuffer place;
  const std::size_t shards, bytes;
  const Complain complain;
  const std::vector<std::byte> before;
};

/// One gang on its way: its operands as they were when it started.
struct SimBackend::Job {
  device::GangWork work;
  std::vector<function::ShardedBuffer> operands, outputs;
  std::vector<std::vector<std::byte>> copies;  // Of all shards of each operand, one after another.
  std::vector<bool> is_overwritten;            // The operand's memory is also an output's.
  device::GangDone done;
  std::uint64_t begin_ns = 0;
  DeviceId slowest = 0;         // The device that ends last,
  std::uint64_t waited_ns = 0;  // and how long the others wait for it.
  DeviceId hung = 0;            // The device that hangs, while it is among hanging_.
  bool is_given_up = false;

  explicit Job(const device::GangWork& gang)
      : work(gang),
        operands(gang.operands.begin(), gang.operands.end()),
        outputs(gang.outputs.begin(), gang.outputs.end()) {
    const auto& types = work.executable->parameter_types();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::size_t bytes = bytes_of(types[i]);
      std::vector<std::byte> copy(value_shards() * bytes);
      for (std::size_t s = 0; s < value_shards(); ++s) {
        if (bytes > 0) std::memcpy(copy.data() + s * bytes, operands[i].shard(s), bytes);
      }
      copies.push_back(std::move(copy));
      is_overwritten.push_back(overlaps_output(operands[i], bytes));
    }
    scribble();
  }

  std::size_t value_shards() const { return work.executable->shards_of_value(work.shards); }

  /// Of operands that are as they were, for they are not written over.
  std::vector<std::shared_ptr<void>> hold(const Complain& complain) const {
    std::vector<std::shared_ptr<void>> held(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::size_t bytes = bytes_of(work.executable->parameter_types()[i]);
      if (is_overwritten[i] || bytes == 0) continue;
      held[i] = std::make_shared<Held>(operands[i], value_shards(), bytes, complain);
    }
    return held;
  }

  /// Moves the outputs to memory that is the device's own, and that nobody may write to.
  std::vector<transport::Payload> keep(const Complain& complain) const {
    std::vector<transport::Payload> made(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::size_t bytes = bytes_of(work.executable->output_types()[i]);
      if (bytes == 0) continue;
      const std::size_t stride = (bytes + 63) / 64 * 64;
      // It ends where the last shard does: nobody reads behind that.
      auto memory = std::make_unique<Kept>((value_shards() - 1) * stride + bytes, complain);
      for (std::size_t s = 0; s < value_shards(); ++s) {
        std::memcpy(memory->bytes.get() + s * stride, outputs[i].shard(s), bytes);
      }
      made[i].base = memory->bytes.get();
      made[i].stride = stride;
      made[i].owner = std::shared_ptr<Kept>(Kept::fix(std::move(memory)));
    }
    scribble();
    return made;
  }

  void scribble() const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::size_t bytes = bytes_of(work.executable->output_types()[i]);
      for (std::size_t s = 0; s < value_shards(); ++s) {
        if (bytes > 0) std::memset(outputs[i].shard(s), static_cast<int>(kRubbish), bytes);
      }
    }
  }

  bool overlaps_output(const function::ShardedBuffer& operand, std::size_t bytes) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::size_t output_bytes = bytes_of(work.executable->output_types()[i]);
      for (std::size_t s = 0; s < value_shards(); ++s) {
        for (std::size_t t = 0; t < value_shards(); ++t) {
          if (operand.shard(s) < outputs[i].shard(t) + output_bytes &&
              outputs[i].shard(t) < operand.shard(s) + bytes) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /// The first operand that changed while the gang ran, or -1.
  int changed_operand() const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (is_overwritten[i]) continue;
      const std::size_t bytes = bytes_of(work.executable->parameter_types()[i]);
      for (std::size_t s = 0; s < value_shards() && bytes > 0; ++s) {
        if (std::memcmp(copies[i].data() + s * bytes, operands[i].shard(s), bytes) != 0) {
          return static_cast<int>(i);
        }
      }
    }
    return -1;
  }

  bool overwrites() const {
    return std::find(is_overwritten.begin(), is_overwritten.end(), true) != is_overwritten.end();
  }

  /// Computes from the copies, each shard on 64-byte boundaries as executables want it.
  Status run() const {
    std::vector<std::vector<std::max_align_t>> memory;
    std::vector<function::ShardedBuffer> inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::size_t bytes = bytes_of(work.executable->parameter_types()[i]);
      const std::size_t stride = (bytes + 63) / 64 * 64;
      memory.emplace_back((value_shards() * stride + 128) / sizeof(std::max_align_t));
      auto address = reinterpret_cast<std::uintptr_t>(memory.back().data());
      auto* const base = reinterpret_cast<std::byte*>((address + 63) / 64 * 64);
      for (std::size_t s = 0; s < value_shards() && bytes > 0; ++s) {
        std::memcpy(base + s * stride, copies[i].data() + s * bytes, bytes);
      }
      inputs.push_back({base, stride});
    }
    return work.executable->run(inputs, outputs, work.scratch, work.shards, nullptr);
  }
};

SimBackend::SimBackend(actor::Engine& engine, std::uint64_t seed, std::uint64_t name,
                       CostModel cost, std::function<void()> on_progress, Complain complain,
                       DeviceFaults faults, TellMischief tell)
    : engine_(engine),
      cost_(cost),
      random_(seed, kLatencyStream + name),
      keeping_(seed, kKeepStream + name),
      on_progress_(std::move(on_progress)),
      complain_(std::move(complain)),
      faults_(std::move(faults)),
      tell_(std::move(tell)),
      foresight_(complain_) {}

void SimBackend::watch(device::DeviceLost lost) {
  for (const DeviceLoss& loss : faults_.losses) {
    after(loss.at_ns, [this, lost, device = loss.device] {
      if (is_healed_) return;
      lost_.insert(device);
      lost(device, "its time had come");
    });
  }
}

bool SimBackend::is_any_lost(std::span<const DeviceId> devices) const {
  return std::any_of(devices.begin(), devices.end(),
                     [this](DeviceId device) { return lost_.contains(device); });
}

/// A gang is as slow as the slowest of its devices.
SimBackend::Slowness SimBackend::slowness(std::span<const DeviceId> devices) const {
  Slowness slowness;
  if (is_healed_) return slowness;
  for (const DeviceSlowness& slow : faults_.slow) {
    if (engine_.clock().now_ns() < slow.begin_ns || engine_.clock().now_ns() >= slow.end_ns)
      continue;
    if (std::find(devices.begin(), devices.end(), slow.device) == devices.end()) continue;
    slowness.others =
        std::max(slowness.others, std::min<std::uint64_t>(slowness.factor, slow.factor));
    if (slow.factor <= slowness.factor) continue;
    slowness.factor = slow.factor;
    slowness.slowest = slow.device;
  }
  return slowness;
}

std::optional<DeviceId> SimBackend::stutter(std::span<const DeviceId> devices) {
  for (const DeviceStutter& one : faults_.stutters) {
    if (engine_.clock().now_ns() < one.at_ns || unlaunched_[one.device] == one.launches) continue;
    if (std::find(devices.begin(), devices.end(), one.device) == devices.end()) continue;
    ++unlaunched_[one.device];
    return one.device;
  }
  return {};
}

std::optional<DeviceId> SimBackend::shortage(const device::GangWork& work) {
  for (const DeviceShortage& one : faults_.shortages) {
    if (engine_.clock().now_ns() < one.at_ns || refused_[one.device] == one.launches) continue;
    if (std::find(work.devices().begin(), work.devices().end(), one.device) ==
        work.devices().end()) {
      continue;
    }
    ++refused_[one.device];
    if (tell_) {
      tell_({Mischief::Kind::kShortage, one.island, one.device, work.stamp, work.position()});
    }
    return one.device;
  }
  return {};
}

/// Why a gang is not launched, and by whom. OK: it is.
Status SimBackend::refusal(const device::GangWork& work, std::optional<DeviceId>& unlaunched_on) {
  if (is_healed_) return {};
  unlaunched_on = stutter(work.devices());
  if (unlaunched_on) return kUnlaunched;
  unlaunched_on = shortage(work);
  return unlaunched_on ? kNoMemory : Status();
}

/// In the lowest byte of a number, so that whatever is computed from it stays a small number.
void SimBackend::flip(const Job& job) {
  const device::GangWork& work = job.work;
  if (is_healed_ || !work.executable->is_repeatable() || job.overwrites()) return;
  if (job.value_shards() != work.shards) return;
  for (const DeviceFlip& one : faults_.flips) {
    if (engine_.clock().now_ns() < one.at_ns) continue;
    const auto found = std::find(work.devices().begin(), work.devices().end(), one.device);
    const std::size_t numbers = work.executable->output_types()[0].bytes() / 4;
    if (found == work.devices().end() || numbers == 0) continue;
    const std::uint32_t count = flippable_[one.device]++;
    if (count < one.before || count >= one.before + one.times) continue;
    const auto shard = static_cast<std::size_t>(found - work.devices().begin());
    std::byte* const number = job.outputs[0].shard(shard) + 4 * (count / 8 % numbers);
    *number ^= std::byte{1} << (count % 8);
    if (tell_) tell_({Mischief::Kind::kFlip, one.island, one.device, work.stamp, work.position()});
  }
}

const DeviceHang* SimBackend::hang(std::span<const DeviceId> devices) {
  if (is_healed_) return nullptr;
  for (const DeviceHang& one : faults_.hangs) {
    if (engine_.clock().now_ns() < one.at_ns || hung_.contains(one.device)) continue;
    if (std::find(devices.begin(), devices.end(), one.device) == devices.end()) continue;
    hung_.insert(one.device);
    return &one;
  }
  return nullptr;
}

void SimBackend::after(std::uint64_t delay_ns, std::function<void()> work) {
  engine_.schedule(engine_.clock().now_ns() + delay_ns, [this, work = std::move(work)] {
    work();
    on_progress_();
  });
}

void SimBackend::compile(function::Graph graph, function::AxisSizes axes,
                         device::CompileDone done) {
  after(random_.below(2 * cost_.compile_ns + 1),
        [this, graph = std::move(graph), axes = std::move(axes), done = std::move(done)] {
          if (graph.name.starts_with(kUncompilable)) {
            done(invalid_argument("function " + graph.name + " does not compile on this device"));
          } else if (cost_.in_stages) {
            done(function::compile_cpu_overlapping(graph, axes, collectives_));
          } else {
            done(function::compile_reference(graph, axes));
          }
        });
}

void SimBackend::compile_foreign(function::ForeignProgram program, device::CompileDone done) {
  after(random_.below(2 * cost_.compile_ns + 1),
        [program = std::move(program), done = std::move(done)] {
          done(sim::compile_foreign(program));
        });
}

bool SimBackend::runs_inline(std::uint64_t) const { return random_.chance(cost_.inline_percent); }

Status SimBackend::run(const device::GangWork& work, std::optional<DeviceId>& unlaunched_on) {
  foresight_.begin(work);
  if (Status refused = refusal(work, unlaunched_on); !refused.ok()) return refused;
  const Job job(work);
  Status status = job.run();
  if (status.ok()) flip(job);
  return status;
}

/// The gang is told to end where it starts, then.
bool SimBackend::looks_ahead(const device::GangWork& work) const {
  return work.shards == 1 && faults_.hangs.empty() && cost_.ahead_percent > 0 &&
         random_.chance(cost_.ahead_percent);
}

/// A gang takes as long as its executable does, whatever a plan has estimated.
void SimBackend::start(const device::GangWork& work, std::uint64_t, device::GangDone done) {
  const std::uint64_t begin_ns = engine_.clock().now_ns();
  foresight_.begin(work);
  std::optional<DeviceId> device;
  if (Status refused = refusal(work, device); !refused.ok()) {
    after(cost_.copy_ns, [this, refused, device, begin_ns, done = std::move(done)] {
      done({.status = refused,
            .begin_ns = begin_ns,
            .end_ns = engine_.clock().now_ns(),
            .unlaunched_on = device});
    });
    return;
  }
  auto job = std::make_shared<Job>(work);
  job->done = std::move(done);
  job->begin_ns = begin_ns;
  if (work.next) return finish(job);
  // As plugins do with short programs.
  const bool may_end_here = work.executable->foreign() && faults_.hangs.empty();
  if (may_end_here && random_.chance(cost_.inline_percent / 2)) return finish(job);
  const auto kernel_ns = static_cast<std::uint64_t>(
      static_cast<double>(work.executable->cost_ns()) * cost_.kernel_factor);
  const std::uint64_t alone_ns = kernel_ns + random_.below(cost_.kernel_jitter_ns + 1);
  const Slowness slow = slowness(work.devices());
  std::uint64_t took_ns = alone_ns * slow.factor;
  if (const DeviceHang* const one = hang(work.devices())) {
    job->hung = one->device;
    hanging_.push_back(job);
    if (one->for_ns == 0) return;
    took_ns += one->for_ns;
    job->slowest = one->device;
    if (work.devices().size() > 1) job->waited_ns = one->for_ns;
  } else if (work.devices().size() > 1) {
    job->slowest = slow.slowest;
    job->waited_ns = alone_ns * (slow.factor - slow.others);
  }
  after(took_ns, [this, job] { finish(job); });
}

void SimBackend::finish(const std::shared_ptr<Job>& job) {
  std::erase(hanging_, job);
  device::GangEnd end{.begin_ns = job->begin_ns,
                      .end_ns = engine_.clock().now_ns(),
                      .last = job->slowest,
                      .waited_ns = job->waited_ns};
  if (job->is_given_up) {
    job->scribble();  // Whoever has its memory by now will see it.
  } else if (is_any_lost(job->work.devices())) {
    // What it would have written is rubbish.
    end.status = {StatusCode::kDeviceLost, "the gang stopped with a device"};
  } else {
    const int operand = job->changed_operand();
    if (operand >= 0 && !(is_excused_ && is_excused_(job->work))) {
      complain_("operand " + std::to_string(operand) +
                " of a gang changed while the gang ran: its memory was given away too soon");
    }
    end.status = job->run();
    if (end.status.ok()) flip(*job);
    if (end.status.ok()) foresight_.made(job->work);
    if (end.status.ok() && cost_.kept_percent > 0) {
      const bool keeps = keeping_.chance(cost_.kept_percent);
      const bool holds = keeping_.chance(cost_.kept_percent);
      if (keeps && job->work.may_keep_outputs) end.made = job->keep(complain_);
      if (holds && job->work.may_hold_operands) end.held = job->hold(complain_);
    }
  }
  job->done(std::move(end));
}

/// Some compute when they start, the others when they end: both find orders that come too early.
void SimBackend::start_stage(const device::StageWork& work, std::uint64_t cost_ns,
                             device::GangDone done) {
  struct Stage {
    device::StageWork work;
    std::vector<function::ShardedBuffer> operands, outputs;
    device::GangEnd end;

    void run() {
      end.status = work.executable->run_stage(work.stage, work.has_conflict, operands, outputs,
                                              work.scratch, work.shards, nullptr);
    }
  };
  const auto stage = std::make_shared<Stage>(Stage{work,
                                                   {work.operands.begin(), work.operands.end()},
                                                   {work.outputs.begin(), work.outputs.end()},
                                                   {}});
  stage->end.begin_ns = stage->end.end_ns = engine_.clock().now_ns();
  const bool is_inline = random_.chance(cost_.inline_percent);
  const bool at_start = is_inline || random_.chance(30);
  if (at_start) stage->run();
  if (is_inline) return done(stage->end);
  const auto kernel_ns =
      static_cast<std::uint64_t>(static_cast<double>(cost_ns) * cost_.kernel_factor);
  after(kernel_ns + random_.below(cost_.kernel_jitter_ns + 1),
        [this, stage, at_start, done = std::move(done)] {
          if (!at_start) stage->run();
          stage->end.end_ns = engine_.clock().now_ns();
          done(stage->end);
        });
}

std::optional<DeviceId> SimBackend::give_up(std::span<const DeviceId> devices) {
  for (const std::shared_ptr<Job>& job : hanging_) {
    if (!std::equal(devices.begin(), devices.end(), job->work.devices().begin(),
                    job->work.devices().end())) {
      continue;
    }
    job->is_given_up = true;
    const DeviceId device = job->hung;
    hanging_.erase(std::find(hanging_.begin(), hanging_.end(), job));
    return device;
  }
  return {};
}

void SimBackend::copy(std::uint64_t bytes, std::function<void()> body, std::function<void()> done) {
  if (random_.chance(cost_.inline_percent)) {
    body();
    done();
    return;
  }
  // Some copies are made when they start, the others when they end: both find early reuse.
  const bool at_start = random_.chance(30);
  if (at_start) body();
  after(cost_.copy_ns + bytes + random_.below(cost_.kernel_jitter_ns + 1),
        [at_start, body = std::move(body), done = std::move(done)] {
          if (!at_start) body();
          done();
        });
}

}  // namespace seaway::sim
