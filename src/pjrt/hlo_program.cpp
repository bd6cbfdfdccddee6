// The few fields of XLA's HloModuleProto that tell what a program takes.

#include "pjrt/hlo_program.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "pjrt/proto.hpp"

namespace seaway::pjrt {
namespace {

// Fields of HloModuleProtoWithConfig, HloModuleProto, HloComputationProto, HloInstructionProto,
// ProgramShapeProto, ShapeProto and of the lists of parameters that are given up.
constexpr int kModule = 1;
constexpr int kComputations = 3, kProgramShape = 4, kAliases = 8, kDonors = 18;
constexpr int kInstructions = 2, kOpcode = 2;
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

Result<TensorType> read_shape(std::string_view bytes, std::size_t parameter) {
  TensorType type;
  std::uint64_t primitive = 0;
  ProtoReader shape(bytes);
  while (const auto field = shape.next()) {
    if (field->number == kElementType) primitive = field->value;
    if (field->number != kDimensions) continue;
    if (field->kind == ProtoField::Kind::kNumber) {
      type.shape.push_back(static_cast<std::int64_t>(field->value));
      continue;
    }
    std::string_view left = field->bytes;
    while (!left.empty()) {
      const auto size = ProtoReader::take_number(left);
      if (!size) return no_module();
      type.shape.push_back(static_cast<std::int64_t>(*size));
    }
  }
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

Status read_computation(std::string_view bytes, HloProgram& program) {
  ProtoReader computation(bytes);
  while (const auto field = computation.next()) {
    if (field->number != kInstructions) continue;
    ProtoReader instruction(field->bytes);
    while (const auto one = instruction.next()) {
      if (one->number != kOpcode) continue;
      for (const std::string_view uneven : kUneven) {
        if (one->bytes.starts_with(uneven)) program.is_straight_line = false;
      }
    }
    if (!instruction.is_done()) return no_module();
  }
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
      status = read_computation(field->bytes, program);
    }
    if (!status.ok()) return status;
  }
  if (!module.is_done() || !has_shape) return no_module();
  std::sort(program.donated.begin(), program.donated.end());
  const auto end = std::unique(program.donated.begin(), program.donated.end());
  program.donated.erase(end, program.donated.end());
  const bool is_known =
      program.donated.empty() || program.donated.back() < program.parameters.size();
  return is_known ? Result<HloProgram>(std::move(program)) : no_module();
}

}  // namespace seaway::pjrt
