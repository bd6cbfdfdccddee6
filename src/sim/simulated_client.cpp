// What a simulated client does, step by step.

#include "sim/simulated_client.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/share_checker.hpp"

namespace seaway::sim {
namespace {

/// More than a body ever needs to hold; then it lets something go.
constexpr std::size_t kHeldMax = 12;
constexpr int kAskAgain = 30;

/// The codes of what goes with devices, hosts and controllers.
bool is_loss(const Status& status) {
  switch (status.code()) {
    case StatusCode::kDeviceLost:
    case StatusCode::kHostLost:
    case StatusCode::kIslandUnavailable:
    case StatusCode::kControllerRestarted:
    case StatusCode::kMaybeExecuted:
    case StatusCode::kDeadlineExceeded:
      return true;
    default:
      break;
  }
  if (status.code() != StatusCode::kInputLost) return false;
  const std::string& text = status.message();
  for (const char* cause : {"DEVICE_LOST: ", "HOST_LOST: ", "ISLAND_UNAVAILABLE: ",
                            "CONTROLLER_RESTARTED: ", "MAYBE_EXECUTED: ", "DEADLINE_EXCEEDED: "}) {
    if (text.find(cause) != std::string::npos) return true;
  }
  return false;
}

std::string name_of(std::uint32_t client, const char* what, std::size_t number) {
  return std::string(what) + std::to_string(client) + "." + std::to_string(number);
}

}  // namespace

void SimulatedClient::complain(const char* invariant, std::string text) {
  verdict_.report(Breach::kCorrectness, invariant,
                  "client " + std::to_string(index_) + ": " + std::move(text));
}

void SimulatedClient::count(std::uint64_t Counts::*field) {
  ++(verdict_.counts.*field);
  ++(counts_.*field);
}

std::optional<std::uint64_t> SimulatedClient::waits_since_ns() const {
  std::optional<std::uint64_t> oldest;
  const auto take = [&oldest](std::uint64_t since_ns) {
    oldest = std::min(oldest.value_or(since_ns), since_ns);
  };
  if (asked_ns_ != 0) take(asked_ns_);
  for (const Flight& flight : flights_) {
    if (!flight.status.ready()) take(flight.since_ns);
  }
  for (const Fetch& fetch : fetches_) {
    if (!fetch.done.ready()) take(fetch.since_ns);
  }
  return oldest;
}

void SimulatedClient::live(Client client) {
  client_ = std::move(client);
  if (world_.is_contest) {
    compete();
  } else if (prepare()) {
    for (std::uint32_t i = 0; i < world_.actions && verdict_.ok(); ++i) act();
  }
  finish();
}

/// Hosts may have to come up, or to come back: it is worth asking again for a while.
Result<Slice> SimulatedClient::acquire(const SliceRequest& request) {
  const auto acquire = [this, &request] { return client_.acquire_slice(request); };
  auto slice = ask(acquire);
  for (int i = 0; i < kAskAgain && world_.has_processes && !slice.ok(); ++i) {
    if (slice.status().code() != StatusCode::kIslandUnavailable) break;
    pause_();
    slice = ask(acquire);
  }
  return slice;
}

ArraySpec SimulatedClient::random_spec() {
  const Slice& slice = slices_[random_.below(slices_.size())];
  const std::int64_t rows = random_.chance(50) ? world_.rows : world_.rows_large;
  const DType dtype = random_.chance(60) ? DType::kF32 : DType::kI32;
  return {{dtype, {rows, kColumns}}, NamedSharding(slice.mesh(), make_spec(slice.mesh(), random_))};
}

bool SimulatedClient::prepare() {
  const std::size_t slices = 1 + random_.below(3);
  for (std::size_t i = 0; i < slices; ++i) {
    SliceRequest request;
    request.devices = 1;
    while (request.devices * 2 <= world_.cluster.devices && random_.chance(65)) {
      request.devices *= 2;
    }
    if (request.devices == 4 && random_.chance(50)) {
      request.mesh = {{"x", 2}, {"y", 2}};
    } else if (request.devices > 1 || random_.chance(30)) {
      request.mesh = {{"x", request.devices}};
    }
    if (random_.chance(70)) {
      request.island = static_cast<std::int32_t>(random_.below(world_.cluster.islands));
    }
    request.contiguous = random_.chance(30);
    auto slice = acquire(request);
    if (!slice.ok()) {
      // Devices may be gone before anybody has asked for them.
      const bool is_excused =
          (is_loss(slice.status()) && excuses_.of_devices()) || is_of_session(slice.status());
      if (!is_excused) complain("I3", "a slice was refused: " + slice.status().to_string());
      return false;
    }
    slices_.push_back(*slice);
  }
  if (slices > 1) cover(Feature::kSeveralSlices);
  const std::size_t functions = 2 + random_.below(6);
  for (std::size_t i = 0; i < functions; ++i) {
    const std::size_t slice = random_.below(slices_.size());
    auto made =
        make_function(client_, slices_[slice], slice, world_, random_, name_of(index_, "", i));
    if (!made.ok()) {
      complain("I3", "a function was refused: " + made.status().to_string());
      return false;
    }
    functions_.push_back(*std::move(made));
  }
  for (int i = 0; i < 4; ++i) specs_.push_back(random_spec());
  const std::size_t programs = 1 + random_.below(3);
  for (std::size_t i = 0; i < programs; ++i) {
    if (!make_program(i)) return false;
  }
  return true;
}

bool SimulatedClient::make_program(std::size_t number) {
  std::vector<ArraySpec> parameters;
  const std::size_t count = 1 + random_.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    parameters.push_back(specs_[random_.below(specs_.size())]);
  }
  ProgramOptions options;
  options.dispatch = random_.chance(25) ? DispatchMode::kSequential : DispatchMode::kParallel;
  Traits traits;
  for (const ArraySpec& spec : parameters) traits.slices.insert(spec.sharding.mesh().slice());
  traits.is_sequential = options.dispatch == DispatchMode::kSequential;
  const std::size_t nodes = 1 + random_.below(random_.chance(80) ? 6 : 12);
  const auto body = [&](std::span<const Traced> in) {
    std::vector<Traced> values(in.begin(), in.end());
    for (std::size_t n = 0; n < nodes; ++n) {
      const FunctionPlan& plan = functions_[random_.below(functions_.size())];
      const TensorType wanted{plan.dtype, {plan.rows, kColumns}};
      std::vector<Traced> fitting;
      for (const Traced& value : values) {
        if (value.type() == wanted) fitting.push_back(value);
      }
      if (fitting.empty() || random_.chance(10)) {
        const Traced& value = values[random_.below(values.size())];
        const Slice& slice = slices_[random_.below(slices_.size())];
        traits.slices.insert(slice.id());
        values.push_back(value.reshard({slice.mesh(), make_spec(slice.mesh(), random_)}));
        continue;
      }
      std::vector<Traced> operands;
      for (std::size_t i = 0; i < plan.operands; ++i) {
        // Late values more often, so that chains grow long.
        const std::size_t at =
            std::max(random_.below(fitting.size()), random_.below(fitting.size()));
        operands.push_back(fitting[at]);
      }
      values.push_back(plan.function(operands));
      traits.slices.insert(slices_[plan.slice].id());
      traits.is_irregular |= plan.is_irregular;
      traits.is_uncompilable |= plan.is_uncompilable;
    }
    std::vector<Traced> outputs;
    const std::size_t wanted = 1 + random_.below(3);
    for (std::size_t i = 0; i < wanted; ++i) {
      const std::size_t from = random_.chance(90) ? in.size() : 0;
      Traced value = values[from + random_.below(values.size() - from)];
      for (const ArraySpec& spec : specs_) {
        if (spec.type == value.type() && random_.chance(30)) {
          value = value.reshard(spec.sharding);
          traits.slices.insert(spec.sharding.mesh().slice());
          break;
        }
      }
      outputs.push_back(value);
    }
    return outputs;
  };
  auto program = client_.program(name_of(index_, "program", number), body, parameters, options);
  if (!program.ok()) {
    complain("I3", "a program was refused: " + program.status().to_string());
    return false;
  }
  programs_.push_back(*program);
  traits_.push_back(traits);
  return true;
}

