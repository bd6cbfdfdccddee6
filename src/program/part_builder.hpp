// PartBuilder: collects the values and gangs of one part, then plans its memory.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "program/layout_table.hpp"
#include "program/part_plan.hpp"

namespace seaway::program {

/// Grows one PartPlan gang by gang. Values and gangs are named by their indices in the plan.
class PartBuilder {
 public:
  PartBuilder(ProgramId program, IslandId island, LayoutTable& layouts);

  /// Adds a value that lies as `layout` says; it is made by the first gang that has it as a result.
  std::uint32_t add_value(Value::Place place, const TensorType& type, Layout layout);
  /// Appends a gang. `group` and `source_group` are numbers of the LayoutTable here.
  std::uint32_t add_gang(Gang gang, std::uint64_t scratch_bytes);
  void add_arg(std::uint32_t value, std::uint32_t parameter, bool is_donated);
  /// The room of `value` belongs to the edge from admission on.
  void add_receive(std::uint32_t value, std::uint32_t edge, IslandId peer, Layout source);
  /// `value` must have been made, or announced by announce_arg().
  void add_send(std::uint32_t value, std::uint32_t edge, IslandId peer, Layout target);
  /// Makes argument `value` ready for sends: a gang of kind kSend, once.
  void announce_arg(std::uint32_t value, std::uint32_t position);
  bool is_announced(std::uint32_t value) const { return states_[value].maker != kNone; }
  /// Makes `value` the run's output `output`. It must be a result that is no output yet.
  void set_output(std::uint32_t value, std::uint32_t output);

  const Value& value(std::uint32_t index) const { return plan_.values[index]; }
  Layout layout(std::uint32_t value) const { return states_[value].layout; }

  /// Plans donation and memory and gives the part away. `functions` knows those that compute.
  PartPlan finish(const std::map<FunctionId, FunctionInfo>& functions);
  /// Largest room of one device for block and outputs, without those in donated room. Of a
  /// finished plan.
  static std::uint64_t peak_bytes(const PartPlan& plan);

 private:
  struct State {
    Layout layout;
    std::uint32_t maker = kNone;    // Gang that makes it or makes it ready.
    std::uint32_t last = 0;         // Last gang that touches it.
    std::uint32_t receive = kNone;  // Index into receives.
    bool is_read = false;
    bool is_sent = false;
  };

  std::uint32_t local_group(std::uint32_t group);
  void read(std::uint32_t value, std::uint32_t gang);
  void donate_in_place(const std::map<FunctionId, FunctionInfo>& functions,
                       std::vector<std::uint32_t>& arg_of_value, std::vector<bool>& is_taken);
  void donate_to_later(std::vector<bool>& is_taken);
  void plan_blocks();
  std::vector<BlockStep> steps_in_streams(std::uint32_t group,
                                          const std::vector<BlockStep>& steps) const;

  LayoutTable& layouts_;
  PartPlan plan_;
  std::vector<State> states_;           // By value.
  std::vector<std::uint64_t> scratch_;  // By gang.
  std::map<std::uint32_t, std::uint32_t> local_groups_;
};

}  // namespace seaway::program
