// The fake plugin's faults, signals and programs.

#include "unit/pjrt/fake_world.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "pjrt/proto.hpp"

namespace seaway::pjrt {
namespace {

/// "2x3xf32" behind `at`, which is moved behind the '>'.
FakeType read_type(const std::string& text, std::size_t& at) {
  FakeType type;
  const std::size_t end = text.find('>', at);
  std::string rest = text.substr(at, end - at);
  for (std::size_t cross = rest.find('x'); cross != std::string::npos; cross = rest.find('x')) {
    type.sizes.push_back(std::stoll(rest.substr(0, cross)));
    rest = rest.substr(cross + 1);
  }
  if (rest == "f32") type.type = abi::ElementType::kF32;
  if (rest == "i32") type.type = abi::ElementType::kS32;
  if (rest == "i1") type.type = abi::ElementType::kPred;
  if (rest == "f64") type.type = abi::ElementType::kF64;
  if (rest == "ui8") type.type = abi::ElementType::kU8;
  at = end;
  return type;
}

struct Field {
  std::uint64_t number = 0, value = 0;
  std::string bytes;
};

std::uint64_t read_varint(const std::string& bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

/// The fields of a serialized message; numbers and messages are all there are.
std::vector<Field> read_fields(const std::string& bytes) {
  std::vector<Field> fields;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint64_t tag = read_varint(bytes, at);
    Field field{tag >> 3, read_varint(bytes, at), {}};
    if ((tag & 7) == 2) {
      field.bytes = bytes.substr(at, field.value);
      at += field.value;
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string bytes_of(const std::vector<Field>& fields, std::uint64_t number) {
  for (const Field& field : fields) {
    if (field.number == number) return field.bytes;
  }
  return {};
}

}  // namespace

FakeProgram read_program(const std::string& text, const std::string& options) {
  FakeProgram program;
  program.text = text;
  program.options = options;
  const std::string name = "@main(", arrow = ") -> (";
  const std::size_t begin = text.find(name), middle = text.find(arrow, begin);
  const std::size_t end = text.find(") {\n", middle);
  if (begin == std::string::npos || middle == std::string::npos || end == std::string::npos) {
    return program;
  }
  const std::string word = "tensor<";
  for (std::size_t at = text.find(word, begin); at < end; at = text.find(word, at)) {
    at += word.size();
    const bool is_output = at > middle;
    FakeType type = read_type(text, at);
    if (is_output) {
      program.outputs.push_back(std::move(type));
      continue;
    }
    program.parameters.push_back(std::move(type));
    program.is_donated.push_back(text.compare(at, 24, "> {tf.aliasing_output = ") == 0);
  }
  const auto assignment = bytes_of(read_fields(bytes_of(read_fields(options), 3)), 9);
  // Replicas of one partition, then those of the next: programs here have one of both alone.
  for (const Field& computation : read_fields(assignment)) {
    if (computation.number != 3) continue;
    const std::string ids = bytes_of(read_fields(computation.bytes), 1);
    for (std::size_t at = 0; at < ids.size();) {
      program.devices.push_back(static_cast<int>(read_varint(ids, at)));
    }
  }
  program.is_readable = true;
  return program;
}

void FakeWorld::reset() {
  std::lock_guard guard(mutex_);
  held_.clear();
  for (const auto& object : all_) {
    if (auto* const buffer = dynamic_cast<FakeBuffer*>(object.get())) buffer->data.reset();
    if (auto* const transfers = dynamic_cast<FakeTransfers*>(object.get())) {
      transfers->promised.clear();
    }
  }
  all_.clear();
  alive_.clear();
  violations_.clear();
  launches_.clear();
  compute_ = nullptr;
  shares_memory_ = true;
  holds_ = lies_about_types_ = lies_about_sizes_ = false;
  kernels_ = 0;
  operations_ = 0;
  unfinished_ = unfinished_max_ = 0;
  counts_.clear();
  faults_.clear();
  releases_ = 0;
  calls_due_.clear();
}

void FakeWorld::compute_by(FakeCompute compute) {
  std::lock_guard guard(mutex_);
  compute_ = std::move(compute);
}

void FakeWorld::share_memory(bool shares) {
  std::lock_guard guard(mutex_);
  shares_memory_ = shares;
}

void FakeWorld::fail(abi::Call call, std::size_t nth, abi::ErrorCode code, std::string message) {
  std::lock_guard guard(mutex_);
  faults_.push_back({call, counts_[call] + nth, false, code, std::move(message)});
}

void FakeWorld::hang(abi::Call call, std::size_t nth) {
  std::lock_guard guard(mutex_);
  faults_.push_back({call, counts_[call] + nth, true, abi::ErrorCode::kOk, {}});
}

void FakeWorld::wait_for_hang() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return hanging_ > 0; });
}

void FakeWorld::release() {
  std::lock_guard guard(mutex_);
  ++releases_;
  changed_.notify_all();
}

void FakeWorld::hold() {
  std::lock_guard guard(mutex_);
  holds_ = true;
}

void FakeWorld::wait_for_held(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, count] { return held_.size() >= count; });
}

