// The list of all benchmarks. A benchmark is one question, answered by one function, named here.

#include "benchmarks/benchmarks.hpp"

#include <array>

#include "benchmarks/actors/actors.hpp"
#include "benchmarks/arrays/arrays.hpp"
#include "benchmarks/bulk/bulk.hpp"
#include "benchmarks/clock/clock.hpp"
#include "benchmarks/collectives/collectives.hpp"
#include "benchmarks/deaths/deaths.hpp"
#include "benchmarks/dispatch/dispatch.hpp"
#include "benchmarks/jax/jax.hpp"
#include "benchmarks/run/run.hpp"
#include "benchmarks/stages/stages.hpp"
#include "benchmarks/start/start.hpp"
#include "benchmarks/up/up.hpp"
#include "benchmarks/uploads/uploads.hpp"
#include "benchmarks/wire/wire.hpp"

namespace seaway::benchmarks {

std::span<const Benchmark> benchmarks() {
  static constexpr std::array<Benchmark, 14> kAll = {{
      {"actors", "what users' actors cost, beside CAF's own with the same frames", run_actors},
      {"arrays", "what a live array costs beside its data, and a cluster without work", run_arrays},
      {"bulk", "how fast values change hands between the hosts of two islands", run_bulk},
      {"clock", "what one reading of the clock costs", run_clock},
      {"collectives", "what an all-reduce between hosts of an island takes, beside gloo and MPI",
       run_collectives},
      {"deaths", "how soon a host that dies is known, and works again", run_deaths},
      {"dispatch", "what dispatching a gang costs, beside a CAF request and no controller",
       run_dispatch},
      {"jax", "what JAX costs on Seaway, beside its own client (needs ./dev jax)", run_jax},
      {"run", "how long a blocking caller waits for the value of one gang", run_run},
      {"stages", "a chain over islands that are processes, dispatched in parallel and one by one",
       run_stages},
      {"start", "how long a cold process takes to its first value", run_start},
      {"up", "how soon a cluster of processes is there, and what it costs at rest", run_up},
      {"uploads", "whether fresh input in each step keeps a device waiting", run_uploads},
      {"wire", "what a message to an actor of another process costs, beside the bare socket",
       run_wire},
  }};
  return kAll;
}

}  // namespace seaway::benchmarks