void SimulatedClient::act() {
  if (random_.chance(30)) pause_();
  const std::uint64_t choice = random_.below(100);
  if (choice < 50) {
    execute();
  } else if (choice < 55) {
    put();
  } else if (choice < 67) {
    if (!held_.empty()) fetch(held_[random_.below(held_.size())], random_.chance(40));
  } else if (choice < 75) {
    cancel();
  } else if (choice < 82) {
    reshard();
  } else if (choice < 85) {
    rebind();
  } else if (choice < 95) {
    drop();
  } else if (choice < 98) {
    if (!flights_.empty()) check(flights_[random_.below(flights_.size())]);
  } else {
    // A run may wait for a put that waits for room, which this client alone could make.
    const Status status = ask([this] { return client_.drain(); });
    const bool waits = world_.is_memory_tight && status.code() == StatusCode::kDeadlineExceeded;
    if (!status.ok() && !waits && !is_of_session(status))
      complain("I2", "drain: " + status.to_string());
  }
  while (held_.size() > kHeldMax) drop();
}

/// Hands in equal runs, one after another and all at once, so that some wait all the time.
void SimulatedClient::compete() {
  // All devices, so that both clients want the same ones.
  const std::uint32_t devices = world_.cluster.devices;
  auto slice = client_.acquire_slice({.devices = devices, .mesh = {{"x", devices}}, .island = 0});
  if (!slice.ok()) return complain("I3", "a slice was refused: " + slice.status().to_string());
  slices_.push_back(*slice);
  const NamedSharding sharding(slice->mesh(), P());
  const TensorType type{DType::kI32, {world_.rows, kColumns}};
  auto step = client_.function(name_of(index_, "step", 0),
                               [](Tensor x) { return minimum(x + 1, 9); }, {type});
  if (!step.ok()) return complain("I3", "a function was refused: " + step.status().to_string());
  const auto body = [&](Traced value) {
    for (std::uint32_t i = 0; i < world_.chain; ++i) value = (*step)(value);
    return value;
  };
  specs_.push_back({type, sharding});
  auto program = client_.program(name_of(index_, "program", 0), body, {specs_[0]});
  if (!program.ok()) {
    return complain("I3", "a program was refused: " + program.status().to_string());
  }
  programs_.push_back(*program);
  const Held argument = put_value(specs_[0]);
  auto expected = oracle_.evaluate(*program, {argument.value});
  if (!expected.ok()) return complain("I3", "the oracle: " + expected.status().to_string());
  // Compiled, loaded and warm before it counts.
  if (Status status = program->execute({argument.array}).status().get().status(); !status.ok()) {
    return complain("I3", "a run failed: " + status.to_string());
  }
  count(&Counts::runs);
  count(&Counts::ok);
  begin_();
  // The one with the smaller share must not be alone before enough gangs were counted.
  const std::uint64_t runs = 2 * ShareChecker::kGangs / world_.chain;
  for (std::uint64_t i = 0; i < runs; ++i) {
    Run run = program->execute({argument.array});
    count(&Counts::runs);
    flights_.push_back({run.status(), Expectation::kValue, "run " + std::to_string(i), {}});
    if (i % 64 == 0) held_.push_back({run.output(0), Expectation::kValue, (*expected)[0]});
  }
}

