// What put() may assume of the user's memory, and what reshard() makes of its input: each word of
// HostBufferSemantics and ArrayCopySemantics does what it says.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cluster_fixture.hpp"
#include "unit/transport/scratch_file.hpp"

namespace seaway {
namespace {

constexpr std::int64_t kSize = 1024;
constexpr std::uint64_t kBytes = kSize * sizeof(float);

/// Aligned, so that one device could use it where it lies.
struct UserMemory {
  UserMemory() { fill(1); }
  void fill(float value) { std::fill(std::begin(values), std::end(values), value); }
  std::span<const float> span() const { return values; }
  alignas(64) float values[kSize];
};

const std::vector<float> kOnes(kSize, 1), kTwos(kSize, 2);

class Arrays : public testing::Test {
 protected:
  Cluster cluster_ = Cluster::start("embedded:devices=2,threads=4").value();
  Client client_ = cluster_.connect().value();
  Slice slice_ = acquire(client_, 1);
  Function next_ =
      client_.function("next", [](Tensor x) { return x + 1.0f; }, {f32({kSize})}).value();
  UserMemory memory_;

  Array put(HostBufferSemantics semantics) {
    return client_.put(memory_.span(), {kSize}, rows(slice_), semantics);
  }
  Program program_of(const Function& function, std::vector<std::uint32_t> donated = {}) {
    return client_
        .program("f", [&](Traced v) { return function(v); },
                 {ArraySpec{f32({kSize}), rows(slice_)}}, {.donated = std::move(donated)})
        .value();
  }
  /// In use on both devices, once everything that was said has been done.
  std::uint64_t used_bytes() {
    EXPECT_TRUE(client_.drain().ok());
    return ask<std::uint64_t>(cluster_, [](cluster::Embedded& embedded) {
      return embedded.host(0).device(0).used_bytes + embedded.host(0).device(1).used_bytes;
    });
  }
};

TEST_F(Arrays, WhatIsImmutableOnlyDuringTheCallMayChangeBehindIt) {
  const Array array = put(HostBufferSemantics::kImmutableOnlyDuringCall);
  memory_.fill(9);

  EXPECT_EQ(read(array), kOnes);
  EXPECT_EQ(read(next_.execute({array}).output(0)), kTwos);
}

TEST_F(Arrays, WhatIsImmutableUntilTheTransferCompletesMayChangeWhenTheArrayIsReady) {
  const Array array = put(HostBufferSemantics::kImmutableUntilTransferCompletes);
  ASSERT_TRUE(array.ready().get().ok());
  memory_.fill(9);

  EXPECT_EQ(read(array), kOnes);
  EXPECT_EQ(read(next_.execute({array}).output(0)), kTwos);
}

TEST_F(Arrays, WhatIsNotCopiedIsReadByFunctionsWhereItLies) {
  const void* seen = nullptr;
  NativeFunction look;
  look.parameters = look.outputs = {f32({kSize})};
  look.body = [&seen](auto operands, auto outputs, std::byte*) {
    seen = operands[0];
    std::memcpy(outputs[0], operands[0], kBytes);
    return Status();
  };
  const Function looks = client_.native("look", look).value();

  const Array array = put(HostBufferSemantics::kZeroCopy);

  EXPECT_EQ(read(looks.execute({array}).output(0)), kOnes);
  EXPECT_EQ(seen, memory_.values);
}

std::vector<float> counted() {
  std::vector<float> values(2 * kSize);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);
  return values;
}

TEST_F(Arrays, WhatLiesInAFileIsReadThereByFunctions) {
  const std::vector<float> values = counted();
  const ScratchFile scratch(values);
  const MappedFile file = MappedFile::open(scratch.path()).value();
  EXPECT_EQ(file.bytes(), 2 * kBytes);
  const Slice both = acquire(client_, 2);
  const Function next =
      client_.function("half", [](Tensor x) { return x + 1.0f; }, {f32({kSize / 2})}).value();
  const std::vector<float> second(values.begin() + kSize, values.end());

  // Split by rows over two devices, and behind a part of the file that is not asked for.
  const Array array = client_.put_file(file, f32({kSize}), rows(both), kBytes);

  EXPECT_EQ(read(array), second);
  std::vector<float> wanted = second;
  for (float& one : wanted) one += 1;
  EXPECT_EQ(read(next.execute({array}).output(0)), wanted);
  EXPECT_EQ(scratch.floats(), values);
}

TEST_F(Arrays, WhatLiesInAFileOtherwiseThanOnDevicesIsCopied) {
  const std::vector<float> values = counted();
  const ScratchFile scratch(values);
  const MappedFile file = MappedFile::open(scratch.path()).value();
  const Slice both = acquire(client_, 2);
  const NamedSharding columns(both.mesh(), P("", "data")), all(both.mesh(), P());

  // Columns, replicas, and from an odd place on.
  const Array split = client_.put_file(file, f32({2, kSize}), columns);
  const Array twice = client_.put_file(file, f32({kSize}), all);
  const Array odd = client_.put_file(file, f32({kSize}), rows(slice_), 4);

  EXPECT_EQ(read(split), values);
  EXPECT_EQ(read(twice), std::vector<float>(values.begin(), values.begin() + kSize));
  EXPECT_EQ(read(odd), std::vector<float>(values.begin() + 1, values.begin() + 1 + kSize));
}

TEST_F(Arrays, AFileStaysAsItIsWhenTheArrayIsDonated) {
  const std::vector<float> values = counted();
  const ScratchFile scratch(values);
  const Array array =
      client_.put_file(MappedFile::open(scratch.path()).value(), f32({kSize}), rows(slice_));

  const auto got = read(program_of(next_, {0}).execute({array}).output(0));

  EXPECT_EQ(got.at(7), 8);
  EXPECT_EQ(scratch.floats(), values);
}

TEST_F(Arrays, OfAFileThatBecomesShorterOnlyRunsFailThatReadIt) {
  ScratchFile scratch(counted());
  const Array array =
      client_.put_file(MappedFile::open(scratch.path()).value(), f32({kSize}), rows(slice_));
  ASSERT_TRUE(array.ready().get().ok());
  scratch.shorten(0);

  const Status lost = next_.execute({array}).output(0).to_host<float>().get().status();
  const Array other = put(HostBufferSemantics::kImmutableOnlyDuringCall);

  EXPECT_EQ(lost.code(), StatusCode::kInputLost);
  EXPECT_NE(lost.message().find("lies in a file that has become shorter"), std::string::npos)
      << lost.to_string();
  EXPECT_EQ(read(next_.execute({other}).output(0)), kTwos);
}

TEST_F(Arrays, MoreThanAFileHasIsRefusedWithTheNumbers) {
  const ScratchFile scratch(counted());
  const MappedFile file = MappedFile::open(scratch.path()).value();

  EXPECT_EQ(
      client_.put_file(file, f32({kSize}), rows(slice_), kBytes + 4).status().to_string(),
      "INVALID_ARGUMENT: put of f32[1024] refused: bytes 4100 to 8196 of a file that has 8192");
  EXPECT_EQ(client_.put_file({}, f32({kSize}), rows(slice_)).status().to_string(),
            "INVALID_ARGUMENT: put refused: an empty MappedFile; open() one");
  EXPECT_EQ(MappedFile::open("/nowhere/at/all").status().code(), StatusCode::kNotFound);
}

TEST_F(Arrays, ADebuggerReadsFilesToo) {
  const ScratchFile scratch(counted());
  client_.set_debug(true);

  const Array array =
      client_.put_file(MappedFile::open(scratch.path()).value(), f32({kSize}), rows(slice_));

  EXPECT_EQ(read(array).at(7), 7);
}

/// A function that writes nothing sees what lay in its memory before.
TEST_F(Arrays, NobodySeesWhatAnotherTenantHasLeftInMemory) {
  NativeFunction idle;
  idle.outputs = {f32({kSize})};
  idle.body = [](auto, auto, std::byte*) { return Status(); };
  const auto leave = [this](const Client& client, const Slice& slice) {
    const Function nines =
        client.function("nines", [] { return 9.0f * ones(f32({kSize})); }, {}).value();
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(read(nines.on(slice).execute({}).output(0)), std::vector<float>(kSize, 9));
    }
    EXPECT_TRUE(client.drain().ok());
  };
  const Client other = cluster_.connect({.tenant = "other"}).value();
  const Slice there = acquire(other, 1);
  leave(other, there);

