// digits: a model in two stages, each on an island of its own, learns to read handwritten digits.
//
// One program is one training step:
//
//   island 0:  hidden = relu(x w1 + b1) ------------------------------> pull back, update w1, b1
//                          |  activations                                 ^
//                          v                                              |  gradients
//   island 1:  loss of (hidden w2 + b2) and its derivatives --------------+
//                          +-> update w2, b2
//
// On each island four devices share the rows of a batch; gradients of weights are summed over them
// inside the gang. Nothing waits for a step before the next ones are enqueued, up to kRunAhead.

#include "demos/support/digits.hpp"

#include <cmath>
#include <cstdio>
#include <deque>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "demos/list.hpp"
#include "demos/support/report.hpp"
#include "demos/support/terminal.hpp"
#include "seaway/inspect.hpp"
#include "seaway/model.hpp"
#include "seaway/seaway.hpp"

namespace seaway::demos {
namespace {

constexpr std::int64_t kDevices = 4;  // Of each island.
constexpr std::int64_t kHidden = 128;
constexpr std::int64_t kTrain = 1437;
constexpr std::int64_t kTest = 360;
constexpr std::int64_t kBatch = 96;  // Unless --size says otherwise.
constexpr std::int64_t kSteps = 560;
constexpr std::size_t kRunAhead = 64;
constexpr double kAccuracyWanted = 0.96;
constexpr std::uint64_t kSeed = 2022;
constexpr model::SgdOptions kSgd = {.learning_rate = 0.08, .momentum = 0.9, .weight_decay = 1e-4};

using In = std::span<const Tensor>;

/// Weights, bias and the velocity of each.
constexpr std::size_t kParameters = 4;
using Layer = std::vector<Array>;

// ------------------------------------------------------------------------------------ functions
// Types are those of one device: a batch is shared by kDevices.

Tensor stage_one(In in) { return relu(model::dense(in[0], in[1], in[2])); }

/// hidden, labels, weights, bias -> loss of the batch, and the loss by hidden, weights and bias.
std::vector<Tensor> stage_two(In in, std::int64_t batch) {
  const auto loss = [batch](In p) {
    const Tensor logits = model::dense(p[0], p[2], p[3]);
    return reduce_sum(model::cross_entropy_by_row(logits, p[1])) *
           (1.0 / static_cast<double>(batch));
  };
  const auto found = model::value_and_gradients(loss, {0, 2, 3})(in);
  return {all_reduce(found[0], "data"), found[1], all_reduce(found[2], "data"),
          all_reduce(found[3], "data")};
}

/// x, weights, bias, the loss by hidden -> the loss by weights and bias.
std::vector<Tensor> stage_one_backward(In in) {
  const auto found = model::pull_back(stage_one, {1, 2})(in);
  return {all_reduce(found[0], "data"), all_reduce(found[1], "data")};
}

/// weights, bias, their velocities, their gradients -> weights, bias, velocities.
std::vector<Tensor> update(In in) {
  const model::SgdStep weights = model::sgd(in[0], in[2], in[4], kSgd);
  const model::SgdStep bias = model::sgd(in[1], in[3], in[5], kSgd);
  return {weights.parameter, bias.parameter, weights.velocity, bias.velocity};
}

/// hidden, labels, weights, bias -> how many rows are read rightly.
Tensor count_right(In in) {
  const Tensor logits = model::dense(in[0], in[2], in[3]);
  return all_reduce(model::count_correct(logits, in[1]), "data");
}

// ------------------------------------------------------------------------------------- programs

/// What a program is made of: two slices, and how things lie on each.
struct Stages {
  Slice one, two;
  NamedSharding rows(const Slice& slice) const { return {slice.mesh(), P("data")}; }
  NamedSharding whole(const Slice& slice) const { return {slice.mesh(), P()}; }
};

std::vector<TensorType> layer_types(std::int64_t inputs, std::int64_t outputs) {
  return {f32({inputs, outputs}), f32({outputs}), f32({inputs, outputs}), f32({outputs})};
}

void add(std::vector<ArraySpec>& specs, const std::vector<TensorType>& types,
         const NamedSharding& sharding) {
  for (const TensorType& type : types) specs.push_back({type, sharding});
}

FunctionOptions on(const Slice& slice, std::vector<PartitionSpec> in,
                   std::vector<PartitionSpec> out) {
  return {.mesh = slice.mesh(), .in = std::move(in), .out = std::move(out)};
}

/// One training step: images, labels, layer one, layer two -> loss, layer one, layer two.
Result<Program> make_step(const Client& client, const Stages& stages, std::int64_t batch) {
  const std::int64_t rows = batch / kDevices;
  const P split("data"), whole;
  const TensorType x = f32({rows, Digits::kPixels}), hidden = f32({rows, kHidden});
  const auto one = layer_types(Digits::kPixels, kHidden);
  const auto two = layer_types(kHidden, Digits::kClasses);
  const auto forward = client.function("stage_one", stage_one, {x, one[0], one[1]},
                                       on(stages.one, {split, whole, whole}, {split}));
  const auto loss = client.function(
      "stage_two", [batch](In in) { return stage_two(in, batch); },
      {hidden, i32({rows}), two[0], two[1]},
      on(stages.two, {split, split, whole, whole}, {whole, split, whole, whole}));
  const auto backward =
      client.function("stage_one_backward", stage_one_backward, {x, one[0], one[1], hidden},
                      on(stages.one, {split, whole, whole, split}, {whole, whole}));
  const auto make_update = [&](const char* name, const Slice& slice, const auto& types) {
    return client.function(name, update,
                           {types[0], types[1], types[2], types[3], types[0], types[1]},
                           on(slice, std::vector<P>(6), std::vector<P>(4)));
  };
  const auto update_one = make_update("update_one", stages.one, one);
  const auto update_two = make_update("update_two", stages.two, two);
  for (const auto* function : {&forward, &loss, &backward, &update_one, &update_two}) {
    if (!function->ok()) return function->status();
  }

  std::vector<ArraySpec> specs = {{f32({batch, Digits::kPixels}), stages.rows(stages.one)},
                                  {i32({batch}), stages.rows(stages.two)}};
  add(specs, one, stages.whole(stages.one));
  add(specs, two, stages.whole(stages.two));
  const auto body = [&](std::span<const Traced> in) {
    const Traced& images = in[0];
    const Traced& labels = in[1];
    const auto w1 = in.subspan(2, kParameters), w2 = in.subspan(2 + kParameters, kParameters);
    const Traced hidden_rows = (*forward)(images, w1[0], w1[1]);
    const auto [value, by_hidden, by_w2, by_b2] =
        (*loss)(hidden_rows, labels, w2[0], w2[1]).unpack<4>();
    const auto [by_w1, by_b1] = (*backward)(images, w1[0], w1[1], by_hidden).unpack<2>();
    std::vector<Traced> results = {value};
    for (const Traced& next : (*update_one)(w1[0], w1[1], w1[2], w1[3], by_w1, by_b1).unpack<4>())
      results.push_back(next);
    for (const Traced& next : (*update_two)(w2[0], w2[1], w2[2], w2[3], by_w2, by_b2).unpack<4>())
      results.push_back(next);
    return results;
  };
  // Each step uses up the parameters that it is given: the new ones take their room.
  return client.program("step", body, specs, {.donated = {2, 3, 4, 5, 6, 7, 8, 9}});
}

/// images, labels, w1, b1, w2, b2 -> how many are read rightly.
Result<Program> make_test(const Client& client, const Stages& stages) {
  constexpr std::int64_t rows = kTest / kDevices;
  const P split("data"), whole;
  const auto one = layer_types(Digits::kPixels, kHidden);
  const auto two = layer_types(kHidden, Digits::kClasses);
  const auto forward =
      client.function("stage_one_test", stage_one, {f32({rows, Digits::kPixels}), one[0], one[1]},
                      on(stages.one, {split, whole, whole}, {split}));
  const auto count = client.function("count_right", count_right,
                                     {f32({rows, kHidden}), i32({rows}), two[0], two[1]},
                                     on(stages.two, {split, split, whole, whole}, {whole}));
  if (!forward.ok()) return forward.status();
  if (!count.ok()) return count.status();
  const auto body = [&](const Traced& images, const Traced& labels, const Traced& w1,
                        const Traced& b1, const Traced& w2, const Traced& b2) {
    return (*count)((*forward)(images, w1, b1), labels, w2, b2);
  };
  const NamedSharding whole_one = stages.whole(stages.one), whole_two = stages.whole(stages.two);
  return client.program("test", body,
                        {{f32({kTest, Digits::kPixels}), stages.rows(stages.one)},
                         {i32({kTest}), stages.rows(stages.two)},
                         {one[0], whole_one},
                         {one[1], whole_one},
                         {two[0], whole_two},
                         {two[1], whole_two}});
}

// ------------------------------------------------------------------------------------- training

Layer initial_layer(const Client& client, const NamedSharding& sharding, std::int64_t inputs,
                    std::int64_t outputs, std::uint64_t name) {
  const std::vector<float> weights = model::he_normal(inputs, outputs, kSeed, name);
  const std::vector<float> zeros(weights.size());
  const std::vector<float> bias(static_cast<std::size_t>(outputs));
  return {client.put(weights, {inputs, outputs}, sharding), client.put(bias, {outputs}, sharding),
          client.put(zeros, {inputs, outputs}, sharding), client.put(bias, {outputs}, sharding)};
}

struct Batch {
  Array images, labels;
};
Batch upload(const Client& client, const Stages& stages, const Digits& digits) {
  return {client.put(digits.images, {digits.size(), Digits::kPixels}, stages.rows(stages.one)),
          client.put(digits.labels, {digits.size()}, stages.rows(stages.two))};
}

/// Trains, and shows how it goes.
class Training {
 public:
  Training(const Client& client, const Stages& stages, const Digits& train, Program step,
           std::int64_t batch, const Clock& clock, const Screen& screen)
      : client_(client),
        stages_(stages),
        train_(train),
        batch_(batch),
        clock_(clock),
        step_(std::move(step)),
        screen_(screen),
        bar_(std::cout, clock,
             {.label = "training", .unit = "steps", .total = kSteps, .screen = screen}),
        one_(initial_layer(client, stages.whole(stages.one), Digits::kPixels, kHidden, 1)),
        two_(initial_layer(client, stages.whole(stages.two), kHidden, Digits::kClasses, 2)) {}

