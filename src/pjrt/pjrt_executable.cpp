// Compiling a function for a plugin, and what it looks like; pjrt_launch.cpp runs gangs of it.

#include "pjrt/pjrt_executable.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <utility>

#include "base/check.hpp"
#include "base/limits.hpp"
#include "pjrt/compile_options.hpp"

namespace seaway::pjrt {
namespace {

/// Of a device's memory, and of its products; guesses that only have to be of the right size.
constexpr std::uint64_t kBytesPerNs = 8, kOperationsPerNs = 50;
constexpr std::uint64_t kLaunchNs = 50'000;
/// Of a program that no second core makes faster: one does it in about a tenth of a millisecond.
constexpr double kShortOperations = 1e7;
constexpr std::size_t kShortBytes = 2'000'000;
/// What XLA runs without sharing it out (its ThunkExecutor).
constexpr std::size_t kSequentialKernels = 8;
/// Programs whose text is longer are rarely short.
constexpr std::size_t kShortText = 16 << 10;

std::uint64_t estimate_ns(const function::Graph& graph) {
  std::uint64_t bytes = 0, operations = 0;
  for (const function::Instruction& one : graph.instructions) {
    bytes += one.type.bytes();
    if (one.op != function::Op::kDotGeneral) continue;
    std::uint64_t each = 2;
    const TensorType& lhs = graph.instructions[one.operands[0]].type;
    for (const std::int64_t dim : one.dot.lhs_contract) {
      each *= static_cast<std::uint64_t>(lhs.shape[static_cast<std::size_t>(dim)]);
    }
    operations += each * static_cast<std::uint64_t>(one.type.elements());
  }
  return kLaunchNs + bytes / kBytesPerNs + operations / kOperationsPerNs;
}

/// How many shards exchange values, or know which they are; 0: each is on its own.
std::size_t spanned(const function::Graph& graph, const function::AxisSizes& axes) {
  const bool spans = std::any_of(
      graph.instructions.begin(), graph.instructions.end(),
      [](const function::Instruction& one) { return one.op >= function::Op::kAllReduce; });
  return spans ? static_cast<std::size_t>(function::shard_count(axes)) : 0;
}
static_assert(function::Op::kAxisIndex > function::Op::kPermute &&
              function::Op::kPermute > function::Op::kAllReduce &&
              function::Op::kScatterAddRows < function::Op::kAllReduce);

std::vector<TensorType> types_of(const function::Graph& graph,
                                 const std::vector<function::ValueId>& values) {
  std::vector<TensorType> types;
  for (const function::ValueId value : values) types.push_back(graph.instructions[value].type);
  return types;
}

/// Each output may be made in a copy of an operand of its type.
function::OutputOperandPairs donations(const function::Graph& graph) {
  function::OutputOperandPairs pairs;
  std::vector<bool> is_taken(graph.parameters.size());
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    for (std::size_t operand = 0; operand < is_taken.size(); ++operand) {
      if (is_taken[operand] || graph.parameter_type(operand) != graph.output_type(output)) continue;
      is_taken[operand] = true;
      pairs.emplace_back(output, operand);
      break;
    }
  }
  return pairs;
}

std::size_t bytes_of(std::span<const TensorType> types) {
  std::size_t bytes = 0;
  for (const TensorType& type : types) bytes += (type.bytes() + 63) / 64 * 64;
  return bytes;
}

}  // namespace

PjrtExecutable::PjrtExecutable(Target target, const function::Graph& graph,
                               const function::AxisSizes& axes, Limits limits)
    : target_(std::move(target)),
      name_(graph.name),
      text_(function::to_stablehlo(
          graph, axes,
          target_.way == InputWay::kPromised ? donations(graph) : function::OutputOperandPairs())),
      format_("mlir"),
      spans_(spanned(graph, axes)),
      limits_(limits),
      parameters_(types_of(graph, graph.parameters)),
      outputs_(types_of(graph, graph.outputs)),
      all_parameters_(parameters_),
      all_outputs_(outputs_),
      kept_types_(std::make_shared<const std::vector<TensorType>>(outputs_)),
      held_types_(std::make_shared<const std::vector<TensorType>>(parameters_)),
      cost_ns_(estimate_ns(graph)),
      is_even_(spans_ == 0 && target_.way == InputWay::kLent) {
  client_ = looks_short() ? target_.narrow : target_.client;
}

