// Gangs of a plugin's devices: their threads, their ends, and those that do not end.

#include "pjrt/pjrt_backend.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/check.hpp"

namespace seaway::pjrt {
namespace {

/// Several shards of a value lie where the host wants them.
MayStay may_stay(const device::GangWork& work) {
  if (work.shards != 1) return {};
  return {.outputs = work.may_keep_outputs, .operands = work.may_hold_operands};
}

}  // namespace

/// One gang that was started.
struct PjrtBackend::Job {
  std::shared_ptr<const PjrtExecutable> executable;
  std::vector<function::ShardedBuffer> operands, outputs;
  std::vector<DeviceId> devices;
  device::GangDone done;
  WaitsFor waits_for = 0;
  MayStay may_stay;
  bool is_given_up = false;  // Guarded by Shared::mutex.
};

/// What threads that hang may outlive the backend with.
struct PjrtBackend::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  bool is_open = true;
  std::size_t compiling = 0;
  std::vector<std::shared_ptr<Job>> running;  // Those given up as well, until they end.
  bool runs_here = false;                     // One on the control thread, or one is ahead.
  // The backend's, until it is closed.
  actor::Engine* engine = nullptr;
  std::function<void()> on_progress;
  device::DeviceLost lost;  // Set before any work; called on the control thread.

  /// Runs `work` on the control thread, unless the backend is closed by then. Holding the mutex.
  void post(std::function<void()> work) {
    if (is_open) engine->post(std::move(work));
  }
  std::size_t hanging() const {
    return static_cast<std::size_t>(std::count_if(
        running.begin(), running.end(), [](const auto& job) { return job->is_given_up; }));
  }
};

PjrtBackend::PjrtBackend(actor::Engine& engine, function::TbbParallelism& arena,
                         std::function<void()> on_progress, Target target, Limits limits)
    : target_(std::move(target)),
      limits_(limits),
      host_(engine, arena, on_progress),
      shared_(std::make_shared<Shared>()),
      gangs_(std::make_unique<actor::Background>(
          actor::Background::Limits{.threads_max = limits.gangs_max})),
      compilations_(std::make_unique<actor::Background>(
          actor::Background::Limits{.threads_max = limits.compilations_max})) {
  shared_->engine = &engine;
  shared_->on_progress = std::move(on_progress);
}

PjrtBackend::~PjrtBackend() {
  forget_next();
  close();
}

void PjrtBackend::close() {
  std::unique_lock lock(shared_->mutex);
  // Where one is ahead, this is waited for: nobody else may tell of it any more.
  if (shared_->runs_here) {
    shared_->post([this, shared = shared_] {
      {
        std::lock_guard guard(shared->mutex);
        if (!shared->runs_here) return;
      }
      forget_next();
    });
  }
  shared_->is_open = false;
  shared_->changed.wait(lock, [this] {
    return shared_->compiling == 0 && !shared_->runs_here &&
           shared_->running.size() == shared_->hanging();
  });
  const bool hangs = !shared_->running.empty();
  lock.unlock();
  // A thread that hangs can neither be ended nor waited for.
  if (hangs) (void)gangs_.release();
  gangs_.reset();
  compilations_.reset();
}

void PjrtBackend::watch(device::DeviceLost lost) { shared_->lost = std::move(lost); }

void PjrtBackend::compile(function::Graph graph, function::AxisSizes axes,
                          device::CompileDone done) {
  compile_by([target = target_, graph = std::move(graph),
              axes = std::move(axes)] { return PjrtExecutable::compile(target, graph, axes); },
             std::move(done));
}

void PjrtBackend::compile_foreign(function::ForeignProgram program, device::CompileDone done) {
  compile_by([target = target_,
              program = std::move(program)] { return PjrtExecutable::compile(target, program); },
             std::move(done));
}

void PjrtBackend::compile_by(std::function<Made()> make, device::CompileDone done) {
  {
    std::lock_guard guard(shared_->mutex);
    if (!shared_->is_open) return;
    ++shared_->compiling;
  }
  compilations_->submit([shared = shared_, make = std::move(make), done = std::move(done)] {
    Result<std::shared_ptr<const function::Executable>> result = Status();
    Made executable = make();
    if (executable.ok()) {
      result = std::shared_ptr<const function::Executable>(std::move(*executable));
    } else {
      result = executable.status();
    }
    std::lock_guard guard(shared->mutex);
    --shared->compiling;
    shared->post([shared, result = std::move(result), done] {
      done(result);
      shared->on_progress();
    });
    shared->changed.notify_all();
  });
}

