// The model of the demos that train, but are not about training.

#include "demos/support/perceptron.hpp"

#include <cstdio>
#include <stdexcept>
#include <utility>

#include "seaway/model.hpp"

namespace seaway::demos {
namespace {

constexpr std::int64_t kHidden = 64;
constexpr std::int64_t kDigits = 1797;
constexpr std::uint64_t kSeed = 2022;
constexpr double kRate = 0.3;
constexpr double kAccuracyWanted = 0.95;

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

std::vector<Tensor> Perceptron::descend(std::span<const Tensor> in) {
  std::vector<Tensor> next;
  for (std::size_t i = 0; i < kParameters; ++i) next.push_back(in[i] - in[kParameters + i] * kRate);
  return next;
}

Function Perceptron::descend_on(const Client& client, const Slice& slice) {
  auto parameters = types();
  for (const TensorType& derivative : types()) parameters.push_back(derivative);
  return client.function("descend", descend, parameters).value().on(slice);
}

Function Perceptron::derive_on(const Client& client, const Slice& slice, std::int64_t rows) {
  const auto body = model::value_and_gradients(loss, {0, 1, 2, 3});
  return client.function("derive", body, types(rows)).value().on(slice);
}

Status Perceptron::check(const Client& client, const Slice& slice,
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
  const double accuracy = static_cast<double>(right->front()) / static_cast<double>(test.size());
  std::printf("accuracy  %.2f %%; %.0f %% are wanted\n", 100 * accuracy, 100 * kAccuracyWanted);
  if (accuracy >= kAccuracyWanted) return {};
  return {StatusCode::kDataCorruption, "the model reads too few digits rightly"};
}

Lessons::Lessons(const Options& options) {
  const auto digits = load_digits();
  if (!digits.ok()) throw std::runtime_error(digits.status().to_string());
  const auto order = Perceptron::order();
  const auto rows = static_cast<std::size_t>(options.rows);
  const std::size_t size = Perceptron::kTrain / options.parts;
  const auto own = std::span(order).subspan(options.part * size, size);
  for (std::size_t begin = 0; begin + rows <= size; begin += rows) {
    batches_.push_back(select(*digits, own.subspan(begin, rows)));
  }
}

void Lessons::append_next(std::vector<Array>& arguments, const Client& client, const Slice& slice) {
  const Digits& batch = batches_[std::exchange(next_, (next_ + 1) % batches_.size())];
  const NamedSharding whole(slice.mesh(), P());
  arguments.push_back(client.put(batch.images, {batch.size(), Digits::kPixels}, whole));
  arguments.push_back(client.put(batch.labels, {batch.size()}, whole));
}

}  // namespace seaway::demos