void FakeWorld::complete(std::size_t index, abi::ErrorCode code) {
  std::vector<std::function<void()>> calls;
  {
    std::lock_guard guard(mutex_);
    const auto run = held_[index];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
    finish(run, code);
    calls = take_calls();
  }
  for (const auto& one : calls) one();
}

void FakeWorld::lie_about_types() {
  std::lock_guard guard(mutex_);
  lies_about_types_ = true;
}

void FakeWorld::describe_as(std::size_t kernels, double operations) {
  std::lock_guard guard(mutex_);
  kernels_ = kernels;
  operations_ = operations;
}

void FakeWorld::lie_about_sizes() {
  std::lock_guard guard(mutex_);
  lies_about_sizes_ = true;
}

std::size_t FakeWorld::calls(abi::Call call) const {
  std::lock_guard guard(mutex_);
  const auto found = counts_.find(call);
  return found == counts_.end() ? 0 : found->second;
}

std::size_t FakeWorld::unfinished_max() const {
  std::lock_guard guard(mutex_);
  return unfinished_max_;
}

std::vector<int> FakeWorld::launches() const {
  std::lock_guard guard(mutex_);
  return launches_;
}

std::vector<std::string> FakeWorld::violations() const {
  std::lock_guard guard(mutex_);
  return violations_;
}

std::size_t FakeWorld::alive() const {
  std::lock_guard guard(mutex_);
  return count_alive();
}

void FakeWorld::wait_for_alive(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, count] { return count_alive() == count; });
}

std::size_t FakeWorld::count_alive() const {
  return static_cast<std::size_t>(std::count_if(alive_.begin(), alive_.end(), [](const auto& one) {
    return one.second != FakeKind::kDevice;
  }));
}

abi::Error* FakeWorld::enter(abi::Call call, std::size_t size, std::size_t wanted) {
  std::unique_lock lock(mutex_);
  const std::size_t number = ++counts_[call];
  if (size < wanted) {
    complain("arguments of call " + std::to_string(static_cast<std::size_t>(call)) +
             " are too short");
    return error(abi::ErrorCode::kInvalidArgument, "too short");
  }
  for (const Fault& fault : faults_) {
    if (fault.call != call || fault.at != number) continue;
    if (!fault.hangs) return error(fault.code, fault.message);
    ++hanging_;
    changed_.notify_all();
    changed_.wait(lock, [this, before = releases_] { return releases_ > before; });
    --hanging_;
    break;
  }
  return nullptr;
}

abi::Error* FakeWorld::error(abi::ErrorCode code, const std::string& message) {
  return reinterpret_cast<abi::Error*>(static_cast<FakeObject*>(make<FakeError>(code, message)));
}

std::shared_ptr<FakeData> FakeWorld::new_data(FakeType type, int device) {
  auto data = std::make_shared<FakeData>();
  data->bytes.resize(type.bytes());
  data->type = std::move(type);
  data->device = device;
  return data;
}

