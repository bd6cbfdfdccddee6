// Walks the table of limits (base/limits.hpp) on each kind of cluster: a call at a limit works, one
// above it is refused with both numbers, and its client and arrays live on.

#include "base/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <seaway/app/simulation.hpp>
#include <string>
#include <vector>

#include "cluster/process.hpp"
#include "seaway/host_main.hpp"
#include "seaway/seaway.hpp"
#include "till.hpp"

namespace seaway {
namespace {

using limits::Limit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Connect = std::function<Result<Client>(ClientOptions options)>;

/// A client with one device and an array that outlives what is refused.
struct Scene {
  explicit Scene(const Connect& connect_to)
      : connect(connect_to),
        client(connect({}).value()),
        slice(client.acquire_slice({}).value()),
        array(client.put<float>({1, 2}, NamedSharding(slice.mesh(), P()))) {}

  void expect_alive(const std::string& after) const {
    const auto values = array.to_host<float>().get();
    ASSERT_TRUE(values.ok()) << after << ": " << values.status().to_string();
    EXPECT_THAT(*values, ElementsAre(1, 2)) << after;
    const Array other = client.put<float>({3}, NamedSharding(slice.mesh(), P()));
    EXPECT_EQ(other.status(), Status()) << after;
  }

  Connect connect;
  Client client;
  Slice slice;
  Array array;
};

/// One call whose argument has a size that the table limits.
struct Call {
  const char* name;
  const Limit* limit;
  std::function<Status(const Scene& scene, std::uint64_t size)> make;
  enum class AtLimit : std::uint8_t {
    kWorks,
    kMayFailOtherwise,  // Not for its size: some kind of cluster has no such thing.
    kIsTooLarge,        // For the memory of a test.
  } at_limit = AtLimit::kWorks;
};

std::string name_of(std::uint64_t size) { return std::string(size, 'x'); }

std::vector<MeshAxis> axes_of(std::uint64_t size) {
  std::vector<MeshAxis> axes;
  for (std::uint64_t i = 0; i < size; ++i) axes.emplace_back("a" + std::to_string(i), 1);
  return axes;
}

const TensorBody kItself = [](std::span<const Tensor> in) {
  return std::vector<Tensor>(in.begin(), in.end());
};

Status capture(const Scene& scene, std::string name, const TensorType& type) {
  return scene.client.function(std::move(name), kItself, {type}).status();
}

Status register_native(const Scene& scene, std::string name, const TensorType& type,
                       std::uint64_t scratch_bytes) {
  NativeFunction native{.parameters = {type}, .outputs = {type}};
  native.scratch_bytes = scratch_bytes;
  native.body = [](auto, auto, std::byte*) { return Status(); };
  return scene.client.native(std::move(name), std::move(native)).status();
}

Status put(const Scene& scene, Shape shape, const Mesh& mesh) {
  const std::vector<float> one = {1};
  return scene.client.put(one, std::move(shape), NamedSharding(mesh, P())).status();
}

Status acquire(const Scene& scene, std::vector<MeshAxis> axes) {
  auto slice = scene.client.acquire_slice({.devices = 1, .mesh = std::move(axes)});
  return slice.ok() ? slice->release() : slice.status();
}

Status spawn(const Scene& scene, const Placement& placement, std::string name = "") {
  auto mesh = scene.client.spawn<shelves::Till>(SpawnOptions(placement).named(std::move(name)));
  return mesh.ok() ? mesh->stop().get().status() : mesh.status();
}

Placement one_place(const Scene& scene) { return scene.client.hosts().at({0}); }

const std::vector<Call>& calls() {
  static const std::vector<Call> all = {
      {"put", &limits::kRank,
       [](const Scene& scene, std::uint64_t size) {
         return put(scene, Shape(size, 1), scene.slice.mesh());
       }},
      {"native", &limits::kRank,
       [](const Scene& scene, std::uint64_t size) {
         return register_native(scene, "rank" + std::to_string(size), {DType::kF32, Shape(size, 1)},
                                0);
       },
       Call::AtLimit::kMayFailOtherwise},
      {"function", &limits::kCapturedRank,
       [](const Scene& scene, std::uint64_t size) {
         return capture(scene, "f", {DType::kF32, Shape(size, 1)});
       }},
      {"function of bytes", &limits::kTensorBytes,
       [](const Scene& scene, std::uint64_t size) {
         return capture(scene, "f", {DType::kI8, {static_cast<std::int64_t>(size)}});
       }},
      {"acquire_slice of axes", &limits::kMeshAxes,
       [](const Scene& scene, std::uint64_t size) { return acquire(scene, axes_of(size)); }},
      {"put on a part of axes", &limits::kMeshAxes,
       [](const Scene& scene, std::uint64_t size) {
         return put(scene, {1}, scene.slice.mesh().part({0}, axes_of(size)));
       }},
      {"acquire_slice with an axis", &limits::kNameBytes,
       [](const Scene& scene, std::uint64_t size) {
         return acquire(scene, {{name_of(size), 1}});
       }},
      {"put on a part with an axis", &limits::kNameBytes,
       [](const Scene& scene, std::uint64_t size) {
         return put(scene, {1}, scene.slice.mesh().part({0}, {{name_of(size), 1}}));
       }},
      {"function of a name", &limits::kNameBytes,
       [](const Scene& scene, std::uint64_t size) {
         return capture(scene, name_of(size), f32({1}));
       }},
      {"native of a name", &limits::kNameBytes,
       [](const Scene& scene, std::uint64_t size) {
         return register_native(scene, name_of(size), f32({1}), 0);
       },
       Call::AtLimit::kMayFailOtherwise},
      {"execute of a function of a name", &limits::kNameBytes,
       [](const Scene& scene, std::uint64_t size) {
         const auto made = scene.client.function(name_of(size), kItself, {f32({2})});
         return made.ok() ? made->execute({scene.array}).status().get().status() : made.status();
       }},
      {"program of a name", &limits::kNameBytes,
       [](const Scene& scene, std::uint64_t size) {
         return scene.client
             .program(name_of(size), [](const Traced& x) { return x; }, {scene.array.spec()})
             .status();
       }},
      {"program of outputs", &limits::kProgramOutputs,
       [](const Scene& scene, std::uint64_t size) {
         const auto body = [size](const Traced& x) { return std::vector<Traced>(size, x); };
         return scene.client.program("p", body, {scene.array.spec()}).status();
       },
       Call::AtLimit::kIsTooLarge},
      {"native of scratch", &limits::kScratchBytes,
       [](const Scene& scene, std::uint64_t size) {
         return register_native(scene, "scratch" + std::to_string(size), f32({1}), size);
       },
       Call::AtLimit::kMayFailOtherwise},
      {"foreign of shards", &limits::kMeshDevices,
       [](const Scene& scene, std::uint64_t size) {
         return scene.client
             .foreign("f",
                      {.code = "x", .format = "mlir", .shards = static_cast<std::uint32_t>(size)})
             .status();
       },
       Call::AtLimit::kMayFailOtherwise},
      {"connect of a tenant", &limits::kTenantBytes,
       [](const Scene& scene, std::uint64_t size) {
         return scene.connect({.tenant = name_of(size)}).status();
       }},
      {"spawn of a name", &limits::kNameBytes,
       [](const Scene& scene, std::uint64_t size) {
         return spawn(scene, one_place(scene), name_of(size));
       }},
      {"find of a name", &limits::kNameBytes,
       [](const Scene& scene, std::uint64_t size) {
         return scene.client.find<shelves::Till>(name_of(size)).status();
       },
       Call::AtLimit::kMayFailOtherwise},
      {"spawn with an axis", &limits::kNameBytes,
       [](const Scene& scene, std::uint64_t size) {
         return spawn(scene, one_place(scene).each(name_of(size), 1));
       }},
      {"spawn of axes", &limits::kMeshAxes,
       [](const Scene& scene, std::uint64_t size) {
         Placement places = one_place(scene);
         while (places.axes.size() < size) places = places.each("a", 1);
         return spawn(scene, places);
       }},
      {"spawn of actors", &limits::kMembers,
       [](const Scene& scene, std::uint64_t size) {
         return spawn(scene, one_place(scene).each("a", static_cast<std::uint32_t>(size)));
       },
       Call::AtLimit::kIsTooLarge},
  };
  return all;
}

void walk(const Connect& connect) {
  const Scene scene(connect);
  for (const Call& call : calls()) {
    const std::uint64_t max = call.limit->max;
    for (const std::uint64_t size : {max - 1, max}) {
      if (call.at_limit == Call::AtLimit::kIsTooLarge) continue;
      const Status status = call.make(scene, size);
      EXPECT_TRUE(status.ok() || call.at_limit == Call::AtLimit::kMayFailOtherwise)
          << call.name << " " << size << ": " << status.to_string();
      EXPECT_NE(status.code(), StatusCode::kResourceExhausted)
          << call.name << " " << size << ": " << status.to_string().substr(0, 500);
      const std::string refusal =
          std::to_string(size) + " " + std::string(call.limit->unit) + "; the limit is";
      EXPECT_THAT(status.message(), Not(HasSubstr(refusal))) << call.name;
    }
    const Status above = call.make(scene, max + 1);
    EXPECT_EQ(above.code(), StatusCode::kInvalidArgument)
        << call.name << ": " << above.to_string().substr(0, 500);
    EXPECT_THAT(above.message(), HasSubstr(std::to_string(max + 1))) << call.name;
    EXPECT_THAT(above.message(), HasSubstr(std::to_string(max))) << call.name;
    EXPECT_LT(above.message().size(), 2 * limits::kNameBytes.max) << call.name;
    scene.expect_alive(call.name);
  }
}

/// What was found from outside: far above a limit, or where sizes wrap around.
void walk_far_above(const Connect& connect) {
  const Scene scene(connect);
  const auto expect_refused = [&scene](const std::string& what, const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << what << ": " << status.to_string();
    scene.expect_alive(what);
  };
  constexpr std::int64_t kWide = std::int64_t{1} << 62;

  expect_refused("2^31 actors", spawn(scene, one_place(scene).each("a", 1u << 31)));
  expect_refused(
      "2^64 actors",
      spawn(scene, one_place(scene).each("a", 1u << 31).each("b", 1u << 31).each("c", 4)));
  expect_refused("a name of 1 MiB", spawn(scene, one_place(scene), name_of(1 << 20)));
  expect_refused("an axis of 20 MB", acquire(scene, {{name_of(20'000'000), 1}}));
  expect_refused("elements that overflow", put(scene, {kWide, kWide, 4}, scene.slice.mesh()));
  expect_refused("axes that overflow",
                 put(scene, {1}, scene.slice.mesh().part({0}, {{"a", kWide}, {"b", kWide}})));
  expect_refused("a name with a zero byte", capture(scene, std::string("f\0g", 3), f32({1})));
  expect_refused("an axis with a zero byte", acquire(scene, {{std::string("a\0b", 3), 1}}));
  expect_refused("a mesh of actors with a zero byte",
                 spawn(scene, one_place(scene), std::string("m\0n", 3)));
}

/// Processes of one island over Unix sockets, all of them in this one.
class ProcessCluster {
 public:
  ProcessCluster() {
    std::string name = testing::TempDir() + "seawayXXXXXX";
    directory_ = mkdtemp(name.data());
    auto registry = std::make_shared<Registry>();
    registry->actor<shelves::Till>();
    // What a host knows it says when it joins.
    for (int i = 0; i < 500; ++i) {
      NativeFunction native{.parameters = {f32({1})}, .outputs = {f32({1})}};
      native.body = [](auto, auto, std::byte*) { return Status(); };
      registry->native("a native function of a name of some length, number " + std::to_string(i),
                       std::move(native));
    }
    for (const auto role : {actor::Role::kController, actor::Role::kIsland, actor::Role::kHost}) {
      cluster::ProcessOptions options;
      options.name = {role, 0};
      options.listen = address(role);
      options.spec = "embedded:device_memory=16MiB,threads=1";
      options.cluster = 78;
      options.silence_ns = 3'600'000'000'000;
      if (role == actor::Role::kHost) options.registry = registry;
      if (role != actor::Role::kController) options.join = address(actor::Role::kController);
      auto process = cluster::Process::start(std::move(options), clock_);
      EXPECT_TRUE(process.ok()) << process.status().to_string();
      processes_.push_back(*process);
    }
  }
  ~ProcessCluster() {
    processes_.clear();
    rmdir(directory_.c_str());
  }

