// The model of the demos that train, but are not about training.

#include "demos/support/perceptron.hpp"

#include "seaway/model.hpp"

namespace seaway::demos {
namespace {

constexpr std::int64_t kHidden = 64;
constexpr std::int64_t kDigits = 1797;
constexpr std::uint64_t kSeed = 2022;

Tensor logits(std::span<const Tensor> in) {
  return model::dense(relu(model::dense(in[4], in[0], in[1])), in[2], in[3]);
}

}  // namespace

std::vector<std::int32_t> Perceptron::order() { return model::permutation(kDigits, kSeed, 0); }

std::vector<TensorType> Perceptron::types(std::int64_t rows) {
  std::vector<TensorType> types = {f32({Digits::kPixels, kHidden}), f32({kHidden}),
                                   f32({kHidden, Digits::kClasses}), f32({Digits::kClasses})};
  if (rows > 0) {
    types.push_back(f32({rows, Digits::kPixels}));
    types.push_back(i32({rows}));
  }
  return types;
}

std::vector<Array> Perceptron::initial(const Client& client, const Slice& slice) {
  const NamedSharding whole(slice.mesh(), P());
  std::vector<Array> parameters;
  for (const TensorType& type : types()) {
    const bool is_bias = type.shape.size() == 1;
    const auto values =
        is_bias ? std::vector<float>(static_cast<std::size_t>(type.elements()))
                : model::he_normal(type.shape[0], type.shape[1], kSeed, 1 + parameters.size());
    parameters.push_back(client.put(values, type.shape, whole));
  }
  return parameters;
}

Tensor Perceptron::loss(std::span<const Tensor> in) {
  return model::softmax_cross_entropy(logits(in), in[5]);
}

std::vector<Tensor> Perceptron::descend(std::span<const Tensor> in, double rate) {
  std::vector<Tensor> next;
  for (std::size_t i = 0; i < kParameters; ++i) next.push_back(in[i] - in[kParameters + i] * rate);
  return next;
}

Result<double> Perceptron::accuracy(const Client& client, const Slice& slice,
                                    const std::vector<Array>& parameters) {
  const auto digits = load_digits();
  if (!digits.ok()) return digits.status();
  const auto all = order();
  const Digits test = select(*digits, std::span(all).subspan(kTrain));
  const auto count = [](std::span<const Tensor> in) {
    return model::count_correct(logits(in), in[5]);
  };
  const auto function = client.function("count", count, types(test.size()));
  if (!function.ok()) return function.status();
  const NamedSharding whole(slice.mesh(), P());
  std::vector<Array> arguments = parameters;
  arguments.push_back(client.put(test.images, {test.size(), Digits::kPixels}, whole));
  arguments.push_back(client.put(test.labels, {test.size()}, whole));
  const auto right = function->on(slice).execute(arguments).output(0).to_host<float>().get();
  if (!right.ok()) return right.status();
  return static_cast<double>(right->front()) / static_cast<double>(test.size());
}

}  // namespace seaway::demos
