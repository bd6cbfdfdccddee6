// What a simulated client does, step by step.

#include "sim/simulated_client.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace seaway::sim {
namespace {

constexpr int kAskAgain = 30;
// Each wait for a host is twice as long as the one before, up to this. All are 3.5 s together: a
// host's first connection may be half open, and that is noticed after a second of silence.
constexpr std::uint64_t kHostWaitMinNs = 1 << 10, kHostWaitMaxNs = 1 << 28;

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

}  // namespace

std::string SimulatedClient::name_of(const char* what, std::size_t number) const {
  return std::string(what) + std::to_string(index_) + "." + std::to_string(number);
}

/// Of function or program `number`, in the history.
std::uint64_t SimulatedClient::effect_key(std::size_t number) const {
  return (std::uint64_t{index_ + 1} << 32) + number;
}

void SimulatedClient::complain(const char* invariant, std::string text,
                               const std::source_location& at) {
  verdict_.report(Breach::kCorrectness, invariant,
                  "client " + std::to_string(index_) + ": " + std::move(text), at);
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
    for (std::uint32_t i = 0; i < world_.actions && verdict_.ok(); ++i) {
      // Each has a stream of its own: one less leaves the others as they were.
      random_ = RandomStream(world_.seed, mix64(kStream + index_) + 1 + i);
      if (!world_.edits.skips(index_, i)) act();
    }
  }
  finish();
}

/// Hosts may have to come up, or to come back: it is worth asking again for a while.
Result<Slice> SimulatedClient::acquire(const SliceRequest& request) {
  const auto acquire = [this, &request] { return client_.acquire_slice(request); };
  CodeSet wishes;
  if (world_.has_processes) wishes |= {StatusCode::kIslandUnavailable};
  auto slice = ask(CallKind::kAcquire, acquire, wishes);
  std::uint64_t wait_ns = kHostWaitMinNs;
  for (int i = 0; i < kAskAgain && world_.has_processes && !slice.ok(); ++i) {
    if (slice.status().code() != StatusCode::kIslandUnavailable) break;
    pause_(wait_ns);
    wait_ns = std::min(2 * wait_ns, kHostWaitMaxNs);
    slice = ask(CallKind::kAcquire, acquire, wishes);
  }
  return slice;
}

ArraySpec SimulatedClient::random_spec() {
  const Slice& slice = slices_[random_.below(slices_.size())];
  const std::int64_t rows = random_.chance(50) ? world_.rows : world_.rows_large;
  const DType dtype = random_.chance(60) ? DType::kF32 : DType::kI32;
  return {{dtype, {rows, kColumns}}, NamedSharding(slice.mesh(), make_spec(slice.mesh(), random_))};
}

/// Only with its session may the definition of something end. Returns false.
bool SimulatedClient::note_refusal(const char* what, const Status& status) {
  has_lost_controller_ |= status.code() == StatusCode::kControllerRestarted;
  if (!is_of_session(status)) {
    complain("I3", std::string(what) + " was refused: " + status.to_string());
  }
  return false;
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
    const auto on_effect = [&history = scribe_.history(), key = effect_key(i)] {
      history.count_effect(key);
    };
    auto made = scribe_.ask(CallKind::kDefine, [&] {
      return make_function(client_, slices_[slice], slice, world_, random_, name_of("", i),
                           on_effect);
    });
    if (!made.ok()) return note_refusal("a function", made.status());
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
      const std::size_t function = random_.below(functions_.size());
      const FunctionPlan& plan = functions_[function];
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
      traits.has_effects |= plan.has_effects;
      if (plan.has_effects) traits.effects.emplace_back(effect_key(function), plan.executions);
      // On another island the same failure may be heard of first, as that of an edge from here.
      if (plan.may_fail) {
        traits.wishes |= {StatusCode::kUserFunctionError, StatusCode::kInputLost};
      }
      if (plan.is_uncompilable) traits.wishes |= {StatusCode::kInvalidArgument};
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
  auto program = scribe_.ask(CallKind::kDefine, [&] {
    return client_.program(name_of("program", number), body, parameters, options);
  });
  if (!program.ok()) return note_refusal("a program", program.status());
  programs_.push_back(*program);
  traits_.push_back(traits);
  return true;
}

void SimulatedClient::act() {
  if (world_.is_flooded) return flood();
  if (random_.chance(30)) pause_(0);
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
    // A run may wait for a put that waits for room, which this client alone could make; or for
    // devices that are given up one after the other.
    const Status status = ask(CallKind::kDrain, [this] { return client_.drain(); });
    const bool waits = (world_.is_memory_tight || !world_.faults.hangs.empty()) &&
                       status.code() == StatusCode::kDeadlineExceeded;
    if (!status.ok() && !waits && !is_of_session(status))
      complain("I2", "drain: " + status.to_string());
  }
  while (held_.size() > kHeldMax) drop();
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
  const CallId put = scribe_.begin(CallKind::kPut);
  held.array = client_.put_bytes(spec.type, held.value.data(), held.value.size() / 4, spec.sharding,
                                 HostBufferSemantics::kImmutableOnlyDuringCall);
  held.written = scribe_.put(put, held.value, spec.type, held.array.error());
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
  const Traits& traits = traits_[number];
  const CallId written = write_run(number, arguments);
  Run run = donates ? program.execute(arrays, {.donate = {0}}) : program.execute(arrays);
  scribe_.watch(written, run.status());
  scribe_.history().calls[written].is_refused = run.id() == 0;
  cover(traits.is_sequential ? Feature::kSequentialRun : Feature::kParallelRun);
  if (traits.is_irregular) cover(Feature::kIrregularRun);
  if (traits.is_uncompilable) cover(Feature::kUncompilableFunction);
  if (donates) {
    cover(Feature::kDonation);
    std::erase_if(held_, [&arrays](const Held& held) { return held.array == arrays[0]; });
    if (run.id() != 0) scribe_.ask_for_gone(arrays[0], arguments[0].written);
  }
  if (run.id() != 0) return note_run(program, traits, arguments, std::move(run), written);
  cover(Feature::kRunRefused);
  const Status status = run.status().get().status();
  const bool is_of_flood = world_.is_flooded && status.code() == StatusCode::kResourceExhausted;
  if (!is_of_flood && !is_excused(status, traits.slices))
    complain("I3", "a run was refused: " + status.to_string());
}

