// Where a gang runs: here and now, or on the arena.

#include "device/cpu_backend.hpp"

#include <utility>
#include <vector>

namespace seaway::device {
namespace {

/// A hand-off to another thread and back costs up to two wake-ups of 10 to 30 us (measured):
/// shorter work is done at once.
constexpr std::uint64_t kInlineNs = 40'000;
constexpr std::uint64_t kInlineCopyBytes = 128 * 1024;

/// Of a gang of several hosts: what takes longer begins when the others have been told of theirs.
constexpr std::uint64_t kTinyNs = 10'000;

/// A host that has one thread for kernels gains nothing by a hand-off but that it hears others
/// meanwhile; and with several hosts of an island, whose gangs are in step, all of them wait for
/// it.
constexpr std::uint64_t kAloneNs = 250'000;
constexpr std::uint64_t kAloneCopyBytes = 1024 * 1024;

}  // namespace

CpuBackend::CpuBackend(actor::Engine& engine, function::TbbParallelism& arena,
                       std::function<void()> on_progress, Compiler compiler)
    : engine_(engine),
      arena_(arena),
      on_progress_(std::move(on_progress)),
      compiler_(std::move(compiler)) {}

void CpuBackend::compile(function::Graph graph, function::AxisSizes axes, CompileDone done) {
  compilations_.submit(
      [this, graph = std::move(graph), axes = std::move(axes), done = std::move(done)] {
        auto executable = compiler_(graph, axes, collectives_);
        engine_.post([this, executable = std::move(executable), done] {
          done(executable);
          on_progress_();
        });
      });
}

bool CpuBackend::runs_inline(std::uint64_t cost_ns) const { return cost_ns <= kInlineNs; }

Status CpuBackend::run(const GangWork& work, std::optional<DeviceId>&) {
  return work.executable->run(work.operands, work.outputs, work.scratch, work.shards, nullptr);
}

void CpuBackend::start(const GangWork& work, std::uint64_t, GangDone done) {
  struct Job {
    GangWork work;
    std::vector<function::ShardedBuffer> operands, outputs;
    GangDone done;
  };
  auto job = std::make_shared<Job>();
  job->work = work;
  job->operands.assign(work.operands.begin(), work.operands.end());
  job->outputs.assign(work.outputs.begin(), work.outputs.end());
  job->done = std::move(done);
  arena_.submit([this, job] {
    const std::uint64_t begin_ns = engine_.clock().now_ns();
    Status status = job->work.executable->run(job->operands, job->outputs, job->work.scratch,
                                              job->work.shards, &arena_);
    const std::uint64_t end_ns = engine_.clock().now_ns();
    engine_.post([this, job, status = std::move(status), begin_ns, end_ns] {
      job->done({.status = status, .begin_ns = begin_ns, .end_ns = end_ns});
      on_progress_();
    });
  });
}

void CpuBackend::start_stage(const StageWork& work, std::uint64_t cost_ns, GangDone done) {
  struct Job {
    StageWork work;
    std::vector<function::ShardedBuffer> operands, outputs;
    GangDone done;

    GangEnd run(const Clock& clock, function::Parallelism* parallelism) const {
      GangEnd end;
      end.begin_ns = clock.now_ns();
      end.status = work.executable->run_stage(work.stage, work.has_conflict, operands, outputs,
                                              work.scratch, work.shards, parallelism);
      end.end_ns = clock.now_ns();
      return end;
    }
  };
  auto job = std::make_shared<Job>(Job{work,
                                       {work.operands.begin(), work.operands.end()},
                                       {work.outputs.begin(), work.outputs.end()},
                                       std::move(done)});
  const std::uint64_t inline_ns = arena_.threads() == 1 ? kAloneNs : kInlineNs;
  if (cost_ns <= kTinyNs) return job->done(job->run(engine_.clock(), nullptr));
  if (cost_ns <= inline_ns) {
    return engine_.post_long([this, job] {
      job->done(job->run(engine_.clock(), nullptr));
      on_progress_();
    });
  }
  arena_.submit([this, job] {
    engine_.post([this, job, end = job->run(engine_.clock(), &arena_)] {
      job->done(end);
      on_progress_();
    });
  });
}

void CpuBackend::copy(std::uint64_t bytes, std::function<void()> body, std::function<void()> done) {
  if (bytes <= (arena_.threads() == 1 ? kAloneCopyBytes : kInlineCopyBytes)) {
    body();
    done();
    return;
  }
  arena_.submit([this, body = std::move(body), done = std::move(done)] {
    body();
    engine_.post([this, done] {
      done();
      on_progress_();
    });
  });
}

}  // namespace seaway::device
