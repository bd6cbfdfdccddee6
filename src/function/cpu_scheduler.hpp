// Scheduler: the state of make_schedule while it walks a graph.

#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "function/cpu_kernels.hpp"
#include "function/cpu_schedule.hpp"

namespace seaway::function::cpu {

/// Whether `op` works element by element.
bool is_elementwise(Op op);

/// How elementwise operations may read a value without its being laid out.
struct View {
  StorageId storage = 0;
  Access access = Access::kScalar;
  std::size_t length = 1;
};

/// What is known of one value of the graph. At least one of the two is there once it is visited,
/// unless it is a transposition that nobody has needed yet.
struct ValueState {
  std::optional<StorageId> dense;
  std::optional<View> view;
  bool is_live = false;
  bool is_output = false;
  std::vector<ValueId> users;  // Live ones.
  int group = -1;              // The open or closed group that computes it, or -1.
};

/// Elementwise operations that become one step. Open until an outsider reads one of its values.
struct Group {
  std::size_t elements = 0;
  std::vector<ValueId> members;  // Ascending.
  std::vector<StorageId> inputs;
  bool is_open = true;
};

class Scheduler {
 public:
  Scheduler(const Graph& graph, const AxisSizes& axes, const Collectives& collectives)
      : graph_(graph), axes_(axes), collectives_(collectives) {}

  Schedule run();

 private:
  // cpu_schedule.cpp: the walk, storages and views.
  void find_live();
  void add(ValueId value);
  void add_constant(ValueId value);
  void add_reshape(ValueId value);
  void add_broadcast(ValueId value);
  StorageId new_storage(const TensorType& type);
  StorageId constant(std::uint32_t bits, DType dtype);
  StorageId emit(Step step, std::vector<StorageId> in, const TensorType& type);
  void emit_into(Step step, std::vector<StorageId> in, StorageId out);
  /// The value laid out densely; emits what is missing.
  StorageId dense(ValueId value);
  StorageId materialise(ValueId value);
  StorageId emit_broadcast(ValueId value);

  // cpu_schedule_groups.cpp: fusion.
  void add_elementwise(ValueId value);
  int group_for(ValueId value, const std::vector<StorageId>& reads);
  std::vector<View> views_of(ValueId value);
  /// Emits the open group that computes `storage`, if one does.
  void settle(StorageId storage);
  void close(int group);
  ElementProgram program_of(const Group& group, std::vector<StorageId>& in,
                            std::vector<StorageId>& out);

  // cpu_schedule_operations.cpp: one function per operation.
  void add_slice(ValueId value);
  void add_concatenate(ValueId value);
  void add_iota(ValueId value);
  void add_rows(ValueId value);
  void add_dot(ValueId value);
  void add_collective(ValueId value);
  CollectiveGroups groups_of(const std::string& axis) const;
  StridedCopy transposition(ValueId value) const;
  struct MatrixOperand {
    StorageId storage;
    std::size_t batch, first, second;
    MatrixSteps steps;
    std::ptrdiff_t batch_step;
  };
  MatrixOperand matrix_operand(ValueId value, const std::vector<std::int64_t>& batch,
                               const std::vector<std::int64_t>& first,
                               const std::vector<std::int64_t>& second);

  const Instruction& at(ValueId value) const { return graph_.instructions[value]; }
  const TensorType& type(ValueId value) const { return graph_.instructions[value].type; }

  const Graph& graph_;
  const AxisSizes& axes_;
  const Collectives& collectives_;
  Schedule schedule_;
  std::vector<ValueState> values_;
  std::vector<Group> groups_;
  std::vector<int> group_of_storage_;
};

}  // namespace seaway::function::cpu
