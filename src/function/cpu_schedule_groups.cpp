// Fusion: which elementwise operations run together, tile by tile.
//
// A group stays open while only its own members read its values. As soon as anything else reads
// one, the group is closed: it becomes a step that stands before the reader. Two open groups never
// depend on each other (a dependence would have closed one), so they may be joined freely.

#include <algorithm>

#include "base/check.hpp"
#include "function/cpu_scheduler.hpp"

namespace seaway::function::cpu {

/// How an elementwise operation reads its operands; lays out what has no view.
std::vector<View> Scheduler::views_of(ValueId value) {
  std::vector<View> views;
  for (const ValueId operand : at(value).operands) {
    const ValueState& state = values_[operand];
    if (state.dense) {
      views.push_back({*state.dense, Access::kDense, 1});
    } else if (state.view) {
      views.push_back(*state.view);
    } else {
      views.push_back({dense(operand), Access::kDense, 1});
    }
  }
  return views;
}

void Scheduler::add_elementwise(ValueId value) {
  ValueState& state = values_[value];
  const auto elements = static_cast<std::size_t>(type(value).elements());
  const std::vector<View> views = views_of(value);
  std::vector<StorageId> reads;
  for (const View& view : views) {
    const int group = group_of_storage_[view.storage];
    const bool can_join = group >= 0 && groups_[static_cast<std::size_t>(group)].is_open &&
                          view.access == Access::kDense && elements > kTinyElementsMax;
    // A value that is read in another shape or beyond the limits must be there before.
    if (!can_join) settle(view.storage);
    reads.push_back(view.storage);
  }
  state.dense = new_storage(type(value));
  if (elements == 0) return;
  const int index = group_for(value, reads);
  Group& group = groups_[static_cast<std::size_t>(index)];
  group.elements = elements;
  group.members.insert(std::lower_bound(group.members.begin(), group.members.end(), value), value);
  state.group = index;
  group_of_storage_[*state.dense] = index;
  if (elements <= kTinyElementsMax) close(index);
}

/// Joins the open groups that `value` reads, or starts a new one.
int Scheduler::group_for(ValueId value, const std::vector<StorageId>& reads) {
  std::vector<int> joined;
  std::size_t members = 1;
  std::vector<StorageId> inputs;
  for (const StorageId storage : reads) {
    const int g = group_of_storage_[storage];
    if (g < 0 || !groups_[static_cast<std::size_t>(g)].is_open) {
      inputs.push_back(storage);
      continue;
    }
    if (std::find(joined.begin(), joined.end(), g) != joined.end()) continue;
    joined.push_back(g);
    const Group& group = groups_[static_cast<std::size_t>(g)];
    members += group.members.size();
    inputs.insert(inputs.end(), group.inputs.begin(), group.inputs.end());
  }
  // One storage may be read in several ways, so inputs are counted with repetition: no limit can be
  // exceeded by what is not yet known.
  const bool fits = members <= kProgramOperationsMax && inputs.size() <= kProgramInputsMax;
  if (joined.empty() || !fits) {
    for (const StorageId storage : reads) settle(storage);
    groups_.push_back({0, {}, reads, true});
    return static_cast<int>(groups_.size() - 1);
  }
  const int target = joined[0];
  Group& group = groups_[static_cast<std::size_t>(target)];
  group.inputs = std::move(inputs);
  for (std::size_t i = 1; i < joined.size(); ++i) {
    Group& other = groups_[static_cast<std::size_t>(joined[i])];
    for (const ValueId member : other.members) {
      group.members.push_back(member);
      values_[member].group = target;
      group_of_storage_[*values_[member].dense] = target;
    }
    other.members.clear();
    other.is_open = false;
  }
  std::sort(group.members.begin(), group.members.end());
  SEAWAY_CHECK(group.members.back() < value, value);
  return target;
}

void Scheduler::settle(StorageId storage) {
  const int group = group_of_storage_[storage];
  if (group >= 0 && groups_[static_cast<std::size_t>(group)].is_open) close(group);
}

void Scheduler::close(int index) {
  Group& group = groups_[static_cast<std::size_t>(index)];
  group.is_open = false;
  ScheduledStep scheduled;
  const ElementProgram program = program_of(group, scheduled.in, scheduled.out);
  scheduled.step = make_elementwise(program);
  schedule_.steps.push_back(std::move(scheduled));
}

ElementProgram Scheduler::program_of(const Group& group, std::vector<StorageId>& in,
                                     std::vector<StorageId>& out) {
  ElementProgram program;
  program.elements = group.elements;
  // First the inputs, so that sources can count operations from there on.
  std::vector<View> inputs;
  std::vector<std::vector<View>> reads;
  for (const ValueId member : group.members) {
    reads.push_back(views_of(member));
    for (std::size_t i = 0; i < reads.back().size(); ++i) {
      const View& view = reads.back()[i];
      if (group_of_storage_[view.storage] == values_[member].group) continue;
      const auto same = [&view](const View& other) {
        return other.storage == view.storage && other.access == view.access &&
               other.length == view.length;
      };
      // The operands of a single operation are listed in order, even if two are the same.
      const bool is_known = std::find_if(inputs.begin(), inputs.end(), same) != inputs.end();
      if (is_known && group.members.size() > 1) continue;
      const DType dtype = type(at(member).operands[i]).dtype;
      inputs.push_back(view);
      program.inputs.push_back({size_of(dtype), view.access, view.length});
      in.push_back(view.storage);
    }
  }
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const ValueId member = group.members[m];
    const Instruction& instruction = at(member);
    ProgramOperation operation{.op = instruction.op,
                               .compare = instruction.compare,
                               .operand = type(instruction.operands.back()).dtype,
                               .result = instruction.type.dtype,
                               .sources = {},
                               .output = -1};
    for (std::size_t i = 0; i < reads[m].size(); ++i) {
      const View& view = reads[m][i];
      std::size_t source = i;
      if (group_of_storage_[view.storage] == values_[member].group) {
        std::size_t producer = 0;
        while (*values_[group.members[producer]].dense != view.storage) ++producer;
        source = inputs.size() + producer;
      } else if (group.members.size() > 1) {
        source = 0;
        while (inputs[source].storage != view.storage || inputs[source].access != view.access ||
               inputs[source].length != view.length) {
          ++source;
        }
      }
      operation.sources.push_back(source);
    }
    const ValueState& state = values_[member];
    const bool is_read_outside = std::any_of(
        state.users.begin(), state.users.end(),
        [&](ValueId user) { return values_[user].group != state.group || state.group < 0; });
    if (is_read_outside || state.is_output) {
      operation.output = static_cast<int>(out.size());
      out.push_back(*state.dense);
    }
    program.operations.push_back(std::move(operation));
  }
  return program;
}

}  // namespace seaway::function::cpu
