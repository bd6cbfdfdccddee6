// What is counted (docs/order.md): messages of a run do not grow with shards, nor, but for Exists,
// with nodes; and payload never passes the controller.

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "count_frames.hpp"

namespace seaway {
namespace {

/// A chain of `nodes` calls on island 0 and one on island 1, `crossings` values from one to the
/// other, each node on `shards` shards.
RecordCounts count_one_run(std::uint32_t shards, int nodes, int crossings) {
  const Cluster cluster =
      Cluster::start("embedded:islands=2,devices=" + std::to_string(shards)).value();
  const Client client = cluster.connect().value();
  const Slice left = acquire(client, shards, 0), right = acquire(client, shards, 1);
  const Function next =
      client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value();
  const Program f = client
                        .program("f",
                                 [&](Traced v) {
                                   std::vector<Traced> results;
                                   for (int i = 0; i < nodes; ++i) v = next.on(left)(v);
                                   for (int i = 0; i < crossings; ++i) {
                                     v = next.on(left)(v);
                                     results.push_back(next.on(right)(v));
                                   }
                                   Traced last = results.back();
                                   for (int i = 1; i < nodes; ++i) last = next.on(right)(last);
                                   results.back() = last;
                                   return results;
                                 },
                                 {ArraySpec{f32({shards}), rows(left)}})
                        .value();
  const Array input = client.put<float>(counted(shards), {shards}, rows(left));
  EXPECT_TRUE(f.execute({input}).status().get().ok());  // Everything is compiled and lowered.
  EXPECT_TRUE(client.drain().ok());
  RecordCounter counter(cluster);

  const seaway::Run run = f.execute({input});
  EXPECT_TRUE(run.status().get().ok());
  EXPECT_EQ(read(run.output(0))[0], static_cast<float>(crossings == 1 ? 2 * nodes + 1 : nodes + 2));

  return counter.stop();
}

TEST(Messages, ARunCostsOneLaunchForEachIslandAndOnePrepareForEachHost) {
  for (const std::uint32_t shards : {1u, 8u, 64u, 512u}) {
    for (const int nodes : {1, 16, 128}) {
      SCOPED_TRACE(std::to_string(shards) + " shards, " + std::to_string(nodes) + " nodes");

      RecordCounts counts = count_one_run(shards, nodes, 1);

      EXPECT_EQ(counts["launch"], 2u);
      EXPECT_EQ(counts["prepare"], 2u);
      EXPECT_EQ(counts["finished"], 2u);
      EXPECT_EQ(counts["resolved"], 1u);
      EXPECT_EQ(counts["armed"], 1u);
      EXPECT_EQ(counts["consumed"], 1u);
      EXPECT_EQ(counts["delivered"], 1u);
      EXPECT_LE(counts["exists"], 1u);
      // By batch: on each island admission, a free part or two, and what follows an arrival.
      EXPECT_LE(counts["order"], 8u);
      EXPECT_LE(counts["order frame"], 6u);
      EXPECT_EQ(counts["forget frame"], 0u);
    }
  }
}

/// A chain of 16 nodes on one island.
RecordCounts count_one_chain(DispatchMode mode) {
  const Cluster cluster = Cluster::start("embedded:devices=2").value();
  const Client client = cluster.connect().value();
  const Slice slice = acquire(client, 2);
  const Function next =
      client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({1})}).value();
  const Program f = client
                        .program("f",
                                 [&](Traced v) {
                                   for (int i = 0; i < 16; ++i) v = next(v);
                                   return v;
                                 },
                                 {ArraySpec{f32({2}), rows(slice)}}, {.dispatch = mode})
                        .value();
  const Array input = client.put<float>({1, 2}, rows(slice));
  EXPECT_TRUE(f.execute({input}).status().get().ok());
  EXPECT_TRUE(client.drain().ok());
  RecordCounter counter(cluster);

  EXPECT_EQ(read(f.execute({input}).output(0)), (std::vector<float>{17, 18}));

  return counter.stop();
}

TEST(Messages, SequentialDispatchLaunchesNodeByNodeAndParallelAllAtOnce) {
  RecordCounts parallel = count_one_chain(DispatchMode::kParallel);
  RecordCounts sequential = count_one_chain(DispatchMode::kSequential);

  EXPECT_EQ(parallel["launch"], 1u);
  EXPECT_EQ(parallel["prepare"], 1u);
  EXPECT_EQ(sequential["launch"], 16u);
  EXPECT_EQ(sequential["prepare"], 16u);
}

