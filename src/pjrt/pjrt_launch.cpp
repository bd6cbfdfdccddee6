// A launch, from its operands to its outputs: what is enqueued, waited for and copied.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <utility>

#include "pjrt/pjrt_executable.hpp"

namespace seaway::pjrt {
namespace {

/// Values without a byte have no address; plugins want one.
const std::byte* address_of(const function::ShardedBuffer& buffer, std::size_t shard) {
  alignas(64) static constexpr std::byte kNothing[64] = {};
  return buffer.base == nullptr ? kNothing : buffer.shard(shard);
}

/// Of what lies elsewhere the plugin may make a copy of its own, which counts nowhere.
bool is_read_in_place(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 64 == 0;
}

void keep_first(Status& status, Status next) {
  if (status.ok()) status = std::move(next);
}

}  // namespace

/// What one launch has in the plugin. Ends in the opposite order: results first, code last. Lists
/// have one shard's behind the other's; those of small gangs need no memory of their own.
struct PjrtExecutable::Launch {
  Launch(const Client& on, std::span<const function::ShardedBuffer> from,
         std::span<const std::uint32_t> where)
      : client(&on), operands(from), devices(where.begin(), where.end(), &memory) {}

  const Client* const client;  // Its buffers are of no use to others.

  std::span<const function::ShardedBuffer> operands;  // Of whoever calls now: see finish().
  std::span<const function::ShardedBuffer> outputs;   // From finish() on.
  LaunchEnd end;
  std::optional<Ledger::Charge> charge;
  std::shared_ptr<const Code> code;  // Null: nothing of it has come to the plugin.
  alignas(std::max_align_t) std::byte room[4096];
  std::pmr::monotonic_buffer_resource memory{room, sizeof room};
  const std::pmr::vector<std::uint32_t> devices;
  std::pmr::vector<abi::Buffer*> made{&memory};  // What is or will be the plugin's; null: lent.
  std::pmr::vector<LentBuffer> lent{&memory};    // Of each shard, its operands,
  std::pmr::vector<Promises> promised{&memory};  // or these.
  std::pmr::vector<Buffer> results{&memory};     // Of each shard that was enqueued.
  std::pmr::vector<Event> complete{&memory};     // Of each shard that was enqueued.

  abi::Buffer* operand(std::size_t shard, std::size_t index, std::size_t count) const {
    if (!promised.empty()) return promised[shard].buffers[index].get();
    if (!made.empty() && made[index]) return made[index];
    return lent[shard * count + index].buffer.get();
  }
};

/// Of a foreign program that spans, each value is one shard's; else all shards have a part of it.
const std::byte* PjrtExecutable::operand_at(const Launch& launch, std::size_t operand,
                                            std::size_t shard) const {
  if (foreign_ && spans_ > 0)
    return address_of(launch.operands[shard * parameters_.size() + operand], 0);
  return address_of(launch.operands[operand], shard);
}

std::byte* PjrtExecutable::output_at(const Launch& launch, std::size_t output,
                                     std::size_t shard) const {
  if (foreign_ && spans_ > 0) return launch.outputs[shard * outputs_.size() + output].base;
  return launch.outputs[output].shard(shard);
}

LaunchEnd PjrtExecutable::launch(std::span<const function::ShardedBuffer> operands,
                                 std::span<const function::ShardedBuffer> outputs,
                                 std::span<const std::uint32_t> devices, WaitsFor& waits_for,
                                 MayStay may_stay) const {
  if (Status status = check_outputs(outputs); !status.ok()) return {.status = std::move(status)};
  Launch launch(client(), operands, devices);
  begin(launch, {}, waits_for);
  return finish(launch, operands, outputs, waits_for, may_stay);
}

std::shared_ptr<PjrtExecutable::Launch> PjrtExecutable::enqueue(
    std::span<const function::ShardedBuffer> operands, std::span<const std::uint32_t> devices,
    std::span<const Made> made) const {
  const auto is_of_use = [this](const Made& one) {
    return !one.by || (one.by->client == client_.get() && one.by->end.status.ok());
  };
  if (!std::ranges::all_of(made, is_of_use)) return nullptr;
  auto launch = std::make_shared<Launch>(client(), operands, devices);
  WaitsFor waits_for = 0;
  begin(*launch, made, waits_for);
  if (launch->end.status.ok()) return launch;
  abandon(*launch);
  return nullptr;
}

/// All of it that needs no outputs; what goes wrong is in its end.
void PjrtExecutable::begin(Launch& launch, std::span<const Made> made, WaitsFor& waits_for) const {
  LaunchEnd& end = launch.end;
  end.status = check_operands(launch.operands, launch.devices, made);
  if (!end.status.ok()) return;
  std::size_t refused = 0;
  auto charge = target_.ledger->charge(launch.devices, scratch_bytes_, refused);
  if (!charge.ok()) {
    end = {.status = charge.status(), .refused = refused};
    return;
  }
  launch.charge.emplace(std::move(*charge));
  auto code = code_for(launch.devices);
  if (!code.ok()) {
    end.status = code.status();
    return;
  }
  launch.code = std::move(*code);
  if (target_.way == InputWay::kLent && launch.devices.size() == 1) find_made(launch, made);
  end.status = give_operands(launch);
  if (end.status.ok()) end.status = execute(launch, waits_for);
}

/// Which operands the plugin has, or will have when those ahead have ended.
void PjrtExecutable::find_made(Launch& launch, std::span<const Made> made) const {
  const Residents& residents = client_->residents();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const bool is_there = made.empty() || !made[i].by;
    launch.made.push_back(
        is_there ? residents.find(operand_at(launch, i, 0), launch.devices[0], parameters_[i])
                 : made[i].by->results[made[i].output].get());
  }
}

