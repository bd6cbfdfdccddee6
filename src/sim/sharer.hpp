// Sharer: an actor of random worlds that makes arrays, keeps them, and gives them to others.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "seaway/app.hpp"
#include "seaway/client.hpp"
#include "sim/app_messages.hpp"

namespace seaway::sim {

/// An array of one value in all places, and that value.
struct SharedArray {
  Array array;
  std::int64_t value = 0;
};

/// Elements of each; slices have as many devices at most, and a number of them that divides it.
constexpr std::int64_t kSharedElements = 4;
/// What has a larger value is not used any more: twice of it is exact.
constexpr std::int64_t kSharedValueMax = 1 << 20;

ArraySpec shared_spec(const Slice& slice);
/// Twice of it, on `slice`.
Result<Function> make_twice(const Client& client, const Slice& slice);
/// It may be used on `slice`: it lies there, and is not too large.
bool is_usable(const SharedArray& one, const Slice& slice);
Array put_shared(const Client& client, const Slice& slice, std::int64_t value);
/// The value that is in all places; -1 when there are several.
std::int64_t seen_in(std::span<const float> values);

/// In each host's process it works in the session of whoever has spawned it. It keeps what it is
/// given or makes until it forgets.
class Sharer {
 public:
  static constexpr std::size_t kKeptMax = 8;

  static void describe(ActorType<Sharer>& type) {
    type.on(&Sharer::make_one).on(&Sharer::take).on(&Sharer::forget);
    type.on(&Sharer::pass, Interleave::kYes).on(&Sharer::look, Interleave::kYes);
  }
  /// `values` are those of `given`.
  Sharer(Self self, const Slice& slice, const std::vector<Array>& given,
         const std::vector<std::int64_t>& values);

  /// Twice of the value, beside the answer.
  Result<Reply<Shared>> make_one(Request<MakeOne> request);
  /// Keeps what is beside.
  Result<Reply<Shared>> take(Request<Share> request);
  /// Gives the newest that it keeps to the actor beside, and answers with what that one answers.
  Task<Reply<Shared>> pass(Request<Pass> request);
  /// Reads the newest.
  Task<Reply<Shared>> look(Request<Look> request);
  Status forget(Request<Forget> request);

 private:
  Result<SharedArray> twice(const SharedArray& of);
  void keep(SharedArray one);
  static Reply<Shared> given(const SharedArray& one);

  Self self_;
  const Slice slice_;
  std::optional<Function> twice_;
  std::vector<SharedArray> kept_;
};

}  // namespace seaway::sim
