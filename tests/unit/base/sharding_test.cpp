// Meshes, partition specs, and what a sharding refuses.

#include "seaway/sharding.hpp"

#include <gtest/gtest.h>

namespace seaway {
namespace {

Mesh data_by_model() { return Mesh(1, {{"data", 2}, {"model", 4}}); }

TEST(Mesh, NumbersItsDevicesRowMajor) {
  const Mesh mesh = data_by_model();

  EXPECT_EQ(mesh.device_count(), 8);
  EXPECT_EQ(mesh.coordinate(6, 0), 1);
  EXPECT_EQ(mesh.coordinate(6, 1), 2);
  EXPECT_EQ(mesh.axis_index("model"), 1);
  EXPECT_EQ(mesh.axis_index("pipe"), -1);
  EXPECT_EQ(Mesh().device_count(), 1);
}

TEST(Mesh, PrintsItsAxes) {
  EXPECT_EQ(data_by_model().to_string(), "mesh(data=2, model=4)");
  EXPECT_EQ(Mesh().to_string(), "mesh()");
}

TEST(Mesh, HasPartsThatAreMeshesOfSomeOfItsDevices) {
  const Mesh mesh = data_by_model(), part = mesh.part({6, 1}), one = part.device(1);

  EXPECT_EQ(part.to_string(), "mesh(devices=2) of devices 6 1");
  EXPECT_EQ(one, mesh.part({1}));
  EXPECT_EQ(one, mesh.device(1));
  EXPECT_EQ(one.to_string(), "mesh() of devices 1");
  EXPECT_EQ(one.device(0), one);
  EXPECT_EQ(Mesh(1, {}).device(0), Mesh(1, {}));
  EXPECT_FALSE(part == mesh.part({1, 6}));
  EXPECT_EQ(mesh.part({0, 1}, {{"x", 2}}).axes(), (std::vector<MeshAxis>{{"x", 2}}));
}

TEST(Mesh, FitsASliceThatHasItsDevices) {
  const Mesh mesh = data_by_model();

  EXPECT_TRUE(mesh.fits(8));
  EXPECT_FALSE(mesh.fits(9));
  EXPECT_TRUE(mesh.part({6, 1}).fits(8));
  EXPECT_FALSE(mesh.part({6, 1}).fits(6));
  EXPECT_FALSE(mesh.part({1, 1}).fits(8));
  EXPECT_FALSE(mesh.part({0, 1}, {{"x", 3}}).fits(8));
}

TEST(PartitionSpec, PrintsAsItIsWritten) {
  EXPECT_EQ(P().to_string(), "P()");
  EXPECT_EQ(P("data", "").to_string(), "P(\"data\", \"\")");
  EXPECT_EQ(P(DimAxes{"data", "model"}).to_string(), "P({\"data\", \"model\"})");
}

TEST(NamedSharding, GivesEachDeviceItsShare) {
  const Mesh mesh = data_by_model();

  EXPECT_EQ(NamedSharding(mesh, P()).shard_type(f32({8, 4})), f32({8, 4}));
  EXPECT_EQ(NamedSharding(mesh, P("data", "model")).shard_type(f32({8, 4})), f32({4, 1}));
  EXPECT_EQ(NamedSharding(mesh, P(DimAxes{"data", "model"})).shard_type(f32({8, 4})), f32({1, 4}));
}

TEST(NamedSharding, SplitsAnEmptyDimension) {
  const NamedSharding sharding(data_by_model(), P("model"));

  EXPECT_TRUE(sharding.validate(f32({0, 3})).ok());
  EXPECT_EQ(sharding.shard_type(f32({0, 3})), f32({0, 3}));
}

void expect_refusal(const NamedSharding& sharding, const TensorType& type,
                    const std::string& message) {
  const Status status = sharding.validate(type);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), message);
}

TEST(NamedSharding, RefusesWithTheNumbers) {
  const Mesh mesh = data_by_model();

  expect_refusal(NamedSharding(mesh, P("pipe")), f32({8}),
                 "P(\"pipe\") names axis \"pipe\", which mesh(data=2, model=4) does not have");
  expect_refusal(NamedSharding(mesh, P("data", "data")), f32({8, 8}),
                 "P(\"data\", \"data\") uses axis \"data\" twice; an axis can split one dimension "
                 "only, once");
  expect_refusal(NamedSharding(mesh, P("data", "")), f32({8}),
                 "P(\"data\", \"\") has 2 dimensions, but f32[8] has 1; leave out the last ones");
  expect_refusal(NamedSharding(mesh, P("", "model")), f32({8, 6}),
                 "dimension 1 of f32[8,6] has size 6, which P(\"\", \"model\") over "
                 "mesh(data=2, model=4) splits into 4 pieces; 6 is not divisible by 4");
}

TEST(NamedSharding, RefusesAMeshThatIsNone) {
  expect_refusal(NamedSharding(Mesh(1, {{"a", 0}}), P()), f32({8}),
                 "axis \"a\" of mesh(a=0) has size 0; it must be >= 1");
  expect_refusal(NamedSharding(Mesh(1, {{"a", 2}, {"a", 2}}), P()), f32({8}),
                 "mesh(a=2, a=2) has two axes called \"a\"; rename one");
  expect_refusal(NamedSharding(Mesh(1, {{"", 2}}), P()), f32({8}),
                 "axis 0 of mesh(=2) has no name; give each axis one");
}

TEST(ArraySpec, PrintsTypeAndSharding) {
  const ArraySpec spec{f32({8}), NamedSharding(data_by_model(), P("data"))};

  EXPECT_EQ(to_string(spec), "f32[8] as P(\"data\") over mesh(data=2, model=4)");
}

}  // namespace
}  // namespace seaway