  const Function peep = client_.native("peep", idle).value();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(read(peep.on(slice_).execute({}).output(0)), std::vector<float>(kSize, 0)) << i;
  }
}

/// A result must not lie in memory that its user is free to reuse, nor a function write into it.
TEST_F(Arrays, WhatIsNotCopiedStaysTheUsersWhenTheArrayIsDonated) {
  const Program takes = program_of(next_, {0});
  const Array array = put(HostBufferSemantics::kZeroCopy);

  const seaway::Run run = takes.execute({array});
  ASSERT_TRUE(run.status().get().ok());
  const std::vector<float> after(memory_.span().begin(), memory_.span().end());
  memory_.fill(9);

  EXPECT_EQ(after, kOnes);
  EXPECT_EQ(read(run.output(0)), kTwos);
}

TEST_F(Arrays, ACopySharesNothingWithItsInput) {
  const Array input = next_.execute({put(HostBufferSemantics::kImmutableOnlyDuringCall)}).output(0);
  ASSERT_EQ(used_bytes(), kBytes);

  const Array copy = input.reshard(rows(slice_), ArrayCopySemantics::kAlwaysCopy).value();

  EXPECT_NE(copy.id(), input.id());
  EXPECT_EQ(read(copy), kTwos);
  EXPECT_EQ(used_bytes(), 2 * kBytes);
  EXPECT_FALSE(input.is_deleted());
  // What becomes of the input does not reach the copy.
  EXPECT_EQ(read(program_of(next_, {0}).execute({input}).output(0)), std::vector<float>(kSize, 3));
  EXPECT_EQ(read(copy), kTwos);
}

