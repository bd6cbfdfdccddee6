// Hosts that talk over TCP alone, here all in one process: large values are fetched, whoever dies.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "cluster/process.hpp"
#include "seaway/seaway.hpp"
#include "transport/address_text.hpp"
#include "transport/token.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;

constexpr std::int64_t kRows = 512, kColumns = 1024;  // 2 MiB.

class FarHosts : public testing::Test {
 protected:
  FarHosts() {
    std::string name = testing::TempDir() + "seawayXXXXXX";
    directory_ = mkdtemp(name.data());
    std::array<std::byte, transport::kTokenBytes> random;
    random.fill(std::byte{17});
    token_ = store_.issue({.tenant = "all", .role = transport::TokenRole::kWorker}, random).value();
    ProcessOptions options;
    options.listen = near() + ",tcp:127.0.0.1:0";
    options.spec = "embedded:islands=2,devices=2,device_memory=64MiB,threads=1";
    options.cluster = 78;
    options.silence_ns = 30'000'000'000;  // A busy machine is no dead one.
    options.tokens = [this, is_told = false]() mutable {
      using Told = std::optional<Result<transport::TokenStore>>;
      return std::exchange(is_told, true) ? Told() : Told(store_);
    };
    auto process = Process::start(std::move(options), clock_);
    EXPECT_TRUE(process.ok()) << process.status().to_string();
    controller_ = *process;
    for (std::uint32_t island = 0; island < 2; ++island) {
      start({Role::kIsland, island});
      start({Role::kHost, island});
    }
  }
  ~FarHosts() override {
    processes_.clear();
    controller_.reset();
    rmdir(directory_.c_str());
  }

  std::string near() const { return "unix:" + directory_ + "/controller"; }
  void start(const RoleName& name, std::uint32_t life = 1) {
    ProcessOptions options;
    options.name = name;
    options.life = life;
    options.listen = "tcp:127.0.0.1:0";
    options.join = transport::split_addresses(controller_->address()).back();
    options.credentials.token = token_;
    auto process = Process::start(std::move(options), clock_);
    ASSERT_TRUE(process.ok()) << process.status().to_string();
    processes_[name] = *process;
  }
  Process& host(std::uint32_t island) { return *processes_[{Role::kHost, island}]; }

  static Result<Slice> slice_on(const Client& client, std::int32_t island) {
    for (;;) {
      auto slice = client.acquire_slice({.devices = 2, .mesh = {{"x", 2}}, .island = island});
      // Its host has not said that it is there, or not yet again.
      if (slice.status().code() != StatusCode::kIslandUnavailable) return slice;
      std::this_thread::yield();
    }
  }
  /// Twice `x`, as rows on island 0, and 1 more than that, as columns on island 1.
  Result<std::vector<std::int32_t>> run(const Client& client, const std::vector<std::int32_t>& x) {
    const auto one = slice_on(client, 0), two = slice_on(client, 1);
    if (!one.ok()) return one.status();
    if (!two.ok()) return two.status();
    const auto twice = client.function("twice", [](Tensor v) { return v + v; },
                                       {i32({kRows / 2, kColumns})}, {.in = {P("x")}});
    const auto more = client.function("more", [](Tensor v) { return v + 1.0; },
                                      {i32({kRows, kColumns / 2})}, {.in = {P("", "x")}});
    if (!twice.ok()) return twice.status();
    if (!more.ok()) return more.status();
    const NamedSharding rows(one->mesh(), P("x"));
    const auto program =
        client.program("p", [&](const Traced& v) { return more->on(*two)(twice->on(*one)(v)); },
                       {ArraySpec{i32({kRows, kColumns}), rows}});
    if (!program.ok()) return program.status();
    return program->execute({client.put(x, {kRows, kColumns}, rows)})
        .output(0)
        .to_host<std::int32_t>()
        .get();
  }
  static std::vector<std::int32_t> input(std::int32_t seed) {
    std::vector<std::int32_t> x(kRows * kColumns);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = seed + static_cast<std::int32_t>(i * 7);
    return x;
  }
  static std::vector<std::int32_t> output(std::vector<std::int32_t> x) {
    for (std::int32_t& value : x) value = 2 * value + 1;
    return x;
  }

  std::string directory_, token_;
  transport::TokenStore store_;
  std::shared_ptr<const Clock> clock_ = std::make_shared<const RealClock>();
  std::shared_ptr<Process> controller_;
  std::map<RoleName, std::shared_ptr<Process>> processes_;
};

TEST_F(FarHosts, LargeValuesAreFetchedAsWhoeverWantsThemWantsThem) {
  const auto client = connect(near());
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  for (std::int32_t seed = 0; seed < 5; ++seed) {
    const auto got = run(*client, input(seed));
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_TRUE(*got == output(input(seed)));
  }
  EXPECT_EQ(host(1).exchanged().data.fetches, 5u);
  EXPECT_EQ(host(1).exchanged().data.bytes, 5u * kRows * kColumns * 4);
  EXPECT_EQ(host(0).exchanged().loans, 0u);
}

TEST_F(FarHosts, WhoeverDiesMeanwhileTakesNoOneWithHim) {
  const auto client = connect(near());
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  std::uint32_t lives = 1;

  for (std::uint32_t round = 0; round < 6; ++round) {
    const RoleName name{Role::kHost, round % 2};
    std::thread killer([&] {
      processes_.erase(name);
      start(name, ++lives);
    });
    for (std::int32_t seed = 0; seed < 4; ++seed) {
      const auto got = run(*client, input(seed));
      if (!got.ok()) continue;  // It says what it has lost.
      EXPECT_TRUE(*got == output(input(seed)));
    }
    killer.join();
  }
  for (;;) {
    const auto got = run(*client, input(9));
    if (!got.ok()) continue;
    EXPECT_TRUE(*got == output(input(9)));
    break;
  }
}

}  // namespace
}  // namespace seaway::cluster