SimulatedClient::Held SimulatedClient::put_value(const ArraySpec& spec) {
  Held held;
  held.is_put = true;
  held.slices = {spec.sharding.mesh().slice()};
  held.value.resize(spec.type.bytes());
  for (std::size_t i = 0; i < held.value.size() / 4; ++i) {
    const auto whole = static_cast<std::int32_t>(random_.between(-9, 9));
    const auto real = static_cast<float>(whole);
    std::memcpy(held.value.data() + 4 * i,
                spec.type.dtype == DType::kF32 ? static_cast<const void*>(&real) : &whole, 4);
  }
  // The other semantics would need the bytes to stay where they are: the oracle's are moved.
  held.array = client_.put_bytes(spec.type, held.value.data(), held.value.size() / 4, spec.sharding,
                                 HostBufferSemantics::kImmutableOnlyDuringCall);
  if (Status status = held.array.error(); !status.ok()) {
    if (!is_excused(status, held.slices)) complain("I3", "put was refused: " + status.to_string());
    cover(Feature::kPutRefused);
    held.expectation = Expectation::kEither;
  }
  return held;
}

void SimulatedClient::put() { held_.push_back(put_value(specs_[random_.below(specs_.size())])); }

SimulatedClient::Held SimulatedClient::take_argument(const ArraySpec& spec) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (held_[i].array.spec() == spec) fitting.push_back(i);
  }
  if (!fitting.empty() && random_.chance(85)) {
    return held_[fitting[random_.below(fitting.size())]];
  }
  held_.push_back(put_value(spec));
  return held_.back();
}

