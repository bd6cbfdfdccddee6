// Wiring an embedded cluster on the simulated engine, and ending it.

#include "benchmarks/counts/embedded_world.hpp"

#include <utility>

#include "benchmarks/counts/inline_backend.hpp"

namespace seaway::benchmarks {

EmbeddedWorld::~EmbeddedWorld() {
  slice_ = {};
  client_ = {};
  if (!embedded_) return;
  embedded_->detach_apps();
  embedded_->close_backends();
  engine_->stop();
  engine_.reset();
  embedded_.reset();
}

Status EmbeddedWorld::begin(std::uint32_t devices) {
  cluster::EmbeddedOptions options;
  options.devices = devices;
  options.threads = 1;
  events_.enable(events::EventStream::kAll &
                 ~events::EventStream::bit(events::EventKind::kGangStart));
  embedded_ = std::make_unique<cluster::Embedded>(
      options, *engine_, events_, [this](IslandId, std::function<void()> on_progress) {
        return std::make_unique<InlineBackend>(*engine_, std::move(on_progress));
      });
  auto client = embedded_->connect({.when_full = WhenFull::kWait});
  if (!client.ok()) return client.status();
  client_ = *std::move(client);
  auto slice = client_.acquire_slice(
      {.devices = devices, .mesh = {{"data", static_cast<std::int64_t>(devices)}}});
  if (!slice.ok()) return slice.status();
  slice_ = *std::move(slice);
  return {};
}

Traffic EmbeddedWorld::traffic() const {
  Traffic all;
  all.steps = engine_->steps();
  for (std::size_t role = 0; role < actor::kRoles; ++role) {
    const actor::Router::Count& count = embedded_->router().count(static_cast<actor::Role>(role));
    all.frames += count.frames;
    all.frame_bytes += count.bytes;
  }
  return all;
}

}  // namespace seaway::benchmarks
