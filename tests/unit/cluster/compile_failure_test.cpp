// Functions that hosts cannot compile, as their clients see it: handles first, then one outcome.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/session.hpp"
#include "cluster_fixture.hpp"

namespace seaway {
namespace {

/// A client in a process of its own, as it were: code never travels, so no host of `cluster` knows
/// its native functions.
Client connect_from_elsewhere(const Cluster& cluster) {
  cluster::Embedded& embedded = *cluster.state()->embedded;
  auto session = client::make_session({.engine = &embedded.engine(),
                                       .router = &embedded.router(),
                                       .bulk = &embedded.bulk(),
                                       .client = 99},
                                      {});
  EXPECT_TRUE(session->open().ok());
  return client::make_client(std::move(session), cluster.state());
}

/// `next` adds 1 to a vector of 4; the hosts cannot compile `missing`.
class CompileFailure : public ::testing::Test {
 protected:
  Cluster cluster_ = Cluster::start("embedded:islands=2,devices=2,threads=2").value();
  Client client_ = connect_from_elsewhere(cluster_);
  Slice left_ = acquire(client_, 2, 0), right_ = acquire(client_, 2, 1);
  Function next_ = client_.function("next", [](Tensor x) { return x + 1.0f; }, {f32({2})}).value();
  Function missing_ =
      client_.native("missing", copying({f32({2})}, [] { return Status(); })).value();
  ArraySpec spec_{f32({4}), rows(left_)};

  Program program_of(const Function& function) {
    return client_.program("f", [&](Traced v) { return function(v); }, {spec_}).value();
  }
  Array input() { return client_.put<float>({1, 2, 3, 4}, rows(left_)); }
};

TEST_F(CompileFailure, IsTheOutcomeOfTheRunsThatUseTheFunctionAndOthersGoOn) {
  const Program uses =
      client_
          .program("uses", [&](Traced v) { return next_.on(right_)(missing_(next_(v))); }, {spec_})
          .value();
  const Program good = program_of(next_);
  const Array in = input();

  const seaway::Run run = uses.execute({in}), other = good.execute({in});  // Handles: no refusal.
  auto value = run.output(0).to_host<float>();
  const Status status = run.status().get().status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
  const std::string cause =
      ": native function missing is not registered in this process; "
      "register it in main()";
  EXPECT_TRUE(status.message().starts_with("function missing does not compile on host "));
  EXPECT_TRUE(status.message().ends_with(cause)) << status.to_string();
  EXPECT_EQ(std::move(value).get().status(), status);
  EXPECT_EQ(read(other.output(0)), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(uses.execute({in}).status().get().status(), status);
  EXPECT_EQ(read(good.execute({in}).output(0)), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(CompileFailure, IsTheRootOfWhatItsRunsDoNotMake) {
  const Program uses = program_of(missing_), good = program_of(next_);

  const seaway::Run root = uses.execute({input()});
  const seaway::Run reader = good.execute({root.output(0)});
  const seaway::Run last = good.execute({reader.output(0)});

  for (const seaway::Run& run : {reader, last}) {
    const Status status = run.status().get().status();
    EXPECT_EQ(status.code(), StatusCode::kInputLost) << status.to_string();
    EXPECT_NE(status.message().find("function missing does not compile"), std::string::npos)
        << status.to_string();
  }
}

TEST_F(CompileFailure, LeavesNothingBehind) {
  {
    const Program uses = program_of(missing_);
    std::vector<seaway::Run> runs;
    for (int i = 0; i < 20; ++i) runs.push_back(uses.execute({input()}));
    EXPECT_FALSE(runs.back().status().get().ok());
  }

  next_ = missing_ = {};
  left_ = right_ = {};
  client_ = {};

  expect_nothing_left(cluster_);
}

}  // namespace
}  // namespace seaway