void SimulatedClient::execute() {
  const std::size_t number = random_.below(programs_.size());
  const Program& program = programs_[number];
  std::vector<Held> arguments;
  std::vector<Array> arrays;
  for (const ArraySpec& spec : program.parameters()) {
    arguments.push_back(take_argument(spec));
    arrays.push_back(arguments.back().array);
  }
  const bool is_named_once = std::count(arrays.begin(), arrays.end(), arrays[0]) == 1;
  const bool donates = is_named_once && random_.chance(15);
  Run run = donates ? program.execute(arrays, {.donate = {0}}) : program.execute(arrays);
  const Traits& traits = traits_[number];
  cover(traits.is_sequential ? Feature::kSequentialRun : Feature::kParallelRun);
  if (traits.is_irregular) cover(Feature::kIrregularRun);
  if (traits.is_uncompilable) cover(Feature::kUncompilableFunction);
  if (donates) {
    cover(Feature::kDonation);
    std::erase_if(held_, [&arrays](const Held& held) { return held.array == arrays[0]; });
  }
  if (run.id() != 0) return note_run(program, traits.slices, arguments, std::move(run));
  cover(Feature::kRunRefused);
  const Status status = run.status().get().status();
  if (!is_excused(status, traits.slices))
    complain("I3", "a run was refused: " + status.to_string());
}

void SimulatedClient::note_run(const Program& program, std::set<SliceId> slices,
                               const std::vector<Held>& arguments, Run run) {
  Flight flight;
  flight.since_ns = now_ns();
  flight.slices = std::move(slices);
  flight.name = "run of " + program.name() + ", number " + std::to_string(run.id());
  count(&Counts::runs);
  std::vector<program::GlobalArray> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Held& argument = arguments[i];
    // A run that fails poisons all its outputs, also those that had been made before; a run that
    // was stamped before the failure was known may have read such a one (docs/decisions.md).
    if (argument.expectation != Expectation::kValue && flight.expectation == Expectation::kValue) {
      flight.expectation = Expectation::kEither;
    }
    if (!argument.value.empty()) values.push_back(argument.value);
    flight.slices.insert(argument.slices.begin(), argument.slices.end());
  }
  std::vector<program::GlobalArray> outputs(run.size());
  if (values.size() == arguments.size()) {
    auto expected = oracle_.evaluate(program, std::move(values));
    if (expected.ok()) {
      outputs = *std::move(expected);
    } else {
      flight.expectation = Expectation::kFailure;
    }
  } else if (flight.expectation == Expectation::kValue) {
    flight.expectation = Expectation::kEither;
  }
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (random_.chance(20)) continue;  // Never asked for.
    stories_[run.output(i).id()] = "output " + std::to_string(i) + " of " + program.to_string();
    held_.push_back(
        {run.output(i), flight.expectation, std::move(outputs[i]), false, flight.slices});
  }
  flight.status = run.status();
  if (random_.chance(70)) {
    flight.run = std::move(run);
  } else {
    cover(Feature::kDroppedRun);
  }
  flights_.push_back(std::move(flight));
}

