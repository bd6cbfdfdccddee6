// Actors that do nothing but send on what they get.

#include "sim/bare_schedule.hpp"

#include <memory>
#include <string>
#include <vector>

#include "actor/seeded_engine.hpp"
#include "base/random.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kBareStream = 0x6261726500000000;

class Passer final : public actor::Actor {
 public:
  /// All passers; it has them all before the first frame arrives.
  explicit Passer(const std::vector<actor::Address>& all, RandomStream random)
      : all_(all), random_(random) {}
  void receive(const Frame& frame) override { all_[random_.below(all_.size())].send(frame); }

 private:
  const std::vector<actor::Address>& all_;
  RandomStream random_;
};

}  // namespace

std::uint64_t run_bare(std::uint64_t seed, std::uint64_t steps) {
  std::vector<actor::Address> passers;
  const auto engine = actor::make_seeded_engine(seed);
  for (std::uint32_t i = 0; i < kBareActors; ++i) {
    passers.push_back(
        engine->spawn("passer" + std::to_string(i),
                      std::make_unique<Passer>(passers, RandomStream(seed, kBareStream + i))));
  }
  for (const actor::Address& passer : passers) passer.send(Frame());
  return engine->run_until_idle(steps);
}

}  // namespace seaway::sim
