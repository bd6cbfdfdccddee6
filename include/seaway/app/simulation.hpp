// Simulation: an app on a whole simulated cluster, in one thread and virtual time, from a seed.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>

#include "seaway/client.hpp"
#include "seaway/status.hpp"

namespace seaway {

/// What a simulation is of. Two with equal options and one body are the same, step by step.
struct SimulationOptions {
  /// As in connect(): "embedded:islands=4,devices=1".
  std::string cluster = "embedded:islands=4,devices=1";
  /// Every choice comes from it: who runs next, how long messages take.
  std::uint64_t seed = 1;
  /// How long messages between hosts are under way; those of one pair arrive in order.
  std::chrono::nanoseconds latency_min = std::chrono::microseconds(10);
  std::chrono::nanoseconds latency_max = std::chrono::milliseconds(2);
  /// Ends a simulation that goes on and on.
  std::uint64_t steps_max = 10'000'000;
};

/// What a body does in the simulated world beside being a client. Only inside the body and those it
/// has spawned.
class Simulation {
 public:
  virtual ~Simulation() = default;

  /// A client of the simulated cluster, as seaway::connect() gives of a real one.
  virtual Result<Client> connect(ClientOptions options = {}) = 0;
  /// Another body, with a stack of its own, which may block like this one.
  virtual void spawn(std::string name, std::function<void()> body) = 0;
  /// Lets virtual time pass. Throws, to end the body, when the simulation is over before it.
  virtual void sleep(std::chrono::nanoseconds time) = 0;
  virtual std::chrono::nanoseconds now() const = 0;
  /// 64 bits that are a function of the seed and of how many were drawn before.
  virtual std::uint64_t random() = 0;

  /// The host's process dies, with its actors and all they had; what was on its way to it is lost,
  /// what it said last perhaps too, and the others soon find it out. Its devices are not touched.
  /// Returns when it is dead. Errors: kInvalidArgument for a host that does not exist or is dead.
  virtual Status kill_host(std::uint32_t host) = 0;
  /// It is back, empty; actors are placed there again. Errors: as above, for one that lives.
  virtual Status restart_host(std::uint32_t host) = 0;
  /// Nothing of the host's process runs until it goes on, as under SIGSTOP; its connections stay,
  /// and what comes over them waits. Errors: as above, for one that is dead or paused.
  virtual Status pause_host(std::uint32_t host) = 0;
  /// Errors: as above, for one that is not paused. Killing a paused one ends its pause, too.
  virtual Status resume_host(std::uint32_t host) = 0;
  /// From now on the clock of the host's process is `ahead`, and gains `gain_ppm` millionths of
  /// each second; both may be negative: set back, it stands still until it would have come so far
  /// again. For the process that lives now. Errors: as above, for one that is dead; a clock that
  /// would run backwards.
  virtual Status set_host_clock(std::uint32_t host, std::chrono::nanoseconds ahead,
                                std::int64_t gain_ppm) = 0;

  /// All hosts live and go on, with right clocks; of what explore() draws nothing fails any more.
  /// Lost devices stay lost. Call it before looking whether all is well in the end.
  virtual void heal() = 0;
  /// Says that `invariant` does not hold unless `holds`: the report is not OK then. Failures
  /// are grouped by the line that calls this.
  virtual void expect(bool holds, std::string_view invariant, std::string_view text,
                      const std::source_location& at = std::source_location::current()) = 0;
};

/// How a simulation ended.
struct SimulationReport {
  /// Not OK when a body never ended, something was left over, or it took too many steps: with what
  /// everything waited for.
  Status status;
  std::uint64_t steps = 0;
  std::chrono::nanoseconds virtual_time = std::chrono::nanoseconds(0);
  std::uint64_t hash = 0;  // Of all that happened: equal for equal simulations.

  /// "seed 7: OK after 1234 steps and 12 ms, hash 0123456789abcdef".
  std::string to_string() const;
  std::uint64_t seed = 0;
};

/// Runs `body` as a client's thread in a simulated cluster, until it and all it has spawned have
/// ended and nothing moves any more; get() and every other blocking call let virtual time pass.
/// Devices take the time that a cost model says, and give the values of real ones.
///
/// When all clients have gone nothing may be left: a member, call, timer or name that is there then
/// is an error of the report. What a client owns that lives on is not looked at. Clients, actors
/// and futures of the simulation end with it: keep none beyond. A body that throws ends with
/// kUserFunctionError in the report. Neither thread-safe nor reentrant.
SimulationReport simulate(const SimulationOptions& options,
                          const std::function<void(Simulation& simulation)>& body);

}  // namespace seaway
