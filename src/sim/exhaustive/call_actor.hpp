// The actors of small worlds of calls: they write down what they handle.

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/app_messages.hpp"

namespace seaway::exhaustive {

/// What was handled: the number of each request, in order, by who handled it.
struct CallLedger {
  /// Of which life of which member.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> handled;
};

/// Answers with the number that it is asked.
class Echo {
 public:
  static void describe(ActorType<Echo>& type) {
    type.on(&Echo::plain).on(&Echo::relay, Interleave::kYes);
  }
  Echo(Self self, CallLedger* ledger);

  Reply<sim::Told> plain(Request<sim::Plain> request);
  /// The same, once member `amount` of this mesh has been asked and has answered.
  Task<Reply<sim::Told>> relay(Request<sim::Relay> request);

 private:
  void note(std::uint64_t number);

  Self self_;
  CallLedger& ledger_;
};

/// One call of a client, and its outcome.
struct AskedCall {
  std::uint32_t member = 0;
  bool is_relayed = false;  // Member 0 asks member 1 before it answers.
  CallOptions options = {};
};

/// Makes call `number` of `mesh`; the future's value is the number that the answer names.
Future<Reply<sim::Told>> ask(const ActorMesh<Echo>& mesh, const AskedCall& call,
                             std::uint64_t number);
/// The number that an answer names.
std::uint64_t number_of(const Reply<sim::Told>& reply);

/// What a member's own request of another one is called, when it handles `number`.
constexpr std::uint64_t relayed(std::uint64_t number) { return 100 + number; }

}  // namespace seaway::exhaustive
