// Questions and answers on connections of their own.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unit/transport/socket_fixture.hpp"

namespace seaway::transport {
namespace {

class QuestionsTest : public SocketWiresTest {
 protected:
  using Answer = std::function<void(Result<Frame>)>;

  std::unique_ptr<SocketWires> make_answering(SocketOptions options) {
    SocketHandlers handlers;
    handlers.answer = [this](const Caller&, Frame heard, Answer done) {
      questions_.push_back(std::move(heard));
      answers_.push_back(std::move(done));
    };
    return make(std::move(options), std::move(handlers));
  }
  void begin_question(std::uint64_t most_ns = kLongNs) {
    ask(loop_, "unix:" + path_, kCluster, question(5), most_ns, [this](Result<Frame> answer) {
      ++told_;
      answer_ = std::move(answer);
    });
  }
  static Frame frame_of(std::size_t words) {
    return Frame::make(words, [](auto all) { std::fill(all.begin(), all.end(), 9); });
  }

  std::vector<Frame> questions_;
  std::vector<Answer> answers_;
  Result<Frame> answer_ = not_found("none yet");
  int told_ = 0;
};

TEST_F(QuestionsTest, AQuestionIsAnsweredNowOrLater) {
  auto wires = make_answering(options());
  begin_question();
  ASSERT_TRUE(run([&] { return questions_.size() == 1; }));
  for (int i = 0; i < 20; ++i) loop_.poll();
  const int told_early = told_;

  answers_[0](question(6));

  EXPECT_TRUE(run([&] { return told_ == 1; }));
  EXPECT_EQ(told_early, 0);
  EXPECT_EQ(questions_[0].words()[0], 5u);
  ASSERT_TRUE(answer_.ok()) << answer_.to_string();
  EXPECT_EQ(answer_->words()[0], 6u);
  EXPECT_EQ(wires->counts().answered, 1u);
}

TEST_F(QuestionsTest, WhatIsAnsweredTwiceIsAnsweredOnce) {
  auto wires = make_answering(options());
  begin_question();
  ASSERT_TRUE(run([&] { return questions_.size() == 1; }));

  answers_[0](question(6));
  answers_[0](question(7));

  EXPECT_TRUE(run([&] { return told_ == 1; }));
  EXPECT_EQ(answer_->words()[0], 6u);
  EXPECT_EQ(wires->counts().answered, 1u);
}

TEST_F(QuestionsTest, AnErrorIsAnAnswer) {
  auto wires = make_answering(options());
  begin_question();
  ASSERT_TRUE(run([&] { return questions_.size() == 1; }));

  answers_[0](Status(StatusCode::kPermissionDenied, "not to you"));

  EXPECT_TRUE(run([&] { return told_ == 1; }));
  EXPECT_EQ(answer_.status(), Status(StatusCode::kPermissionDenied, "not to you"));
}

TEST_F(QuestionsTest, AnAnswerOfExactlyTheLimitArrivesAndALargerOneIsAnError) {
  auto wires = make_answering(options());
  begin_question();
  begin_question();
  ASSERT_TRUE(run([&] { return questions_.size() == 2; }));

  answers_[0](frame_of(kAnswerBytesMax / 8));
  EXPECT_TRUE(run([&] { return told_ == 1; }));
  const Result<Frame> largest = answer_;
  answers_[1](frame_of(kAnswerBytesMax / 8 + 1));
  EXPECT_TRUE(run([&] { return told_ == 2; }));

  ASSERT_TRUE(largest.ok()) << largest.to_string();
  EXPECT_EQ(largest->size_bytes(), kAnswerBytesMax);
  EXPECT_EQ(answer_.status(), resource_exhausted("the answer has 1048584 bytes; the limit is "
                                                 "1048576: ask for less"));
}

TEST_F(QuestionsTest, AnAnswerThatComesTooLateIsDropped) {
  auto wires = make_answering(options());
  begin_question(5 * kMs);
  ASSERT_TRUE(run([&] { return told_ == 1 && questions_.size() == 1; }));
  const Status status = answer_.status();
  for (int i = 0; i < 20; ++i) loop_.poll();

  answers_[0](question(6));
  begin_question();
  ASSERT_TRUE(run([&] { return questions_.size() == 2; }));
  wires.reset();
  answers_[1](question(6));

  EXPECT_TRUE(run([&] { return told_ == 2; }));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "unix:" + path_ + " has not answered within 5 ms");
  EXPECT_EQ(answer_.status().code(), StatusCode::kHostLost);
}

TEST_F(QuestionsTest, WhereNobodyListensNobodyAnswers) {
  begin_question();

  EXPECT_TRUE(run([&] { return told_ == 1; }));
  EXPECT_EQ(answer_.status(), Status(StatusCode::kHostLost,
                                     "cannot reach unix:" + path_ + ": No such file or directory"));
}

TEST_F(QuestionsTest, AClusterThatIsNotKnownYetMayBeAskedAndAnotherOneMayNot) {
  auto wires = make_answering(options());
  int told = 0;
  Status other;
  ask(loop_, wires->address(), 8, question(1), kLongNs, [&](const Result<Frame>& answer) {
    ++told;
    other = answer.status();
  });
  ask(loop_, wires->address(), 0, question(2), kLongNs, [&](const auto&) { ++told; });
  ASSERT_TRUE(run([&] { return questions_.size() == 1; }));

  answers_[0](question(3));

  EXPECT_TRUE(run([&] { return told == 2; }));
  EXPECT_EQ(questions_[0].words()[0], 2u);
  EXPECT_EQ(other.code(), StatusCode::kPermissionDenied);
}

TEST_F(QuestionsTest, WhatIsNoAddressCannotBeAsked) {
  ask(loop_, "nowhere", 0, question(1), kLongNs, [&](Result<Frame> answer) {
    ++told_;
    answer_ = std::move(answer);
  });

  EXPECT_EQ(told_, 0);
  EXPECT_TRUE(run([&] { return told_ == 1; }));
  EXPECT_EQ(answer_.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(QuestionsTest, ANameOfAHostIsLookedUp) {
  SocketOptions named = options();
  named.listen = "tcp:127.0.0.1:0";
  auto wires = make_answering(named);
  const std::string port = wires->address().substr(wires->address().rfind(':'));

  ask(loop_, "tcp:localhost" + port, 0, question(1), kLongNs, [&](const auto&) { ++told_; });

  EXPECT_TRUE(run([&] { return questions_.size() == 1; }));
}

/// A process that hands its memory to whoever asks.
class LendingTest : public QuestionsTest {
 protected:
  std::unique_ptr<SocketWires> make_lending(const std::string& listen) {
    SocketOptions lending = options();
    lending.listen = listen;
    SocketHandlers handlers;
    handlers.answer = [this](const Caller&, const Frame&, const Answering& done) {
      done(question(6), memory_);
    };
    return make(std::move(lending), std::move(handlers));
  }
  Result<SharedRegion> ask_for_it(const std::string& address) {
    std::optional<Result<SharedRegion>> heard;
    ask_memory(loop_, address, kCluster, question(5), kLongNs,
               [&heard](Result<SharedRegion> found) { heard = std::move(found); });
    EXPECT_TRUE(run([&] { return heard.has_value(); }));
    return *heard;
  }
  static std::size_t descriptors() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      count += entry.exists() ? 1 : 0;
    }
    return count;
  }

  std::shared_ptr<const MemoryFile> memory_;
};

TEST_F(LendingTest, MemoryIsHandedOverWithAnAnswer) {
  memory_ = *MemoryFile::make(std::size_t{1} << 20);
  memory_->region().bytes[12'345] = std::byte{7};
  auto wires = make_lending("unix:" + path_);

  const auto seen = ask_for_it("unix:" + path_);

  ASSERT_TRUE(seen.ok()) << seen.status().to_string();
  EXPECT_EQ(seen->bytes.size(), std::size_t{1} << 20);
  EXPECT_EQ(seen->bytes[12'345], std::byte{7});
}

TEST_F(LendingTest, NoDescriptorIsLeftOfMemoryThatWasHandedOver) {
  memory_ = *MemoryFile::make(4096);
  auto wires = make_lending("unix:" + path_);
  ASSERT_TRUE(ask_for_it("unix:" + path_).ok());
  const auto is_quiet = [this, before = descriptors()] {
    loop_.poll();
    return descriptors() <= before;
  };
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(ask_for_it("unix:" + path_).ok());

  EXPECT_TRUE(run(is_quiet));
}

TEST_F(LendingTest, WhoAsksForWordsAloneIsHandedNothing) {
  memory_ = *MemoryFile::make(4096);
  auto wires = make_lending("unix:" + path_);
  begin_question();
  ASSERT_TRUE(run([&] { return told_ == 1; }));
  EXPECT_TRUE(answer_.ok());
  const auto is_quiet = [this, before = descriptors()] {
    loop_.poll();
    return descriptors() <= before;
  };
  begin_question();
  ASSERT_TRUE(run([&] { return told_ == 2; }));
  EXPECT_TRUE(run(is_quiet));
}

TEST_F(LendingTest, WhoHasNoMemoryAnswersWithWordsAlone) {
  auto wires = make_lending("unix:" + path_);
  EXPECT_EQ(ask_for_it("unix:" + path_).status().code(), StatusCode::kNotFound);
}

TEST_F(LendingTest, OverANetworkNoMemoryIsHandedOver) {
  memory_ = *MemoryFile::make(4096);
  auto wires = make_lending("tcp:127.0.0.1:0");
  EXPECT_EQ(ask_for_it(wires->address()).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace seaway::transport
