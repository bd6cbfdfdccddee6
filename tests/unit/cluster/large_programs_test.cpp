// Programs of many nodes: they run, nobody else waits for them, and all kinds of clusters have the
// same limit.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cluster/process.hpp"
#include "seaway/seaway.hpp"
#include "unit/sanitized.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;

/// A cluster of one process each role, or of one process, by the same words.
class LargePrograms : public testing::Test {
 protected:
  LargePrograms() {
    std::string name = testing::TempDir() + "seawayXXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~LargePrograms() override {
    processes_.clear();
    rmdir(directory_.c_str());
  }

  std::string address(const RoleName& name) const {
    return "unix:" + directory_ + "/" + std::to_string(static_cast<int>(name.role)) + "-" +
           std::to_string(name.index);
  }
  void start(const RoleName& name, const std::string& words) {
    ProcessOptions options;
    options.name = name;
    options.listen = address(name);
    options.spec = "embedded:" + words;
    options.cluster = 78;
    if (name.role != Role::kController) options.join = address({Role::kController, 0});
    options.on_orphaned = [this] { ++orphans_; };
    auto process = Process::start(std::move(options), clock_);
    ASSERT_TRUE(process.ok()) << process.status().to_string();
    processes_[name] = *process;
  }
  void start_all(const std::string& words, std::uint32_t islands) {
    start({Role::kController, 0}, words);
    for (std::uint32_t island = 0; island < islands; ++island) {
      start({Role::kIsland, island}, words);
      start({Role::kHost, island}, words);
    }
  }
  Result<Client> connect_to_processes() const { return connect(address({Role::kController, 0})); }

  static Result<Slice> slice_on(const Client& client, std::int32_t island) {
    for (;;) {
      auto slice = client.acquire_slice({.devices = 1, .mesh = {{"x", 1}}, .island = island});
      if (slice.status().code() != StatusCode::kIslandUnavailable) return slice;
      std::this_thread::yield();
    }
  }
  /// x + 1, `nodes` times: on the islands of `slices` in turn, 1000 nodes on each.
  static Result<Program> chain(const Client& client, const std::vector<Slice>& slices,
                               std::size_t nodes, std::string name = "chain..") {
    const auto add = client.function("add", [](Tensor v) { return v + 1.0; }, {f32({1})});
    if (!add.ok()) return add.status();
    std::vector<Function> on;
    for (const Slice& slice : slices) on.push_back(add->on(slice));
    const auto body = [&](const Traced& x) {
      Traced value = x;
      for (std::size_t i = 0; i < nodes; ++i) value = on[i / 1000 % on.size()](value);
      return value;
    };
    return client.program(std::move(name), body,
                          {ArraySpec{f32({1}), NamedSharding(slices[0].mesh(), P())}});
  }
  static Result<float> run(const Client& client, const Slice& slice, const Program& program) {
    const NamedSharding whole(slice.mesh(), P());
    const auto values =
        program.execute({client.put<float>({0}, whole)}).output(0).to_host<float>().get();
    if (!values.ok()) return values.status();
    return values->at(0);
  }
  static std::size_t bytes_of(const Status& refused) {
    const std::string& text = refused.message();
    const auto at = text.find("it has ");
    return at == text.npos ? 0 : std::strtoul(text.c_str() + at + 7, nullptr, 10);
  }

  /// Programs of one word less than the limit, of the limit, and of one word more.
  static void walk_the_limit(const Client& client, std::size_t limit) {
    const auto slice = slice_on(client, 0);
    ASSERT_TRUE(slice.ok()) << slice.status().to_string();
    const std::size_t many = limit / 64;
    const std::size_t bytes = bytes_of(chain(client, {*slice}, many).status());
    const std::size_t each = bytes - bytes_of(chain(client, {*slice}, many - 1).status());
    ASSERT_GT(each, 0u);
    const std::size_t nodes = many - (bytes - limit + each - 1) / each;
    const std::size_t rest = limit - (bytes - (many - nodes) * each);
    ASSERT_EQ(rest % 8, 0u);
    // Each eight letters are a word.
    const auto name = [rest](std::int64_t more) {
      return "chain.." +
             std::string(static_cast<std::size_t>(static_cast<std::int64_t>(rest) + 8 * more), '.');
    };

    for (const std::int64_t more : {-1, 0}) {
      if (rest == 0 && more < 0) continue;
      const auto program = chain(client, {*slice}, nodes, name(more));
      ASSERT_TRUE(program.ok()) << more << ": " << program.status().to_string();
      const auto value = run(client, *slice, *program);
      ASSERT_TRUE(value.ok()) << value.status().to_string();
      EXPECT_EQ(*value, static_cast<float>(nodes));
    }
    const auto refused = chain(client, {*slice}, nodes, name(1));
    EXPECT_EQ(refused.status(),
              resource_exhausted("program \"" + name(1) + "\" of " + std::to_string(nodes) +
                                 " nodes refused: it has " + std::to_string(limit + 8) +
                                 " bytes; the limit is " + std::to_string(limit) +
                                 ": put loops into functions, or use several programs"));
    // Nothing else is refused for it.
    const auto small = chain(client, {*slice}, 10);
    ASSERT_TRUE(small.ok());
    EXPECT_EQ(*run(client, *slice, *small), 10.0f);
  }

