// What clients of actors do.

#include "sim/app_client.hpp"

#include <set>
#include <string>
#include <utility>

namespace seaway::sim {
namespace {

constexpr std::uint64_t kRequestNs = 30'000'000'000;
constexpr std::uint64_t kClientStream = 0x61707063'6c690000;

/// Fills any request that has these.
template <class Message>
void fill(Message m, std::uint64_t number, std::uint64_t amount) {
  m.setNumber(number);
  if constexpr (requires { m.setAmount(amount); }) m.setAmount(amount);
}

}  // namespace

AppClient::AppClient(const AppWorld& world, std::uint32_t number, SimulatedWorld& simulation,
                     AppStage& stage, Verdict& verdict)
    : world_(world),
      number_(number),
      simulation_(simulation),
      stage_(stage),
      verdict_(verdict),
      scribe_(stage.history, number, kRequestNs),
      random_(world.seed, kClientStream + number) {}

void AppClient::live() {
  auto client = scribe_.ask(CallKind::kConnect, [this] { return simulation_.connect({}); });
  if (!client.ok()) return expect_excused("connect", client.status());
  client_ = *std::move(client);
  if (!spawn_all()) return stage_.history.note_death_wish();
  for (std::uint32_t i = 0; i < world_.actions && verdict_.ok(); ++i) {
    // Each has a stream of its own: one less leaves the others as they were.
    random_ = RandomStream(world_.seed, mix64(kClientStream + number_) + 1 + i);
    if (world_.edits.skips(number_ - 1, i)) continue;
    act();
    if (random_.chance(30)) {
      simulation_.sleep(std::chrono::nanoseconds(random_.below(1 + world_.pause_ns)));
    }
  }
  settle_all();
  for (const Future<void>& stop : std::exchange(stops_, {})) expect_stopped(stop.get().status());
  if (accounts_) audit();
  expect_room();
  if (random_.chance(40) && !roomy_.empty()) {
    stage_.note_death();
    stops_.push_back(roomy_.front().stop(std::chrono::milliseconds(50)));
    write_stop();
    expect_stopped(stops_.back().get().status());
  }
  if (verdict_.ok()) scribe_.end_client();
  stage_.note_death();  // Others may still ask what ends now with this client.
}

/// Anything may fail while hosts die, with one of these.
void AppClient::expect_excused(const char* what, const Status& status) {
  if (status.ok() || !verdict_.ok()) return;
  const bool is_excused =
      (status.code() == StatusCode::kHostLost || status.code() == StatusCode::kActorLost) &&
      stage_.ledger.faults.deaths + stage_.ledger.faults.host_kills > 0;
  if (is_excused) return;
  verdict_.report(Breach::kCorrectness, "AP-1",
                  std::string(what) + " failed without a reason: " + status.to_string());
}

/// Those that were busy at the deadline were killed.
void AppClient::expect_stopped(const Status& status) {
  if (status.code() != StatusCode::kDeadlineExceeded) expect_excused("stop", status);
}

SpawnOptions AppClient::random_options() {
  Placement placement;
  const std::uint64_t members = 1 + random_.below(4);
  for (std::uint64_t i = 0; i < members; ++i) {
    placement.hosts.push_back(static_cast<std::uint32_t>(random_.below(world_.hosts)));
  }
  placement.axes = {{"member", static_cast<std::uint32_t>(members)}};
  const auto restart = static_cast<Restart>(random_.chance(60) ? 0 : random_.below(3));
  const bool is_patient = random_.chance(70);
  SpawnOptions options = SpawnOptions(placement).restart(restart).intensity(
      {is_patient ? 1'000'000u : static_cast<std::uint32_t>(random_.below(3)), 1'000'000'000});
  if (!random_.chance(25)) return options;
  spawn_name_ = "mesh" + std::to_string(random_.below(4));
  return std::move(options).named(spawn_name_);
}

template <class A, class... Arguments>
Result<ActorMesh<A>> AppClient::spawn(const SpawnOptions& options, Arguments... arguments) {
  const CallId call = scribe_.begin(CallKind::kSpawn, {}, {StatusCode::kInvalidArgument});
  stage_.history.calls[call].name = std::exchange(spawn_name_, "");
  auto mesh = client_.spawn<A>(options, arguments...);
  if (mesh.ok()) stage_.history.calls[call].mesh = mesh->at(0).name().mesh;
  stage_.history.end(call, mesh.status().code());
  return mesh;
}

/// The newest.
void AppClient::write_stop() {
  const CallId call = scribe_.begin(CallKind::kStop, {}, {StatusCode::kDeadlineExceeded});
  scribe_.watch(call, stops_.back());
}

bool AppClient::spawn_all() {
  const std::uint64_t meshes = 1 + random_.below(3);
  for (std::uint64_t i = 0; i < meshes; ++i) {
    if (world_.has_tight && random_.chance(40)) {
      auto mesh = spawn<Tight>(random_options(), &stage_, 0u);
      if (mesh.ok()) tight_.push_back(*std::move(mesh));
      continue;
    }
    const auto level = static_cast<std::uint32_t>(1 + stage_.meshes.size());
    auto mesh = spawn<Roomy>(random_options(), &stage_, level);
    if (mesh.ok()) {
      roomy_.push_back(*mesh);
      stage_.meshes.emplace_back(level, *mesh);
    } else if (mesh.status().code() != StatusCode::kInvalidArgument) {  // The name is taken.
      expect_excused("spawn", mesh.status());
    }
  }
  if (random_.chance(40)) {
    SpawnOptions options =
        random_options().intensity({1'000'000, 1'000'000'000}).restart(Restart::kMember).named("");
    spawn_name_.clear();
    auto mesh = spawn<Account>(options, &stage_);
    if (mesh.ok()) {
      accounts_ = *std::move(mesh);
      accounts_->on_death(inline_executor(), [is_given_up = is_given_up_](const Death& death) {
        *is_given_up |= death.is_escalated;
      });
    } else {
      expect_excused("spawn", mesh.status());
    }
  }
  return !roomy_.empty() || !tight_.empty() || accounts_;
}

CallOptions AppClient::random_call_options() {
  CallOptions options;
  if (world_.has_deadlines && random_.chance(30)) {
    options.deadline = std::chrono::nanoseconds(1 + random_.below(60'000'000));
  }
  if (random_.chance(20)) options.retries = static_cast<std::uint32_t>(1 + random_.below(5));
  return options;
}

template <class A>
AppAsked AppClient::asked(const char* what, const CallOptions& options) const {
  AppAsked asked;
  asked.caller.client = number_;
  asked.what = what;
  asked.deadline_ns = static_cast<std::uint64_t>(options.deadline.count());
  asked.retries = options.retries;
  asked.is_once = options.once;
  asked.is_tight = std::is_same_v<A, Tight>;
  return asked;
}

void AppClient::act() {
  const std::uint64_t number = random_.below(10);
  if (number == 0 && world_.has_cancels) return cancel();
  if (number <= 2 && accounts_) return deposit();
  if (number == 3 && !pending_.empty()) {
    const std::size_t at = random_.below(pending_.size());
    std::swap(pending_[at], pending_.back());
    Pending one = std::move(pending_.back());
    pending_.pop_back();
    return settle(std::move(one));
  }
  if (random_.chance(15)) return meet_others();
  const std::size_t meshes = roomy_.size() + tight_.size();
  if (meshes == 0) return;
  const std::size_t at = random_.below(meshes);
  if (at < roomy_.size()) return act_on(roomy_[at]);
  act_on(tight_[at - roomy_.size()]);
}

template <class A>
void AppClient::act_on(const ActorMesh<A>& mesh) {
  const std::uint64_t amount = random_.below(2'000'000);
  switch (random_.below(14)) {
    case 0:
    case 1:
      return call_one(mesh, &A::plain, "plain");
    case 2:
      return call_one(mesh, &A::slow, "slow", amount);
    case 3:
      return call_one(mesh, &A::poll, "poll", amount);
    case 4:
      return call_one(mesh, &A::relay, "relay", 1 + random_.below(3));
    case 5:
      return call_one(mesh, &A::nest, "nest", 1 + random_.below(2));
    case 6:
      return call_later(mesh);
    case 7:
      return call_all(mesh);
    case 8:
      return reduce(mesh);
    case 9:
      return chain(mesh);
    case 10:
      return read_stream(mesh);
    case 11:
    case 12: {
      AppAsked sent = asked<A>("send");
      sent.is_send = true;
      const std::uint64_t number = stage_.ask(sent);
      // What is refused is told by a later send, which is then not made.
      static_cast<void>(
          mesh.at(random_.below(mesh.size())).send(&A::plain, [&](auto m) { fill(m, number, 0); }));
      return;
    }
    default:
      return crash(mesh);
  }
}

/// The outcome counts when it comes, and not when somebody looks at it.
void AppClient::note_outcome(std::uint64_t number, MemberName target,
                             const Future<Reply<Told>>& future, std::uint64_t expected) {
  static_cast<void>(future.then(
      inline_executor(), [&stage = stage_, number, target, expected](Result<Reply<Told>> reply) {
        if (!reply.ok()) return stage.answer(number, reply.status());
        stage.compare(number, (*reply)->getValue(),
                      expected ? expected : value_of(number, (*reply)->getIndex()));
        stage.answer(number, {}, {target, (*reply)->getIncarnation()});
      }));
}

void AppClient::keep(std::uint64_t number, MemberName target, Future<Reply<Told>> future,
                     std::uint64_t expected) {
  note_outcome(number, target, future, expected);
  hold({number, std::move(future)});
}

/// Waits for the oldest when there are too many.
void AppClient::hold(Pending pending) {
  pending_.push_back(std::move(pending));
  while (pending_.size() > 12) {
    Pending first = std::move(pending_.front());
    pending_.erase(pending_.begin());
    settle(std::move(first));
  }
}

template <class A, class Q>
void AppClient::call_one(const ActorMesh<A>& mesh, Reply<Told> (A::*method)(Request<Q>),
                         const char* what) {
  const CallOptions options = random_call_options();
  const std::uint64_t number = stage_.ask(asked<A>(what, options));
  const ActorRef<A> target = mesh.at(random_.below(mesh.size()));
  keep(number, target.name(),
       target.call(
           method, [&](auto m) { fill(m, number, 0); }, options));
}

template <class A, class Q>
void AppClient::call_one(const ActorMesh<A>& mesh, Task<Reply<Told>> (A::*method)(Request<Q>),
                         const char* what, std::uint64_t amount) {
  const CallOptions options = random_call_options();
  const std::uint64_t number = stage_.ask(asked<A>(what, options));
  const ActorRef<A> target = mesh.at(random_.below(mesh.size()));
  keep(number, target.name(),
       target.call(
           method, [&](auto m) { fill(m, number, amount); }, options));
}

template <class A>
void AppClient::call_later(const ActorMesh<A>& mesh) {
  const std::uint64_t amount = random_.below(3);
  AppAsked later = asked<A>("later");
  later.is_failing = amount == 0;
  const std::uint64_t number = stage_.ask(later);
  const ActorRef<A> target = mesh.at(random_.below(mesh.size()));
  keep(number, target.name(), target.call(&A::later, [&](auto m) { fill(m, number, amount); }));
}

template <class A>
void AppClient::call_all(const ActorMesh<A>& mesh) {
  AppAsked all = asked<A>("call of all");
  all.members = static_cast<std::uint32_t>(mesh.size());
  const std::uint64_t number = stage_.ask(all);
  const auto replies = mesh.call(&A::plain, [&](auto m) { fill(m, number, 0); }).get();
  for (std::uint32_t i = 0; i < replies.size(); ++i) {
    const auto& reply = replies.at(i);
    if (reply.ok()) {
      stage_.compare(number, reply.value()->getValue(), value_of(number, i));
    }
    stage_.answer(number, reply.status());
  }
}

template <class A>
void AppClient::reduce(const ActorMesh<A>& mesh) {
  const CallOptions options{.deadline = random_call_options().deadline};
  const std::uint64_t number = stage_.ask(asked<A>("reduce", options));
  auto future = mesh.reduce(
      &A::plain, kAddTold, [&](auto m) { fill(m, number, 0); }, options);
  static_cast<void>(future.then(
      inline_executor(), [&history = stage_.history, number](const Result<Reply<Told>>& sum) {
        history.answer(number, sum.status().code(), {}, 0);
      }));
  if (world_.has_cancels && random_.chance(30)) {
    simulation_.sleep(std::chrono::nanoseconds(random_.below(1 + world_.latency_max_ns)));
    stage_.cancel(number);
    future.cancel();
  }
  const auto sum = future.get();
  if (sum.ok()) {
    std::uint64_t right = 0;
    for (std::uint32_t i = 0; i < mesh.size(); ++i) right += value_of(number, i);
    stage_.compare(number, sum.value()->getValue(), right);
  }
  stage_.ledger.answer(number, sum.status());
}

/// Calls whose requests are the answers of others, all asked at once.
template <class A>
void AppClient::chain(const ActorMesh<A>& mesh) {
  std::vector<Pending> all;
  const std::uint64_t head = stage_.ask(asked<A>("head of a chain"));
  const ActorRef<A> first = mesh.at(random_.below(mesh.size()));
  std::uint64_t expected = value_of(head, first.name().index);
  const std::uint64_t pause_ns = random_.below(100'000);
  all.push_back({head, first.call(&A::slow, [&](auto m) { fill(m, head, pause_ns); })});
  note_outcome(head, first.name(), all.back().future, expected);
  const std::uint64_t links = 1 + random_.below(4);
  for (std::uint64_t i = 0; i < links; ++i) {
    AppAsked link = asked<A>("link of a chain");
    link.has_input = true;
    const std::uint64_t number = stage_.ask_with(link, all.back().number);
    const ActorRef<A> target = mesh.at(random_.below(mesh.size()));
    expected = value_after(expected);
    all.push_back({number, target.call(&A::chain, all.back().future)});
    note_outcome(number, target.name(), all.back().future, expected);
  }
  for (Pending& one : all) hold(std::move(one));
}

template <class A>
void AppClient::read_stream(const ActorMesh<A>& mesh) {
  const auto retries = static_cast<std::uint32_t>(random_.chance(30) ? 3 : 0);
  AppAsked fed = asked<A>("feed");
  fed.is_send = true;
  fed.retries = retries;
  const std::uint64_t number = stage_.ask(fed);
  const std::uint64_t amount = random_.below(12);
  const std::uint64_t wanted = random_.chance(20) ? random_.below(6) : UINT64_MAX;
  const CallOptions options{.retries = retries,
                            .credit = static_cast<std::uint32_t>(1 + random_.below(5))};
  auto stream = mesh.stream(
      &A::feed, [&](auto m) { fill(m, number, amount); }, options);
  std::vector<std::uint64_t> read(mesh.size());
  std::vector<bool> is_cut(mesh.size());
  for (std::uint64_t count = 0; count < wanted; ++count) {
    auto item = stream.next().get();
    if (!item.ok()) return expect_excused("next", item.status());
    if (!*item) {
      for (std::size_t i = 0; i < read.size(); ++i) {
        if (!is_cut[i]) stage_.compare(number, read[i], amount);
      }
      return;
    }
    StreamItem<Told>& one = **item;
    if (!one.reply.ok()) {
      is_cut[one.position] = true;
      if (one.reply.status().code() != StatusCode::kResourceExhausted ||
          !std::is_same_v<A, Tight>) {
        expect_excused("a stream", one.reply.status());
      }
      continue;
    }
    stage_.history.item(number, static_cast<std::uint32_t>(one.position),
                        (*one.reply)->getNumber());
    stage_.compare(number, (*one.reply)->getNumber(), read[one.position]);
    stage_.compare(number, (*one.reply)->getValue(),
                   value_of(number + read[one.position], one.position));
    ++read[one.position];
  }
}

template <class A>
void AppClient::crash(const ActorMesh<A>& mesh) {
  if (!world_.has_crashes) return;
  stage_.note_death();
  const ActorRef<A> target = mesh.at(random_.below(mesh.size()));
  if (random_.chance(50)) return target.kill();
  AppAsked failing = asked<A>("crash");
  failing.is_failing = true;
  const std::uint64_t number = stage_.ask(failing);
  const auto outcome = target.call(&A::crash, [&](auto m) { fill(m, number, 0); }).get();
  stage_.answer(number, outcome.status());
}

void AppClient::deposit() {
  if (world_.has_crashes && random_.chance(15)) return crash(*accounts_);
  const CallOptions options{.retries = 12, .once = true};
  const std::uint64_t number = stage_.ask(asked<Account>("deposit", options));
  const ActorRef<Account> target = accounts_->at(random_.below(accounts_->size()));
  keep(number, target.name(),
       target.call(
           &Account::deposit, [&](auto m) { fill(m, number, 0); }, options));
  deposits_.emplace_back(number, target.name());
}

/// Whatever was answered is there.
void AppClient::audit() {
  for (std::uint32_t i = 0; i < accounts_->size(); ++i) {
    const CallOptions options{.retries = 12};
    const std::uint64_t number = stage_.ask(asked<Account>("audit", options));
    const auto left = accounts_->at(i)
                          .call(
                              &Account::audit, [&](auto m) { fill(m, number, 0); }, options)
                          .get();
    stage_.answer(number, left.status());
    // Its tries go on for longer than anything is done to hosts: there it is, unless its owner has
    // lost all of them at once.
    if (!left.ok() && !*is_given_up_ && verdict_.ok()) {
      verdict_.report(Breach::kLiveness, "AP-1",
                      "an account cannot be reached any more: " + left.status().to_string());
    }
    if (!left.ok()) continue;
    std::vector<std::uint64_t> kept;
    for (const std::uint64_t one : left.value()->getNumbers()) kept.push_back(one);
    stage_.history.audit(number_, i, kept);
    const std::set<std::uint64_t> numbers(kept.begin(), kept.end());
    for (const auto& [deposit, member] : deposits_) {
      if (member.index != i || !stage_.ledger.was_fine(deposit)) continue;
      if (!numbers.contains(deposit)) {
        stage_.ledger.deposit_lost(deposit, member);
      }
    }
  }
}

/// Nothing is under way to them any more: nobody but their client asks them.
void AppClient::expect_room() {
  if (tight_.empty()) return;
  simulation_.sleep(std::chrono::seconds(1));
  for (const ActorMesh<Tight>& mesh : tight_) {
    for (std::uint32_t i = 0; i < mesh.size(); ++i) {
      AppAsked last = asked<Tight>("last");
      last.is_tight = false;
      const std::uint64_t number = stage_.ask(last);
      const auto reply = mesh.at(i).call(&Tight::plain, [&](auto m) { fill(m, number, 0); }).get();
      stage_.answer(number, reply.status());
    }
  }
}

void AppClient::cancel() {
  if (pending_.empty()) return;
  const Pending& one = pending_[random_.below(pending_.size())];
  stage_.cancel(one.number);
  pending_[static_cast<std::size_t>(&one - pending_.data())].future.cancel();
}

void AppClient::settle(Pending pending) {
  const auto reply = pending.future.get();
  static_cast<void>(reply);
  if (!stage_.ledger.is_answered(pending.number) && verdict_.ok()) {
    verdict_.report(Breach::kLiveness, "AP-1",
                    "nobody answered request " + std::to_string(pending.number) +
                        " of a client that waited: " + reply.status().to_string());
  }
}

void AppClient::settle_all() {
  for (Pending& one : std::exchange(pending_, {})) settle(std::move(one));
}

// For app_client_meetings.cpp.
template AppAsked AppClient::asked<Roomy>(const char*, const CallOptions&) const;
template void AppClient::call_one(const ActorMesh<Roomy>&, Reply<Told> (Roomy::*)(Request<Plain>),
                                  const char*);

}  // namespace seaway::sim
