// What a compiled program says of its parameters, read from XLA's bytes; and bytes that are none.

#include "pjrt/hlo_program.hpp"

#include <gtest/gtest.h>

#include "pjrt/proto.hpp"

namespace seaway::pjrt {
namespace {

std::string shape_of(std::uint64_t type, const std::vector<std::uint64_t>& sizes) {
  std::string shape, packed;
  put_number(shape, 2, type);
  for (const std::uint64_t size : sizes) put_varint(packed, size);
  put_message(shape, 3, packed);
  return shape;
}

std::string module_of(const std::vector<std::string>& parameters,
                      const std::vector<std::uint64_t>& donated = {}) {
  std::string module, shapes, aliases;
  for (const std::string& parameter : parameters) put_message(shapes, 1, parameter);
  for (const std::uint64_t parameter : donated) {
    std::string entry;
    put_number(entry, 2, parameter);
    put_message(aliases, 1, entry);
  }
  put_message(module, 1, "jit_step");
  put_message(module, 4, shapes);
  put_message(module, 8, aliases);
  return module;
}

TEST(HloProgram, TellsTypesAndWhatIsGivenUp) {
  const std::string module =
      module_of({shape_of(11, {2, 300}), shape_of(16, {}), shape_of(1, {0})}, {2, 0, 2});
  std::string with_config;
  put_message(with_config, 1, module);

  for (const auto& read : {read_hlo(module, false), read_hlo(with_config, true)}) {
    ASSERT_TRUE(read.ok()) << read.to_string();
    EXPECT_EQ(read->parameters,
              (std::vector<TensorType>{f32({2, 300}), {DType::kBf16, {}}, boolean({0})}));
    EXPECT_EQ(read->donated, (std::vector<std::uint32_t>{0, 2}));
  }
}

TEST(HloProgram, TellsWhetherItTakesAsLongEachTime) {
  const auto reads_as_straight = [](const std::vector<std::string>& opcodes) {
    std::string computation, module = module_of({shape_of(11, {2})});
    for (const std::string& opcode : opcodes) {
      std::string instruction;
      put_message(instruction, 1, "while.1");  // Its name says nothing.
      put_message(instruction, 2, opcode);
      put_message(computation, 2, instruction);
    }
    put_message(module, 3, computation);
    return read_hlo(module, false)->is_straight_line;
  };

  EXPECT_TRUE(reads_as_straight({}));
  EXPECT_TRUE(reads_as_straight({"parameter", "fusion", "call", "dot", "sort", "reduce"}));
  for (const std::string uneven : {"while", "conditional", "custom-call", "all-reduce",
                                   "all-gather-start", "collective-permute", "send", "recv-done"}) {
    EXPECT_FALSE(reads_as_straight({"add", uneven})) << uneven;
  }
}

/// One instruction, whose id is its place.
std::string instruction_of(std::uint64_t id, const std::string& opcode,
                           const std::vector<std::uint64_t>& sizes,
                           const std::vector<std::uint64_t>& operands = {}) {
  std::string instruction, packed;
  put_message(instruction, 2, opcode);
  put_message(instruction, 3, shape_of(11, sizes));
  put_number(instruction, 35, id);
  for (const std::uint64_t operand : operands) put_varint(packed, operand);
  put_message(instruction, 36, packed);
  return instruction;
}

double operations_of(const std::vector<std::string>& instructions) {
  std::string computation, module = module_of({shape_of(11, {2})});
  for (const std::string& one : instructions) put_message(computation, 2, one);
  put_message(module, 3, computation);
  return read_hlo(module, false)->operations;
}

TEST(HloProgram, CountsTheOperationsOfProductsAndTheElementsOfAllElse) {
  const std::string a = instruction_of(1, "parameter", {10, 20});
  const std::string b = instruction_of(2, "parameter", {20, 30});

  EXPECT_EQ(operations_of({}), 0);
  EXPECT_EQ(operations_of({a, b}), 200 + 600);
  EXPECT_DOUBLE_EQ(operations_of({a, b, instruction_of(3, "dot", {10, 30}, {1, 2})}),
                   200 + 600 + 2 * 10 * 20 * 30);
  EXPECT_EQ(operations_of({a, instruction_of(3, "reduce", {10}, {1})}), 200 + 200);
  EXPECT_EQ(operations_of({a, b, instruction_of(3, "convolution", {5}, {1, 2})}),
            200 + 600 + 2 * 600 * 5);
  EXPECT_EQ(operations_of({instruction_of(3, "dot", {4}, {8, 9})}), 4);  // Of nobody knows what.
}

TEST(HloProgram, CountsWhatTheEntryRunsAndNotWhatIsFreeOrInside) {
  std::string module = module_of({shape_of(11, {2})});
  const auto put_computation = [&module](std::uint64_t id,
                                         const std::vector<std::string>& opcodes) {
    std::string computation;
    for (const std::string& opcode : opcodes) {
      put_message(computation, 2, instruction_of(1, opcode, {2}));
    }
    put_number(computation, 5, id);
    put_message(module, 3, computation);
  };
  put_computation(7, {"parameter", "add", "multiply", "tanh"});
  put_computation(8, {"parameter", "fusion", "bitcast", "dot", "constant", "fusion", "tuple"});
  put_number(module, 6, 8);

  EXPECT_EQ(read_hlo(module, false)->kernels, 3u);
}

TEST(HloProgram, CountsNoLessThanABatchOfProductsHas) {
  const std::string a = instruction_of(1, "parameter", {4, 10, 20});
  const std::string b = instruction_of(2, "parameter", {4, 20, 30});

  const double inputs = 4 * (200 + 600), products = 4 * 2 * 10 * 20 * 30;
  const double counted = operations_of({a, b, instruction_of(3, "dot", {4, 10, 30}, {1, 2})});

  EXPECT_GE(counted, inputs + products);
  EXPECT_LE(counted, inputs + 2 * products);
}

TEST(HloProgram, RefusesTypesThatNoArrayHas) {
  const Status status = read_hlo(module_of({shape_of(11, {}), shape_of(21, {})}), false).status();

  EXPECT_EQ(status, unimplemented("parameter 1 has XLA's element type 21, which Seaway's arrays do "
                                  "not have (see seaway/types.hpp)"));
}

TEST(HloProgram, RefusesBytesThatAreNoModule) {
  const std::string module = module_of({shape_of(11, {2})}, {0});
  const Status none = protocol_error("the plugin's optimized program is no HLO module");

  for (std::size_t size = 0; size < module.size(); ++size) {
    const auto read = read_hlo(std::string_view(module).substr(0, size), false);
    EXPECT_TRUE(!read.ok() || read->donated.empty()) << size;
  }
  EXPECT_EQ(read_hlo("", true).status(), none);
  EXPECT_EQ(read_hlo(module_of({}, {0}), false).status(), none);  // It gives up what it has not.
}

TEST(ProtoReader, ReadsFieldsOfAllKindsAndStopsAtAnythingElse) {
  std::string bytes;
  put_number(bytes, 1, 300);
  put_message(bytes, 2, "two");
  bytes += std::string("\x1d\x01\x02\x03\x04", 5);                  // Field 3, four bytes.
  bytes += std::string("\x21\x01\x02\x03\x04\x05\x06\x07\x08", 9);  // Field 4, eight.
  ProtoReader reader(bytes);

  EXPECT_EQ(reader.next()->value, 300u);
  EXPECT_EQ(reader.next()->bytes, "two");
  EXPECT_EQ(reader.next()->whole.size(), 5u);
  EXPECT_EQ(reader.next()->number, 4);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.is_done());
  for (const std::string& wrong : {std::string("\x12\x05xx"), std::string("\x0f"),
                                   std::string("\x08"), std::string("\x00\x00", 2)}) {
    ProtoReader broken(wrong);
    EXPECT_FALSE(broken.next()) << wrong;
    EXPECT_FALSE(broken.is_done());
  }
}

}  // namespace
}  // namespace seaway::pjrt
