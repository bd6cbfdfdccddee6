// SharingClient: a client of random worlds whose actors share its arrays with it and each other.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "seaway/client.hpp"
#include "sim/sharer.hpp"
#include "sim/verdict.hpp"
#include "sim/world.hpp"

namespace seaway::sim {

/// It spawns actors on all hosts, makes arrays and has them made, gives them around, uses and reads
/// them. I1: whoever reads an array anywhere sees its value. I3: nothing fails without a reason.
/// I9: where nothing was done to anybody, nothing is known of an array that nobody holds.
/// Within its body.
class SharingClient {
 public:
  struct Surroundings {
    /// Lets others run, for so long at least.
    std::function<void(std::uint64_t time_min_ns)> pause;
    /// Something was done by now of which anything may fail.
    std::function<bool()> is_troubled;
    /// Its process has heard that a session of actors ended.
    std::function<bool()> has_lost_actors;
    std::function<std::uint64_t()> now_ns;
    /// What is known in its process of arrays that are shared, for people; empty: nothing.
    std::function<std::string()> shared;
  };
  /// `index`: of the client among all of the world, from 0 on.
  SharingClient(const World& world, std::uint32_t index, Surroundings around, Verdict& verdict);

  /// From its connection to its last outcome. The session ends with the call.
  void live(Client client);

  /// It was told that its controller is gone, with all that it had.
  bool has_lost_controller() const { return has_lost_controller_; }
  /// Since when its present request waits.
  std::optional<std::uint64_t> waits_since_ns() const;

 private:
  using Answer = Future<Message<Shared>>;

  bool prepare();
  Result<Slice> acquire(const SliceRequest& request);
  void act();
  void part();
  void spawn();
  void stop(const ActorMesh<Sharer>& actor);
  void make_own();
  void use_own();
  void read_own();
  void ask_for_one();
  void give();
  void pass();
  void look();
  void keep(std::string what, Answer answer);
  void settle(std::size_t left);
  void note(const std::string& what, const Result<Message<Shared>>& answer);
  /// False when there is an error, which has a reason or else is a violation.
  bool is_fine(const std::string& what, const Status& status);
  void compare(const std::string& what, std::int64_t value, std::int64_t seen);
  template <class Wait>
  auto wait(const Wait& wait);

  ActorRef<Sharer> any_actor() { return actors_[random_.below(actors_.size())].at(0); }
  const SharedArray& any_array() { return held_[random_.below(held_.size())]; }

  struct Asked {
    std::string what;
    Answer answer;
    std::uint64_t since_ns = 0;
  };

  const World& world_;
  const std::uint32_t index_;
  const Surroundings around_;
  Verdict& verdict_;
  RandomStream random_;
  Client client_;
  std::vector<Slice> slices_;
  std::vector<Function> twice_;            // One for each slice.
  std::vector<ActorMesh<Sharer>> actors_;  // One member each.
  std::vector<SharedArray> held_;
  std::vector<Asked> asked_;
  std::uint64_t waiting_ns_ = 0;
  bool has_lost_controller_ = false;
};

}  // namespace seaway::sim
