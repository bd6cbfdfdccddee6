// Arrays that lie in files: read there by gangs, copied for everybody else, and given up when the
// file has become shorter.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/device/host_world.hpp"
#include "unit/transport/scratch_file.hpp"

namespace seaway::device {
namespace {

class HostFiles : public testing::Test {
 protected:
  /// An array of one shard that begins with 41, behind a page of the file.
  void put(ArrayId array) {
    std::vector<float> values(1024 + 16, 41);
    file_ = std::make_unique<ScratchFile>(values);
    auto view =
        transport::FileView::map(transport::SourceFile::open(file_->path()).value(), 4096, 64)
            .value();
    transport::Payload payload;
    payload.base = view->base();
    payload.stride = kShardBytes;
    payload.file = view;
    payload.owner = view;
    world_.core.define_spec(array, {f32({16}), NamedSharding(Mesh(1, {{"x", 1}}), P("x"))});
    world_.bulk.offer_upload(array, std::move(payload));
    world_.core.put(array, array, {0});
    world_.core.upload_arrived(array);
  }
  static PartMaker next(Stamp stamp) {
    PartMaker part(stamp, {0});
    part.gang({part.arg()}, {part.output()});
    return part;
  }

  std::unique_ptr<ScratchFile> file_;
  HostWorld world_;
};

const std::string kShorter =
    "INPUT_LOST: array 50 lies in a file that has become shorter; put it again from one that stays";

TEST_F(HostFiles, GangsReadItWhereItLies) {
  put(50);

  world_.run(1, next(1), {50, 60});

  EXPECT_EQ(world_.value(60), "42");
  EXPECT_EQ(world_.value(50), "41");
}

TEST_F(HostFiles, AFileThatIsShorterFailsTheRunsThatReadItAndNoOthers) {
  put(50);
  world_.put(51, HostWorld::row(7));
  file_->shorten(4096);

  world_.run(1, next(1), {50, 60});
  world_.run(2, next(2), {51, 61});

  EXPECT_EQ(world_.value(60).substr(0, 10), "INPUT_LOST");
  EXPECT_EQ(world_.value(50), kShorter);
  EXPECT_EQ(world_.value(61), "8");
}

TEST_F(HostFiles, WhoeverReadsWhatIsNotThereAnyMoreHearsSo) {
  put(50);
  file_->shorten(4096);

  EXPECT_EQ(world_.value(50), kShorter);
}

TEST_F(HostFiles, ASpilledOneLiesInMemoryAndNeedsNoFile) {
  put(50);
  world_.run(1, next(1), {50, 60});  // Loads it.
  world_.spill(50);
  world_.core.advance();
  file_->shorten(0);

  EXPECT_EQ(world_.value(50), "41");
}

TEST_F(HostFiles, WhatGoesToAnotherIslandIsACopy) {
  put(50);
  PartMaker part(1, {0});
  const std::uint32_t in = part.arg();
  part.announce(in).send(in, 7, 1);
  world_.run(1, part, {50});
  world_.armed(1, 7, 1);
  const auto sent = world_.bulk.take_edge(1, 7);
  ASSERT_TRUE(sent.has_value());

  file_->shorten(0);

  float value = 0;
  std::memcpy(&value, sent->base, sizeof(value));
  EXPECT_EQ(value, 41);
}

TEST_F(HostFiles, ADonatedOneIsWrittenAndTheFileIsNot) {
  put(50);
  PartMaker taker(1, {0});
  taker.gang({taker.arg()}, {taker.output()}).donate(0, 0);

  world_.run(1, taker, {50, 60});

  EXPECT_EQ(world_.value(60), "42");
  EXPECT_EQ(file_->floats().at(1024), 41);
}

}  // namespace
}  // namespace seaway::device
