// Simulated kernels, copies and compilations: all are timers of the engine.

#include "sim/sim_backend.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace seaway::sim {
namespace {

constexpr std::uint64_t kLatencyStream = 0x6c6174656e637900;
constexpr std::byte kRubbish{0xa5};

std::size_t bytes_of(const TensorType& type) { return type.bytes(); }

}  // namespace

/// One gang on its way: its operands as they were when it started.
struct SimBackend::Job {
  device::GangWork work;
  std::vector<function::ShardedBuffer> operands, outputs;
  std::vector<std::vector<std::byte>> copies;  // Of all shards of each operand, one after another.
  std::vector<bool> is_overwritten;            // The operand's memory is also an output's.
  device::GangDone done;
  std::uint64_t begin_ns = 0;

  explicit Job(const device::GangWork& gang)
      : work(gang),
        operands(gang.operands.begin(), gang.operands.end()),
        outputs(gang.outputs.begin(), gang.outputs.end()) {
    const auto& types = work.executable->parameter_types();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::size_t bytes = bytes_of(types[i]);
      std::vector<std::byte> copy(work.shards * bytes);
      for (std::size_t s = 0; s < work.shards; ++s) {
        if (bytes > 0) std::memcpy(copy.data() + s * bytes, operands[i].shard(s), bytes);
      }
      copies.push_back(std::move(copy));
      is_overwritten.push_back(overlaps_output(operands[i], bytes));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::size_t bytes = bytes_of(work.executable->output_types()[i]);
      for (std::size_t s = 0; s < work.shards; ++s) {
        if (bytes > 0) std::memset(outputs[i].shard(s), static_cast<int>(kRubbish), bytes);
      }
    }
  }

  bool overlaps_output(const function::ShardedBuffer& operand, std::size_t bytes) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::size_t output_bytes = bytes_of(work.executable->output_types()[i]);
      for (std::size_t s = 0; s < work.shards; ++s) {
        for (std::size_t t = 0; t < work.shards; ++t) {
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
      for (std::size_t s = 0; s < work.shards && bytes > 0; ++s) {
        if (std::memcmp(copies[i].data() + s * bytes, operands[i].shard(s), bytes) != 0) {
          return static_cast<int>(i);
        }
      }
    }
    return -1;
  }

  /// Computes from the copies, each shard on 64-byte boundaries as executables want it.
  Status run() const {
    std::vector<std::vector<std::max_align_t>> memory;
    std::vector<function::ShardedBuffer> inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::size_t bytes = bytes_of(work.executable->parameter_types()[i]);
      const std::size_t stride = (bytes + 63) / 64 * 64;
      memory.emplace_back((work.shards * stride + 128) / sizeof(std::max_align_t));
      auto address = reinterpret_cast<std::uintptr_t>(memory.back().data());
      auto* const base = reinterpret_cast<std::byte*>((address + 63) / 64 * 64);
      for (std::size_t s = 0; s < work.shards && bytes > 0; ++s) {
        std::memcpy(base + s * stride, copies[i].data() + s * bytes, bytes);
      }
      inputs.push_back({base, stride});
    }
    return work.executable->run(inputs, outputs, work.scratch, work.shards, nullptr);
  }
};

SimBackend::SimBackend(actor::SeededEngine& engine, std::uint64_t seed, std::uint64_t name,
                       CostModel cost, std::function<void()> on_progress, Complain complain,
                       DeviceFaults faults)
    : engine_(engine),
      cost_(cost),
      random_(seed, kLatencyStream + name),
      on_progress_(std::move(on_progress)),
      complain_(std::move(complain)),
      faults_(std::move(faults)) {}

void SimBackend::watch(device::DeviceLost lost) {
  for (const DeviceLoss& loss : faults_.losses) {
    after(loss.at_ns, [this, lost, device = loss.device] {
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
std::uint64_t SimBackend::slowness(std::span<const DeviceId> devices) const {
  std::uint64_t factor = 1;
  for (const DeviceSlowness& slow : faults_.slow) {
    if (engine_.now_ns() < slow.begin_ns || engine_.now_ns() >= slow.end_ns) continue;
    if (std::find(devices.begin(), devices.end(), slow.device) == devices.end()) continue;
    factor = std::max<std::uint64_t>(factor, slow.factor);
  }
  return factor;
}

void SimBackend::after(std::uint64_t delay_ns, std::function<void()> work) {
  engine_.schedule(engine_.now_ns() + delay_ns, [this, work = std::move(work)] {
    work();
    on_progress_();
  });
}

void SimBackend::compile(function::Graph graph, function::AxisSizes axes,
                         device::CompileDone done) {
  after(random_.below(2 * cost_.compile_ns + 1),
        [graph = std::move(graph), axes = std::move(axes), done = std::move(done)] {
          if (graph.name.starts_with(kUncompilable)) {
            done(invalid_argument("function " + graph.name + " does not compile on this device"));
          } else {
            done(function::compile_reference(graph, axes));
          }
        });
}

bool SimBackend::runs_inline(std::uint64_t) const { return random_.chance(cost_.inline_percent); }

Status SimBackend::run(const device::GangWork& work) { return Job(work).run(); }

void SimBackend::start(const device::GangWork& work, std::uint64_t cost_ns, device::GangDone done) {
  auto job = std::make_shared<Job>(work);
  job->done = std::move(done);
  job->begin_ns = engine_.now_ns();
  const auto kernel_ns =
      static_cast<std::uint64_t>(static_cast<double>(cost_ns) * cost_.kernel_factor);
  const std::uint64_t jitter_ns = random_.below(cost_.kernel_jitter_ns + 1);
  after((kernel_ns + jitter_ns) * slowness(work.devices), [this, job] {
    if (is_any_lost(job->work.devices)) {
      job->done({StatusCode::kDeviceLost, "the gang stopped with a device"}, job->begin_ns,
                engine_.now_ns());
      return;  // What it would have written is rubbish.
    }
    if (const int operand = job->changed_operand(); operand >= 0) {
      complain_("operand " + std::to_string(operand) +
                " of a gang changed while the gang ran: its memory was given away too soon");
    }
    Status status = job->run();
    job->done(std::move(status), job->begin_ns, engine_.now_ns());
  });
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