TEST_F(Arrays, AReusedInputIsTheResultOnlyWhereNothingChanges) {
  const NamedSharding elsewhere = rows(acquire(client_, 1));
  const Array input = put(HostBufferSemantics::kImmutableOnlyDuringCall);

  const Array same = input.reshard(rows(slice_), ArrayCopySemantics::kReuseInput).value();
  const Array other = input.reshard(elsewhere, ArrayCopySemantics::kReuseInput).value();

  EXPECT_EQ(same, input);
  EXPECT_NE(other, input);
  EXPECT_EQ(other.sharding(), elsewhere);
  EXPECT_EQ(read(other), kOnes);
  EXPECT_EQ(read(input), kOnes);
}

TEST_F(Arrays, ADonatedInputIsUsedUpAndItsMemoryGoes) {
  const NamedSharding elsewhere = rows(acquire(client_, 1));
  const auto make = [this] {
    return next_.execute({put(HostBufferSemantics::kImmutableOnlyDuringCall)}).output(0);
  };
  const Array first = make(), second = make();

  const Array there = first.reshard(elsewhere, ArrayCopySemantics::kDonateInput).value();
  const Array here = second.reshard(rows(slice_), ArrayCopySemantics::kDonateInput).value();

  EXPECT_EQ(read(there), kTwos);
  EXPECT_EQ(read(here), kTwos);
  EXPECT_EQ(used_bytes(), 2 * kBytes);
  for (const Array& input : {first, second}) {
    EXPECT_TRUE(input.is_deleted());
    const Status status = next_.execute({input}).error();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("was donated"), std::string::npos) << status.to_string();
    EXPECT_EQ(input.reshard(rows(slice_)).status(), status);
  }
}

}  // namespace
}  // namespace seaway
