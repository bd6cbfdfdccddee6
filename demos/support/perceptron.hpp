// A model small enough for demos that are about something else: it reads digits after a second.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "demos/support/digits.hpp"
#include "seaway/app/message.hpp"
#include "seaway/seaway.hpp"

namespace seaway::demos {

/// Two layers, 64 -> 64 -> 10. Its parameters are weights and bias of the first, then of the
/// second.
struct Perceptron {
  static constexpr std::uint32_t kParameters = 4;
  /// Digits to learn from; the other 357 are to be tested with.
  static constexpr std::int64_t kTrain = 1440;

  /// Their lines in the file, in an order without meaning; first those to learn from.
  static std::vector<std::int32_t> order();
  /// Parameters; then, of a batch, images [rows, 64] and labels [rows], when there are rows.
  static std::vector<TensorType> types(std::int64_t rows = 0);
  /// What training begins with, the same in each run; whole on each device of `slice`.
  static std::vector<Array> initial(const Client& client, const Slice& slice);

  /// Parameters and a batch -> its mean loss.
  static Tensor loss(std::span<const Tensor> in);
  /// Parameters and derivatives by them -> parameters after a step against them.
  static std::vector<Tensor> descend(std::span<const Tensor> in);
  /// The same as a function on `slice`.
  static Function descend_on(const Client& client, const Slice& slice);
  /// Parameters and a batch of so many rows -> its mean loss, and the derivatives by the
  /// parameters.
  static Function derive_on(const Client& client, const Slice& slice, std::int64_t rows);

  /// The four arrays beside a message: handles, whose values may still be to come.
  template <class T>
  static std::vector<Array> arrays(const Message<T>& message) {
    std::vector<Array> four;
    for (std::uint32_t i = 0; i < kParameters; ++i) four.push_back(message.array(i).value());
    return four;
  }

  /// Prints which part of the digits to be tested with these parameters read rightly. Blocks.
  /// Errors: kDataCorruption when that is less than 95 %; those of the run.
  static Status check(const Client& client, const Slice& slice,
                      const std::vector<Array>& parameters);
};

/// One of several equal parts of the digits to learn from, batch by batch, again and again.
class Lessons {
 public:
  struct Options {
    std::size_t part = 0, parts = 1;
    std::int64_t rows = 1;  // Of a batch; divides the part.
  };
  /// Throws std::runtime_error when there are no digits.
  explicit Lessons(const Options& options);
  /// Images and labels, whole on each device of `slice`, behind what a function takes before.
  void append_next(std::vector<Array>& arguments, const Client& client, const Slice& slice);

 private:
  std::vector<Digits> batches_;
  std::size_t next_ = 0;
};

}  // namespace seaway::demos
