// The few fields of XLA's HloModuleProto that tell what a program takes.

#include "pjrt/hlo_program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pjrt/proto.hpp"

namespace seaway::pjrt {
namespace {

// Fields of HloModuleProtoWithConfig, HloModuleProto, HloComputationProto, HloInstructionProto,
// ProgramShapeProto, ShapeProto and of the lists of parameters that are given up.
constexpr int kModule = 1;
constexpr int kComputations = 3, kProgramShape = 4, kEntry = 6, kAliases = 8, kDonors = 18;
constexpr int kComputationId = 5;
constexpr int kInstructions = 2, kOpcode = 2, kShape = 3, kId = 35, kOperands = 36;
constexpr int kParameters = 1;
constexpr int kElementType = 2, kDimensions = 3;
constexpr int kEntries = 1, kAliasParameter = 2, kDonorParameter = 1;

Status no_module() { return protocol_error("the plugin's optimized program is no HLO module"); }

/// By XLA's PrimitiveType.
std::optional<DType> dtype_of_primitive(std::uint64_t type) {
  switch (type) {
    case 1:
      return DType::kBool;
    case 2:
      return DType::kI8;
    case 3:
      return DType::kI16;
    case 4:
      return DType::kI32;
    case 5:
      return DType::kI64;
    case 6:
      return DType::kU8;
    case 7:
      return DType::kU16;
    case 8:
      return DType::kU32;
    case 9:
      return DType::kU64;
    case 10:
      return DType::kF16;
    case 11:
      return DType::kF32;
    case 12:
      return DType::kF64;
    case 15:
      return DType::kC64;
    case 16:
      return DType::kBf16;
    case 18:
      return DType::kC128;
    default:
      return {};
  }
}

/// Of a number, or of packed ones.
bool read_numbers(const ProtoField& field, std::vector<std::uint64_t>& numbers) {
  if (field.kind == ProtoField::Kind::kNumber) {
    numbers.push_back(field.value);
    return true;
  }
  std::string_view left = field.bytes;
  while (!left.empty()) {
    const auto number = ProtoReader::take_number(left);
    if (!number) return false;
    numbers.push_back(*number);
  }
  return true;
}

Result<TensorType> read_shape(std::string_view bytes, std::size_t parameter) {
  TensorType type;
  std::vector<std::uint64_t> sizes;
  std::uint64_t primitive = 0;
  ProtoReader shape(bytes);
  while (const auto field = shape.next()) {
    if (field->number == kElementType) primitive = field->value;
    if (field->number == kDimensions && !read_numbers(*field, sizes)) return no_module();
  }
  type.shape.assign(sizes.begin(), sizes.end());
  if (!shape.is_done()) return no_module();
  const auto dtype = dtype_of_primitive(primitive);
  if (!dtype) {
    return unimplemented("parameter " + std::to_string(parameter) + " has XLA's element type " +
                         std::to_string(primitive) +
                         ", which Seaway's arrays do not have (see seaway/types.hpp)");
  }
  type.dtype = *dtype;
  if (Status status = validate(type); !status.ok()) return status;
  return type;
}

Status read_parameters(std::string_view bytes, HloProgram& program) {
  ProtoReader shape(bytes);
  while (const auto field = shape.next()) {
    if (field->number != kParameters) continue;
    auto type = read_shape(field->bytes, program.parameters.size());
    if (!type.ok()) return type.status();
    program.parameters.push_back(std::move(*type));
  }
  return shape.is_done() ? Status() : no_module();
}

Status read_donated(std::string_view bytes, int which, HloProgram& program) {
  ProtoReader list(bytes);
  while (const auto field = list.next()) {
    if (field->number != kEntries) continue;
    std::uint64_t parameter = 0;
    ProtoReader entry(field->bytes);
    while (const auto one = entry.next()) {
      if (one->number == which) parameter = one->value;
    }
    if (!entry.is_done()) return no_module();
    program.donated.push_back(static_cast<std::uint32_t>(parameter));
  }
  return list.is_done() ? Status() : no_module();
}

/// What begins so waits for others, runs something else, or runs as often as its operands say.
constexpr std::string_view kUneven[] = {
    "while", "conditional", "custom-call", "async-",  "infeed",         "outfeed",       "send",
    "recv",  "all-",        "collective-", "ragged-", "reduce-scatter", "partial-reduce"};

/// Elements of an array; one of a tuple.
double read_elements(std::string_view bytes) {
  std::vector<std::uint64_t> sizes;
  ProtoReader shape(bytes);
  while (const auto field = shape.next()) {
    if (field->number == kDimensions) (void)read_numbers(*field, sizes);
  }
  double elements = 1;
  for (const std::uint64_t size : sizes) elements *= static_cast<double>(size);
  return elements;
}

/// What takes no time of its own.
constexpr std::string_view kFree[] = {"parameter", "constant", "tuple", "get-tuple-element",
                                      "bitcast"};

struct Instruction {
  std::string_view opcode;
  double elements = 1;
  std::uint64_t id = 0;
  std::vector<std::uint64_t> operands;
};

/// A product of matrices of m x k and k x n elements makes m x n, so that the three sizes give its
/// 2 m n k operations; a batch of b makes it too many by the root of b. A convolution has at most
/// so many as each result reads all of the window.
double operations_of(const Instruction& one, const std::map<std::uint64_t, double>& elements) {
  const auto operand = [&](std::size_t index) {
    if (index >= one.operands.size()) return 1.0;
    const auto found = elements.find(one.operands[index]);
    return found == elements.end() ? 1.0 : found->second;
  };
  if (one.opcode == "dot") return 2 * std::sqrt(operand(0) * operand(1) * one.elements);
  if (one.opcode == "convolution") return 2 * operand(1) * one.elements;
  if (one.opcode == "reduce" || one.opcode == "reduce-window") return operand(0);
  return one.elements;
}

/// Kernels by computation; the entry's are those of the program.
using Kernels = std::map<std::uint64_t, std::size_t>;

Status read_computation(std::string_view bytes, HloProgram& program, Kernels& all) {
  std::uint64_t id = 0;
  std::size_t kernels = 0;
  std::map<std::uint64_t, double> elements;  // By instruction; operands stand before their users.
  ProtoReader computation(bytes);
  while (const auto field = computation.next()) {
    if (field->number == kComputationId) id = field->value;
    if (field->number != kInstructions) continue;
    Instruction read;
    ProtoReader instruction(field->bytes);
    while (const auto one = instruction.next()) {
      if (one->number == kOpcode) read.opcode = one->bytes;
      if (one->number == kShape) read.elements = read_elements(one->bytes);
      if (one->number == kId) read.id = one->value;
      if (one->number == kOperands && !read_numbers(*one, read.operands)) return no_module();
    }
    if (!instruction.is_done()) return no_module();
    for (const std::string_view uneven : kUneven) {
      if (read.opcode.starts_with(uneven)) program.is_straight_line = false;
    }
    if (std::ranges::find(kFree, read.opcode) == std::end(kFree)) ++kernels;
    program.operations += operations_of(read, elements);
    elements[read.id] = read.elements;
  }
  all[id] = kernels;
  return computation.is_done() ? Status() : no_module();
}

}  // namespace

Result<HloProgram> read_hlo(std::string_view bytes, bool has_config) {
  if (has_config) {
    ProtoReader outer(bytes);
    std::string_view module;
    while (const auto field = outer.next()) {
      if (field->number == kModule) module = field->bytes;
    }
    if (!outer.is_done() || module.empty()) return no_module();
    bytes = module;
  }
  HloProgram program;
  Kernels kernels;
  std::uint64_t entry = 0;
  bool has_shape = false;
  ProtoReader module(bytes);
  while (const auto field = module.next()) {
    Status status;
    if (field->number == kProgramShape) {
      has_shape = true;
      status = read_parameters(field->bytes, program);
    } else if (field->number == kAliases) {
      status = read_donated(field->bytes, kAliasParameter, program);
    } else if (field->number == kDonors) {
      status = read_donated(field->bytes, kDonorParameter, program);
    } else if (field->number == kComputations) {
      status = read_computation(field->bytes, program, kernels);
    } else if (field->number == kEntry) {
      entry = field->value;
    }
    if (!status.ok()) return status;
  }
  if (!module.is_done() || !has_shape) return no_module();
  program.kernels = kernels[entry];
  std::sort(program.donated.begin(), program.donated.end());
  const auto end = std::unique(program.donated.begin(), program.donated.end());
  program.donated.erase(end, program.donated.end());
  const bool is_known =
      program.donated.empty() || program.donated.back() < program.parameters.size();
  return is_known ? Result<HloProgram>(std::move(program)) : no_module();
}

}  // namespace seaway::pjrt
