// Reductions: members of a host combine what they answer, and hosts along a tree.

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/silo.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "seaway/app/task.hpp"

namespace seaway::app {
namespace {

/// Children of each host in the tree.
constexpr std::size_t kFanOut = 8;

}  // namespace

/// One call whose answer comes from the root of a tree of hosts. Host number k of those that have
/// members has 8k + 1 .. 8k + 8 as its children.
void Silo::start_reduction(Member* caller, std::uint32_t client, internal::CallOrder& order,
                           internal::Combine combine) {
  const auto fail = [&order](const Status& status) { order.one->answer(status); };
  if (!order.to.mesh || order.to.count == 0) {
    return fail(check_target(order.to.mesh.get(), UINT32_MAX, order.request_name));
  }
  if (order.argument || order.argument_outcome) {
    return fail(invalid_argument(std::string(order.request_name) +
                                 ": a reduction cannot wait for an unresolved argument; call() "
                                 "can, and reduce() of what it returns"));
  }
  if (Status status = check_room(order.request_name); !status.ok()) return fail(status);
  const Route& route = route_to(order.to.mesh);
  std::vector<SiloId> silos;
  std::map<SiloId, std::vector<std::uint32_t>> members;
  for (std::uint32_t i = 0; i < order.to.count; ++i) {
    const std::uint32_t index = order.to.at(i);
    if (Status status = check_target(order.to.mesh.get(), index, order.request_name);
        !status.ok()) {
      return fail(status);
    }
    const SiloId silo = route.places[index].silo;
    if (!wiring_.network->is_up(silo)) {
      return fail({StatusCode::kHostLost,
                   std::string(order.request_name) + ": " + silo_text(silo) + " was lost"});
    }
    if (members[silo].empty()) silos.push_back(silo);
    members[silo].push_back(index);
  }
  Call& call = begin_call(caller, client, std::move(order.one), order.request_name, silos.front(),
                          due_ns(order.options));
  call.mesh = order.to.mesh;
  call.member = {order.to.mesh->id, order.to.at(0)};
  call.tree = silos;
  wheel_.add(call, call.deadline_ns);
  for (std::size_t k = 0; k < silos.size(); ++k) {
    Envelope envelope;
    envelope.kind = Kind::kCombine;
    envelope.member = {order.to.mesh->id, 0};
    if (caller) envelope.sender = caller->member_name();
    envelope.client = client;
    envelope.tenant = tenant_of(caller, client);
    envelope.call = call.id;
    envelope.request_type = order.request_type;
    envelope.reply_type = order.reply_type;
    envelope.deadline_ns = call.deadline_ns;
    envelope.payload = order.request;
    envelope.parcel = std::make_shared<Parcel>();
    envelope.parcel->combine = combine;
    envelope.parcel->members = std::move(members[silos[k]]);
    envelope.parcel->is_root = k == 0;
    if (k > 0) {
      envelope.parcel->parent = silos[(k - 1) / kFanOut];
      envelope.epoch = wiring_.network->epoch(envelope.parcel->parent);
    }
    for (std::size_t child = kFanOut * k + 1; child <= kFanOut * (k + 1) && child < silos.size();
         ++child) {
      envelope.parcel->children.push_back(silos[child]);
    }
    post(silos[k], std::move(envelope));
  }
}

void Silo::on_combine(Envelope& envelope) {
  const Parcel& parcel = *envelope.parcel;
  if (!parcel.refusal.ok()) return refuse(envelope, parcel.refusal);
  const std::pair id(envelope.from, envelope.call);
  std::unique_ptr<ReductionNode>& slot = nodes_[id];
  if (!slot) slot = std::make_unique<ReductionNode>();  // Else a child was faster.
  ReductionNode& node = *slot;
  if (node.is_known) return;  // A repeat: its answers already have their positions.
  node.from = envelope.from;
  node.call = envelope.call;
  node.parent = parcel.parent;
  node.parent_epoch = envelope.epoch;
  node.is_root = parcel.is_root;
  node.combine = parcel.combine;
  node.children = parcel.children;
  node.values.resize(parcel.members.size() + parcel.children.size());
  node.missing = node.values.size();
  node.is_known = true;
  node.deadline_ns = envelope.deadline_ns;
  wheel_.remove(node);
  wheel_.add(node, node.deadline_ns);
  for (auto& [child, value] : std::exchange(node.early, {})) {
    if (!SEAWAY_MUTANT("a part of a reduction that comes early is lost"))
      place_partial(node, child, value);
  }
  LocalMesh* local = find_authorized(envelope);
  for (std::size_t i = 0; i < parcel.members.size(); ++i) {
    const std::uint32_t index = parcel.members[i];
    Member* member = local && index < local->members.size() ? local->members[index].get() : nullptr;
    const internal::MethodInfo* method =
        local ? local->mesh->type->find(envelope.request_type) : nullptr;
    if (!nodes_.contains(id)) return;  // An error has ended it.
    if (!member || member->life != Member::Life::kLive || !method) {
      const std::string name = local ? internal::member_name(local->mesh.get(), index)
                                     : "member " + std::to_string(index);
      contribute(node, i,
                 member && !method ? unimplemented(name + " knows no message of type " +
                                                   std::to_string(envelope.request_type))
                                   : actor_lost(name + " is not alive; nothing was handled"));
      continue;
    }
    if (method->reply != envelope.reply_type) {
      contribute(node, i,
                 invalid_argument(member->to_string() + " answers " + method->name +
                                  " with another type than its caller expects; are both built "
                                  "from one schema?"));
      continue;
    }
    if (member->mailbox.size() + member->running.size() >= local->mesh->type->mailbox_max) {
      contribute(node, i,
                 resource_exhausted(member->to_string() + ": " +
                                    std::to_string(local->mesh->type->mailbox_max) +
                                    " messages wait there already (mailbox_max); wait for some of "
                                    "them"));
      continue;
    }
    Delivery& delivery = make_delivery(*member, *method, envelope);
    delivery.request = envelope.payload;
    delivery.request_id = envelope.call;
    delivery.node = &node;
    delivery.node_position = static_cast<std::uint32_t>(i);
    node.asked.emplace_back(&delivery, delivery.ticket);
    enqueue(delivery);
  }
}

/// Nobody wants what a reduction makes any more: its members here hear of it.
void Silo::cancel_reduction(SiloId from, std::uint64_t call) {
  const auto found = nodes_.find({from, call});
  if (found != nodes_.end()) give_up_node(*found->second);
}

void Silo::give_up_node(ReductionNode& node) {
  const auto asked = std::move(node.asked);
  wheel_.remove(node);
  nodes_.erase({node.from, node.call});
  for (const auto& [delivery, ticket] : asked) {
    SEAWAY_PROBE_IF(delivery->ticket == ticket, "a handler of a reduction is given up");
    if (delivery->ticket == ticket) cancel_delivery(*delivery);
  }
}

void Silo::contribute(ReductionNode& node, std::size_t at, Result<internal::RawMessage> value) {
  if (node.values[at]) return;
  node.values[at] = std::move(value);
  if (--node.missing == 0) finish_node(node);
}

void Silo::finish_node(ReductionNode& node) {
  Result<internal::RawMessage> sum = std::move(*node.values.front());
  for (std::size_t i = 1; i < node.values.size() && sum.ok(); ++i) {
    if (!node.values[i]->ok()) {
      SEAWAY_PROBE("a reduction fails with a member");
      sum = node.values[i]->status();
      break;
    }
    try {
      sum = node.combine(*sum, **node.values[i]);
    } catch (...) {
      sum = internal::status_of_user_exception();
    }
  }
  // Another life of the parent than its caller means would never get it.
  const bool is_cut = !node.is_root && node.parent_epoch != Network::kUnheard &&
                      wiring_.network->epoch(node.parent) != node.parent_epoch;
  if (is_cut) {
    SEAWAY_PROBE("a reduction has another parent than its caller meant");
    sum = Status(StatusCode::kHostLost, silo_text(node.parent) +
                                            " was lost for a while, and cannot be told what was "
                                            "combined so far; ask again");
  }
  const bool is_to_caller = node.is_root || is_cut;
  Envelope envelope;
  envelope.kind = is_to_caller ? Kind::kReply : Kind::kPartial;
  envelope.call = node.call;
  envelope.number = is_to_caller ? 0 : node.from;
  envelope.deadline_ns = node.deadline_ns;
  if (sum.ok()) {
    envelope.payload = std::move(sum).value();
  } else {
    envelope.status = sum.status();
  }
  const SiloId to = is_to_caller ? node.from : node.parent;
  wheel_.remove(node);
  nodes_.erase({node.from, node.call});
  post(to, std::move(envelope));
}

void Silo::place_partial(ReductionNode& node, SiloId child,
                         const Result<internal::RawMessage>& value) {
  const auto found = std::find(node.children.begin(), node.children.end(), child);
  if (found == node.children.end()) return;
  const std::size_t own = node.values.size() - node.children.size();
  contribute(node, own + static_cast<std::size_t>(found - node.children.begin()), value);
}

void Silo::on_partial(Envelope& envelope) {
  const std::pair id(static_cast<SiloId>(envelope.number), envelope.call);
  std::unique_ptr<ReductionNode>& slot = nodes_[id];
  Result<internal::RawMessage> value = envelope.status.ok()
                                           ? Result<internal::RawMessage>(envelope.payload)
                                           : Result<internal::RawMessage>(envelope.status);
  if (!slot) {
    // The child was faster than the word that there is a reduction; or that is over already.
    slot = std::make_unique<ReductionNode>();
    SEAWAY_PROBE("a child is faster than the word of its reduction");
    std::tie(slot->from, slot->call) = id;
    wheel_.add(*slot, envelope.deadline_ns);
  }
  ReductionNode& node = *slot;
  if (node.is_known) {
    place_partial(node, envelope.from, value);
  } else {
    node.early.emplace_back(envelope.from, std::move(value));
  }
}

}  // namespace seaway::app
