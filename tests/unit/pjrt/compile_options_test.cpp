// The bytes of compile options, as plugins read them.

#include "pjrt/compile_options.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "pjrt/proto.hpp"

namespace seaway::pjrt {
namespace {

std::vector<int> numbers(const std::string& bytes) {
  std::vector<int> numbers;
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return numbers;
}

TEST(CompileOptions, OfOneDeviceArePortable) {
  EXPECT_EQ(numbers(portable_options()), (std::vector<int>{0x1a, 4, 0x20, 1, 0x28, 1, 0x20, 1}));
}

TEST(CompileOptions, OfAGangNameItsDevicesInOrder) {
  const std::vector<int> devices = {3, 300};

  // Build options: 2 replicas of 1 partition, assigned: 2 replicas, 1 computation, its devices.
  EXPECT_EQ(numbers(gang_options(devices)),
            (std::vector<int>{0x1a, 17, 0x20, 2, 0x28, 1, 0x4a, 11, 8, 2, 0x10, 1, 0x1a, 5, 0x0a, 3,
                              3, 0xac, 2}));
}

/// Options as a framework sends them: 2 replicas of 3 partitions on these devices; with field 6 of
/// the build options, and field 5, which are nobody's here.
std::string strange_options() {
  std::string build, assignment, options;
  put_number(build, 1, 7);
  put_number(build, 4, 2);
  put_number(build, 5, 3);
  put_number(build, 6, 1);
  put_number(assignment, 1, 2);
  put_number(assignment, 2, 3);
  for (const std::uint64_t first : {10, 11, 12}) {
    std::string ids, computation;
    put_varint(ids, first);
    put_varint(ids, first + 200);
    put_message(computation, 1, ids);
    put_message(assignment, 3, computation);
  }
  put_message(build, 9, assignment);
  put_message(options, 3, build);
  put_number(options, 4, 1);
  put_number(options, 5, 9);
  return options;
}

TEST(CompileOptions, OfAStrangerSayWhereEachShardIs) {
  const Placing placing = read_placing(strange_options()).value();

  EXPECT_EQ(placing.replicas, 2u);
  EXPECT_EQ(placing.partitions, 3u);
  EXPECT_EQ(placing.devices, (std::vector<std::int64_t>{10, 11, 12, 210, 211, 212}));
  EXPECT_EQ(read_placing("")->shards(), 1u);
  EXPECT_EQ(read_placing("")->devices, std::vector<std::int64_t>());
}

TEST(CompileOptions, OfAStrangerArePlacedAnewAndKeptElse) {
  const std::vector<int> devices = {0, 1, 2, 3, 4, 5};

  const std::string placed = placed_options(strange_options(), devices).value();
  const std::string anywhere = placed_options(strange_options(), {}).value();

  const Placing placing = read_placing(placed).value();
  EXPECT_EQ(placing.devices, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(placing.partitions, 3u);
  EXPECT_EQ(read_placing(anywhere)->devices, std::vector<std::int64_t>());
  EXPECT_EQ(read_placing(anywhere)->shards(), 6u);
  for (const std::string& options : {placed, anywhere}) {
    EXPECT_NE(options.find(std::string("\x30\x01", 2)),
              std::string::npos);  // Field 6 of the build,
    EXPECT_NE(options.find(std::string("\x28\x09", 2)), std::string::npos);  // and field 5.
  }
}

TEST(CompileOptions, OfAStrangerAreRefusedWhenTheyAreNone) {
  EXPECT_EQ(read_placing("\x1a\x7f").status(),
            invalid_argument("the compile options are no message of XLA's CompileOptionsProto"));
  EXPECT_EQ(placed_options(strange_options(), std::vector<int>{1, 2}).status(),
            invalid_argument("compile options of 6 shards are to be placed on 2 devices"));
  std::string build, assignment, options;
  put_message(assignment, 3, "");
  put_number(build, 4, 2);
  put_message(build, 9, assignment);
  put_message(options, 3, build);
  EXPECT_EQ(read_placing(options).status(),
            invalid_argument("the device assignment of the compile options is not one of 2 "
                             "replicas of 1 partitions"));
}

}  // namespace
}  // namespace seaway::pjrt