PjrtExecutable::PjrtExecutable(Target target, function::ForeignProgram program, Limits limits)
    : target_(std::move(target)),
      name_(std::move(program.name)),
      text_(std::move(program.code)),
      options_(std::move(program.options)),
      format_(std::move(program.format)),
      spans_(program.shards > 1 ? program.shards : 0),
      limits_(limits),
      foreign_(function::ForeignTraits{program.shards, {}, {}, {}}) {
  client_ = looks_short() ? target_.narrow : target_.client;
}

Result<std::shared_ptr<const PjrtExecutable>> PjrtExecutable::compile(
    Target target, const function::Graph& graph, const function::AxisSizes& axes, Limits limits) {
  if (Status status = function::validate(graph, axes); !status.ok()) return status;
  std::shared_ptr<PjrtExecutable> made(new PjrtExecutable(std::move(target), graph, axes, limits));
  std::vector<std::uint32_t> first;
  if (Status status = made->find_devices(first); !status.ok()) return status;
  auto code = made->code_for(first);
  if (!code.ok()) return code.status();
  made->find_room(**code);
  if (made->target_.narrow && made->is_even_) {
    const auto said = made->client_->describe(**code);
    if (said.ok()) made->choose_client(first, said->program);
  }
  return std::shared_ptr<const PjrtExecutable>(std::move(made));
}

Result<std::shared_ptr<const PjrtExecutable>> PjrtExecutable::compile(
    Target target, function::ForeignProgram program, Limits limits) {
  const auto placing = read_placing(program.options);
  if (!placing.ok()) return placing.status();
  if (placing->shards() != program.shards) {
    return invalid_argument(
        "function " + program.name + " is to run on " + std::to_string(program.shards) +
        " devices, and its compile options are for " + std::to_string(placing->replicas) +
        " replicas of " + std::to_string(placing->partitions) + " partitions");
  }
  std::shared_ptr<PjrtExecutable> made(
      new PjrtExecutable(std::move(target), std::move(program), limits));
  std::vector<std::uint32_t> first;
  if (Status status = made->find_devices(first); !status.ok()) return status;
  auto code = made->code_for(first);
  if (!code.ok()) return code.status();
  const auto read = made->take_types(**code);
  if (!read.ok()) {
    return Status(read.status().code(), "function " + made->name_ + ": " + read.status().message());
  }
  made->find_room(**code);
  made->choose_client(first, *read);
  return std::shared_ptr<const PjrtExecutable>(std::move(made));
}

/// Those that it is compiled for first.
Status PjrtExecutable::find_devices(std::vector<std::uint32_t>& first) const {
  const std::size_t devices = client_->devices().size();
  if (spans_ > devices) {
    return invalid_argument("function " + name_ + " spans " + std::to_string(spans_) +
                            " devices, and plugin " + client_->plugin().path() + " has " +
                            std::to_string(devices) + " here");
  }
  for (std::uint32_t i = 0; i < std::max<std::size_t>(1, spans_); ++i) first.push_back(i);
  return {};
}

