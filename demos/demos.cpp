// The list of all demos. A demo is one file with one function, named here.

#include "demos/demos.hpp"

#include <vector>

#include "demos/list.hpp"

namespace seaway::demos {

std::span<const Demo> demos() {
  static const std::vector<Demo> all = {
      {"fig2", "the program of the PATHWAYS paper: three functions on three slices", run_fig2,
       false, true},
      {"digits", "train a two-stage model over two islands on real handwritten digits", run_digits,
       false, true},
      {"deadlock", "collectives in opposite order: hang with a queue per device, run here",
       run_deadlock, false, true},
      {"two_clients", "two tenants share an island 1 : 3", run_two_clients, false, true},
      {"pingpong", "two actors on two hosts hit a ball to and fro", run_pingpong, true, true},
      {"skynet", "each actor spawns ten more, down to a million leaves, and adds them up",
       run_skynet, true, true},
      {"philosophers", "five of them dine with five forks; one dies while it eats, nobody starves",
       run_philosophers, true, true},
      {"kv", "a replicated key-value store whose members die, and a proof that nobody saw it",
       run_kv, true, true},
      {"parameter_server", "workers train one model, and nobody waits for the slow one",
       run_parameter_server, true, true},
      {"pipeline_feed",
       "actors read a file for a training program, as far ahead as they have credit",
       run_pipeline_feed, true, true},
      {"counted_twice", "a mistake that an exploration finds: a function that counts runs twice",
       run_counted_twice},
      {"lost_write", "a mistake that an exploration finds: a table forgets what it acknowledged",
       run_lost_write},
      {"transfer", "a mistake that an exploration finds: a transfer makes money", run_transfer},
      {"skipped_batch", "a mistake that an exploration finds: training leaves out a batch",
       run_skipped_batch},
  };
  return all;
}

void register_all(Registry& registry) {
  for (const auto& each :
       {register_two_clients, register_pingpong, register_skynet, register_philosophers,
        register_kv, register_kv_users, register_parameter_server, register_pipeline_feed}) {
    each(registry);
  }
}

}  // namespace seaway::demos