  Status run() {
    const std::uint64_t begin_ns = clock_.now_ns();
    const std::int64_t batches = kTrain / batch_;  // Of an epoch; the rest changes with the order.
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const auto epoch = static_cast<std::uint64_t>(step / batches);
      if (step % batches == 0) order_ = model::permutation(train_.size(), kSeed, 100 + epoch);
      const auto first = static_cast<std::size_t>(step % batches * batch_);
      const auto rows = std::span(order_).subspan(first, static_cast<std::size_t>(batch_));
      if (Status status = enqueue(select(train_, rows)); !status.ok()) return status;
      if (waiting_.size() <= kRunAhead) continue;
      if (Status status = take_loss(); !status.ok()) return status;
    }
    while (!waiting_.empty()) {
      if (Status status = take_loss(); !status.ok()) return status;
    }
    seconds_ = static_cast<double>(clock_.now_ns() - begin_ns) * 1e-9;
    bar_.finish(note());
    return {};
  }

  const Layer& one() const { return one_; }
  const Layer& two() const { return two_; }
  const std::vector<double>& losses() const { return losses_; }
  double seconds() const { return seconds_; }  // That run() took.

 private:
  /// The images of each step are uploaded for it; what it gives exists long after this returns.
  Status enqueue(const Digits& rows) {
    const Batch batch = upload(client_, stages_, rows);
    std::vector<Array> arguments = {batch.images, batch.labels};
    arguments.insert(arguments.end(), one_.begin(), one_.end());
    arguments.insert(arguments.end(), two_.begin(), two_.end());
    const Run run = step_.execute(arguments);
    if (Status status = run.error(); !status.ok()) return status;
    for (std::size_t i = 0; i < kParameters; ++i) {
      one_[i] = run.output(1 + i);
      two_[i] = run.output(1 + kParameters + i);
    }
    waiting_.push_back(run.output(0).to_host<float>());
    return {};
  }