void SimulatedClient::fetch(const Held& held, bool waits) {
  cover(Feature::kFetch);
  Fetch fetch;
  fetch.bytes = std::make_unique<std::vector<std::byte>>(held.array.type().bytes());
  fetch.done = held.array.to_host(std::span<std::byte>(*fetch.bytes));
  fetch.expectation = held.expectation;
  fetch.value = held.value;
  fetch.id = held.array.id();
  fetch.name = held.array.to_string();
  fetch.is_put = held.is_put;
  fetch.slices = held.slices;
  fetch.since_ns = now_ns();
  if (waits) {
    ask([this, &fetch] {
      check(fetch);
      return true;
    });
  } else {
    fetches_.push_back(std::move(fetch));
  }
}

bool SimulatedClient::is_excused(const Status& status, const std::set<SliceId>& slices) const {
  const bool is_of_memory =
      world_.is_memory_tight &&
      (status.code() == StatusCode::kResourceExhausted || status.code() == StatusCode::kInputLost);
  return is_of_memory || is_of_loss(status, slices);
}

/// The error of something that one of `slices` had on a device that was lost, or would have there.
bool SimulatedClient::is_of_loss(const Status& status, const std::set<SliceId>& slices) const {
  return is_loss(status) && std::any_of(slices.begin(), slices.end(), excuses_.of_slice);
}

bool SimulatedClient::is_of_session(const Status& status) const {
  if (status.code() == StatusCode::kDeadlineExceeded && excuses_.of_delay()) return true;
  return is_loss(status) && excuses_.of_session();
}

void SimulatedClient::check(Fetch& fetch) {
  const Status status = fetch.done.get().status();
  if (!verdict_.ok()) return;
  if (is_of_loss(status, fetch.slices)) cover(Feature::kArrayOnLostDevice);
  if (status.ok()) {
    if (fetch.expectation == Expectation::kFailure) {
      complain("I3", fetch.name + " has a value, but what made it failed: " + stories_[fetch.id]);
    } else if (!fetch.value.empty() && *fetch.bytes != fetch.value) {
      complain("I1", fetch.name + " " + difference(fetch.value, *fetch.bytes) + ", " +
                         stories_[fetch.id]);
    }
    ++verdict_.counts.values_checked;
  } else if (fetch.is_put && fetch.id != 0 && status.code() == StatusCode::kResourceExhausted) {
    cover(Feature::kPutOverQuota);
    if (!is_excused(status, {})) complain("I3", fetch.name + " was refused: " + status.to_string());
  } else if (fetch.expectation == Expectation::kValue && !is_excused(status, fetch.slices)) {
    complain("I3", fetch.name + " has an error that nothing caused: " + status.to_string());
  }
}

void SimulatedClient::check(Flight& flight) {
  const Status status = flight.status.get().status();
  if (!verdict_.ok()) return;
  if (status.ok() && flight.expectation == Expectation::kFailure) {
    complain("I3", flight.name + " succeeded, but a function or an input of it failed");
  } else if (!status.ok() && flight.expectation == Expectation::kValue &&
             !is_excused(status, flight.slices)) {
    complain("I3", flight.name + " failed, and nothing caused it: " + status.to_string());
  }
}

void SimulatedClient::cancel() {
  if (!world_.has_cancels || flights_.empty()) return;
  Flight& flight = flights_[random_.below(flights_.size())];
  if (!flight.run) return;
  flight.run.cancel();
  cover(Feature::kCancel);
  if (flight.expectation == Expectation::kValue) flight.expectation = Expectation::kEither;
  // Whatever was made from it may be poison now, and so may what was made from that.
  for (Held& held : held_) {
    if (held.expectation == Expectation::kValue) held.expectation = Expectation::kEither;
  }
  for (Fetch& fetch : fetches_) {
    if (fetch.expectation == Expectation::kValue) fetch.expectation = Expectation::kEither;
  }
  for (Flight& other : flights_) {
    if (other.expectation == Expectation::kValue) other.expectation = Expectation::kEither;
  }
}

