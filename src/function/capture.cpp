// Recording of tensor expressions, first mistakes, and removal of what no output needs.

#include "function/capture.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include "base/check.hpp"
#include "base/limits.hpp"

namespace seaway::function {
namespace {

thread_local GraphBuilder* current_builder = nullptr;

bool is_source(Op op) { return op == Op::kConstant || op == Op::kIota || op == Op::kAxisIndex; }

bool is_identity_order(const std::vector<std::int64_t>& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

/// The values that outputs need, and all parameters. Ids only fall from user to operand.
std::vector<bool> live_values(const Graph& graph) {
  std::vector<bool> live(graph.instructions.size(), false);
  for (const ValueId id : graph.parameters) live[id] = true;
  for (const ValueId id : graph.outputs) live[id] = true;
  for (std::size_t i = graph.instructions.size(); i-- > 0;) {
    if (!live[i]) continue;
    for (const ValueId operand : graph.instructions[i].operands) live[operand] = true;
  }
  return live;
}

/// Lets users of a reshape to its own type (a stopped gradient) read its operand instead.
void skip_empty_reshapes(Graph& graph) {
  std::vector<ValueId> stands_for(graph.instructions.size());
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    Instruction& instruction = graph.instructions[i];
    for (ValueId& operand : instruction.operands) operand = stands_for[operand];
    stands_for[i] = static_cast<ValueId>(i);
    if (instruction.op == Op::kReshape &&
        graph.instructions[instruction.operands[0]].type == instruction.type) {
      stands_for[i] = instruction.operands[0];
    }
  }
  for (ValueId& output : graph.outputs) output = stands_for[output];
}

Graph without_dead_values(Graph graph) {
  skip_empty_reshapes(graph);
  const std::vector<bool> live = live_values(graph);
  std::vector<ValueId> renamed(graph.instructions.size());
  std::vector<Instruction> kept;
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    if (!live[i]) continue;
    Instruction& instruction = graph.instructions[i];
    for (ValueId& operand : instruction.operands) operand = renamed[operand];
    renamed[i] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(instruction));
  }
  graph.instructions = std::move(kept);
  for (ValueId& id : graph.parameters) id = renamed[id];
  for (ValueId& id : graph.outputs) id = renamed[id];
  return graph;
}

}  // namespace

std::string to_string(const Site& site) {
  const std::string_view file = site.file_name();
  const std::size_t slash = file.rfind('/');
  return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1)) + ":" +
         std::to_string(site.line());
}

GraphBuilder::GraphBuilder(std::string name, AxisSizes axes) : axes_(std::move(axes)) {
  graph_.name = std::move(name);
}

GraphBuilder* GraphBuilder::current() { return current_builder; }

GraphBuilder::Scope::Scope(GraphBuilder& builder)
    : previous_(std::exchange(current_builder, &builder)) {}
GraphBuilder::Scope::~Scope() { current_builder = previous_; }

GraphBuilder::PinnedSite::PinnedSite(GraphBuilder& builder, const Site& site)
    : builder_(builder), previous_(builder.pinned_) {
  if (!builder.pinned_) builder.pinned_ = site;  // The outermost is the user's.
}

Tensor GraphBuilder::record(Instruction instruction, const std::vector<Tensor>& operands,
                            const Site& site) {
  GraphBuilder* builder = current_builder;
  if (!builder) return {};
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::optional<ValueId> id = builder->id_of(operands[i]);
    if (!id) {
      builder->keep_first_mistake(
          std::string(to_string(instruction.op)) + ": operand " + std::to_string(i) +
              (operands[i].empty() ? " is an empty Tensor" : " belongs to another function"),
          site);
      return builder->append({.op = Op::kConstant, .type = operands[i].type()});
    }
    instruction.operands.push_back(*id);
    types.push_back(operands[i].type());
  }
  Result<TensorType> type = infer_type(instruction, types, builder->axes_);
  if (!type.ok()) {
    builder->keep_first_mistake(type.status().message(), site);
    return builder->append({.op = Op::kConstant, .type = types.empty() ? TensorType{} : types[0]});
  }
  instruction.type = *std::move(type);
  if (const Status status =
          limits::check(limits::kOperations, builder->instructions_.size() + 1, "function");
      !status.ok()) {
    builder->keep_first_mistake(status.message() + ": split it into several functions", site);
    return builder->tensor(0);
  }
  return builder->append(std::move(instruction));
}

void GraphBuilder::fail(const std::string& message, const Site& site) {
  if (current_builder) current_builder->keep_first_mistake(message, site);
}