  /// Waits for the oldest loss that was asked for.
  Status take_loss() {
    auto loss = std::move(waiting_.front()).get();
    waiting_.pop_front();
    if (!loss.ok()) return loss.status();
    losses_.push_back(static_cast<double>(loss->front()));
    bar_.update(static_cast<std::int64_t>(losses_.size()), screen_.is_terminal ? note() : "");
    return {};
  }

  std::string note() const {
    char text[64];
    std::snprintf(text, sizeof(text), "loss %.4f ", losses_.back());
    return text + sparkline(losses_, 24, screen_.ink);
  }

  const Client& client_;
  const Stages& stages_;
  const Digits& train_;
  const std::int64_t batch_;
  const Clock& clock_;
  const Program step_;
  const Screen screen_;
  ProgressBar bar_;
  Layer one_, two_;
  std::deque<Future<std::vector<float>>> waiting_;
  std::vector<double> losses_;
  std::vector<std::int32_t> order_;
  double seconds_ = 0;
};

void print_summary(const ClusterStats& before, const ClusterStats& after) {
  constexpr double steps = kSteps;
  const double seconds = static_cast<double>(after.time_ns - before.time_ns) * 1e-9;
  const double busy = static_cast<double>(after.busy_ns() - before.busy_ns()) * 1e-9;
  const double devices = static_cast<double>(after.devices.size());
  const auto per_step = [steps](const MessageStats& old, const MessageStats& now) {
    return static_cast<double>(now.frames - old.frames) / steps;
  };
  std::printf("devices   worked %.1f %% of the time (%.0f devices on %.0f islands)\n",
              100 * busy / (seconds * devices), devices, devices / kDevices);
  std::printf(
      "messages  %.1f a step: %.1f to the controller, %.1f to islands, %.1f to hosts, "
      "%.1f to the client\n",
      static_cast<double>(after.frames() - before.frames()) / steps,
      per_step(before.to_controller, after.to_controller),
      per_step(before.to_islands, after.to_islands), per_step(before.to_hosts, after.to_hosts),
      per_step(before.to_clients, after.to_clients));
  std::printf("memory    peak %sB of %sB on a device\n",
              short_number(static_cast<double>(after.peak_bytes())).c_str(),
              short_number(static_cast<double>(after.devices[0].budget_bytes)).c_str());
}

Status digits(const DemoOptions& options) {
  const std::int64_t batch = options.size > 0 ? static_cast<std::int64_t>(options.size) : kBatch;
  if (batch % kDevices != 0 || batch > kTrain) {
    return invalid_argument("a batch of " + std::to_string(batch) + " rows cannot be shared by " +
                            std::to_string(kDevices) + " devices: take a multiple of that, up to " +
                            std::to_string(kTrain));
  }
  const auto all = load_digits();
  if (!all.ok()) return all.status();
  const auto order = model::permutation(all->size(), kSeed, 0);
  const Digits train = select(*all, std::span(order).first(kTrain));
  const Digits test = select(*all, std::span(order).last(kTest));

  const bool is_embedded = options.cluster.empty();
  const auto cluster =
      Cluster::start(is_embedded ? "embedded:islands=2,devices=4,device_memory=16MiB,events=262144"
                                 : options.cluster);
  if (!cluster.ok()) return cluster.status();
  // Elsewhere it works for whom its token says.
  const auto client =
      cluster->connect(is_embedded ? ClientOptions{.tenant = "digits"} : ClientOptions{});
  if (!client.ok()) return client.status();
  const SliceRequest four = {.devices = kDevices, .mesh = {{"data", kDevices}}};
  SliceRequest first = four, second = four;
  first.island = 0;
  second.island = 1;
  const auto one = client->acquire_slice(first), two = client->acquire_slice(second);
  if (!one.ok()) return one.status();
  if (!two.ok()) return two.status();
  const Stages stages{*one, *two};
  auto step = make_step(*client, stages, batch);
  if (!step.ok()) return step.status();
  const auto test_program = make_test(*client, stages);
  if (!test_program.ok()) return test_program.status();
  std::printf("%d training images, %d test images; one training step is one program:\n%s\n",
              static_cast<int>(kTrain), static_cast<int>(kTest), step->to_string().c_str());

  const RealClock clock;
  Training training(*client, stages, train, std::move(step).value(), batch, clock,
                    standard_screen());
  const auto before = is_embedded ? stats(*cluster) : ClusterStats();
  if (Status status = training.run(); !status.ok()) return status;
  const auto after = is_embedded ? stats(*cluster) : ClusterStats();
  if (!before.ok()) return before.status();
  if (!after.ok()) return after.status();

  const Batch unseen = upload(*client, stages, test);
  const Run run = test_program->execute({unseen.images, unseen.labels, training.one()[0],
                                         training.one()[1], training.two()[0], training.two()[1]});
  const auto right = run.output(0).to_host<float>().get();
  if (!right.ok()) return right.status();
  const double accuracy = static_cast<double>(right->front()) / static_cast<double>(kTest);
  // A cluster elsewhere is looked at with `seaway status`.
  std::printf("accuracy  %.2f %% of %d test images\n", 100 * accuracy, static_cast<int>(kTest));
  std::printf("speed     %.0f steps/s, %.0f images/s, %s in all\n", kSteps / training.seconds(),
              static_cast<double>(kSteps * batch) / training.seconds(),
              short_time(training.seconds()).c_str());
  if (is_embedded) {
    print_summary(*before, *after);
    if (Status status = write_trace(*cluster, "digits", options); !status.ok()) return status;
  }
  if (accuracy >= kAccuracyWanted) return {};
  return Status(StatusCode::kDataCorruption, "the model reads " + std::to_string(accuracy) +
                                                 " of the test images rightly, and " +
                                                 std::to_string(kAccuracyWanted) + " are wanted");
}

}  // namespace

int run_digits(const DemoOptions& options) { return finish("digits", digits(options)); }

}  // namespace seaway::demos
