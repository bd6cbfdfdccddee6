// What a checked client does, round by round.

#include "hostile/checked_client.hpp"

#include <algorithm>
#include <utility>

#include "seaway/app.hpp"

namespace seaway::hostile {
namespace {

constexpr std::uint64_t kTroubleNs = 5'000'000;  // Before it tries again.

NamedSharding by_rows(const Slice& slice) { return NamedSharding(slice.mesh(), P("x")); }

}  // namespace

bool CheckedClient::is_fine(const std::string& what, const Status& status) {
  if (status.ok()) return true;
  if (status.code() == StatusCode::kControllerRestarted) has_ended_ = true;
  around_.complain(what + " failed: " + status.to_string());
  return false;
}

bool CheckedClient::is_equal(const std::string& what, const std::vector<float>& seen,
                             float wanted) {
  const auto is_other = [wanted](float one) { return one != wanted; };
  if (std::none_of(seen.begin(), seen.end(), is_other)) return true;
  around_.complain(what + " has a wrong value");
  return false;
}

void CheckedClient::live(Client client) {
  client_ = std::move(client);
  while (!around_.is_over() && !has_ended_) {
    const bool is_whole = round();
    if (is_whole) ++whole_rounds_;
    doing_ = "pause";
    around_.pause(1 + (is_whole ? random_.below(habits_.pause_ns_max) : kTroubleNs));
  }
  doing_ = "end";
  held_.clear();
  actors_.clear();
  stages_.clear();
  client_ = {};
}

bool CheckedClient::round() {
  bool is_whole = prepare();
  if (is_whole) is_whole = habits_.has_actors ? share() : work();
  if (is_whole) is_whole = ask();
  if (random_.chance(30)) is_whole &= stop_actors();
  return is_whole;
}

bool CheckedClient::prepare() {
  // Definitions last for several rounds.
  if (stages_.size() == habits_.islands.size() && random_.chance(60)) return true;
  // They use the slices.
  if (!stop_actors()) return false;
  for (const Stage& stage : std::exchange(stages_, {})) {
    doing_ = "releases a slice";
    Slice slice = stage.slice;
    if (!is_fine("releasing a slice", slice.release())) return false;
  }
  for (const std::uint32_t island : habits_.islands) {
    Stage stage;
    SliceRequest request;
    request.island = static_cast<std::int32_t>(island);
    request.devices = random_.chance(70) ? habits_.devices : 1;
    request.mesh = {{"x", request.devices}};
    doing_ = "acquires a slice";
    const auto slice = client_.acquire_slice(request);
    // The cluster may have begun just now.
    if (slice.status().code() == StatusCode::kIslandUnavailable && whole_rounds_ == 0) return false;
    if (!is_fine("acquiring a slice", slice.status())) return false;
    stage.slice = *slice;
    doing_ = "defines functions";
    const auto twice = sim::make_twice(client_, *slice);
    if (!is_fine("a function", twice.status())) return false;
    stage.twice = *twice;
    FunctionOptions options;
    options.mesh = slice->mesh();
    const auto sum = client_.function(
        "sum", [](const Tensor& x) { return all_reduce(x, "x"); },
        {f32({sim::kSharedElements / request.devices})}, options);
    if (!is_fine("a function with a collective", sum.status())) return false;
    stage.sum = sum->on(*slice);
    stages_.push_back(std::move(stage));
  }
  return true;
}

/// Twice on each island, sums over the devices, and twice again; from island to island.
bool CheckedClient::work() {
  doing_ = "defines a program";
  ProgramOptions options;
  if (random_.chance(20)) options.dispatch = DispatchMode::kSequential;
  float factor = 1;
  const bool sums = random_.chance(60);
  for (const Stage& stage : stages_) {
    factor *= sums ? 2 * static_cast<float>(stage.slice.mesh().device_count()) : 2;
  }
  const auto program = client_.program(
      "chain",
      [&](const Traced& x) {
        Traced y = x;
        for (std::size_t i = 0; i < stages_.size(); ++i) {
          if (i > 0) y = y.reshard(by_rows(stages_[i].slice));
          y = stages_[i].twice(y);
          if (sums) y = stages_[i].sum(y);
        }
        return y;
      },
      {sim::shared_spec(stages_[0].slice)}, options);
  if (!is_fine("a program", program.status())) return false;
  bool is_whole = true;
  for (std::uint64_t left = random_.between(1, 4); left > 0; --left) {
    doing_ = "puts and executes";
    const auto value = static_cast<float>(1 + random_.below(1000));
    const Array input =
        sim::put_shared(client_, stages_[0].slice, static_cast<std::int64_t>(value));
    const Run run = program->execute({input});
    const Run other = program->execute({input});
    if (random_.chance(habits_.cancel_percent)) Run(other).cancel();
    doing_ = "fetches an upload";
    if (random_.chance(30)) {
      const auto seen = input.to_host<float>().get();
      is_whole &=
          is_fine("fetching an upload", seen.status()) && is_equal("an upload", *seen, value);
    }
    doing_ = "fetches an output";
    const auto seen = run.output(0).to_host<float>().get();
    is_whole &= is_fine("fetching an output", seen.status()) &&
                is_equal("an output", *seen, factor * value);
    doing_ = "waits for a run";
    is_whole &= is_fine("a run", run.status().get().status());
    doing_ = "waits for a run that may be cancelled";
    const Status ended = other.status().get().status();
    if (ended.code() != StatusCode::kCancelled) is_whole &= is_fine("another run", ended);
    if (!is_whole) break;
  }
  return is_whole;
}

bool CheckedClient::note(const std::string& what, const Result<Message<sim::Shared>>& answer) {
  if (!is_fine(what, answer.status())) return false;
  if ((*answer)->getValue() == 0) return true;  // It kept none.
  const auto array = answer->array(0);
  if (!is_fine("the array beside " + what, array.status())) return false;
  held_.push_back({*array, (*answer)->getValue()});
  return true;
}

bool CheckedClient::share() {
  if (actors_.empty()) {
    for (const Stage& stage : stages_) {
      doing_ = "spawns an actor";
      const std::uint32_t island = habits_.islands[&stage - stages_.data()];
      const auto host =
          static_cast<std::uint32_t>(island * habits_.hosts + random_.below(habits_.hosts));
      SpawnOptions options(client_.hosts().at({host}));
      if (actors_.empty()) options = std::move(options).named(habits_.spawns);
      auto spawned = client_.spawn<sim::Sharer>(options, stage.slice, std::vector<Array>(),
                                                std::vector<std::int64_t>());
      if (!is_fine("spawning an actor", spawned.status())) return false;
      actors_.push_back(*std::move(spawned));
    }
  }
  bool is_whole = true;
  for (std::uint64_t left = random_.between(2, 6); left > 0 && is_whole; --left) {
    is_whole = share_once();
  }
  return is_whole;
}

bool CheckedClient::share_once() {
  const auto any = [this] { return actors_[random_.below(actors_.size())].at(0); };
  const auto value = static_cast<std::int64_t>(1 + random_.below(1000));
  if (held_.size() > 4) held_.erase(held_.begin());
  doing_ = "asks an actor for an array";
  if (!note("make_one", any()
                            .call(&sim::Sharer::make_one,
                                  [value](sim::MakeOne::Builder m) { m.setValue(value); })
                            .get())) {
    return false;
  }
  doing_ = "gives an actor an array";
  const sim::SharedArray one{sim::put_shared(client_, stages_[0].slice, value), value};
  if (!note("take", any()
                        .call(&sim::Sharer::take,
                              [&](sim::Share::Builder m, Attached& beside) {
                                beside.add(one.array);
                                m.setValue(one.value);
                                m.setIsUsed(random_.chance(50));
                              })
                        .get())) {
    return false;
  }
  doing_ = "has an actor give another one an array";
  if (!note("pass", any()
                        .call(&sim::Sharer::pass,
                              [&](sim::Pass::Builder m, Attached& beside) {
                                beside.add(any());
                                m.setIsUsed(random_.chance(50));
                              })
                        .get())) {
    return false;
  }
  doing_ = "has an actor read an array";
  const auto looked = any().call(&sim::Sharer::look, [](sim::Look::Builder) {}).get();
  if (!is_fine("look", looked.status())) return false;
  if ((*looked)->getValue() != (*looked)->getSeen()) {
    around_.complain("an actor has read " + std::to_string((*looked)->getSeen()) + " and not " +
                     std::to_string((*looked)->getValue()));
    return false;
  }
  if (held_.empty()) return true;
  doing_ = "reads an array of an actor's";
  const sim::SharedArray& read = held_[random_.below(held_.size())];
  const auto seen = read.array.to_host<float>().get();
  return is_fine("reading an array of an actor's", seen.status()) &&
         is_equal("an array of an actor's", *seen, static_cast<float>(read.value));
}

/// What needs no slice.
bool CheckedClient::ask() {
  bool is_whole = true;
  if (random_.chance(habits_.why_percent)) {
    doing_ = "asks why";
    static_cast<void>(client_.why());
  }
  if (random_.chance(20)) {
    doing_ = "asks for statistics";
    is_whole &= is_fine("stats", client_.stats().status());
  }
  if (random_.chance(10)) {
    doing_ = "drains";
    is_whole &= is_fine("drain", client_.drain());
  }
  if (random_.chance(15) && habits_.may_rebind && !stages_.empty()) {
    doing_ = "rebinds a slice";
    Slice slice = stages_[0].slice;
    is_whole &= is_fine("rebinding a slice", slice.rebind());
  }
  if (!habits_.finds.empty() && random_.chance(50)) {
    doing_ = "finds an actor";
    const auto found = client_.find<sim::Sharer>(habits_.finds);
    // Its owner may be about to spawn it.
    if (found.ok()) {
      doing_ = "calls another client's actor";
      static_cast<void>(found->at(0).call(&sim::Sharer::forget, [](sim::Forget::Builder) {}).get());
    }
  }
  return is_whole;
}

bool CheckedClient::stop_actors() {
  held_.clear();
  bool is_whole = true;
  for (const auto& actor : std::exchange(actors_, {})) {
    doing_ = "stops an actor";
    is_whole &= is_fine("stopping an actor", actor.stop().get().status());
  }
  return is_whole;
}

}  // namespace seaway::hostile