/// What a foreign program takes and gives is known when it is compiled.
Result<HloProgram> PjrtExecutable::take_types(const Code& code) {
  auto said = client_->describe(code);
  if (!said.ok()) return said.status();
  parameters_ = std::move(said->program.parameters);
  is_even_ = said->program.is_straight_line && spans_ == 0 && target_.way == InputWay::kLent;
  outputs_ = code.outputs;
  kept_types_ = std::make_shared<const std::vector<TensorType>>(outputs_);
  held_types_ = std::make_shared<const std::vector<TensorType>>(parameters_);
  for (const TensorType& type : outputs_) {
    if (Status status = validate(type); !status.ok()) return status;
  }
  cost_ns_ = kLaunchNs + (bytes_of(parameters_) + bytes_of(outputs_)) / kBytesPerNs;
  const std::size_t shards = std::max<std::size_t>(1, spans_);
  for (std::size_t s = 0; s < shards; ++s) {
    all_parameters_.insert(all_parameters_.end(), parameters_.begin(), parameters_.end());
    all_outputs_.insert(all_outputs_.end(), outputs_.begin(), outputs_.end());
    for (const std::uint32_t donated : said->program.donated) {
      if (s == 0) not_donated_.push_back(donated);
      foreign_->donated.push_back(static_cast<std::uint32_t>(s * parameters_.size()) + donated);
    }
  }
  foreign_->format = std::move(said->format);
  foreign_->description = std::move(said->bytes);
  return std::move(said->program);
}

void PjrtExecutable::find_room(const Code& code) {
  scratch_bytes_ = bytes_of(outputs_) + (code.temporary_bytes + 63) / 64 * 64;
  if (target_.way == InputWay::kPromised) scratch_bytes_ += bytes_of(parameters_);
}

/// A guess, before it is compiled for the first time, which saves most programs a second time.
bool PjrtExecutable::looks_short() const {
  return target_.narrow && spans_ == 0 && text_.size() <= kShortText &&
         text_.find("while") == std::string::npos;
}

/// A short program runs where no other core helps, and any other where all do: it is compiled anew
/// where that was guessed wrong. One of few kernels runs them one after the other on both. If it
/// does not compile there, it stays where it did.
void PjrtExecutable::choose_client(const std::vector<std::uint32_t>& devices,
                                   const HloProgram& program) {
  if (!target_.narrow) return;
  const bool is_short = is_even_ && program.operations <= kShortOperations &&
                        bytes_of(parameters_) + scratch_bytes_ <= kShortBytes;
  const std::shared_ptr<Client>& best = is_short ? target_.narrow : target_.client;
  if (client_ == best || (is_short && program.kernels <= kSequentialKernels)) return;
  const std::shared_ptr<Client> first = std::exchange(client_, best);
  std::map<std::vector<std::uint32_t>, std::shared_ptr<const Code>> codes;
  {
    std::lock_guard guard(mutex_);
    codes = std::exchange(codes_, {});
  }
  if (code_for(devices).ok()) return;
  std::lock_guard guard(mutex_);
  client_ = first;
  codes_ = std::move(codes);
}

