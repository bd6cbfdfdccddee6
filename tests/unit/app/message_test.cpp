// Messages as values: copies, what travels beside them, and frames that are none.

#include <cstring>

#include "cast.hpp"

namespace seaway::app_test {
namespace {

Message<Ask> hello() {
  return make<Ask>([](Ask::Builder m) { m.setText("hello"); });
}

TEST(Message, OfNothingReadsAsItsDefaults) {
  const Message<Ask> nothing;

  EXPECT_TRUE(nothing.check().ok());
  EXPECT_STREQ(nothing->getText().cStr(), "");
  EXPECT_EQ(nothing->getNumber(), 0u);
}

TEST(Message, CopiesShareTheirBytesAndOutliveOneAnother) {
  Message<Ask> copy;
  const std::uint64_t* words = nullptr;
  {
    const Message<Ask> first = hello();
    words = first.raw().frame.words().data();
    EXPECT_STREQ(first->getText().cStr(), "hello");
    copy = first;
  }

  EXPECT_EQ(copy.raw().frame.words().data(), words);
  EXPECT_STREQ(copy->getText().cStr(), "hello");
}

TEST(Message, ThatWasMovedKeepsItsReader) {
  Message<Ask> first = hello();
  const auto text = first->getText();

  const Message<Ask> second = std::move(first);
  Message<Ask> third;
  third = hello();

  EXPECT_STREQ(text.cStr(), "hello");
  EXPECT_STREQ(second->getText().cStr(), "hello");
  EXPECT_STREQ(third->getText().cStr(), "hello");
}

TEST(Message, CarriesBytesByReference) {
  const std::vector<std::byte> three(3, std::byte{7});
  std::uint32_t number = 9;

  const auto message = make<Ask>([&](Ask::Builder m, Attached& attached) {
    number = attached.add(Bytes(three));
    m.setNumber(number);
    EXPECT_EQ(attached.add(Array()), 1u);
  });
  const Message<Ask> copy = message;

  EXPECT_EQ(number, 0u);
  ASSERT_TRUE(copy.bytes(0).ok());
  EXPECT_EQ(copy.bytes(0).value().size(), 3u);
  EXPECT_EQ(copy.bytes(0).value().span().data(), message.bytes(0).value().span().data());
  EXPECT_EQ(copy.bytes(1).status().to_string(),
            "INVALID_ARGUMENT: attachment 1 of a message of type Ask is not bytes");
  EXPECT_EQ(copy.array(0).status().to_string(),
            "INVALID_ARGUMENT: attachment 0 of a message of type Ask is not array");
  EXPECT_EQ(copy.array(2).status().to_string(),
            "NOT_FOUND: a message of type Ask has 2 attachments and no number 2");
  EXPECT_EQ(hello().bytes(0).status().to_string(),
            "NOT_FOUND: a message of type Ask has 0 attachments and no number 0");
}

Message<Ask> of_words(std::vector<std::uint64_t> words) {
  internal::RawMessage raw;
  raw.frame = Frame::make(words.size(), [&](std::span<std::uint64_t> target) {
    std::copy(words.begin(), words.end(), target.begin());
  });
  return Message<Ask>(std::move(raw));
}

TEST(Message, OfBytesThatAreNoneIsAProtocolError) {
  const Message<Ask> whole = hello();
  const auto good = whole.raw().frame.words();
  std::vector<std::uint64_t> cut(good.begin(), good.end() - 1);
  std::vector<std::uint64_t> far(good.begin(), good.end());
  far[1] = ~std::uint64_t{0};

  for (const auto& words : {cut, far, std::vector<std::uint64_t>{~std::uint64_t{0}},
                            std::vector<std::uint64_t>{0x00000001ffffffff, 5, 5}}) {
    const Status status = of_words(words).check();
    EXPECT_EQ(status.code(), StatusCode::kProtocolError) << status.to_string();
    EXPECT_EQ(status.message().find("a message cannot be read: "), 0u) << status.to_string();
  }
}

TEST(Message, OfSeveralSegmentsIsReadAsWell) {
  const std::string text(100'000, 'x');

  const auto message = make<Ask>([&](Ask::Builder m) { m.setText(text); });

  EXPECT_TRUE(message.check().ok());
  EXPECT_EQ(text, message->getText().cStr());
}

using Messages = OnACluster;

TEST_F(Messages, ThatCannotBeReadDoNotReachHandlers) {
  auto counter = client.spawn<Counter>(client.hosts()).value().at(1);
  internal::RawMessage raw;
  raw.frame = Frame::make(1, [](std::span<std::uint64_t> words) { words[0] = ~0ull; });

  const auto refused = counter.call(&Counter::add, Message<Add>(raw)).get();

  EXPECT_EQ(refused.status().code(), StatusCode::kProtocolError) << refused.status().to_string();
  EXPECT_EQ(counter.call(&Counter::add).get().value()->getTotal(), 0);
}

TEST_F(Messages, MayCarryBytesThereAndBack) {
  struct Echo {
    static void describe(ActorType<Echo>& type) { type.on(&Echo::ask); }
    explicit Echo(const Self&) {}
    Reply<Answer> ask(Request<Ask> request) {
      return make<Answer>([&](Answer::Builder m, Attached& attached) {
        m.setNumber(attached.add(request.bytes(request->getNumber()).value()));
      });
    }
  };
  const Bytes bytes(std::vector<std::byte>(1000, std::byte{1}));
  auto echo = client.spawn<Echo>(client.hosts()).value().at(3);

  const auto answer = echo.call(
      &Echo::ask, [&](Ask::Builder m, Attached& attached) { m.setNumber(attached.add(bytes)); });

  EXPECT_EQ(answer.get().value().bytes(0).value().span().data(), bytes.span().data());
}

}  // namespace
}  // namespace seaway::app_test