LaunchEnd PjrtExecutable::finish(Launch& launch, std::span<const function::ShardedBuffer> operands,
                                 std::span<const function::ShardedBuffer> outputs,
                                 WaitsFor& waits_for, MayStay may_stay) const {
  LaunchEnd& end = launch.end;
  if (!launch.code) return std::move(end);
  launch.operands = operands;
  launch.outputs = outputs;
  Status status = std::exchange(end.status, Status());
  if (!launch.promised.empty()) {
    if (status.ok()) {
      status = keep_promises(launch);
    } else {
      break_promises(launch, 0, status);
    }
  }
  // Whatever has happened: what is enqueued reads operands, which go back to others now.
  keep_first(status, wait_for_shards(launch, waits_for));
  keep_first(status, give_back(launch, status.ok() ? may_stay : MayStay()));
  // Operands are the host's again by now: an output may lie where one of them was.
  if (status.ok()) status = check_outputs(outputs);
  if (status.ok()) status = copy_outputs(launch, may_stay);
  if (!status.ok()) {
    end.made.clear();
    end.held.clear();
    end.status = Status(status.code(), "function " + name_ + " on plugin " +
                                           client_->plugin().path() + ": " + status.message());
  }
  return std::move(end);
}

void PjrtExecutable::abandon(Launch& launch) const {
  if (!launch.code) return;
  WaitsFor waits_for = 0;
  (void)wait_for_shards(launch, waits_for);
  (void)give_back(launch, {});
}

Status PjrtExecutable::give_operands(Launch& launch) const {
  const Client& client = *client_;
  for (std::size_t s = 0; s < launch.devices.size(); ++s) {
    const PluginDevice& device = client.devices()[launch.devices[s]];
    if (target_.way == InputWay::kPromised && !parameters_.empty()) {
      auto promises = client.promise(device, parameters_);
      if (!promises.ok()) return promises.status();
      launch.promised.push_back(std::move(*promises));
      continue;
    }
    launch.lent.reserve(launch.devices.size() * parameters_.size());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!launch.made.empty() && launch.made[i]) {
        launch.lent.emplace_back();
        continue;
      }
      auto lent = client.lend(device, parameters_[i], operand_at(launch, i, s));
      if (!lent.ok()) return lent.status();
      launch.lent.push_back(std::move(*lent));
    }
  }
  return {};
}

/// One call for all devices where they meet, with a number that no other gang has; else one each.
Status PjrtExecutable::execute(Launch& launch, WaitsFor& waits_for) const {
  const Client& client = *client_;
  const std::size_t shards = launch.devices.size();
  const std::size_t at_once = spans_ > 0 ? shards : 1;
  const std::size_t operand_count = parameters_.size(), result_count = outputs_.size();
  std::pmr::vector<abi::Buffer*> operands(at_once * operand_count, &launch.memory);
  std::pmr::vector<abi::Buffer*> results(at_once * result_count, &launch.memory);
  std::pmr::vector<abi::Buffer* const*> operand_lists(at_once, &launch.memory);
  std::pmr::vector<abi::Buffer**> result_lists(at_once, &launch.memory);
  std::pmr::vector<abi::Event*> complete(at_once, &launch.memory);
  for (std::size_t i = 0; i < at_once; ++i) {
    operand_lists[i] = operands.data() + i * operand_count;
    result_lists[i] = results.data() + i * result_count;
  }
  launch.results.reserve(shards * result_count);
  launch.complete.reserve(shards);
  abi::ExecuteOptions options;
  options.head.struct_size = abi::size_of<abi::ExecuteOptions>();
  options.launch_id = client_->next_launch();
  // What is lent is not the plugin's to write to, whatever a foreign program says.
  if (target_.way == InputWay::kLent) {
    options.not_donated = not_donated_.data();
    options.not_donated_count = not_donated_.size();
  }
  for (std::size_t first = 0; first < shards; first += at_once) {
    waits_for = static_cast<std::uint32_t>(first);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      operands[i] = launch.operand(first + i / operand_count, i % operand_count, operand_count);
    }
    abi::LoadedExecutableExecute args;
    args.executable = launch.code->loaded.get();
    args.options = &options;
    args.arguments = operand_lists.data();
    args.devices = at_once;
    args.arguments_count = operand_count;
    args.outputs = result_lists.data();
    args.complete_events = complete.data();
    if (!is_placed()) args.execute_device = client.devices()[launch.devices[first]].device;
    if (Status status = call(client.api(), args); !status.ok()) {
      if (status.code() == StatusCode::kResourceExhausted ||
          status.code() == StatusCode::kDeviceLost) {
        launch.end.refused = first;
      }
      return status;
    }
    for (abi::Buffer* const result : results) launch.results.emplace_back(client.api(), result);
    for (abi::Event* const event : complete) launch.complete.emplace_back(client.api(), event);
  }
  return {};
}