void FakeWorld::set(const FakeSignalPtr& signal, abi::ErrorCode code, const std::string& message) {
  if (signal->is_ready) return complain("something happens twice");
  signal->is_ready = true;
  signal->code = code;
  signal->message = message;
  for (auto& call : std::exchange(signal->waiting, {})) calls_due_.push_back(std::move(call));
  changed_.notify_all();
}

void FakeWorld::enqueue(std::shared_ptr<FakeRun> run) {
  unfinished_max_ = std::max(unfinished_max_, ++unfinished_);
  const auto start = [this](const std::shared_ptr<FakeRun>& one) {
    if (!holds_) return finish(one, abi::ErrorCode::kOk);
    held_.push_back(one);
    changed_.notify_all();
  };
  for (const auto& replica : run->operands) {
    for (const auto& operand : replica) {
      if (operand->ready->is_ready) continue;
      ++run->missing;
      operand->ready->waiting.push_back([this, run, start] {
        std::vector<std::function<void()>> calls;
        {
          std::lock_guard guard(mutex_);
          if (--run->missing > 0) return;
          start(run);
          calls = take_calls();
        }
        for (const auto& one : calls) one();
      });
    }
  }
  if (run->missing == 0) start(run);
}

void FakeWorld::finish(const std::shared_ptr<FakeRun>& run, abi::ErrorCode code) {
  --unfinished_;
  std::string message = code == abi::ErrorCode::kOk ? "" : "the program failed";
  std::vector<std::vector<const std::byte*>> operands;
  std::vector<std::vector<std::byte*>> outputs;
  for (const auto& replica : run->operands) {
    operands.emplace_back();
    for (const auto& operand : replica) {
      operands.back().push_back(operand->data());
      if (operand->ready->code == abi::ErrorCode::kOk || code != abi::ErrorCode::kOk) continue;
      code = abi::ErrorCode::kInternal;
      message = operand->ready->message;
    }
  }
  for (const auto& replica : run->outputs) {
    outputs.emplace_back();
    for (const auto& output : replica) outputs.back().push_back(output->bytes.data());
  }
  if (code == abi::ErrorCode::kOk &&
      (!compute_ || !compute_(run->program.text, operands, outputs))) {
    code = abi::ErrorCode::kUnimplemented;
    message = "the fake plugin does not know this program";
  }
  for (const auto& replica : run->outputs) {
    for (const auto& output : replica) set(output->ready, code, message);
  }
  run->operands.clear();
  for (const FakeSignalPtr& complete : run->complete) set(complete, code, message);
}

FakeWorld& fake_world() {
  static FakeWorld* const world = new FakeWorld;  // Never ends: threads may hang in it.
  return *world;
}

std::string describe(const FakeProgram& program, std::size_t kernels, double operations) {
  std::string shapes, aliases, module;
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const FakeType& type = program.parameters[i];
    std::string shape, sizes, entry;
    // The numbers of these types are XLA's own, too.
    put_number(shape, 2, static_cast<std::uint64_t>(type.type));
    for (const std::int64_t size : type.sizes) put_varint(sizes, static_cast<std::uint64_t>(size));
    put_message(shape, 3, sizes);
    put_message(shapes, 1, shape);
    if (!program.is_donated[i]) continue;
    put_number(entry, 2, i);
    put_message(aliases, 1, entry);
  }
  std::string computation;
  for (std::size_t i = 0; i < kernels; ++i) {
    std::string instruction, shape, sizes;
    // The first one does what the others leave.
    put_varint(sizes, i > 0 ? 1 : static_cast<std::uint64_t>(operations) - (kernels - 1));
    put_number(shape, 2, static_cast<std::uint64_t>(abi::ElementType::kF32));
    put_message(shape, 3, sizes);
    put_message(instruction, 2, "fusion");
    put_message(instruction, 3, shape);
    put_message(computation, 2, instruction);
  }
  put_number(computation, 5, 1);
  put_message(module, 3, computation);
  put_number(module, 6, 1);
  put_message(module, 1, "fake module");
  put_message(module, 4, shapes);
  put_message(module, 8, aliases);
  return module;
}

}  // namespace seaway::pjrt
