// Random functions of every operation give the same on the CPU back end as on the reference.
//
// All values are small integers, also in f32, so that equality is exact whatever the order of
// additions; only the sign of zero is left open.

#include <string>

#include "function/tbb_parallelism.hpp"
#include "unit/function/random_graph.hpp"

namespace seaway::function {
namespace {

/// Compares one random function, in this thread and on several.
void compare(std::uint64_t seed, Parallelism& parallelism) {
  static const std::vector<AxisSizes> meshes = {
      {{"a", 1}}, {{"a", 2}}, {{"a", 3}, {"b", 2}}, {{"a", 2}, {"b", 1}, {"c", 4}}, {{"a", 13}}};
  const AxisSizes axes = meshes[seed % meshes.size()];
  std::size_t shards = 1;
  for (const auto& axis : axes) shards *= static_cast<std::size_t>(axis.second);
  const Graph graph = RandomGraph(seed, axes).build();
  const std::string where = "replay: seed " + std::to_string(seed);
  const auto reference = compile_reference(graph, axes);
  ASSERT_TRUE(reference.ok()) << where << ": " << reference.status().to_string();
  const auto compiled = compile_cpu(graph, axes, test_collectives());
  ASSERT_TRUE(compiled.ok()) << where << ": " << compiled.status().to_string();
  TestRun expected(*reference, shards), alone(*compiled, shards), shared(*compiled, shards);
  for (TestRun* run : {&expected, &alone, &shared}) fill(*run, seed, shards);

  expected.run();
  alone.run();
  shared.run(&parallelism);

  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    for (std::size_t s = 0; s < shards; ++s) {
      const std::string which =
          where + ", output " + std::to_string(o) + ", shard " + std::to_string(s);
      expect_equal(alone.output(o), expected.output(o), graph.output_type(o), s, which);
      expect_equal(shared.output(o), expected.output(o), graph.output_type(o), s, which);
    }
  }
}

TEST(CpuAgainstReference, AgreesOnRandomFunctions) {
  TbbParallelism parallelism(2);
  for (std::uint64_t seed = 1; seed <= 300 && !::testing::Test::HasFatalFailure(); ++seed) {
    compare(seed, parallelism);
  }
}

}  // namespace
}  // namespace seaway::function