void SimulatedClient::reshard() {
  if (held_.empty()) return;
  const Held held = held_[random_.below(held_.size())];
  const Slice& slice = slices_[random_.below(slices_.size())];
  const NamedSharding target(slice.mesh(), make_spec(slice.mesh(), random_));
  std::set<SliceId> slices = held.slices;
  slices.insert(slice.id());
  auto moved = held.array.reshard(target);
  if (!moved.ok()) {
    if (held.expectation == Expectation::kValue && !is_excused(moved.status(), slices)) {
      complain("I3", "reshard was refused: " + moved.status().to_string());
    }
    return;
  }
  const bool is_certain = held.expectation == Expectation::kValue;
  const Expectation expectation = is_certain ? Expectation::kValue : Expectation::kEither;
  cover(Feature::kReshard);
  // A reshard is a run too, of a program with no name.
  count(&Counts::runs);
  flights_.push_back(
      {moved->ready(), expectation, "reshard to " + moved->to_string(), {}, slices, now_ns()});
  held_.push_back({*moved, expectation, held.value, false, std::move(slices)});
}

void SimulatedClient::rebind() {
  if (!world_.has_rebinds) return;
  Slice& slice = slices_[random_.below(slices_.size())];
  const Status status = ask([&slice] { return slice.rebind(); });
  if (status.ok()) cover(Feature::kRebind);
  if (!status.ok() && status.code() != StatusCode::kResourceExhausted &&
      !is_of_loss(status, {slice.id()}) && !is_of_session(status)) {
    complain("I3", "rebind was refused: " + status.to_string());
  }
}

void SimulatedClient::drop() {
  if (held_.empty()) return;
  const std::size_t at = random_.below(held_.size());
  if (random_.chance(20)) {
    Array array = held_[at].array;
    array.delete_now();
    cover(Feature::kDeletedArray);
    // All handles of it are of no use now.
    std::erase_if(held_, [&array](const Held& held) { return held.array == array; });
    return;
  }
  cover(Feature::kDroppedHandle);
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Waits for everything that was begun, and lets the handles of runs go.
void SimulatedClient::settle() {
  for (Fetch& fetch : fetches_) check(fetch);
  for (Flight& flight : flights_) {
    check(flight);
    if (!flight.status.ready()) continue;
    const Status status = flight.status.get().status();
    if (is_of_loss(status, flight.slices)) {
      cover(Feature::kRunOnLostDevice);
      const bool is_refused = status.message().find("no other device") != std::string::npos;
      if (is_refused) cover(Feature::kRunWithoutDevices);
    }
    if (status.ok()) {
      count(&Counts::ok);
    } else if (status.code() == StatusCode::kCancelled) {
      count(&Counts::cancelled);
    } else {
      count(&Counts::failed);
    }
  }
  fetches_.clear();
  flights_.clear();
  std::set<ArrayId> held;
  for (const Held& one : held_) {
    if (one.array.id() != 0) held.insert(one.array.id());
  }
  if (verdict_.ok()) rest_(held);
}

void SimulatedClient::finish() {
  if (random_.chance(80)) {
    for (const Held& held : held_) fetch(held, false);
  }
  if (random_.chance(50)) held_.clear();
  settle();
  held_.clear();
  if (client_ && verdict_.ok()) {
    const Status status = ask([this] { return client_.drain(); });
    if (!status.ok() && !is_of_session(status)) complain("I2", "drain: " + status.to_string());
  }
  programs_.clear();
  functions_.clear();
  slices_.clear();
  client_ = Client();
}

}  // namespace seaway::sim
