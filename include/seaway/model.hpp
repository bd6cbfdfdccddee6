// Model: layers, a loss, optimisers and initial values, as plain functions of tensors.
//
//   Tensor hidden = relu(model::dense(x, w1, b1));
//   Tensor loss = model::softmax_cross_entropy(model::dense(hidden, w2, b2), labels);
//   auto [w, v] = model::sgd(w1, velocity, gradients(loss, {w1})[0], {.learning_rate = 0.1});
//
// Nothing here holds state: parameters and what an optimiser remembers of them are arguments and
// results, so that the program that trains decides where they live and which of them it donates.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "seaway/tensor.hpp"
#include "seaway/types.hpp"

namespace seaway::model {

// Initial values, on the host. Pure functions of their arguments: the same seed gives the same
// numbers on every machine. Give each parameter a `name` of its own, so that adding one does not
// change the others. A shape with a negative dimension gives no values.

/// Uniform in [low, high). Requires low <= high.
std::vector<float> uniform(const Shape& shape, float low, float high, std::uint64_t seed,
                           std::uint64_t name);
/// Normal with mean 0, by the sum of twelve uniform numbers: no value is beyond 6 deviations.
std::vector<float> normal(const Shape& shape, float deviation, std::uint64_t seed,
                          std::uint64_t name);
/// Weights [inputs, outputs] of a layer before a relu: normal with deviation sqrt(2 / inputs)
/// (He et al., "Delving deep into rectifiers", 2015).
std::vector<float> he_normal(std::int64_t inputs, std::int64_t outputs, std::uint64_t seed,
                             std::uint64_t name);
/// Weights [inputs, outputs] of any other layer: uniform within sqrt(6 / (inputs + outputs))
/// (Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
/// networks", 2010).
std::vector<float> glorot_uniform(std::int64_t inputs, std::int64_t outputs, std::uint64_t seed,
                                  std::uint64_t name);
/// The numbers 0 to count - 1 in an order that depends on `seed` and `name` alone.
std::vector<std::int32_t> permutation(std::int64_t count, std::uint64_t seed, std::uint64_t name);

// Layers.

/// x [rows, inputs] times weights [inputs, outputs] plus bias [outputs].
Tensor dense(const Tensor& x, const Tensor& weights, const Tensor& bias,
             Site site = Site::current());

// Losses. `logits` is f32 [rows, classes], `labels` i32 [rows]. A label outside 0..classes-1 adds
// nothing to the loss.

/// Per row: -log of the probability that softmax gives to the label; f32 [rows].
Tensor cross_entropy_by_row(const Tensor& logits, const Tensor& labels,
                            Site site = Site::current());
/// Their mean over the rows; f32 scalar.
Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels,
                             Site site = Site::current());
/// How many rows have their largest logit at the label; f32 scalar.
Tensor count_correct(const Tensor& logits, const Tensor& labels, Site site = Site::current());

// Optimisers: one step of one parameter, elementwise, so shards need no exchange. Gradients of
// replicated parameters are summed first: all_reduce(gradient, "data").

struct SgdOptions {
  double learning_rate = 0.1;
  double momentum = 0.9;      // 0: plain gradient descent.
  double weight_decay = 0.0;  // Times the parameter, added to its gradient.

  /// "sgd: learning rate 0.1, momentum 0.9, weight decay 0".
  std::string to_string() const;
};
struct SgdStep {
  Tensor parameter, velocity;

  /// "sgd step: parameter f32[2,3], velocity f32[2,3]".
  std::string to_string() const;
};
/// velocity' = momentum * velocity + gradient; parameter' = parameter - learning_rate * velocity'.
/// All of one type, f32. The velocity starts at 0.
SgdStep sgd(const Tensor& parameter, const Tensor& velocity, const Tensor& gradient,
            const SgdOptions& options, Site site = Site::current());

struct AdamOptions {
  double learning_rate = 0.001;
  double mean_decay = 0.9;
  double square_decay = 0.999;
  double epsilon = 1e-8;

  /// "adam: learning rate 0.001, mean decay 0.9, square decay 0.999, epsilon 1e-08".
  std::string to_string() const;
};
struct AdamStep {
  Tensor parameter, mean, square;

  /// "adam step: parameter f32[2,3], mean f32[2,3], square f32[2,3]".
  std::string to_string() const;
};
/// Adam (Kingma and Ba, 2015). `step` is an f32 scalar: 1 for the first step. Means of gradients
/// and of their squares start at 0.
AdamStep adam(const Tensor& parameter, const Tensor& mean, const Tensor& square,
              const Tensor& gradient, const Tensor& step, const AdamOptions& options,
              Site site = Site::current());

// Derivatives as functions.

/// A body that gives the scalar loss of its parameters.
using LossBody = std::function<Tensor(std::span<const Tensor>)>;
/// The body with the same parameters whose results are the loss and its derivative by each of the
/// parameters numbered in `wrt`. A number without a parameter is the capture's recorded mistake.
TensorBody value_and_gradients(LossBody loss, std::vector<std::size_t> wrt);

/// The body that carries a derivative back through `forward`, which has one result: it takes the
/// parameters of `forward` and then the derivative by its result (of the result's type), and gives
/// the derivative by each of the parameters numbered in `wrt`. This is how a gradient that arrived
/// from the next stage goes on.
TensorBody pull_back(LossBody forward, std::vector<std::size_t> wrt);

}  // namespace seaway::model