  Result<Client> connect(ClientOptions options) const {
    return seaway::connect(address(actor::Role::kController), std::move(options));
  }

 private:
  std::string address(actor::Role role) const {
    return "unix:" + directory_ + "/" + std::to_string(static_cast<int>(role));
  }

  std::string directory_;
  std::shared_ptr<const Clock> clock_ = std::make_shared<const RealClock>();
  std::vector<std::shared_ptr<cluster::Process>> processes_;
};

class LimitsOf : public testing::TestWithParam<std::string> {
 protected:
  static void on_cluster(const std::function<void(const Connect& connect)>& body) {
    if (GetParam() == "embedded") {
      const auto cluster = Cluster::start("embedded:device_memory=16MiB").value();
      body([&cluster](ClientOptions options) { return cluster.connect(std::move(options)); });
    } else if (GetParam() == "processes") {
      const ProcessCluster cluster;
      body([&cluster](ClientOptions options) { return cluster.connect(std::move(options)); });
    } else {
      const auto report =
          simulate({.cluster = "embedded:device_memory=16MiB"}, [&body](Simulation& world) {
            body([&world](ClientOptions options) { return world.connect(std::move(options)); });
          });
      EXPECT_TRUE(report.status.ok()) << report.to_string();
    }
  }
};

TEST_P(LimitsOf, AreKeptByEachCall) { on_cluster(walk); }
TEST_P(LimitsOf, RefuseSizesFarAbove) { on_cluster(walk_far_above); }

INSTANTIATE_TEST_SUITE_P(Clusters, LimitsOf, testing::Values("embedded", "simulated", "processes"),
                         [](const auto& info) { return info.param; });

TEST(LimitsOfOptions, AreAskedBeforeAnythingIsMade) {
  const auto refusal = [](const std::string& spec) {
    return Cluster::start(spec).status().to_string();
  };

  EXPECT_THAT(refusal("embedded:islands=4000000000,devices=1"), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(refusal("embedded:devices=99999999999999999999"), HasSubstr("from 1 to 65536"));
  EXPECT_THAT(refusal("embedded:hosts=4097"), HasSubstr("from 1 to 4096"));
  EXPECT_EQ(refusal("embedded:islands=1024,devices=65536"),
            "INVALID_ARGUMENT: islands=1024 times devices=65536: 67108864 devices; the limit is "
            "262144");
  EXPECT_EQ(refusal("embedded:islands=1024,hosts=5"),
            "INVALID_ARGUMENT: islands=1024 times hosts=5: 5120 hosts; the limit is 4096");
}

}  // namespace
}  // namespace seaway