function::OutputOperandPairs PjrtExecutable::in_place() const {
  if (!foreign_) return function::pairs_of_one_size(parameters_, outputs_);
  // Its caller gives up these operands alone, each for one output of its size and shard.
  function::OutputOperandPairs pairs;
  std::vector<bool> is_taken(all_outputs_.size());
  const std::size_t k = parameters_.size(), m = outputs_.size();
  for (const std::uint32_t operand : foreign_->donated) {
    const std::size_t bytes = all_parameters_[operand].bytes();
    const std::size_t first = operand / k * m;
    for (std::size_t output = first; bytes > 0 && output < first + m; ++output) {
      if (is_taken[output] || all_outputs_[output].bytes() != bytes) continue;
      is_taken[output] = true;
      pairs.emplace_back(static_cast<std::uint32_t>(output), operand);
      break;
    }
    if (pairs.size() == limits::kInPlacePairs.max) break;
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::size_t PjrtExecutable::device_lists() const {
  std::lock_guard guard(mutex_);
  return codes_.size();
}

Result<std::shared_ptr<const Code>> PjrtExecutable::code_for(
    std::span<const std::uint32_t> devices) const {
  std::vector<std::uint32_t> list;
  if (is_placed()) list.assign(devices.begin(), devices.end());
  // Whoever needs the same code waits for it here; so do, rarely, those who need another one.
  std::lock_guard guard(mutex_);
  if (const auto found = codes_.find(list); found != codes_.end()) return found->second;
  std::vector<int> ids;
  for (const std::uint32_t device : list) ids.push_back(client_->devices()[device].id);
  Result<std::string> options = is_placed() ? gang_options(ids) : portable_options();
  if (foreign_) options = placed_options(options_, ids);
  if (!options.ok()) return options.status();
  auto code = make_code(*options);
  if (!code.ok()) {
    return Status(code.status().code(), "function " + name_ + " does not compile on plugin " +
                                            client_->plugin().path() + ": " +
                                            code.status().message());
  }
  if (codes_.size() >= limits_.device_lists_max) codes_.erase(codes_.begin());
  return codes_[list] = std::make_shared<const Code>(std::move(*code));
}

Result<Code> PjrtExecutable::make_code(const std::string& options) const {
  const Client& client = *client_;
  const std::string cores = &client == target_.narrow.get() ? "one core\n" : "";
  const std::string key = client.identity() + "\n" + cores + options + "\n" + text_;
  if (target_.cache) {
    if (const auto kept = target_.cache->find(key)) {
      auto code = client.load(*kept);
      if (code.ok() && check(*code).ok()) return code;
      // What the plugin does not take is of no use: it is compiled, and kept instead.
    }
  }
  auto code = client.compile(text_, options, format_);
  if (!code.ok()) return code;
  if (Status status = check(*code); !status.ok()) return status;
  if (target_.cache) {
    // A program that cannot be serialized, or a full disk, costs the next process a compilation.
    if (const auto bytes = client.serialize(*code); bytes.ok()) {
      (void)target_.cache->keep(key, *bytes);
    }
  }
  return code;
}

/// The plugin would read and write whatever it is given: that it means the same is checked here.
Status PjrtExecutable::check(const Code& code) const {
  // Of a foreign program nothing is known before that.
  if (code.outputs == outputs_ || (foreign_ && all_outputs_.empty())) return {};
  std::string there, here;
  for (const TensorType& type : code.outputs) there += " " + to_string(type);
  for (const TensorType& type : outputs_) here += " " + to_string(type);
  return protocol_error("the plugin's program gives" + there + ", and the function" + here);
}

Status PjrtExecutable::wrong(const std::string& what) const {
  return invalid_argument("function " + name_ + ": " + what);
}

Status PjrtExecutable::check_operands(std::span<const function::ShardedBuffer> operands,
                                      std::span<const std::uint32_t> devices,
                                      std::span<const Made> made) const {
  if (operands.size() != all_parameters_.size()) {
    return wrong(std::to_string(operands.size()) + " operands, where it has " +
                 std::to_string(all_parameters_.size()));
  }
  if (devices.empty() || (spans_ > 0 && devices.size() != spans_)) {
    return wrong(std::to_string(devices.size()) + " shards, where it spans " +
                 std::to_string(spans_));
  }
  for (const std::uint32_t device : devices) {
    if (device < client_->devices().size()) continue;
    return wrong("device " + std::to_string(device) + " of " +
                 std::to_string(client_->devices().size()));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!made.empty() && made[i].by) continue;
    if (operands[i].base == nullptr && all_parameters_[i].bytes() > 0) {
      return wrong("operand " + std::to_string(i) + " is nowhere");
    }
  }
  return {};
}

Status PjrtExecutable::check_outputs(std::span<const function::ShardedBuffer> outputs) const {
  if (outputs.size() != all_outputs_.size()) {
    return wrong(std::to_string(outputs.size()) + " outputs, where it has " +
                 std::to_string(all_outputs_.size()));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].base == nullptr && all_outputs_[i].bytes() > 0) {
      return wrong("output " + std::to_string(i) + " is nowhere");
    }
  }
  return {};
}

Status PjrtExecutable::run(std::span<const function::ShardedBuffer> operands,
                           std::span<const function::ShardedBuffer> outputs,
                           function::ShardedBuffer, std::size_t shards,
                           function::Parallelism*) const {
  std::vector<std::uint32_t> devices;
  const std::size_t count = client_->devices().size();
  for (std::size_t s = 0; s < shards; ++s) devices.push_back(static_cast<std::uint32_t>(s % count));
  WaitsFor waits_for = 0;
  return launch(operands, outputs, devices, waits_for).status;
}

}  // namespace seaway::pjrt
