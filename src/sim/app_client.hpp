// AppClient: one client of a world of actors, which does random things and checks what comes of
// them.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sim/app_actor.hpp"
#include "sim/app_world.hpp"
#include "sim/client_scribe.hpp"
#include "sim/simulation.hpp"

namespace seaway::sim {

/// Lives on the stack of one body; only the public API is used.
class AppClient {
 public:
  AppClient(const AppWorld& world, std::uint32_t number, SimulatedWorld& simulation,
            AppStage& stage, Verdict& verdict);

  /// From its connection to its last outcome. The client goes with the call.
  void live();

 private:
  /// A call without a known outcome.
  struct Pending {
    std::uint64_t number = 0;
    Future<Reply<Told>> future;
  };

  bool spawn_all();
  template <class A, class... Arguments>
  Result<ActorMesh<A>> spawn(const SpawnOptions& options, Arguments... arguments);
  void write_stop();
  SpawnOptions random_options();
  void act();
  template <class A>
  void act_on(const ActorMesh<A>& mesh);
  template <class A, class Q>
  void call_one(const ActorMesh<A>& mesh, Reply<Told> (A::*method)(Request<Q>), const char* what);
  template <class A, class Q>
  void call_one(const ActorMesh<A>& mesh, Task<Reply<Told>> (A::*method)(Request<Q>),
                const char* what, std::uint64_t amount);
  template <class A>
  void call_later(const ActorMesh<A>& mesh);
  template <class A>
  void call_all(const ActorMesh<A>& mesh);
  template <class A>
  void reduce(const ActorMesh<A>& mesh);
  template <class A>
  void chain(const ActorMesh<A>& mesh);
  template <class A>
  void read_stream(const ActorMesh<A>& mesh);
  template <class A>
  void crash(const ActorMesh<A>& mesh);
  void deposit();
  void audit();
  void expect_room();
  void cancel();
  // With actors of others, in app_client_meetings.cpp.
  void meet_others();
  void introduce();
  void watch();
  void look_up();
  void stop_some();
  void expect_stopped(const Status& status);
  void settle(Pending pending);
  void settle_all();
  template <class A>
  AppAsked asked(const char* what, const CallOptions& options = {}) const;
  CallOptions random_call_options();
  /// `expected`: of a chain; 0: what its member answers.
  void note_outcome(std::uint64_t number, MemberName target, const Future<Reply<Told>>& future,
                    std::uint64_t expected);
  void keep(std::uint64_t number, MemberName target, Future<Reply<Told>> future,
            std::uint64_t expected = 0);
  void hold(Pending pending);
  void expect_excused(const char* what, const Status& status);

  const AppWorld& world_;
  const std::uint32_t number_;
  SimulatedWorld& simulation_;
  AppStage& stage_;
  Verdict& verdict_;
  ClientScribe scribe_;
  RandomStream random_;
  std::string spawn_name_;  // Of the next spawn; empty: none.
  Client client_;
  std::vector<ActorMesh<Roomy>> roomy_;
  std::vector<ActorMesh<Tight>> tight_;
  std::optional<ActorMesh<Account>> accounts_;
  std::shared_ptr<bool> is_given_up_ = std::make_shared<bool>(false);  // The mesh of accounts.
  std::vector<std::pair<std::uint64_t, MemberName>> deposits_;  // Whose outcome is to be known.
  std::vector<Pending> pending_;
  std::vector<Future<void>> stops_;
  std::set<std::uint64_t> watched_;  // Meshes.
};

}  // namespace seaway::sim
