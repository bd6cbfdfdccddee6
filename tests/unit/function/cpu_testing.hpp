// Builds small graphs by hand and runs them on aligned buffers, for tests of the CPU back end.

#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "collective/local_collectives.hpp"
#include "function/executable.hpp"
#include "function/graph.hpp"

namespace seaway::function {

class TestGraph {
 public:
  ValueId parameter(TensorType type) {
    Instruction instruction{.op = Op::kParameter, .type = std::move(type)};
    instruction.parameter = static_cast<std::uint32_t>(graph_.parameters.size());
    const ValueId value = add(std::move(instruction));
    graph_.parameters.push_back(value);
    return value;
  }
  ValueId constant(TensorType type, double number) {
    return add({.op = Op::kConstant, .type = std::move(type), .number = number});
  }
  ValueId op(Op op, TensorType type, std::vector<ValueId> operands) {
    return add({.op = op, .type = std::move(type), .operands = std::move(operands)});
  }
  /// An operation of one type for operands and result.
  ValueId same(Op op, std::vector<ValueId> operands) {
    TensorType type = graph_.instructions[operands[0]].type;
    return this->op(op, std::move(type), std::move(operands));
  }
  ValueId add(Instruction instruction) {
    graph_.instructions.push_back(std::move(instruction));
    return static_cast<ValueId>(graph_.instructions.size() - 1);
  }
  Graph build(std::vector<ValueId> outputs) {
    graph_.name = "test";
    graph_.outputs = std::move(outputs);
    return graph_;
  }
  const TensorType& type(ValueId value) const { return graph_.instructions[value].type; }

 private:
  Graph graph_;
};

/// One value on all shards, 64-byte aligned, with a canary behind every shard.
class TestBuffer {
 public:
  TestBuffer() = default;
  TestBuffer(std::size_t bytes, std::size_t shards)
      : bytes_(bytes), stride_((bytes + 63) / 64 * 64 + 64), data_(stride_ * (shards + 1) + 64) {
    std::memset(data_.data(), kCanary, data_.size());
  }

  ShardedBuffer view() {
    auto at = reinterpret_cast<std::uintptr_t>(data_.data());
    return {reinterpret_cast<std::byte*>((at + 63) / 64 * 64), stride_};
  }
  template <class T>
  void set(std::size_t shard, const std::vector<T>& values) {
    ASSERT_EQ(values.size() * sizeof(T), bytes_);
    std::memcpy(view().shard(shard), values.data(), bytes_);
  }
  template <class T>
  std::vector<T> get(std::size_t shard) {
    std::vector<T> values(bytes_ / sizeof(T));
    if (bytes_ > 0) std::memcpy(values.data(), view().shard(shard), bytes_);
    return values;
  }
  bool is_canary_alive(std::size_t shard) {
    const std::byte* end = view().shard(shard) + bytes_;
    for (std::size_t i = 0; i < 64; ++i) {
      if (end[i] != std::byte{kCanary}) return false;
    }
    return true;
  }

 private:
  static constexpr unsigned char kCanary = 0xA5;
  std::size_t bytes_ = 0, stride_ = 64;
  std::vector<std::byte> data_;
};

inline const Collectives& test_collectives() {
  static const collective::LocalCollectives collectives;
  return collectives;
}

/// A compiled function with buffers for `shards` shards.
class TestRun {
 public:
  TestRun(const Graph& graph, const AxisSizes& axes, std::size_t shards)
      : TestRun(compile_cpu(graph, axes, test_collectives()).value(), shards) {}
  TestRun(std::shared_ptr<const Executable> executable, std::size_t shards)
      : executable_(std::move(executable)), shards_(shards) {
    for (const TensorType& type : executable_->parameter_types()) {
      operands_.emplace_back(type.bytes(), shards);
    }
    for (const TensorType& type : executable_->output_types()) {
      outputs_.emplace_back(type.bytes(), shards);
    }
    scratch_ = TestBuffer(executable_->scratch_bytes(), shards);
  }

  TestBuffer& operand(std::size_t i) { return operands_[i]; }
  TestBuffer& output(std::size_t i) { return outputs_[i]; }
  const Executable& executable() const { return *executable_; }

  void run(Parallelism* parallelism = nullptr) {
    std::vector<ShardedBuffer> in, out;
    for (TestBuffer& buffer : operands_) in.push_back(buffer.view());
    for (TestBuffer& buffer : outputs_) out.push_back(buffer.view());
    run_on(in, out, parallelism);
  }
  void run_on(const std::vector<ShardedBuffer>& in, const std::vector<ShardedBuffer>& out,
              Parallelism* parallelism = nullptr) {
    const Status status = executable_->run(in, out, scratch_.view(), shards_, parallelism);
    ASSERT_TRUE(status.ok()) << status.to_string();
    for (std::size_t s = 0; s < shards_; ++s) {
      EXPECT_TRUE(scratch_.is_canary_alive(s));
      for (TestBuffer& buffer : outputs_) EXPECT_TRUE(buffer.is_canary_alive(s));
    }
  }

 private:
  std::shared_ptr<const Executable> executable_;
  std::size_t shards_;
  std::vector<TestBuffer> operands_, outputs_;
  TestBuffer scratch_;
};

}  // namespace seaway::function