/// Two devices of one island: on the first an irregular node and its successor, on the second a
/// chain of two. All but the successor goes out with the run.
TEST(Messages, AnIrregularNodeHoldsBackTheLaunchOfItsSuccessorsAlone) {
  const Cluster cluster = Cluster::start("embedded:devices=2,threads=4").value();
  const Client client = cluster.connect().value();
  const Slice first = acquire(client, 1), second = acquire(client, 1);
  Gate gate;
  NativeFunction filter = copying({f32({2})}, [&gate] {
    gate.pass();
    return Status();
  });
  filter.irregular = true;
  const Function irregular = client.native("filter", filter).value();
  const Function next =
      client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({2})}).value();
  const Program f = client
                        .program("f",
                                 [&](Traced v, Traced w) {
                                   return std::tuple{next(irregular(v)), next(next(w))};
                                 },
                                 {ArraySpec{f32({2}), rows(first)}, {f32({2}), rows(second)}})
                        .value();
  RecordCounter before(cluster);

  const seaway::Run run =
      f.execute({client.put<float>({1, 2}, rows(first)), client.put<float>({1, 2}, rows(second))});
  gate.await();
  EXPECT_TRUE(eventually(cluster, [](cluster::Embedded& embedded) {
    return embedded.scheduler(0).counters().gangs_done == 2;
  }));
  RecordCounts while_held = before.stop();
  RecordCounter after(cluster);
  gate.open();
  EXPECT_EQ(read(run.output(0)), (std::vector<float>{2, 3}));
  EXPECT_EQ(read(run.output(1)), (std::vector<float>{3, 4}));
  RecordCounts behind = after.stop();

  EXPECT_EQ(while_held["launch"], 1u);
  EXPECT_EQ(while_held["prepare"], 1u);
  EXPECT_EQ(behind["launch"], 1u);
  EXPECT_EQ(behind["prepare"], 1u);
}

TEST(Messages, AFrameForManyIsBuiltOnceAndShared) {
  const Cluster cluster = Cluster::start("embedded:islands=8").value();
  const Client client = cluster.connect().value();
  std::vector<Frame> compiles;  // Kept, so that no other frame comes to lie where one was.
  on_control(cluster, [&] {
    cluster.state()->embedded->router().observe(
        [&compiles](actor::Role role, std::uint32_t, const Frame& frame) {
          if (role == actor::Role::kHost && is_compile(frame)) compiles.push_back(frame);
        });
  });

  EXPECT_TRUE(client.function("f", [](Tensor x) { return x; }, {f32({2})}).ok());
  EXPECT_TRUE(client.drain().ok());
  on_control(cluster, [&] { cluster.state()->embedded->router().observe(nullptr); });

  ASSERT_EQ(compiles.size(), 8u);
  for (const Frame& frame : compiles) EXPECT_EQ(frame.words().data(), compiles[0].words().data());
}

TEST(Messages, DoneComesByBatchAndNotByNodeOrShard) {
  const RecordCounts few = count_one_run(1, 1, 1);
  const RecordCounts many = count_one_run(8, 128, 1);

  // A batch of work is at most about a millisecond.
  EXPECT_LE(many.at("done frame"), few.at("done frame") + 4);
  EXPECT_LE(many.at("done"), few.at("done") + 8);
}

TEST(Messages, ExistsIsSaidAtMostOnceForEachEdgeBetweenIslands) {
  const RecordCounts counts = count_one_run(4, 1, 10);

  EXPECT_LE(counts.at("exists"), 10u);
  EXPECT_EQ(counts.at("armed"), 10u);
  EXPECT_EQ(counts.at("consumed"), 10u);
}

TEST(Messages, PayloadNeverPassesTheController) {
  const auto bytes_of_one_run = [](std::int64_t elements) {
    const Cluster cluster = Cluster::start("embedded:islands=2,devices=2").value();
    const Client client = cluster.connect().value();
    const Slice left = acquire(client, 2, 0), right = acquire(client, 2, 1);
    const Function next =
        client.function("next", [](Tensor x) { return x + 1.0f; }, {f32({elements / 2})}).value();
    const Program f = client
                          .program("f", [&](Traced v) { return next.on(right)(next(v)); },
                                   {ArraySpec{f32({elements}), rows(left)}})
                          .value();
    const auto size = static_cast<std::size_t>(elements);
    const auto bytes = [&cluster] {
      return ask<std::uint64_t>(cluster, [](cluster::Embedded& embedded) {
        return embedded.router().count(actor::Role::kController).bytes;
      });
    };
    EXPECT_EQ(read(f.execute({client.put<float>(counted(size), {elements}, rows(left))}).output(0)),
              counted(size, 2));
    EXPECT_TRUE(client.drain().ok());

    const std::uint64_t before = bytes();
    const Array input = client.put<float>(counted(size), {elements}, rows(left));
    const seaway::Run run = f.execute({input});
    EXPECT_EQ(read(run.output(0)).back(), static_cast<float>(elements + 1));
    EXPECT_TRUE(client.drain().ok());
    return bytes() - before;
  };

  const std::uint64_t small = bytes_of_one_run(256);      // 1 KB
  const std::uint64_t large = bytes_of_one_run(1 << 20);  // 4 MB

  EXPECT_LT(large, small + 2048);  // Records come in other batches, and no payload.
}

}  // namespace
}  // namespace seaway
