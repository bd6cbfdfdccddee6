// Gathering, and the one run that comes of it.

#include "front/recording.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "client/session.hpp"
#include "front/front_client.hpp"
#include "front/front_executable.hpp"

namespace seaway::front {
namespace {

struct OfThread {
  int depth = 0;
  std::shared_ptr<Recording> recording;
};
thread_local OfThread of_thread;

template <class T>
void put_words(std::string& key, T first, T second) {
  const T words[] = {first, second};
  key.append(reinterpret_cast<const char*>(words), sizeof words);
}

}  // namespace

FrontBuffer::~FrontBuffer() {
  if (recording_ && !recording_->is_settled()) recording_->forget(*this);
}

const Array& FrontBuffer::array() const {
  if (recording_) recording_->settle();
  return array_;
}

bool FrontBuffer::is_deleted() const {
  if (is_gone_) return true;
  return (!recording_ || recording_->is_settled()) && array_.is_deleted();
}

void FrontBuffer::delete_now() {
  is_gone_ = true;
  if (recording_ && !recording_->is_settled()) return recording_->forget(*this);
  // What is recorded may take it, and comes first.
  if (of_thread.recording) of_thread.recording->settle();
  array_.delete_now();
}

Program RecordedPrograms::find(const std::string& key) const {
  std::lock_guard guard(mutex_);
  const auto found = programs_.find(key);
  return found == programs_.end() ? Program() : found->second;
}

void RecordedPrograms::keep(std::string key, Program program) {
  std::lock_guard guard(mutex_);
  if (programs_.size() >= kProgramsMax) programs_.erase(programs_.begin());
  programs_.emplace(std::move(key), std::move(program));
}

std::size_t RecordedPrograms::size() const {
  std::lock_guard guard(mutex_);
  return programs_.size();
}

void Recording::begin() { ++of_thread.depth; }

void Recording::end() {
  if (of_thread.depth == 0 || --of_thread.depth > 0) return;
  if (const auto recording = std::exchange(of_thread.recording, nullptr)) recording->settle();
}

std::shared_ptr<Recording> Recording::current(FrontClient& client) {
  if (of_thread.depth == 0) return nullptr;
  std::shared_ptr<Recording>& recording = of_thread.recording;
  const bool is_another = recording && &recording->client_ != &client;
  if (is_another || (recording && recording->is_full())) recording->settle();
  if (!recording || recording->is_settled()) recording = std::make_shared<Recording>(client);
  return recording;
}

Recording::Recording(FrontClient& client)
    : client_(client),
      done_(std::make_shared<internal::FutureState<void>>(client.client().session().waiter())) {}

bool Recording::is_full() {
  std::lock_guard guard(mutex_);
  return nodes_.size() >= kNodesMax;
}

Recording::Value Recording::value_of(FrontBuffer& operand) {
  if (operand.recording_.get() == this) return {operand.node_, operand.output_};
  const Array& array = operand.array_;  // Whoever adds has settled what is of another recording.
  const auto [found, is_new] =
      numbers_.emplace(array.cell(), static_cast<std::uint32_t>(parameters_.size()));
  if (is_new) {
    parameters_.push_back(array);
    places_.push_back(operand.device);
  }
  return {kParameter, found->second};
}

std::unique_ptr<FrontBuffer> Recording::new_result(std::uint32_t output, const TensorType& type,
                                                   FrontDevice* device) {
  auto result = std::make_unique<FrontBuffer>(
      shared_from_this(), static_cast<std::uint32_t>(nodes_.size() - 1), output, type, device);
  nodes_.back().results.push_back(result.get());
  return result;
}

std::vector<std::unique_ptr<FrontBuffer>> Recording::add(
    std::shared_ptr<FrontExecutable> executable, const std::vector<FrontDevice*>& devices,
    std::span<FrontBuffer* const> operands, std::span<const std::uint32_t> donated) {
  for (FrontBuffer* const operand : operands) {
    if (operand->recording_.get() != this) (void)operand->array();
  }
  std::lock_guard guard(mutex_);
  Node node{std::move(executable), devices, {}, {}};
  for (FrontBuffer* const operand : operands) node.operands.push_back(value_of(*operand));
  for (const std::uint32_t operand : donated) {
    operands[operand]->is_gone_ = true;
    const Value value = node.operands[operand];
    if (value.node == kParameter) donated_.push_back(value.output);
  }
  nodes_.push_back(std::move(node));
  const auto types = nodes_.back().executable->outputs();
  std::vector<std::unique_ptr<FrontBuffer>> results;
  for (FrontDevice* const device : devices) {
    for (const TensorType& type : types) {
      results.push_back(new_result(static_cast<std::uint32_t>(results.size()), type, device));
    }
  }
  return results;
}

std::unique_ptr<FrontBuffer> Recording::add_copy(FrontBuffer& operand, FrontDevice& target) {
  if (operand.recording_.get() != this) (void)operand.array();
  std::lock_guard guard(mutex_);
  nodes_.push_back({nullptr, {&target}, {value_of(operand)}, {}});
  return new_result(0, operand.type(), &target);
}

void Recording::forget(const FrontBuffer& result) {
  std::lock_guard guard(mutex_);
  if (!is_settled()) nodes_[result.node_].results[result.output_] = nullptr;
}

/// Results that somebody has; those of the last node if nobody has any, for a run has some.
std::vector<Recording::Value> Recording::kept() const {
  std::vector<Value> kept;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    for (std::uint32_t i = 0; i < nodes_[n].results.size(); ++i) {
      if (nodes_[n].results[i] != nullptr) kept.push_back({n, i});
    }
  }
  if (!kept.empty()) return kept;
  const auto last = static_cast<std::uint32_t>(nodes_.size() - 1);
  for (std::uint32_t i = 0; i < nodes_[last].results.size(); ++i) kept.push_back({last, i});
  return kept;
}

