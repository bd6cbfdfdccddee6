// ControllerOutbox: what the controller has to say after a batch; its actor turns it into frames.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/frame.hpp"
#include "base/ids.hpp"
#include "program/part_plan.hpp"
#include "program/program_graph.hpp"
#include "seaway/status.hpp"

namespace seaway::controller {

struct ControllerOutbox {
  struct Launch {
    Stamp stamp = 0;
    RunId run = 0;
    PlanId plan = 0;
    TenantId tenant = 0;
    std::uint32_t begin = 0;  // Into ids.
    bool acknowledge = false;
    std::uint32_t frees_before = 0;  // So many of `frees` were said before it.
  };
  struct Put {
    ArrayId array = 0;
    std::uint64_t spec = 0;
    TenantId tenant = 0;
    std::uint64_t shard_bytes = 0;
    std::vector<DeviceId> devices;
  };
  struct Fetch {
    ArrayId array = 0;
    ClientId client = 0;
    std::uint64_t request = 0;
    bool streams = false;  // A large value may be offered to it.
  };
  struct Cancel {
    Stamp stamp = 0;
    Status status;
  };
  struct Weight {
    TenantId tenant = 0;
    std::uint32_t weight = 1;
  };
  struct Cut {
    IslandId peer = 0;
    Stamp last_stamp = 0;
    Status status;
  };
  /// See schemas/seaway.capnp, View.
  struct View {
    std::uint32_t number = 0;
    std::vector<Launch> launches;
    std::vector<std::uint64_t> ids;
    std::vector<ArrayId> named;
    std::vector<std::pair<PlanId, Frame>> plans;  // Each with its DefinePlan.
    std::vector<Cancel> cancels;
    std::vector<Weight> weights;
  };
  /// For one island and its host. Definitions and puts may go earlier than they were said, frees
  /// and cancels later: so each kind fills one frame, in this order.
  struct Island {
    std::vector<Weight> weights;     // To both.
    std::vector<Frame> definitions;  // To the host.
    std::vector<Frame> plans;        // DefinePlans to the scheduler and the host.
    std::vector<Put> puts;           // To both.
    std::vector<Launch> launches;    // To both, one frame.
    std::vector<std::uint64_t> ids;
    std::vector<Fetch> fetches;                              // To the host.
    std::vector<ArrayId> frees;                              // To the scheduler.
    std::vector<Cancel> cancels;                             // To the scheduler.
    std::vector<std::pair<std::uint64_t, Stamp>> questions;  // To the scheduler and the host.
    std::vector<Cut> cuts;      // To the host, behind the launches that they are about.
    bool has_new_view = false;  // To both; the scheduler is told of launches in no other way.
    // Nothing that is said later is about these.
    std::vector<ClientId> forgotten_clients;           // To the host.
    std::vector<PlanId> forgotten_plans;               // To the scheduler and the host.
    std::vector<std::uint64_t> forgotten_definitions;  // To the host.

    bool has_forgotten() const {
      return !forgotten_clients.empty() || !forgotten_plans.empty() ||
             !forgotten_definitions.empty();
    }
    bool is_empty() const {
      return weights.empty() && definitions.empty() && plans.empty() && puts.empty() &&
             launches.empty() && fetches.empty() && frees.empty() && cancels.empty() &&
             questions.empty() && cuts.empty() && !has_new_view && !has_forgotten();
    }
  };
  struct Resolved {
    std::uint64_t id = 0;
    Status status;
  };
  struct Reply {
    std::uint64_t request = 0;
    Status status;
    std::string text;
    std::shared_ptr<const program::ForeignCompiled> foreign = {};
  };
  struct Fetched {
    std::uint64_t request = 0;
    Status status;
  };
  struct Client {
    std::vector<Reply> replies;
    std::vector<Resolved> resolved;
    std::vector<Fetched> fetched;  // Errors that are known without asking a host.
  };

  using Clients = std::map<ClientId, Client>;

  std::vector<Island> islands;
  std::vector<IslandId> failed_islands;  // Their processes are to begin anew.
  Clients clients;  // Those who are told something in this batch, and nobody else.
  std::vector<Clients::node_type> spare_clients;

  Client& client(ClientId id) {
    if (const auto found = clients.find(id); found != clients.end()) return found->second;
    if (spare_clients.empty()) return clients[id];
    Clients::node_type spare = std::move(spare_clients.back());
    spare_clients.pop_back();
    spare.key() = id;
    return clients.insert(std::move(spare)).position->second;
  }
  /// What the first of `clients` is told has been sent. Its lists, which are empty, keep their room
  /// for whoever is told something next.
  void end_first_client() {
    Clients::node_type first = clients.extract(clients.begin());
    if (spare_clients.size() < kSpareClientsMax) spare_clients.push_back(std::move(first));
  }
  static constexpr std::size_t kSpareClientsMax = 256;
};

}  // namespace seaway::controller
