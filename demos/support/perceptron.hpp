// A model small enough for demos that are about something else: it reads digits after a second.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "demos/support/digits.hpp"
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
  static std::vector<Tensor> descend(std::span<const Tensor> in, double rate);

  /// Which part of the digits to be tested with these parameters read rightly. Blocks.
  static Result<double> accuracy(const Client& client, const Slice& slice,
                                 const std::vector<Array>& parameters);
};

}  // namespace seaway::demos