/// Those from `first` on, counted over all shards, become poison: nobody waits for them for ever.
void PjrtExecutable::break_promises(Launch& launch, std::size_t first, const Status& cause) const {
  const std::size_t count = parameters_.size();
  for (std::size_t i = first; i < launch.promised.size() * count; ++i) {
    Promises& promises = launch.promised[i / count];
    if (!client_->poison(promises, i % count, cause).ok()) promises.transfers.reset();
    if (!promises.transfers) i = (i / count + 1) * count - 1;
  }
}

Status PjrtExecutable::keep_promises(Launch& launch) const {
  const Client& client = *client_;
  Status status;
  std::vector<Event> events;
  const std::size_t count = parameters_.size();
  for (std::size_t i = 0; i < launch.promised.size() * count && status.ok(); ++i) {
    const std::size_t operand = i % count;
    auto event =
        client.fulfil(launch.promised[i / count], operand, operand_at(launch, operand, i / count),
                      parameters_[operand].bytes());
    if (event.ok()) {
      events.push_back(std::move(*event));
    } else {
      status = event.status();
      break_promises(launch, i, status);
    }
  }
  for (const Event& event : events) {
    if (event) keep_first(status, await(event));
  }
  return status;
}

Status PjrtExecutable::wait_for_shards(Launch& launch, WaitsFor& waits_for) const {
  Status first;
  for (std::size_t s = 0; s < launch.complete.size(); ++s) {
    waits_for = static_cast<std::uint32_t>(s);
    if (!launch.complete[s]) continue;
    Status status = await(launch.complete[s]);
    if (status.ok()) continue;
    if (status.code() == StatusCode::kDeviceLost && !launch.end.lost) launch.end.lost = s;
    keep_first(first, std::move(status));
  }
  return first;
}

/// True: output `output` of the only shard stays where it is made, at `bytes`.
bool PjrtExecutable::keep_output(Launch& launch, std::size_t output, std::byte* bytes) const {
  auto owner = client_->keep(launch.results[output], launch.devices[0],
                             {kept_types_, &(*kept_types_)[output]}, bytes);
  if (!owner) return false;
  std::vector<transport::Payload>& made = launch.end.made;
  made.resize(outputs_.size());
  made[output].base = bytes;
  made[output].stride = outputs_[output].bytes();
  made[output].owner = std::move(owner);
  return true;
}

Status PjrtExecutable::copy_outputs(Launch& launch, MayStay may_stay) const {
  Status status;
  std::pmr::vector<Event> events(&launch.memory);
  for (std::size_t r = 0; r < launch.results.size() && status.ok(); ++r) {
    const std::size_t i = r % outputs_.size();
    const TensorType& type = outputs_[i];
    if (type.bytes() == 0) continue;
    const Buffer& result = launch.results[r];
    if (!result) {
      status = protocol_error("the plugin gave no output " + std::to_string(i));
      break;
    }
    std::byte* const target = output_at(launch, i, r / outputs_.size());
    if (target_.way == InputWay::kLent) {
      const auto bytes = client_->address_of(result, type);
      status = bytes.status();
      if (!bytes.ok()) continue;
      if (may_stay.outputs && *bytes != nullptr && keep_output(launch, r, *bytes)) continue;
      if (*bytes != nullptr) {
        std::memcpy(target, *bytes, type.bytes());
        continue;
      }
    }
    auto event = client_->read(result, target, type.bytes());
    status = event.status();
    if (event.ok()) events.push_back(std::move(*event));
  }
  for (const Event& event : events) {
    if (event) keep_first(status, await(event));
  }
  return status;
}

bool PjrtExecutable::is_written(const Launch& launch, const std::byte* address) const {
  return std::ranges::any_of(launch.outputs, [address](const function::ShardedBuffer& output) {
    return output.base == address;
  });
}

/// Returns when the plugin reads nothing of ours any more, but for what stays lent.
Status PjrtExecutable::give_back(Launch& launch, MayStay may_stay) const {
  launch.promised.clear();
  Status status;
  for (std::size_t i = 0; i < launch.lent.size(); ++i) {
    LentBuffer& one = launch.lent[i];
    if (!one.buffer) continue;  // The plugin's own.
    if (may_stay.operands && launch.devices.size() == 1) {
      const std::byte* const address = operand_at(launch, i, 0);
      if (is_read_in_place(address) && !is_written(launch, address)) {
        launch.end.held.resize(parameters_.size());
        launch.end.held[i] =
            client_->hold(one, launch.devices[0], {held_types_, &(*held_types_)[i]}, address);
        if (launch.end.held[i]) continue;
      }
    }
    one.buffer.reset();
    keep_first(status, await(one.released));
  }
  return status;
}

}  // namespace seaway::pjrt