std::string Recording::key(std::span<const Value> kept) const {
  std::string key;
  for (const Node& node : nodes_) {
    const std::uint64_t function = node.executable ? node.executable->function_id() : 0;
    put_words<std::uint64_t>(key, function, node.operands.size());
    for (const FrontDevice* const device : node.devices) put_words(key, device->id, -1);
    for (const Value value : node.operands) put_words(key, value.node, value.output);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    put_words(key, places_[i]->id, -2);
    key += to_string(parameters_[i].type());
  }
  for (const std::uint32_t parameter : donated_) put_words(key, parameter, kParameter);
  for (const Value value : kept) put_words(key, value.node, value.output);
  return key;
}

std::vector<Traced> Recording::trace(std::span<const Traced> parameters,
                                     std::span<const Value> kept) const {
  std::vector<std::vector<Traced>> results;
  const auto traced = [&](Value value) {
    return value.node == kParameter ? parameters[value.output] : results[value.node][value.output];
  };
  for (const Node& node : nodes_) {
    std::vector<Traced> operands, made;
    for (const Value value : node.operands) operands.push_back(traced(value));
    if (node.executable == nullptr) {
      made.push_back(operands[0].reshard(NamedSharding(node.devices[0]->mesh, P())));
    } else {
      const Traced all = node.executable->call(node.devices, operands);
      for (std::size_t i = 0; i < all.size(); ++i) made.push_back(all[i]);
    }
    if (made.size() != node.results.size()) return {};  // A mistake, which the capture tells.
    results.push_back(std::move(made));
  }
  std::vector<Traced> outputs;
  for (const Value value : kept) outputs.push_back(traced(value));
  return outputs;
}

Result<Program> Recording::capture(std::span<const Value> kept) const {
  std::vector<ArraySpec> specs;
  for (const Array& parameter : parameters_) specs.push_back(parameter.spec());
  return client_.client().program(
      "recorded",
      [this, kept](std::span<const Traced> parameters) { return trace(parameters, kept); },
      std::move(specs), {.donated = donated_});
}

/// The run of `program`, or one that was refused.
Run Recording::leave(std::span<const Value> kept) const {
  std::string key = this->key(kept);
  Program program = client_.recorded().find(key);
  if (program) return program.execute(parameters_);
  auto captured = capture(kept);
  if (captured.ok()) {
    client_.recorded().keep(std::move(key), *captured);
    return captured->execute(parameters_);
  }
  auto origin = std::make_shared<client::Origin>();
  origin->session = client_.client().session().shared_from_this();
  origin->name = "recorded program";
  for (const Value value : kept) {
    const FrontBuffer* const result = nodes_[value.node].results[value.output];
    origin->outputs.push_back(result ? ArraySpec{result->type(), {}} : ArraySpec());
  }
  origin->output_specs.resize(kept.size());
  return Run(client::Record::make_failed(origin, kept.size(), captured.status()));
}

/// Nothing is held while the run leaves: it may have to wait for room, and meanwhile others drop
/// results.
void Recording::settle() {
  Phase before = Phase::kOpen;
  std::vector<Value> kept;
  {
    std::lock_guard guard(mutex_);
    if (phase_.compare_exchange_strong(before, Phase::kLeaving) && !nodes_.empty()) {
      kept = this->kept();
    }
  }
  if (before != Phase::kOpen) return phase_.wait(Phase::kLeaving);
  const Run run = kept.empty() ? Run() : leave(kept);
  {
    std::lock_guard guard(mutex_);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      FrontBuffer* const result = nodes_[kept[i].node].results[kept[i].output];
      if (result != nullptr) result->array_ = run.output(i);
    }
    nodes_.clear();
    phase_ = Phase::kSettled;
  }
  phase_.notify_all();
  parameters_.clear();
  if (!run) return (void)done_->complete(Result<void>());
  (void)run.status().then(inline_executor(),
                          [done = done_](const Result<void>& outcome) { done->complete(outcome); });
}

}  // namespace seaway::front
