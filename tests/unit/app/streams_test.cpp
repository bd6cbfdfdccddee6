// Streams: many answers to one call, as fast as they are read.

#include "cast.hpp"

namespace seaway::app_test {
namespace {

/// Writes numbers from 0, and counts how many were taken.
class Scanner {
 public:
  static void describe(ActorType<Scanner>& type) {
    type.on(&Scanner::scan).on(&Scanner::held, Interleave::kYes).on(&Scanner::ask);
  }
  explicit Scanner(Self self) : self_(std::move(self)) {}

  /// The one in the middle fails instead, if there is a count of 5.
  Task<Status> scan(Request<Scan> request, Writer<Answer> writer) {
    for (std::uint32_t i = 0; i < request->getCount(); ++i) {
      if (request->getCount() == 5 && i == 2) co_return user_function_error("it broke");
      const auto written = co_await writer.write([i](Answer::Builder m) { m.setNumber(i); });
      if (!written.ok()) {
        end_ = written.status().to_string();
        co_return written.status();
      }
      ++written_;
    }
    co_return Status();
  }
  Reply<Answer> ask(Request<Ask>) {
    return make<Answer>([](Answer::Builder m) { m.setText("only one"); });
  }
  Reply<Answer> held(Request<Held>) {
    return make<Answer>([this](Answer::Builder m) {
      m.setNumber(written_);
      m.setText(end_);
    });
  }

 private:
  Self self_;
  std::uint32_t written_ = 0;
  std::string end_;
};

class Streams : public OnACluster {
 protected:
  static auto count(std::uint32_t count) {
    return [count](Scan::Builder m) { m.setCount(count); };
  }
  std::uint32_t written(std::size_t member) {
    settle();
    return scanners.at(member).call(&Scanner::held).get().value()->getNumber();
  }
  ActorMesh<Scanner> scanners = client.spawn<Scanner>(client.hosts()).value();
};

TEST_F(Streams, OfOneMemberComeInOrderAndEnd) {
  auto stream = scanners.at(1).stream(&Scanner::scan, count(100));

  for (std::uint32_t i = 0; i < 100; ++i) {
    const auto item = stream.next().get();
    ASSERT_TRUE(item.value().has_value());
    ASSERT_TRUE(item.value()->reply.ok()) << item.value()->reply.status().to_string();
    EXPECT_EQ(item.value()->reply.value()->getNumber(), i);
  }

  EXPECT_FALSE(stream.next().get().value().has_value());
  EXPECT_FALSE(stream.next().get().value().has_value());
}

TEST_F(Streams, AreWrittenNoFurtherAheadThanTheirCredit) {
  auto stream = scanners.at(1).stream(&Scanner::scan, count(100), CallOptions{.credit = 6});
  const std::uint32_t unread = written(1);

  for (int i = 0; i < 3; ++i) static_cast<void>(stream.next().get());

  EXPECT_EQ(unread, 6u);
  EXPECT_EQ(written(1), 9u);
}

TEST_F(Streams, WithoutCreditHaveRoomForOne) {
  auto stream = scanners.at(1).stream(&Scanner::scan, count(3), CallOptions{.credit = 0});

  const std::uint32_t unread = written(1);

  EXPECT_EQ(unread, 1u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(stream.next().get().value()->reply.ok());
  EXPECT_FALSE(stream.next().get().value().has_value());
}

TEST_F(Streams, ThatAreDroppedTellTheWriter) {
  {
    auto stream = scanners.at(1).stream(&Scanner::scan, count(100), CallOptions{.credit = 2});
    EXPECT_EQ(written(1), 2u);
  }

  settle();

  const auto end = scanners.at(1).call(&Scanner::held).get();
  EXPECT_STREQ(end.value()->getText().cStr(), "CANCELLED: the stream's reader has gone");
  EXPECT_EQ(stocks().at(2).deliveries, 0u);
}

TEST_F(Streams, OfAMeshNameTheirMembers) {
  auto stream = scanners.stream(&Scanner::scan, count(4));
  std::vector<std::uint32_t> next(4);

  for (;;) {
    const auto item = stream.next().get();
    if (!item.value()) break;
    EXPECT_EQ(item.value()->reply.value()->getNumber(), next.at(item.value()->position)++);
  }

  EXPECT_EQ(next, std::vector<std::uint32_t>(4, 4));
}

TEST_F(Streams, ThatFailInTheMiddleSayWhyAndEnd) {
  auto stream = scanners.at(2).stream(&Scanner::scan, count(5));

  EXPECT_TRUE(stream.next().get().value()->reply.ok());
  EXPECT_TRUE(stream.next().get().value()->reply.ok());
  EXPECT_EQ(stream.next().get().value()->reply.status(), user_function_error("it broke"));
  EXPECT_FALSE(stream.next().get().value().has_value());
}

TEST_F(Streams, OfOrdinaryHandlersHaveOneItem) {
  auto stream = scanners.at(2).stream(&Scanner::ask);

  EXPECT_STREQ(stream.next().get().value()->reply.value()->getText().cStr(), "only one");
  EXPECT_FALSE(stream.next().get().value().has_value());
}

TEST_F(Streams, AreNotWrittenForCallersThatAskedForOneAnswer) {
  const auto called = scanners.at(0).call(&Scanner::scan, count(1)).get();

  EXPECT_EQ(called.status().to_string(),
            "INVALID_ARGUMENT: Scan to Scanner[0] answers with a stream; its caller did not ask "
            "for one: use stream() instead of call()");
}

TEST_F(Streams, HaveOneReaderAtATime) {
  auto gate = client.spawn<Gate>(client.hosts()).value().at(0);
  auto stream = gate.stream(&Gate::hold);

  auto first = stream.next();
  const auto second = stream.next().get();
  settle();
  static_cast<void>(gate.call(&Gate::open).get());

  EXPECT_EQ(second.status().to_string(),
            "INVALID_ARGUMENT: a stream has one reader at a time: await next() first");
  EXPECT_TRUE(first.get().value()->reply.ok());
}

TEST_F(Streams, OfMembersThatDieSaySo) {
  auto stream = scanners.at(1).stream(&Scanner::scan, count(100), CallOptions{.credit = 2});
  EXPECT_EQ(written(1), 2u);

  scanners.at(1).kill(user_function_error("on purpose"));

  EXPECT_TRUE(stream.next().get().value()->reply.ok());
  EXPECT_TRUE(stream.next().get().value()->reply.ok());
  EXPECT_EQ(stream.next().get().value()->reply.status().code(), StatusCode::kActorLost);
  EXPECT_FALSE(stream.next().get().value().has_value());
}

TEST_F(Streams, ThatHaveBegunAreNotBegunAgain) {
  auto stream =
      scanners.at(1).stream(&Scanner::scan, count(100), CallOptions{.retries = 9, .credit = 2});
  EXPECT_EQ(written(1), 2u);

  scanners.at(1).kill(user_function_error("on purpose"));

  EXPECT_EQ(stream.next().get().value()->reply.value()->getNumber(), 0u);
  EXPECT_EQ(stream.next().get().value()->reply.value()->getNumber(), 1u);
  EXPECT_EQ(stream.next().get().value()->reply.status().code(), StatusCode::kActorLost);
}

}  // namespace
}  // namespace seaway::app_test
