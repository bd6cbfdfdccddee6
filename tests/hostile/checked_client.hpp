// CheckedClient: a client that works on some islands again and again, and compares each value.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "seaway/client.hpp"
#include "sim/sharer.hpp"

namespace seaway::hostile {

/// Uploads, runs and reads arrays, over one or two islands; or spawns actors there, which share
/// arrays with it and each other. Within its body.
class CheckedClient {
 public:
  struct Habits {
    std::vector<std::uint32_t> islands;
    std::uint32_t devices = 2;  // Of a slice.
    std::uint32_t hosts = 1;    // Of an island.
    bool has_actors = false;
    bool may_rebind = true;                          // Its slices, to any island.
    unsigned why_percent = 20, cancel_percent = 20;  // Of rounds, and of runs.
    std::uint64_t pause_ns_max = 2'000'000;          // Between two rounds.
    /// The name of its first actor, or of another client's that it calls; empty: none.
    std::string spawns, finds;
  };
  struct Surroundings {
    std::function<void(std::uint64_t time_ns)> pause;
    /// An outcome that is not the value that it should be.
    std::function<void(const std::string& what)> complain;
    std::function<bool()> is_over;
  };
  CheckedClient(Habits habits, Surroundings around, std::uint64_t seed)
      : habits_(std::move(habits)), around_(std::move(around)), random_(seed, 0x636865636b6564) {}

  /// From its connection until its session is over, or `is_over`.
  void live(Client client);

  /// What it does now, for people.
  const std::string& doing() const { return doing_; }
  std::uint64_t whole_rounds() const {
    return whole_rounds_;
  }  // With right values from end to end.

 private:
  struct Stage {
    Slice slice;
    Function twice, sum;
  };
  bool round();
  bool prepare();
  bool work();
  bool share();
  bool share_once();
  bool ask();
  bool stop_actors();
  /// Whether `status` is OK; else it is complained of.
  bool is_fine(const std::string& what, const Status& status);
  bool is_equal(const std::string& what, const std::vector<float>& seen, float wanted);
  bool note(const std::string& what, const Result<Message<sim::Shared>>& answer);

  const Habits habits_;
  const Surroundings around_;
  RandomStream random_;
  Client client_;
  std::vector<Stage> stages_;
  std::vector<ActorMesh<sim::Sharer>> actors_;
  std::vector<sim::SharedArray> held_;
  std::string doing_;
  std::uint64_t whole_rounds_ = 0;
  bool has_ended_ = false;  // Its session.
};

}  // namespace seaway::hostile
