// Clusters whose devices are a plugin's: from the word in connect() to values.

#include "cluster/embedded.hpp"
#include "function/capture.hpp"
#include "seaway/seaway.hpp"
#include "unit/pjrt/fake_fixture.hpp"

namespace seaway::pjrt {
namespace {

const std::string kBackend = std::string("backend=pjrt:") + SEAWAY_FAKE_PLUGIN;

class PluginClusterTest : public FakePluginTest {
 protected:
  /// Two numbers, doubled on two devices of one island and then on another island.
  std::vector<float> doubled_twice(const std::string& more) {
    const auto doubles = [](Tensor x) { return x * 2; };
    known().add(function::capture(
                    "double", {}, std::vector{f32({1})},
                    [&](std::span<const Tensor> x) { return std::vector<Tensor>{doubles(x[0])}; })
                    .value(),
                {});
    auto client = connect("embedded:islands=2,devices=2," + kBackend + more).value();
    const Slice slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
    const NamedSharding row(slice.mesh(), P("data"));
    const Function twice = client.function("double", doubles, {f32({1})}).value();
    const Program program = client
                                .program("twice", [&](Traced x) { return twice(Traced(twice(x))); },
                                         {ArraySpec{f32({2}), row}})
                                .value();
    const seaway::Run run = program.execute({client.put<float>({1, 2}, row)});
    return run.output(0).to_host<float>().get().value();
  }
};

TEST_F(PluginClusterTest, ComputesOnThePluginsDevices) {
  EXPECT_EQ(doubled_twice(""), (std::vector<float>{4, 8}));
  EXPECT_GE(fake().calls(abi::Call::kLoadedExecutableExecute), 4u);
}

TEST_F(PluginClusterTest, ComputesOnDevicesWithMemoryOfTheirOwn) {
  fake().share_memory(false);

  EXPECT_EQ(doubled_twice(""), (std::vector<float>{4, 8}));
  EXPECT_GE(fake().calls(abi::Call::kTransfersTransferData), 4u);
}

TEST_F(PluginClusterTest, KeepsWhatWasCompiledForTheNextCluster) {
  const TemporaryDirectory directory;
  const std::string cache = ",executable_cache=" + directory.path();

  EXPECT_EQ(doubled_twice(cache), (std::vector<float>{4, 8}));
  const std::size_t compiled = fake().calls(abi::Call::kClientCompile);
  EXPECT_EQ(doubled_twice(cache), (std::vector<float>{4, 8}));

  EXPECT_GE(compiled, 1u);
  EXPECT_EQ(fake().calls(abi::Call::kClientCompile), compiled);
}

TEST_F(PluginClusterTest, ARunOfWhichAGangFailsIsPoison) {
  fake().fail(abi::Call::kLoadedExecutableExecute, 1, abi::ErrorCode::kInternal, "no luck");
  const auto doubles = [](Tensor x) { return x * 2; };
  auto client = connect("embedded:" + kBackend).value();
  const Function twice = client.function("double", doubles, {f32({1})}).value();
  const Slice slice = client.acquire_slice({.devices = 1}).value();
  const NamedSharding here(slice.mesh(), P());
  const Program program =
      client.program("p", [&](Traced x) { return twice(x); }, {ArraySpec{f32({1}), here}}).value();

  const auto value =
      program.execute({client.put<float>({1}, here)}).output(0).to_host<float>().get();

  EXPECT_NE(value.status().message().find("no luck"), std::string::npos) << value.to_string();
}

Status refusal(const std::string& options) { return connect("embedded:" + options).status(); }

TEST(PluginOptions, AreReadAndRefusedWithTheReason) {
  const auto options =
      cluster::parse_embedded("embedded:backend=pjrt:/p.so,executable_cache=/c").value();

  EXPECT_EQ(options.plugin, "/p.so");
  EXPECT_EQ(options.executable_cache, "/c");
  EXPECT_EQ(cluster::parse_embedded("embedded:backend=cpu")->plugin, "");
  for (const std::string wrong : {"gpu", "pjrt:", "pjrt:p.so"}) {
    EXPECT_EQ(refusal("backend=" + wrong),
              invalid_argument("cluster option backend=" + wrong +
                               " is not cpu, or pjrt: and the whole path of a plugin, from / on"));
  }
  EXPECT_EQ(refusal("executable_cache=/c"),
            invalid_argument("cluster option executable_cache=/c is for what a plugin compiles; "
                             "add backend=pjrt:/path/plugin.so"));
  EXPECT_EQ(refusal("backend=pjrt:/nowhere.so"),
            not_found("cluster option backend=pjrt:/nowhere.so: plugin /nowhere.so does not "
                      "exist"));
}

TEST(PluginOptions, DoNotGoWithSeveralHostsOfAnIsland) {
  const auto options =
      cluster::parse_embedded("embedded:devices=2,hosts=2,backend=pjrt:/p.so").value();

  EXPECT_EQ(cluster::check_for_processes(options),
            invalid_argument("cluster option hosts=2 does not go with backend=pjrt:/p.so: the "
                             "devices of a plugin are those of one process; take more islands "
                             "instead"));
}

TEST(PluginOptions, RefuseACacheThatOthersWriteTo) {
  const TemporaryDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  const std::string at = kBackend + ",executable_cache=";

  EXPECT_EQ(refusal(at + directory.path()).code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(refusal(at + "/nowhere/at/all").code(), StatusCode::kNotFound);
  EXPECT_EQ(refusal(at + SEAWAY_FAKE_PLUGIN).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seaway::pjrt
