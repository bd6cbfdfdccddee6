// What Annexes makes of answers that come in another order than an annex gives.

#include "device/annexes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace seaway::device {
namespace {

constexpr std::uint64_t kBytes = 64;

/// Two hosts of two devices, and a gang 2 that runs behind gang 1 on all of them.
class AnnexesTest : public ::testing::Test {
 protected:
  /// The order to the annex; `wanted`: what is read at the end.
  RunGang run(std::uint64_t gang, std::uint64_t behind, std::vector<Annexes::Wanted> wanted = {}) {
    RunGang run;
    run.gang = gang;
    run.behind = behind;
    run.hosts = annexes_.shares_of({0, 1, 2, 3});
    annexes_.run(std::move(run), wanted, [this, gang](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      ended_.push_back(gang);
    });
    const RunGang ordered = std::get<RunGang>(annexes_.outbox()[1].back());
    annexes_.outbox()[1].clear();
    return ordered;
  }
  Status answer(std::uint64_t ticket, std::size_t bytes = 0) {
    return annexes_.answer({.ticket = ticket, .data = std::vector<std::byte>(bytes)});
  }
  void expect_refused(const Status& status, const std::string& why) {
    EXPECT_EQ(status.code(), StatusCode::kProtocolError) << status.to_string();
    EXPECT_NE(status.message().find(why), std::string::npos) << status.to_string();
  }

  Annexes annexes_{2, 4};
  std::vector<std::uint64_t> ended_;
};

TEST_F(AnnexesTest, AGangIsNotOverBeforeTheOneThatItRunsBehind) {
  const RunGang first = run(1, 0), second = run(2, 1);

  expect_refused(answer(second.ticket), "host 1 ends gang 2 before gang 1, behind which it runs");
  EXPECT_EQ(ended_, std::vector<std::uint64_t>{});

  EXPECT_TRUE(answer(first.ticket).ok());
  EXPECT_TRUE(answer(second.ticket).ok());
  EXPECT_EQ(ended_, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(AnnexesTest, AGangIsNotOverBeforeWhatItHasMadeWasRead) {
  const auto room = annexes_.make({0, 1, 2, 3}, kBytes);
  std::vector<std::byte> here(4 * kBytes);
  const RunGang first = run(1, 0, {{room.get(), 0, kBytes, {here.data(), kBytes}}});

  ASSERT_EQ(first.reads.size(), 1u);
  expect_refused(answer(first.ticket), "host 1 ends gang 1 before 1 reads of what it has made");
  EXPECT_TRUE(answer(first.reads[0].ticket, 2 * kBytes).ok());
  EXPECT_TRUE(answer(first.ticket).ok());
  EXPECT_EQ(ended_, std::vector<std::uint64_t>{1});
}

TEST_F(AnnexesTest, GangsThatRunBehindNoneEndInAnyOrder) {
  const RunGang first = run(1, 0), second = run(2, 0);

  EXPECT_TRUE(answer(second.ticket).ok());
  EXPECT_TRUE(answer(first.ticket).ok());
  EXPECT_EQ(ended_, (std::vector<std::uint64_t>{2, 1}));
}

}  // namespace
}  // namespace seaway::device