/// What a run of that program is to come to.
CallId SimulatedClient::write_run(std::size_t number, const std::vector<Held>& arguments) {
  std::vector<ValueId> takes;
  for (const Held& argument : arguments) takes.push_back(argument.written);
  const CallId call = scribe_.begin(CallKind::kRun, std::move(takes), traits_[number].wishes);
  scribe_.history().calls[call].what = mix64(effect_key(number));
  scribe_.history().calls[call].effects = traits_[number].effects;
  return call;
}

void SimulatedClient::note_run(const Program& program, const Traits& traits,
                               const std::vector<Held>& arguments, Run run, CallId written) {
  Flight flight;
  flight.written = written;
  flight.since_ns = now_ns();
  flight.slices = traits.slices;
  flight.has_effects = traits.has_effects;
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
    scribe_.history().is_rehearsal = true;
    auto expected = oracle_.evaluate(program, std::move(values));
    scribe_.history().is_rehearsal = false;
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
    held_.push_back({run.output(i), flight.expectation, std::move(outputs[i]), false, flight.slices,
                     scribe_.history().output(written, i)});
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
  fetch.bytes = std::make_shared<std::vector<std::byte>>(held.array.type().bytes());
  const CallId written = scribe_.begin(CallKind::kFetch, {held.written});
  fetch.done = held.array.to_host(std::span<std::byte>(*fetch.bytes));
  scribe_.watch_fetch(written, fetch.done, held.array.type(), fetch.bytes);
  fetch.expectation = held.expectation;
  fetch.value = held.value;
  fetch.id = held.array.id();
  fetch.name = held.array.to_string();
  fetch.is_put = held.is_put;
  fetch.slices = held.slices;
  fetch.since_ns = now_ns();
  if (waits) {
    asked_ns_ = now_ns();
    check(fetch);
    asked_ns_ = 0;
  } else {
    fetches_.push_back(std::move(fetch));
  }
}

bool SimulatedClient::is_excused(const Status& status, const std::set<SliceId>& slices) const {
  // A put that has waited for room for nearly all of its time has little left to arrive in; so has
  // the last of a flood, where credit lets little through at a time.
  const bool is_late_put =
      status.message().find("had not arrived") != std::string::npos &&
      (status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kInputLost);
  const bool is_of_memory =
      world_.is_memory_tight && (status.code() == StatusCode::kResourceExhausted ||
                                 status.code() == StatusCode::kInputLost || is_late_put);
  const bool is_of_flood = world_.is_flooded && is_late_put;
  const bool is_of_mischief =
      std::any_of(slices.begin(), slices.end(),
                  [this, &status](SliceId slice) { return excuses_.of_mischief(status, slice); });
  return is_of_memory || is_of_flood || is_of_mischief || is_of_loss(status, slices) ||
         may_be_wrong(slices);
}

/// Wrong bits that are not noticed make values wrong, and functions fail that look at them.
bool SimulatedClient::may_be_wrong(const std::set<SliceId>& slices) const {
  return std::any_of(slices.begin(), slices.end(), excuses_.of_wrong_bits);
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
    if (may_be_wrong(fetch.slices)) {
      // Who says what it should be?
    } else if (fetch.expectation == Expectation::kFailure) {
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
  scribe_.history().read(flight.written, status.code());
  has_lost_controller_ |= status.code() == StatusCode::kControllerRestarted;
  if (!verdict_.ok()) return;
  if (status.code() == StatusCode::kMaybeExecuted) {
    cover(Feature::kMaybeExecuted);
    if (!flight.has_effects) {
      complain("I7", flight.name + " has no effects, and failed with " + status.to_string());
    }
  }
  if (status.ok() && flight.expectation == Expectation::kFailure && !may_be_wrong(flight.slices)) {
    complain("I3", flight.name + " succeeded, but a function or an input of it failed");
  } else if (!status.ok() && flight.expectation == Expectation::kValue &&
             !is_excused(status, flight.slices)) {
    complain("I3", flight.name + " failed, and nothing caused it: " + status.to_string());
  }
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
    const Status status = ask(CallKind::kDrain, [this] { return client_.drain(); });
    has_lost_controller_ |= status.code() == StatusCode::kControllerRestarted;
    if (!status.ok() && !is_of_session(status)) complain("I2", "drain: " + status.to_string());
  }
  programs_.clear();
  functions_.clear();
  slices_.clear();
  client_ = Client();
  if (verdict_.ok()) scribe_.end_client();
}

}  // namespace seaway::sim
