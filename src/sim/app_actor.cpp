// Handlers that wait, ask, spawn, stream, fail and remember.

#include "sim/app_actor.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/random.hpp"

namespace seaway::sim {
namespace {

/// While a handler runs or waits; ends with its coroutine.
class HandlerRuns {
 public:
  HandlerRuns(AppStage& stage, std::uint64_t number, const AppLife& life, bool is_marked = false)
      : stage_(stage), number_(number), life_(life), is_marked_(is_marked) {
    write(Handling::Kind::kBegin);
    stage_.ledger.begin(number_, life_, is_marked_);
  }
  ~HandlerRuns() {
    write(Handling::Kind::kEnd);
    stage_.ledger.end(number_, life_, is_marked_);
  }
  HandlerRuns(const HandlerRuns&) = delete;
  HandlerRuns& operator=(const HandlerRuns&) = delete;

 private:
  void write(Handling::Kind kind) {
    stage_.history.handle(kind, number_, life_.member, life_.incarnation, is_marked_);
  }

  AppStage& stage_;
  const std::uint64_t number_;
  const AppLife life_;
  const bool is_marked_;
};

}  // namespace

AppLife life_of(const Self& self, MemberName name) { return {name, self.incarnation()}; }

template <bool kTight>
WorldActor<kTight>::WorldActor(Self self, AppStage* stage, std::uint32_t level)
    : self_(std::move(self)),
      stage_(*stage),
      level_(level),
      life_(life_of(self_, self_.template ref<WorldActor>().name())) {
  stage_.ledger.be_born(life_, self_.here().hosts.front());
}

template <bool kTight>
WorldActor<kTight>::~WorldActor() {
  stage_.ledger.die(life_);
}

template <bool kTight>
Reply<Told> WorldActor<kTight>::tell(std::uint64_t number, std::uint64_t value) const {
  return make<Told>([&](Told::Builder m) {
    m.setNumber(number);
    m.setValue(value);
    m.setIndex(index());
    m.setIncarnation(life_.incarnation);
  });
}

template <bool kTight>
AppAsked WorldActor<kTight>::asked(std::string_view what) const {
  AppAsked asked;
  asked.caller = {0, life_.member, life_.incarnation};
  asked.what = what;
  return asked;
}

template <bool kTight>
void WorldActor<kTight>::note_answer(std::uint64_t number, const Result<Reply<Told>>& reply,
                                     MemberName member) const {
  if (!reply.ok()) return stage_.answer(number, reply.status());
  stage_.compare(number, (*reply)->getValue(), value_of(number, (*reply)->getIndex()));
  stage_.answer(number, {}, {member, (*reply)->getIncarnation()});
}

template <bool kTight>
Reply<Told> WorldActor<kTight>::plain(Request<Plain> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  return tell(request->getNumber());
}

/// Another's answer is this one's request.
template <bool kTight>
Reply<Told> WorldActor<kTight>::chain(Request<Told> request) {
  const std::uint64_t number = stage_.ledger.next_in_chain(request->getNumber());
  const HandlerRuns handling(stage_, number, life_);
  return tell(number, value_after(request->getValue()));
}

template <bool kTight>
Task<Reply<Told>> WorldActor<kTight>::slow(Request<Slow> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  static_cast<void>(co_await self_.sleep(std::chrono::nanoseconds(request->getAmount())));
  co_return tell(request->getNumber());
}

template <bool kTight>
Task<Reply<Told>> WorldActor<kTight>::poll(Request<Poll> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_, true);
  static_cast<void>(co_await self_.sleep(std::chrono::nanoseconds(request->getAmount())));
  co_return tell(request->getNumber());
}

template <bool kTight>
Task<Reply<Told>> WorldActor<kTight>::relay(Request<Relay> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  std::vector<ActorMesh<Roomy>> targets;
  for (const auto& [level, mesh] : stage_.meshes) {
    if (level > level_) targets.push_back(mesh);
  }
  for (std::uint64_t i = 0; i < request->getAmount() && !targets.empty(); ++i) {
    const ActorMesh<Roomy>& mesh = targets[self_.random() % targets.size()];
    const ActorRef<Roomy> target = mesh.at(self_.random() % mesh.size());
    AppAsked nested = asked("relayed");
    CallOptions options;
    if (self_.random() % 4 == 0) {
      nested.deadline_ns = 1 + self_.random() % 3'000'000;
      options.deadline = std::chrono::nanoseconds(nested.deadline_ns);
    }
    const std::uint64_t number = stage_.ask(nested);
    const auto reply = co_await target.call(
        &Roomy::plain, [&](auto m) { m.setNumber(number); }, options);
    note_answer(number, reply, target.name());
  }
  co_return tell(request->getNumber());
}

template <bool kTight>
Task<Reply<Told>> WorldActor<kTight>::meet(Request<Meet> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  const auto other = request.template actor<Roomy>(request->getBeside());
  if (!other.ok()) co_return other.status();
  const std::uint64_t number = stage_.ask(asked("met"));
  const auto reply = co_await other->call(&Roomy::plain, [&](auto m) { m.setNumber(number); });
  note_answer(number, reply, other->name());
  co_return tell(request->getNumber());
}

template <bool kTight>
Result<Reply<Told>> WorldActor<kTight>::watch(Request<Watch> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  const auto others = request.template mesh<Roomy>(request->getBeside());
  if (!others.ok()) return others.status();
  const std::uint64_t number = others->at(0).name().mesh;
  // Who watches twice hears twice.
  if (watched_.insert(number).second) {
    stage_.ledger.watch({0, life_.member, life_.incarnation}, number);
    self_.monitor(*others);
  }
  return tell(request->getNumber());
}