Status PjrtBackend::run(const device::GangWork&, std::optional<DeviceId>&) {
  SEAWAY_CHECK(!"a gang of a plugin runs beside the control thread");
  return {};
}

void PjrtBackend::start(const device::GangWork& work, std::uint64_t cost_ns,
                        device::GangDone done) {
  const auto* const executable = dynamic_cast<const PjrtExecutable*>(work.executable);
  if (executable == nullptr) return host_.start(work, cost_ns, std::move(done));
  SEAWAY_CHECK(work.devices().size() == work.shards, work.devices().size(), work.shards);
  const std::uint64_t expected_ns = work.shards == 1 ? executable->expected_ns() : Pace::kUnknown;
  if (is_ahead(work) || expected_ns <= (work.is_alone ? limits_.here_alone_ns : limits_.here_ns)) {
    return run_here(work, *executable, std::move(done));
  }
  const auto job = make_job(work, *executable, std::move(done));
  {
    std::lock_guard guard(shared_->mutex);
    if (!shared_->is_open) return;
    shared_->running.push_back(job);
  }
  gangs_->submit([shared = shared_, job] {
    std::uint64_t begin_ns = 0;
    {
      std::lock_guard guard(shared->mutex);
      if (!shared->is_open) {
        std::erase(shared->running, job);
        shared->changed.notify_all();
        return;
      }
      begin_ns = shared->engine->clock().now_ns();
    }
    LaunchEnd end = job->executable->launch(job->operands, job->outputs, job->devices,
                                            job->waits_for, job->may_stay);
    PjrtBackend::end(shared, job, std::move(end), begin_ns);
  });
}

std::shared_ptr<PjrtBackend::Job> PjrtBackend::make_job(const device::GangWork& work,
                                                        const PjrtExecutable& executable,
                                                        device::GangDone done) {
  auto job = std::make_shared<Job>();
  job->executable = executable.shared_from_this();
  job->operands.assign(work.operands.begin(), work.operands.end());
  job->outputs.assign(work.outputs.begin(), work.outputs.end());
  job->devices.assign(work.devices().begin(), work.devices().end());
  job->done = std::move(done);
  job->may_stay = may_stay(work);
  return job;
}

/// What it finds out about a device is told later, as by any other gang.
void PjrtBackend::run_here(const device::GangWork& work, const PjrtExecutable& executable,
                           device::GangDone done) {
  auto launch = take_ahead(work);
  bool is_open = false;
  {
    std::lock_guard guard(shared_->mutex);
    is_open = shared_->is_open;
    if (is_open) shared_->runs_here = true;
  }
  if (!is_open) {
    if (launch) executable.abandon(*launch);
    return static_cast<void>(end_here());
  }
  const Clock& clock = shared_->engine->clock();
  // One that was ahead has had the device since the one before it ended.
  const std::uint64_t begin_ns = launch ? last_end_ns_ : clock.now_ns();
  WaitsFor waits_for = 0;
  LaunchEnd end;
  const MayStay stays = may_stay(work);
  if (!launch && work.next) launch = executable.enqueue(work.operands, work.devices(), {});
  if (launch) {
    for (const auto* next = work.next; next && enqueue(*next, *launch);) next = next->work.next;
    end = executable.finish(*launch, work.operands, work.outputs, waits_for, stays);
    launch.reset();
  } else {
    end = executable.launch(work.operands, work.outputs, work.devices(), waits_for, stays);
  }
  last_end_ns_ = clock.now_ns();
  if (!end_here()) return forget_next();
  if (end.refused || end.lost) {
    const auto job = make_job(work, executable, std::move(done));
    return PjrtBackend::end(shared_, job, std::move(end), begin_ns);
  }
  executable.took(last_end_ns_ - begin_ns);
  done({.status = std::move(end.status),
        .begin_ns = begin_ns,
        .end_ns = last_end_ns_,
        .made = std::move(end.made),
        .held = std::move(end.held)});
}

