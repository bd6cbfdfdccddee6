// Questions to the controller that a client waits for.

#include <algorithm>
#include <charconv>
#include <chrono>

#include "actor/handler_scope.hpp"
#include "base/limits.hpp"
#include "client/frames.hpp"
#include "client/session.hpp"

namespace seaway::client {

namespace {

/// "0 2 3": island 0, devices 2 and 3.
std::vector<std::uint32_t> read_binding(const std::string& text) {
  std::vector<std::uint32_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::uint32_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = next + 1;
  }
  return numbers;
}

}  // namespace

Status Session::open() {
  Status status = limits::check_name(options_.tenant, "name of a tenant", limits::kTenantBytes);
  if (!status.ok() || !wiring_.engine) return status;
  const auto answer = ask(
      "connect", [this](std::uint64_t request) { return frames::hello(id(), request, options_); });
  if (!answer.ok()) return answer.status();
  std::uint64_t most = 0;
  std::from_chars(answer->data(), answer->data() + answer->size(), most);
  definitions_max_.store(most, std::memory_order_relaxed);
  return {};
}

std::uint64_t Session::request_timeout_ns() const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, options_.request_timeout.count()));
}

Result<std::string> Session::ask(std::string what, const BuildRequest& build,
                                 std::uint64_t timeout_ns) {
  if (!wiring_.engine) {
    return invalid_argument("\"" + what + "\" asks a cluster, and a debug client has none");
  }
  if (Status status = actor::check_may_block("\"" + what + "\"", "ask from a thread of your own");
      !status.ok()) {
    return status;
  }
  if (waiter_->on_control_thread()) {
    return invalid_argument("\"" + what +
                            "\" would block the control thread, which has to answer it; ask from "
                            "another thread");
  }
  const std::uint64_t request = next_request_.fetch_add(1, std::memory_order_relaxed);
  auto state = std::make_shared<internal::FutureState<std::string>>(waiter_);
  Frame frame = build(request);
  actor::EngineStay stay;
  {
    std::lock_guard guard(mutex_);
    if (is_closed()) return end_;
    const bool was_empty = outbox_.empty();
    requests_[request] = {.what = std::move(what), .state = state};
    outbox_.said.push_back({.kind = Said::Kind::kFrame, .object = outbox_.frames.size()});
    outbox_.frames.push_back(std::move(frame));
    outbox_.limits.push_back({.is_run = false, .id = request, .timeout_ns = timeout_ns});
    if (was_empty) stay = actor::EngineStay(gate_.get());
  }
  if (stay) actor_.send(poke_);
  stay = {};
  return Future<std::string>(std::move(state)).get();
}

void Session::on_reply(std::uint64_t request, Result<std::string> answer) {
  stop_timer(false, request);
  PendingRequest pending;
  {
    std::lock_guard guard(mutex_);
    const auto found = requests_.find(request);
    // Nobody waits for the answer to a spec's definition, nor for one that comes too late.
    if (found == requests_.end()) return;
    pending = std::move(found->second);
    requests_.erase(found);
  }
  pending.state->complete(std::move(answer));
}

void Session::on_request_timeout(std::uint64_t request, std::uint64_t timeout_ns) {
  std::string what;
  {
    std::lock_guard guard(mutex_);
    const auto found = requests_.find(request);
    if (found == requests_.end()) return;
    what = found->second.what;
  }
  on_reply(request, deadline_exceeded("the controller did not answer client " +
                                      std::to_string(id()) + "'s \"" + what + "\" within " +
                                      std::to_string(timeout_ns / 1'000'000) +
                                      " ms; what became of it is unknown"));
}

Result<std::shared_ptr<SliceRecord>> Session::acquire_slice(const SliceRequest& request) {
  std::vector<MeshAxis> axes = request.mesh;
  if (axes.empty() && request.devices > 1) axes = {{"devices", request.devices}};
  Status fits = limits::check_axes(axes);
  if (fits.ok()) fits = limits::check(limits::kMeshDevices, request.devices, "slice");
  if (fits.ok()) fits = limits::check_name(request.kind, "kind of a slice's devices");
  if (!fits.ok()) return fits;
  std::string wanted = "mesh(";
  std::int64_t product = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& [name, size] = axes[i];
    wanted += (i > 0 ? ", " : "") + name + "=" + std::to_string(size);
    const bool is_repeated =
        std::any_of(axes.begin(), axes.begin() + static_cast<long>(i),
                    [&name = name](const MeshAxis& axis) { return axis.first == name; });
    if (name.empty() || size < 1 || is_repeated) {
      return invalid_argument("slice refused: axis \"" + name + "\" of size " +
                              std::to_string(size) +
                              "; axes need distinct names and sizes of at least 1");
    }
    product = size > (std::int64_t{1} << 32) / product ? std::int64_t{1} << 32 : product * size;
  }
  wanted += ")";
  if (request.devices < 1 || product != request.devices) {
    return invalid_argument("slice refused: " + std::to_string(request.devices) + " devices, but " +
                            wanted + " has " + std::to_string(product) +
                            "; the axis sizes multiply to the number of devices");
  }
  if (request.contiguous && request.spread) {
    return invalid_argument("slice refused: contiguous and spread exclude each other");
  }
  const SliceId slice = next_id();
  if (slice == 0) return no_ids();
  if (Status status = count_definition("slice"); !status.ok()) return status;
  std::vector<std::uint32_t> binding;
  if (wiring_.engine && !debug()) {
    SliceRequest full = request;
    full.mesh = axes;
    const std::string what =
        "acquire a slice of " + std::to_string(request.devices) + " devices, " + wanted;
    const auto answer = ask(what, [this, slice, &full](std::uint64_t number) {
      return frames::acquire_slice(id(), number, slice, full);
    });
    if (!answer.ok()) {
      uncount_definition();
      return answer.status();
    }
    binding = read_binding(*answer);
  }
  auto record = std::make_shared<SliceRecord>();
  record->binding = std::move(binding);
  record->session = shared_from_this();
  record->mesh = Mesh(slice, std::move(axes));
  std::lock_guard guard(names_mutex_);
  slices_[slice] = record;
  return record;
}

Status Session::release_slice(SliceRecord& slice) {
  const SliceId name = slice.mesh.slice();
  if (slice.is_released.exchange(true)) {
    return invalid_argument("slice " + name_of(name) + " has been released already");
  }
  std::shared_ptr<SliceRecord> known;  // Goes without the lock.
  {
    std::lock_guard guard(names_mutex_);
    if (const auto found = slices_.find(name); found != slices_.end()) {
      known = std::move(found->second);
      slices_.erase(found);
    }
  }
  if (!wiring_.ids) uncount_definition();
  if (!wiring_.engine || debug()) return {};
  return ask("release slice " + name_of(name),
             [this, name](std::uint64_t request) {
               return frames::release_slice(id(), request, name);
             })
      .status();
}

Status Session::rebind_slice(SliceRecord& slice) {
  const SliceId name = slice.mesh.slice();
  if (slice.is_released) return invalid_argument("slice " + name_of(name) + " has been released");
  const auto answer = ask("rebind slice " + name_of(name), [this, name](std::uint64_t request) {
    return frames::rebind_slice(id(), request, name);
  });
  if (!answer.ok()) return answer.status();
  std::lock_guard guard(slice.mutex);
  slice.binding = read_binding(*answer);
  return {};
}

std::string Session::why(std::uint64_t what) {
  const auto answer =
      ask("why", [this, what](std::uint64_t request) { return frames::why(id(), request, what); });
  return answer.ok() ? *answer : answer.status().to_string();
}

}  // namespace seaway::client
