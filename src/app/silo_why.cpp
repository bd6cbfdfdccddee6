// What a silo waits for, in words: for people who look at a cluster in which nothing moves.

#include "app/silo.hpp"

namespace seaway::app {
namespace {

constexpr std::size_t kLinesMax = 40;

}  // namespace

void Silo::for_each_waiting(
    const std::function<void(MemberName, SiloId, std::uint32_t)>& use) const {
  for (const auto& [id, local] : local_meshes_) {
    const std::uint32_t max = local.mesh->type->mailbox_max;
    for (const std::shared_ptr<Member>& member : local.members) {
      if (!member) continue;
      const auto say = [&](const DeliveryList& list) {
        for (const Delivery* at = list.first(); at; at = at->next) {
          // Reductions and deaths are nobody's messages, as is what a dead host has asked.
          if (at->node || at->death || (at->call == 0 && !at->owes_credit)) continue;
          use(member->member_name(), at->from, max);
        }
      };
      say(member->mailbox);
      say(member->running);
      if (!member->find_extras()) continue;
      for (const auto& [source, list] : member->find_extras()->held) say(list);
    }
  }
}

std::string Silo::why() const {
  std::string text;
  std::size_t lines = 0;
  const auto say = [&](const std::string& line) {
    if (++lines <= kLinesMax) text += "  " + line + "\n";
  };
  calls_.for_each([&](const Call& call) {
    say(std::string(call.request_name) + " to " +
        internal::member_name(call.mesh.get(), call.member.index) + " on silo " +
        std::to_string(call.silo) + (call.is_resting ? " rests before its next try" : "") +
        ", due at " + std::to_string(call.deadline_ns / 1000) + " us");
  });
  for (const auto& [id, owned] : owned_) {
    say(owned.mesh->type->name + " mesh " + std::to_string(id) + ": " +
        std::to_string(owned.not_done) + " of " + std::to_string(owned.places.size()) +
        " members not ended, " + std::to_string(owned.starting) + " starting" +
        (owned.is_ending ? ", ending" : ""));
  }
  for (const auto& [id, node] : nodes_) {
    say("reduction for silo " + std::to_string(node->from) + " lacks " +
        std::to_string(node->missing) + " answers");
  }
  std::size_t waiting = 0;
  incoming_.for_each([&waiting](const std::vector<Delivery*>& places) {
    for (const Delivery* delivery : places) waiting += delivery ? 1 : 0;
  });
  if (waiting > 0) say(std::to_string(waiting) + " calls are at its members");
  if (lines > kLinesMax) text += "  and " + std::to_string(lines - kLinesMax) + " more\n";
  return text;
}

}  // namespace seaway::app