bool PjrtBackend::looks_ahead(const device::GangWork& work) const {
  const auto* const executable = dynamic_cast<const PjrtExecutable*>(work.executable);
  if (executable == nullptr || target_.way != InputWay::kLent) return false;
  if (work.shards != 1 || !work.is_alone) return false;
  const std::uint64_t expected_ns = executable->expected_ns();
  return expected_ns >= limits_.ahead_ns && expected_ns <= limits_.here_alone_ns;
}

/// False: it is not, nor is what stands behind it.
bool PjrtBackend::enqueue(const device::ForeseenGang& next, const PjrtExecutable::Launch& running) {
  const auto* const executable = dynamic_cast<const PjrtExecutable*>(next.work.executable);
  // Where one between them did not go, places ahead of it count others.
  if (executable == nullptr || ahead_.size() + 1 != next.place ||
      executable->expected_ns() > limits_.here_alone_ns) {
    return false;
  }
  made_.clear();
  for (const auto [places, output] : next.sources) {
    const PjrtExecutable::Launch* by = nullptr;
    if (places > ahead_.size()) {
      by = &running;
    } else if (places > 0) {
      by = ahead_[ahead_.size() - places].launch.get();
    }
    made_.push_back({by, output});
  }
  auto launch = executable->enqueue(next.work.operands, next.work.devices(), made_);
  if (!launch) return false;
  ahead_.push_back(
      {next.work.stamp, next.work.gang, executable->shared_from_this(), std::move(launch)});
  return true;
}

bool PjrtBackend::is_ahead(const device::GangWork& work) const {
  return !ahead_.empty() && ahead_.front().stamp == work.stamp && ahead_.front().gang == work.gang;
}

/// Null: it is not enqueued.
std::shared_ptr<PjrtExecutable::Launch> PjrtBackend::take_ahead(const device::GangWork& work) {
  if (!is_ahead(work)) return nullptr;
  auto launch = std::move(ahead_.front().launch);
  ahead_.pop_front();
  return launch;
}

void PjrtBackend::forget_next() {
  if (ahead_.empty()) return;
  for (const Ahead& one : ahead_) one.executable->abandon(*one.launch);
  ahead_.clear();
  (void)end_here();
}

/// Nothing runs here any more, but for what is ahead. False: the backend is closed.
bool PjrtBackend::end_here() {
  std::lock_guard guard(shared_->mutex);
  shared_->runs_here = !ahead_.empty();
  if (!shared_->is_open) shared_->changed.notify_all();
  return shared_->is_open;
}

void PjrtBackend::end(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Job>& job,
                      LaunchEnd launched, std::uint64_t begin_ns) {
  std::lock_guard guard(shared->mutex);
  std::erase(shared->running, job);
  if (shared->is_open) {
    device::GangEnd end{.status = std::move(launched.status),
                        .begin_ns = begin_ns,
                        .end_ns = shared->engine->clock().now_ns(),
                        .made = std::move(launched.made),
                        .held = std::move(launched.held)};
    if (job->devices.size() == 1) job->executable->took(end.end_ns - begin_ns);
    if (launched.refused) end.unlaunched_on = job->devices[*launched.refused];
    std::optional<DeviceId> lost;
    if (launched.lost) lost = job->devices[*launched.lost];
    shared->post([shared, job, end = std::move(end), lost]() mutable {
      if (lost && shared->lost) shared->lost(*lost, end.status.message());
      job->done(std::move(end));
      shared->on_progress();
    });
  }
  shared->changed.notify_all();
}

void PjrtBackend::start_stage(const device::StageWork& work, std::uint64_t cost_ns,
                              device::GangDone done) {
  host_.start_stage(work, cost_ns, std::move(done));
}

std::optional<DeviceId> PjrtBackend::give_up(std::span<const DeviceId> devices) {
  std::lock_guard guard(shared_->mutex);
  for (const std::shared_ptr<Job>& job : shared_->running) {
    if (job->is_given_up ||
        !std::equal(devices.begin(), devices.end(), job->devices.begin(), job->devices.end())) {
      continue;
    }
    if (job->executable->foreign()) return {};
    job->is_given_up = true;
    job->executable->client().has_hung();
    shared_->changed.notify_all();
    return job->devices[job->waits_for];
  }
  return {};
}

void PjrtBackend::copy(std::uint64_t bytes, std::function<void()> body,
                       std::function<void()> done) {
  host_.copy(bytes, std::move(body), std::move(done));
}

}  // namespace seaway::pjrt
