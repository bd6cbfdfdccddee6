// Layers, losses, optimisers and derivatives: compositions of the operations in tensor.hpp.

#include <utility>

#include "seaway/model.hpp"

namespace seaway::model {
namespace {

/// The parameters numbered in `wrt`. A number without a parameter gives an empty Tensor, which the
/// next operation records as the mistake that it is.
std::vector<Tensor> pick(std::span<const Tensor> parameters, const std::vector<std::size_t>& wrt) {
  std::vector<Tensor> picked;
  for (const std::size_t index : wrt) {
    picked.push_back(index < parameters.size() ? parameters[index] : Tensor());
  }
  return picked;
}

}  // namespace

Tensor dense(const Tensor& x, const Tensor& weights, const Tensor& bias, Site site) {
  const Tensor product = matmul(x, weights, site);
  return Operand(product, site) + Operand(broadcast_to(bias, product.shape(), site), site);
}

Tensor cross_entropy_by_row(const Tensor& logits, const Tensor& labels, Site site) {
  const Tensor wanted = one_hot(labels, logits.dim(-1, site), DType::kF32, site);
  const Tensor chosen = Operand(wanted, site) * Operand(log_softmax(logits, -1, site), site);
  return negate(reduce_sum(chosen, {-1}, KeepDims::kNo, site), site);
}

Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels, Site site) {
  return mean(cross_entropy_by_row(logits, labels, site), {}, KeepDims::kNo, site);
}

Tensor count_correct(const Tensor& logits, const Tensor& labels, Site site) {
  const Tensor is_right = equal({argmax(logits, -1, site), site}, {labels, site});
  return reduce_sum(convert(is_right, DType::kF32, site), {}, KeepDims::kNo, site);
}

SgdStep sgd(const Tensor& parameter, const Tensor& velocity, const Tensor& gradient,
            const SgdOptions& options, Site site) {
  const auto at = [site](const auto& x) { return Operand(x, site); };
  Tensor slope = gradient;
  if (options.weight_decay != 0) {
    slope = at(slope) + at(at(parameter) * at(options.weight_decay));
  }
  const Tensor speed = at(at(velocity) * at(options.momentum)) + at(slope);
  return {at(parameter) - at(at(speed) * at(options.learning_rate)), speed};
}

AdamStep adam(const Tensor& parameter, const Tensor& mean, const Tensor& square,
              const Tensor& gradient, const Tensor& step, const AdamOptions& options, Site site) {
  const auto at = [site](const auto& x) { return Operand(x, site); };
  const auto decayed = [&](const Tensor& old, const Tensor& now, double decay) {
    return at(at(old) * at(decay)) + at(at(now) * at(1 - decay));
  };
  // Both means start at 0; dividing by 1 - decay^step takes that start out again.
  const auto corrected = [&](const Tensor& value, double decay) {
    const Tensor base = splat(step.type(), decay, site);
    const Tensor left = at(1.0) - at(pow(at(base), at(step)));
    return at(value) / at(broadcast_to(left, value.shape(), site));
  };
  const Tensor next_mean = decayed(mean, gradient, options.mean_decay);
  const Tensor next_square = decayed(square, at(gradient) * at(gradient), options.square_decay);
  const Tensor spread =
      at(sqrt(corrected(next_square, options.square_decay), site)) + at(options.epsilon);
  const Tensor change = at(corrected(next_mean, options.mean_decay)) / at(spread);
  return {at(parameter) - at(at(change) * at(options.learning_rate)), next_mean, next_square};
}

TensorBody value_and_gradients(LossBody loss, std::vector<std::size_t> wrt) {
  return [loss = std::move(loss), wrt = std::move(wrt)](std::span<const Tensor> parameters) {
    const Tensor value = loss(parameters);
    std::vector<Tensor> results = {value};
    for (Tensor& gradient : gradients(value, pick(parameters, wrt))) {
      results.push_back(std::move(gradient));
    }
    return results;
  };
}

TensorBody pull_back(LossBody forward, std::vector<std::size_t> wrt) {
  return [forward = std::move(forward), wrt = std::move(wrt)](std::span<const Tensor> parameters) {
    if (parameters.empty()) return gradients(Tensor(), {});
    const std::span<const Tensor> inputs = parameters.first(parameters.size() - 1);
    const Tensor result = forward(inputs);
    // The derivative of sum(result * d) by the inputs is d carried back through the function.
    const Tensor weighted = reduce_sum(result * stop_gradient(parameters.back()));
    return gradients(weighted, pick(inputs, wrt));
  };
}

}  // namespace seaway::model
