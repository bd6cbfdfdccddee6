// Handlers that answer at once, or when another one has.

#include "sim/exhaustive/call_actor.hpp"

namespace seaway::exhaustive {
namespace {

auto numbered(std::uint64_t number) {
  return [number](sim::Plain::Builder m) { m.setNumber(number); };
}
Reply<sim::Told> told(std::uint64_t number) {
  return make<sim::Told>([number](sim::Told::Builder m) { m.setNumber(number); });
}

}  // namespace

Echo::Echo(Self self, CallLedger* ledger) : self_(std::move(self)), ledger_(*ledger) {}

void Echo::note(std::uint64_t number) {
  ledger_.handled[{self_.index(), self_.incarnation()}].push_back(number);
}

Reply<sim::Told> Echo::plain(Request<sim::Plain> request) {
  note(request->getNumber());
  return told(request->getNumber());
}

Task<Reply<sim::Told>> Echo::relay(Request<sim::Relay> request) {
  const std::uint64_t number = request->getNumber();
  note(number);
  auto other = self_.mesh<Echo>().at(request->getAmount());
  const auto answer = co_await other.call(&Echo::plain, numbered(relayed(number)));
  if (!answer.ok()) self_.fail(answer.status());
  co_return told(number);
}

Future<Reply<sim::Told>> ask(const ActorMesh<Echo>& mesh, const AskedCall& call,
                             std::uint64_t number) {
  const ActorRef<Echo> member = mesh.at(call.member);
  if (!call.is_relayed) return member.call(&Echo::plain, numbered(number), call.options);
  return member.call(
      &Echo::relay,
      [number](sim::Relay::Builder m) {
        m.setNumber(number);
        m.setAmount(1);
      },
      call.options);
}

std::uint64_t number_of(const Reply<sim::Told>& reply) { return reply->getNumber(); }

}  // namespace seaway::exhaustive
