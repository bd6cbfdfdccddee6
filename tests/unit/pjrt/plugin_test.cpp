// Loading plugins, their clients, and what becomes of their errors.

#include "pjrt/plugin.hpp"

#include <algorithm>

#include "unit/pjrt/fake_fixture.hpp"

namespace seaway::pjrt {
namespace {

Status refusal(const std::string& path) { return Plugin::load(path).status(); }

TEST(Plugin, ThatIsNotThereIsNotFound) {
  EXPECT_EQ(refusal("/nowhere/at/all.so"), not_found("plugin /nowhere/at/all.so does not exist"));
}

TEST(Plugin, NeedsAWholePath) {
  const Status expected =
      invalid_argument("plugin \"plugin.so\" is not the whole path of a file, from / on");

  EXPECT_EQ(refusal("plugin.so"), expected);
}

TEST(Plugin, ThatIsNoLibraryIsRefused) {
  const Status status = refusal(SEAWAY_NO_LIBRARY);

  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("cannot be loaded: "), std::string::npos) << status.to_string();
}

TEST(Plugin, ThatIsAnotherLibraryIsRefused) {
  const Status status = refusal(SEAWAY_OTHER_LIBRARY);

  EXPECT_EQ(status, invalid_argument(std::string("library ") + SEAWAY_OTHER_LIBRARY +
                                     " is no PJRT plugin: it has no function GetPjrtApi"));
}

/// As a plugin gives it, with every function.
abi::Api whole_api() {
  abi::Api api = {};
  api.head.struct_size = sizeof(abi::Api);
  api.version.minor = abi::kMinorMin;
  for (auto& function : api.calls) function = [] {};
  return api;
}

TEST(Plugin, OfTheOldestInterfaceIsTaken) {
  const abi::Api api = whole_api();

  EXPECT_TRUE(check_api(&api, "p").ok());
}

TEST(Plugin, ThatIsTooOldIsRefused) {
  abi::Api old = whole_api(), other = whole_api(), ancient = whole_api();
  old.version.minor = abi::kMinorMin - 1;
  other.version.major = 1;
  ancient.head.struct_size = 8;

  EXPECT_EQ(check_api(&old, "p"),
            invalid_argument("plugin p speaks PJRT 0.80; Seaway needs 0.81 or a later 0.x: take a "
                             "newer plugin"));
  EXPECT_EQ(check_api(&other, "p").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(check_api(&ancient, "p"),
            invalid_argument("plugin p speaks PJRT of unknown age; Seaway needs 0.81 or a later "
                             "0.x: take a newer plugin"));
  EXPECT_EQ(check_api(nullptr, "p"), invalid_argument("plugin p offers no interface at all"));
}

TEST(Plugin, ThatLacksAFunctionIsRefused) {
  abi::Api holed = whole_api(), short_one = whole_api();
  holed.calls[static_cast<std::size_t>(abi::Call::kClientCompile)] = nullptr;
  short_one.head.struct_size -= sizeof(short_one.calls[0]);

  EXPECT_EQ(check_api(&holed, "p"),
            invalid_argument("plugin p has no function at place 20 of its table, which Seaway "
                             "calls"));
  EXPECT_EQ(check_api(&short_one, "p"),
            invalid_argument("plugin p has no function at place 108 of its table, which Seaway "
                             "calls"));
}

TEST(Plugin, GivesEachErrorACodeThatCallersActOn) {
  const std::map<abi::ErrorCode, StatusCode> expected = {
      {abi::ErrorCode::kOk, StatusCode::kOk},
      {abi::ErrorCode::kCancelled, StatusCode::kCancelled},
      {abi::ErrorCode::kUnknown, StatusCode::kUserFunctionError},
      {abi::ErrorCode::kInvalidArgument, StatusCode::kInvalidArgument},
      {abi::ErrorCode::kDeadlineExceeded, StatusCode::kDeadlineExceeded},
      {abi::ErrorCode::kNotFound, StatusCode::kNotFound},
      {abi::ErrorCode::kAlreadyExists, StatusCode::kUserFunctionError},
      {abi::ErrorCode::kPermissionDenied, StatusCode::kPermissionDenied},
      {abi::ErrorCode::kResourceExhausted, StatusCode::kResourceExhausted},
      {abi::ErrorCode::kFailedPrecondition, StatusCode::kUserFunctionError},
      {abi::ErrorCode::kAborted, StatusCode::kDeviceLost},
      {abi::ErrorCode::kOutOfRange, StatusCode::kUserFunctionError},
      {abi::ErrorCode::kUnimplemented, StatusCode::kUnimplemented},
      {abi::ErrorCode::kInternal, StatusCode::kUserFunctionError},
      {abi::ErrorCode::kUnavailable, StatusCode::kDeviceLost},
      {abi::ErrorCode::kDataLoss, StatusCode::kDataCorruption},
      {abi::ErrorCode::kUnauthenticated, StatusCode::kUnauthenticated},
  };

  for (const auto& [theirs, ours] : expected) EXPECT_EQ(status_of(theirs, "x").code(), ours);
  EXPECT_EQ(status_of(abi::ErrorCode::kOutOfRange, "x").message(), "OUT_OF_RANGE: x");
}

class ClientTest : public FakePluginTest {};

TEST_F(ClientTest, HasTheDevicesThatItWasAskedFor) {
  const auto client = Client::make(plugin(), 3).value();

  ASSERT_EQ(client->devices().size(), 3u);
  EXPECT_EQ(client->devices()[2].id, 102);
  EXPECT_EQ(client->devices()[2].kind, "fake device");
  EXPECT_TRUE(client->shares_host_memory());
  EXPECT_EQ(client->identity(), std::string(SEAWAY_FAKE_PLUGIN) + "\n0.81\nfake\n1");
}

TEST_F(ClientTest, TakesTheDevicesThatThereAreWhenTheyCannotBeChosen) {
  fake().fail(abi::Call::kClientCreate, 1, abi::ErrorCode::kInvalidArgument, "unknown option");

  const auto client = Client::make(plugin(), 1);

  ASSERT_TRUE(client.ok()) << client.to_string();
  EXPECT_EQ((*client)->devices().size(), 1u);
}

TEST_F(ClientTest, IsRefusedWhenThePluginHasLessDevices) {
  fake().fail(abi::Call::kClientCreate, 1, abi::ErrorCode::kInvalidArgument, "unknown option");

  EXPECT_EQ(Client::make(plugin(), 2).status(),
            invalid_argument(std::string("plugin ") + SEAWAY_FAKE_PLUGIN +
                             " has 1 devices, and 2 are wanted: ask for fewer"));
}

TEST_F(ClientTest, IsNotMadeWhenACallFailsAndLeavesNothing) {
  for (const abi::Call call :
       {abi::Call::kClientCreate, abi::Call::kClientPlatformName, abi::Call::kClientPlatformVersion,
        abi::Call::kClientAddressableDevices, abi::Call::kDeviceGetDescription,
        abi::Call::kDeviceDescriptionId, abi::Call::kDeviceDescriptionKind,
        abi::Call::kDeviceDefaultMemory, abi::Call::kClientBufferFromHostBuffer,
        abi::Call::kBufferIsOnCpu, abi::Call::kEventAwait}) {
    fake().fail(call, 1, abi::ErrorCode::kUnavailable, "not now");

    const Status status = Client::make(plugin(), 2).status();

    EXPECT_EQ(status.code(), StatusCode::kDeviceLost) << static_cast<std::size_t>(call);
    EXPECT_NE(status.message().find("not now"), std::string::npos) << status.to_string();
    EXPECT_EQ(fake().alive(), 0u) << static_cast<std::size_t>(call);
  }
}

TEST_F(ClientTest, ForgetsTheErrorOfAnError) {
  fake().fail(abi::Call::kClientCreate, 1, abi::ErrorCode::kUnavailable, "not now");
  fake().fail(abi::Call::kErrorGetCode, 1, abi::ErrorCode::kInternal, "nor later");

  EXPECT_EQ(Client::make(plugin(), 2).status().code(), StatusCode::kUserFunctionError);
}

/// The fake plugin complains about those who break the contract: else it would hold nobody to it.
class FakeContractTest : public FakePluginTest {
 protected:
  /// Sorted; then the fixture sees none of them.
  std::vector<std::string> take_violations() {
    auto violations = fake().violations();
    fake().reset();
    std::sort(violations.begin(), violations.end());
    return violations;
  }
};

alignas(64) constexpr std::byte kNumbers[64] = {};

TEST_F(FakeContractTest, SeesAThingThatIsUsedAfterItsEnd) {
  {
    const auto client = Client::make(plugin(), 1).value();
    LentBuffer lent = client->lend(client->devices()[0], f32({4}), kNumbers).value();
    abi::BufferDestroy destroy;
    destroy.buffer = lent.buffer.get();
    ASSERT_TRUE(call(client->api(), destroy).ok());

    lent.buffer.reset();
    (void)await(lent.released);
  }

  EXPECT_EQ(take_violations(),
            std::vector<std::string>{"a buffer is used that does not exist, or not any more"});
}

TEST_F(FakeContractTest, SeesWhatAClientLeavesBehind) {
  {
    auto client = Client::make(plugin(), 1).value();
    const LentBuffer lent = client->lend(client->devices()[0], f32({4}), kNumbers).value();

    client.reset();
  }

  EXPECT_EQ(take_violations(),
            (std::vector<std::string>{"nobody waits for memory that was lent",
                                      "the client ends before a thing of kind 2",
                                      "the client ends before a thing of kind 3"}));
}

TEST_F(FakeContractTest, SeesMemoryThatNobodyWaitsFor) {
  {
    const auto client = Client::make(plugin(), 1).value();
    LentBuffer lent = client->lend(client->devices()[0], f32({4}), kNumbers).value();

    lent.buffer.reset();
  }

  EXPECT_EQ(take_violations(), std::vector<std::string>{"nobody waits for memory that was lent"});
}

TEST_F(FakeContractTest, SeesMemoryThatChangesWhileItIsLent) {
  alignas(64) std::byte numbers[64] = {};
  {
    const auto client = Client::make(plugin(), 1).value();
    LentBuffer lent = client->lend(client->devices()[0], f32({4}), numbers).value();

    numbers[0] = std::byte{1};
    lent.buffer.reset();
    (void)await(lent.released);
  }

  EXPECT_EQ(take_violations(),
            std::vector<std::string>{"memory that was lent has changed meanwhile"});
}

TEST_F(FakeContractTest, SeesAPromiseThatNobodyKeeps) {
  {
    const auto client = Client::make(plugin(), 1).value();
    const std::vector<TensorType> types = {f32({4})};
    Promises promises = client->promise(client->devices()[0], types).value();

    promises.transfers.reset();
  }

  EXPECT_EQ(take_violations(), std::vector<std::string>{"a promise is neither kept nor broken"});
}

}  // namespace
}  // namespace seaway::pjrt