  std::string directory_;
  std::shared_ptr<const Clock> clock_ = std::make_shared<const RealClock>();
  std::map<RoleName, std::shared_ptr<Process>> processes_;
  std::atomic<int> orphans_ = 0;
};

TEST_F(LargePrograms, RunBesideOtherClients) {
  const char* const wanted = std::getenv("SEAWAY_NODES");  // .ci/nightly: a million.
  const std::size_t nodes = wanted         ? std::strtoul(wanted, nullptr, 10)
                            : kIsSanitized ? 10'000
                                           : 100'000;
  start_all("islands=2,devices=1,device_memory=64MiB,threads=1", 2);
  const auto large = connect_to_processes(), other = connect_to_processes();
  ASSERT_TRUE(large.ok() && other.ok());
  const auto slice = slice_on(*other, 0);
  ASSERT_TRUE(slice.ok());
  const auto small = chain(*other, {*slice}, 3);
  ASSERT_TRUE(small.ok());
  std::atomic<bool> is_over = false;
  std::atomic<int> runs = 0, failures = 0;
  std::thread calls([&] {
    while (!is_over) {
      const auto value = run(*other, *slice, *small);
      value.ok() && *value == 3.0f ? ++runs : ++failures;
    }
  });

  const auto one = slice_on(*large, 0), two = slice_on(*large, 1);
  ASSERT_TRUE(one.ok() && two.ok());
  const auto program = chain(*large, {*one, *two}, nodes);
  const auto value = program.ok() ? run(*large, *one, *program) : program.status();
  is_over = true;
  calls.join();

  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_EQ(*value, static_cast<float>(nodes));
  EXPECT_EQ(failures, 0);
  EXPECT_GT(runs, 0);
  EXPECT_EQ(orphans_, 0);
}

TEST_F(LargePrograms, RunFunctionOfManyOperations) {
  const int operations = kIsSanitized ? 20'000 : 200'000;
  start_all("islands=1,devices=1,threads=1", 1);
  const auto client = connect_to_processes();
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  const auto slice = slice_on(*client, 0);
  ASSERT_TRUE(slice.ok()) << slice.status().to_string();
  const auto long_body = [operations](Tensor v) {
    for (int i = 0; i < operations; ++i) v = v + 1.0;
    return v;
  };
  const auto function = client->function("long", long_body, {f32({1})});
  ASSERT_TRUE(function.ok()) << function.status().to_string();
  const auto program =
      client->program("long", [&](const Traced& x) { return function->on(*slice)(x); },
                      {ArraySpec{f32({1}), NamedSharding(slice->mesh(), P())}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();

  const auto value = run(*client, *slice, *program);

  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_EQ(*value, static_cast<float>(operations));
  EXPECT_EQ(orphans_, 0);
}

TEST_F(LargePrograms, HaveOneLimitInOneProcess) {
  const auto client = connect("embedded:islands=1,devices=1,frame_bytes=64KiB,threads=1");
  ASSERT_TRUE(client.ok()) << client.status().to_string();

  walk_the_limit(*client, 64 << 10);
}

TEST_F(LargePrograms, HaveTheSameLimitInProcesses) {
  start_all("islands=1,devices=1,frame_bytes=64KiB,threads=1", 1);
  const auto client = connect_to_processes();
  ASSERT_TRUE(client.ok()) << client.status().to_string();

  walk_the_limit(*client, 64 << 10);
}

TEST_F(LargePrograms, AFunctionOverTheLimitIsRefusedInBoth) {
  start_all("islands=1,devices=1,frame_bytes=64KiB,threads=1", 1);
  for (const std::string& where :
       {std::string("embedded:islands=1,devices=1,frame_bytes=64KiB,threads=1"),
        address({Role::kController, 0})}) {
    const auto client = connect(where);
    ASSERT_TRUE(client.ok()) << client.status().to_string();
    const auto long_body = [](Tensor v) {
      for (int i = 0; i < 2000; ++i) v = v + 1.0;
      return v;
    };

    const auto refused = client->function("long", long_body, {f32({1})});

    EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
    EXPECT_NE(refused.status().message().find("the limit is 65536"), std::string::npos)
        << refused.status().message();
  }
}

}  // namespace
}  // namespace seaway::cluster
