// Frames: there and back, small and large, whole and broken.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "program.capnp.h"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::wire {
namespace {

Frame make_frame(unsigned rank) {
  FrameBuilder builder;
  auto type = builder.init_root<schema::TensorType>();
  type.setDtype(2);
  auto shape = type.initShape(rank);
  for (unsigned i = 0; i < rank; ++i) shape.set(i, i + 1);
  return builder.finish();
}

std::string as_text(const Frame& frame) {
  const auto words = frame.words();
  return {reinterpret_cast<const char*>(words.data()), words.size_bytes()};
}

void expect_rank(const Frame& frame, unsigned rank) {
  const Status status =
      read_frame<schema::TensorType>(frame, [rank](schema::TensorType::Reader type) {
        EXPECT_EQ(type.getDtype(), 2);
        const auto shape = type.getShape();
        ASSERT_EQ(shape.size(), rank);
        for (unsigned i = 0; i < rank; ++i) ASSERT_EQ(shape[i], i + 1);
      });
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Frame, HoldsAMessage) { expect_rank(make_frame(3), 3); }

TEST(Frame, HoldsAMessageOfSeveralSegments) { expect_rank(make_frame(10'000), 10'000); }

TEST(FrameBuilder, LeavesNothingBehindForTheNextMessage) {
  const Frame first = make_frame(100);
  make_frame(200);
  const Frame second = make_frame(100);

  EXPECT_EQ(as_text(first), as_text(second));
}

TEST(FrameBuilder, OfMoreAtOnceThanAThreadKeepsWordsFor) {
  std::vector<std::unique_ptr<FrameBuilder>> builders;
  for (unsigned i = 0; i < 10; ++i) {
    builders.push_back(std::make_unique<FrameBuilder>());
    builders.back()->init_root<schema::TensorType>().initShape(10).set(0, i + 1);
  }
  // In another order than they began in.
  builders.erase(builders.begin());
  builders.erase(builders.begin() + 4, builders.begin() + 6);
  for (unsigned i = 10; i < 13; ++i) {
    builders.push_back(std::make_unique<FrameBuilder>());
    builders.back()->init_root<schema::TensorType>().initShape(10).set(0, i + 1);
  }

  std::vector<std::uint64_t> numbers;
  for (const auto& builder : builders) {
    const Status status = read_frame<schema::TensorType>(
        builder->finish(), [&numbers](schema::TensorType::Reader type) {
          numbers.push_back(static_cast<std::uint64_t>(type.getShape()[0]));
        });
    EXPECT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{2, 3, 4, 5, 8, 9, 10, 11, 12, 13}));
}

TEST(Frame, GivesBackTheStatusOfItsReader) {
  const Status status = read_frame<schema::TensorType>(
      make_frame(1), [](schema::TensorType::Reader) { return invalid_argument("no"); });

  EXPECT_EQ(status, invalid_argument("no"));
}

TEST(Frame, TurnsWhatItsReaderThrowsIntoAStatus) {
  const Status status = read_frame<schema::TensorType>(
      make_frame(1), [](schema::TensorType::Reader) { throw std::runtime_error("out"); });

  EXPECT_EQ(status, protocol_error("malformed frame: out"));
}

TEST(Frame, RefusesWhatIsNoMessage) {
  const Frame zeros = Frame::make(1, [](auto words) { words[0] = ~std::uint64_t{0}; });

  EXPECT_EQ(read_frame<schema::TensorType>(zeros, [](auto) {}).code(), StatusCode::kProtocolError);
  // An empty frame reads as the empty message, as everywhere in Cap'n Proto, or is refused.
  EXPECT_NE(read_frame<schema::TensorType>(Frame(), [](auto) {}).code(),
            StatusCode::kResourceExhausted);
}

/// A copy with Origin::kForeign.
Frame foreign(const Frame& frame) {
  return Frame::make(frame.words().size(), [&frame](std::span<std::uint64_t> words) {
    std::ranges::copy(frame.words(), words.begin());
  });
}

TEST(Frame, RefusesAMessageThatRepeatsItself) {
  FrameBuilder builder;
  auto graph = builder.init_root<schema::ProgramGraph>();
  graph.setName("0123456789012345678901234567890123456789");
  const Frame frame = builder.finish();
  const auto read_often = [](schema::ProgramGraph::Reader reader) {
    for (int i = 0; i < 10'000; ++i) EXPECT_EQ(reader.getName().size(), 40u);
  };

  const Status status = read_frame<schema::ProgramGraph>(foreign(frame), read_often);

  EXPECT_EQ(status.code(), StatusCode::kProtocolError);
  EXPECT_NE(status.message().find("malformed frame: "), std::string::npos);
  // Built frames have no limits.
  EXPECT_TRUE(read_frame<schema::ProgramGraph>(frame, read_often).ok());
}

TEST(Frame, IsBuiltOnlyWithOneSegment) {
  FrameBuilder builder;
  const Frame small = make_frame(5);
  auto list = builder.init_root<schema::TensorType>().initShape(10'000);
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, i);
  const Frame large = builder.finish();  // Of two segments.

  EXPECT_EQ(small.origin(), Frame::Origin::kBuilt);
  EXPECT_EQ(foreign(small).origin(), Frame::Origin::kForeign);
  EXPECT_EQ(large.origin(), Frame::Origin::kForeign);
  EXPECT_TRUE(read_frame<schema::TensorType>(large, [](schema::TensorType::Reader type) {
                EXPECT_EQ(type.getShape()[9'999], 9'999);
              }).ok());
}

TEST(Frame, SurvivesEveryFlippedBit) {
  const Frame frame = make_frame(5);
  for (std::size_t bit = 0; bit < frame.size_bytes() * 8; ++bit) {
    const Frame broken = Frame::make(frame.words().size(), [&frame, bit](auto words) {
      std::memcpy(words.data(), frame.words().data(), frame.size_bytes());
      words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
    });

    const Status status =
        read_frame<schema::TensorType>(broken, [](schema::TensorType::Reader type) {
          std::int64_t sum = 0;
          for (const std::int64_t size : type.getShape()) sum ^= size;
          static_cast<void>(sum);
        });

    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kProtocolError);
  }
}

TEST(Frame, CostsLittle) {
  // No bound is asserted: the machine may be busy. `--gtest_filter` with -v shows the figures.
  const RealClock clock;
  constexpr int kRounds = 200'000;
  const std::uint64_t start = clock.now_ns();
  std::size_t bytes = 0;
  for (int i = 0; i < kRounds; ++i) bytes += make_frame(2).size_bytes();
  const std::uint64_t built = clock.now_ns();
  const Frame frame = make_frame(2);
  for (int i = 0; i < kRounds; ++i) {
    const Status status = read_frame<schema::TensorType>(
        frame, [&bytes](schema::TensorType::Reader type) { bytes += type.getDtype(); });
    ASSERT_TRUE(status.ok());
  }
  const std::uint64_t read = clock.now_ns();

  RecordProperty("build_ns", static_cast<int>((built - start) / kRounds));
  RecordProperty("read_ns", static_cast<int>((read - built) / kRounds));
  EXPECT_GT(bytes, 0u);
  std::printf("build %d ns, read %d ns\n", static_cast<int>((built - start) / kRounds),
              static_cast<int>((read - built) / kRounds));
}

}  // namespace
}  // namespace seaway::wire
