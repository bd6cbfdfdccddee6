// Weights of tenants, from what a client says to the order of gangs on an island (rule 7).

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cluster_fixture.hpp"
#include "seaway/inspect.hpp"

namespace seaway {
namespace {

constexpr int kRuns = 40;  // Of each of two tenants that compete.

/// A cluster of one device, which a third tenant holds until the gate opens: all that is enqueued
/// meanwhile has stamps, so that only the island's scheduler can still divide it by weight.
class HeldCluster {
 public:
  HeldCluster() {
    const Slice slice = acquire(holder_, 1);
    const Function hold = holder_
                              .native("hold", copying({f32({1})},
                                                      [this] {
                                                        gate_.pass();
                                                        return Status();
                                                      }))
                              .value();
    runs_.push_back(hold.execute({holder_.put<float>({1}, rows(slice))}));
    gate_.await();
  }

  /// Enqueues `kRuns` gangs of one estimated duration.
  Client enqueue(const std::string& tenant, std::uint32_t weight) {
    Client client = cluster.connect({.tenant = tenant, .weight = weight}).value();
    const Slice slice = acquire(client, 1);
    NativeFunction step = copying({f32({1})}, [] { return Status(); });
    step.cost_ns = 20'000;
    const Function function = client.native(tenant, step).value();
    const Array input = client.put<float>({1}, rows(slice));
    for (int i = 0; i < kRuns; ++i) runs_.push_back(function.execute({input}));
    EXPECT_TRUE(eventually(cluster, [this](auto& embedded) {
      return embedded.scheduler(0).counters().launched == runs_.size();
    }));
    return client;
  }

  /// Lets all run, and says whose gangs came first: how many of the first `kRuns` are `tenant`'s.
  std::ptrdiff_t first_gangs_of(const std::string& tenant) {
    gate_.open();
    for (const seaway::Run& run : runs_) EXPECT_TRUE(run.status().get().ok());
    std::vector<std::string> order;
    const std::vector<GangRecord> gangs = recent_gangs(cluster).value();
    for (const GangRecord& gang : gangs) {
      if (gang.tenant != "holder") order.push_back(gang.tenant);
    }
    EXPECT_EQ(order.size(), 2u * kRuns);
    order.resize(kRuns);
    return std::count(order.begin(), order.end(), tenant);
  }

  const Cluster cluster =
      Cluster::start("embedded:devices=1,threads=4,policy=shares,runs_shared_in_flight=100")
          .value();

 private:
  const Client holder_ = cluster.connect({.tenant = "holder"}).value();
  std::vector<seaway::Run> runs_;
  Gate gate_;
};

TEST(Weights, DivideWhatIsStampedAlready) {
  HeldCluster held;
  const Client light = held.enqueue("light", 1), heavy = held.enqueue("heavy", 3);

  EXPECT_NEAR(held.first_gangs_of("heavy"), 30, 2);
}

TEST(Weights, ThatChangeAreObeyedByWhatIsLaunchedAlready) {
  HeldCluster held;
  const Client first = held.enqueue("first", 1), second = held.enqueue("second", 1);

  const Client late = held.cluster.connect({.tenant = "first", .weight = 3}).value();

  EXPECT_NEAR(held.first_gangs_of("first"), 30, 2);
}

}  // namespace
}  // namespace seaway