template <bool kTight>
Task<Reply<Told>> WorldActor<kTight>::nest(Request<Nest> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  Placement placement = self_.here();
  placement.hosts.clear();
  const std::uint64_t members = 1 + self_.random() % 3;
  for (std::uint64_t i = 0; i < members; ++i) {
    placement.hosts.push_back(static_cast<std::uint32_t>(self_.random() % stage_.hosts));
  }
  placement.axes = {{"child", static_cast<std::uint32_t>(members)}};
  auto children = co_await self_.template spawn<Roomy>(
      SpawnOptions(placement)
          .restart(static_cast<Restart>(self_.random() % 3))
          .intensity({static_cast<std::uint32_t>(self_.random() % 3), 1'000'000'000}),
      &stage_, kTopLevel);
  if (!children.ok()) co_return tell(request->getNumber());  // Their hosts are perhaps dead.
  for (std::uint32_t i = 0; i < children->size(); ++i) {
    const bool is_nest = request->getAmount() > 1 && i == 0;
    const std::uint64_t number = stage_.ask(asked(is_nest ? "nested" : "child"));
    const ActorRef<Roomy> child = children->at(i);
    const auto fill = [&](auto m) {
      m.setNumber(number);
      if constexpr (requires { m.setAmount(1); }) m.setAmount(request->getAmount() - 1);
    };
    // Awaited by name: g++ 12 destroys temporaries of a conditional co_await twice.
    const auto future = is_nest ? child.call(&Roomy::nest, fill) : child.call(&Roomy::plain, fill);
    const Result<Reply<Told>> reply = co_await future;
    note_answer(number, reply, child.name());
  }
  const std::uint64_t end = self_.random() % 3;
  if (end == 0) stage_.history.note_death_wish();
  if (end == 0) static_cast<void>(co_await children->stop(std::chrono::milliseconds(20)));
  if (end == 1) {
    stage_.note_death();
    children->kill();
  }
  co_return tell(request->getNumber());  // Else they end with this one.
}

template <bool kTight>
Task<> WorldActor<kTight>::feed(Request<Feed> request, Writer<Told> writer) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  for (std::uint64_t i = 0; i < request->getAmount(); ++i) {
    const auto reply = tell(i, value_of(request->getNumber() + i, index()));
    const auto written = co_await writer.write(reply);
    if (!written.ok()) co_return;
  }
}

template <bool kTight>
void WorldActor<kTight>::later(Request<Later> request, Promise<Told> promise) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  if (request->getAmount() == 0) return;
  const auto reply = tell(request->getNumber());
  if (request->getAmount() == 1) return promise.keep(reply);
  stage_.post([shared = std::make_shared<Promise<Told>>(std::move(promise)), reply] {
    shared->keep(reply);
  });
}

template <bool kTight>
Status WorldActor<kTight>::crash(Request<Crash> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  stage_.note_death();
  throw std::runtime_error("asked to");
}

template <bool kTight>
void WorldActor<kTight>::hear(const Death& death) {
  stage_.hear({0, life_.member, life_.incarnation}, death);
}

template class WorldActor<false>;
template class WorldActor<true>;

Account::Account(Self self, AppStage* stage)
    : self_(std::move(self)), stage_(*stage), life_(life_of(self_, self_.ref<Account>().name())) {
  stage_.ledger.be_born(life_, self_.here().hosts.front());
}
Account::~Account() { stage_.ledger.die(life_); }

Reply<Told> Account::deposit(Request<Deposit> request) {
  const std::uint64_t number = request->getNumber();
  const HandlerRuns handling(stage_, number, life_);
  if (std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end()) {
    stage_.ledger.deposit_twice(number, life_);
  }
  numbers_.push_back(number);
  return make<Told>([&](Told::Builder m) {
    m.setNumber(number);
    m.setValue(value_of(number, life_.member.index));
    m.setIndex(life_.member.index);
    m.setIncarnation(life_.incarnation);
  });
}

Reply<Deposits> Account::audit(Request<Audit> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  return save();
}

Status Account::crash(Request<Crash> request) {
  const HandlerRuns handling(stage_, request->getNumber(), life_);
  stage_.note_death();
  throw std::runtime_error("asked to");
}

Message<Deposits> Account::save() const {
  return make<Deposits>([this](Deposits::Builder m) {
    auto numbers = m.initNumbers(static_cast<unsigned>(numbers_.size()));
    for (unsigned i = 0; i < numbers.size(); ++i) numbers.set(i, numbers_[i]);
  });
}

Status Account::restore(Message<Deposits> saved) {
  numbers_.clear();
  for (const std::uint64_t number : saved->getNumbers()) numbers_.push_back(number);
  return {};
}

namespace {

template <class A>
void register_actor(internal::TypeTable& table, AppStage* stage) {
  table.add_actor(internal::actor_type<A>(), internal::signature_of<AppStage*, std::uint32_t>(),
                  [stage](const std::shared_ptr<const internal::Construction>& from)
                      -> Result<internal::ObjectFactory> {
                    internal::ArgumentReader reader(*from, nullptr);
                    const auto level = internal::ArgumentCodec<std::uint32_t>::read(reader);
                    if (Status status = reader.end(); !status.ok()) return status;
                    return internal::factory_of<A>(stage, level);
                  });
}

}  // namespace

void register_actors(internal::TypeTable& table, AppStage* stage) {
  register_actor<Roomy>(table, stage);
  register_actor<Tight>(table, stage);
  table.add_combine(internal::combine_of<Told>(kAddTold));
}

}  // namespace seaway::sim