void GraphBuilder::keep_first_mistake(const std::string& message, const Site& site) {
  if (!mistake_.ok()) return;
  mistake_ = invalid_argument("function '" + graph_.name + "', " +
                              function::to_string(pinned_.value_or(site)) + ": " + message);
}

Tensor GraphBuilder::add_parameter(const TensorType& type) {
  const auto id = static_cast<ValueId>(instructions_.size());
  const auto index = static_cast<std::uint32_t>(graph_.parameters.size());
  instructions_.push_back({.op = Op::kParameter, .type = type, .parameter = index});
  graph_.parameters.push_back(id);
  return tensor(id);
}

std::optional<ValueId> GraphBuilder::id_of(const Tensor& tensor) const {
  if (tensor.builder_.get() != this) return std::nullopt;
  return tensor.id_;
}

void GraphBuilder::stop_gradient_at(ValueId id) {
  stops_.resize(instructions_.size(), false);
  stops_[id] = true;
}

std::optional<ValueId> GraphBuilder::simpler(Instruction& instruction) const {
  const auto operand = [&](std::size_t i) -> const Instruction& {
    return instructions_[instruction.operands[i]];
  };
  switch (instruction.op) {
    case Op::kReshape:
    case Op::kBroadcastInDim:
    case Op::kTranspose:
      if (operand(0).op == Op::kConstant) {  // A splat of another shape.
        instruction = {.op = Op::kConstant, .type = instruction.type, .number = operand(0).number};
        return std::nullopt;
      }
      if (instruction.op == Op::kReshape) return std::nullopt;  // Same type: a stopped gradient.
      if (operand(0).type == instruction.type && is_identity_order(instruction.dims)) {
        return instruction.operands[0];
      }
      return std::nullopt;
    case Op::kConvert:
      if (operand(0).type == instruction.type) return instruction.operands[0];
      return std::nullopt;
    case Op::kMultiply:
      for (const std::size_t i : {0, 1}) {
        if (operand(i).op == Op::kConstant && operand(i).number == 1) {
          return instruction.operands[1 - i];
        }
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Tensor GraphBuilder::append(Instruction instruction) {
  if (const std::optional<ValueId> id = simpler(instruction)) return tensor(*id);
  const auto id = static_cast<ValueId>(instructions_.size());
  if (is_source(instruction.op)) {
    const auto [entry, is_new] = sources_.try_emplace(
        {instruction.op, instruction.type.dtype, instruction.type.shape,
         std::bit_cast<std::uint64_t>(instruction.number), instruction.dims, instruction.axis},
        id);
    if (!is_new) return tensor(entry->second);
  }
  instructions_.push_back(std::move(instruction));
  return tensor(id);
}

Result<Graph> GraphBuilder::finish(std::span<const Tensor> outputs) {
  for (std::size_t i = 0; i < outputs.size() && mistake_.ok(); ++i) {
    const std::optional<ValueId> id = id_of(outputs[i]);
    if (id) {
      graph_.outputs.push_back(*id);
    } else {
      mistake_ = invalid_argument(
          "function '" + graph_.name + "': output " + std::to_string(i) +
          (outputs[i].empty() ? " is an empty Tensor" : " belongs to another function"));
    }
  }
  if (!mistake_.ok()) return mistake_;
  // A copy: tensors that the body let escape still name this one.
  Graph graph = graph_;
  graph.instructions.assign(instructions_.begin(), instructions_.end());
  graph = without_dead_values(std::move(graph));
  const Status status = validate(graph, axes_);
  SEAWAY_CHECK(status.ok(), status.to_string());
  return graph;
}

Result<Graph> capture(std::string name, AxisSizes axes, std::span<const TensorType> parameters,
                      const TensorBody& body) {
  if (Status status = validate(Graph{.name = name}, axes); !status.ok()) return status;
  if (!body) return invalid_argument("function '" + name + "' has no body");
  const auto builder = std::make_shared<GraphBuilder>(name, axes);
  std::vector<Tensor> inputs;
  for (const TensorType& type : parameters) {
    const Result<TensorType> checked = infer_type({.op = Op::kParameter, .type = type}, {}, axes);
    if (!checked.ok()) {
      return invalid_argument("function '" + name + "', parameter " +
                              std::to_string(inputs.size()) + ": " + checked.status().message());
    }
    inputs.push_back(builder->add_parameter(type));
  }
  const GraphBuilder::Scope scope(*builder);
  try {
    return builder->finish(body(inputs));
  } catch (const std::exception& error) {
    return user_function_error("the body of function '" + name + "' threw: " + error.what());
  } catch (...) {
    return user_function_error("the body of function '" + name +
                               "' threw something that is no std::exception");
  }
}

}  // namespace seaway::function
