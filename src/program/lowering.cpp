// Lowering: walks each segment's nodes in order and deals them out to one part per island.

#include "program/lowering.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

#include "base/check.hpp"
#include "program/layout_table.hpp"
#include "program/part_builder.hpp"
#include "program/segments.hpp"

namespace seaway::program {
namespace {

/// Rough cost of copying a shard inside an island, for policies only.
constexpr std::uint64_t kCopyBytesPerNs = 8;

/// What the segments of one lowering share.
struct Tables {
  const ProgramGraph& graph;
  const std::map<FunctionId, FunctionInfo>& functions;
  LayoutTable& layouts;
  const FlatValues& flat;
  const Segmentation& segmentation;
  /// By flat value: where it was seen last. Kept across segments so that none pays for all.
  struct Seen {
    std::uint32_t segment = kNone;
    std::uint32_t value = 0;  // In the part of the island where the value lies.
    Layout layout;
  };
  std::vector<Seen> seen;
};

/// Lowers one segment. Used once.
class SegmentLowering {
 public:
  SegmentLowering(Tables& tables, std::uint32_t segment)
      : tables_(tables), segment_(segment), nodes_(tables.segmentation.segments[segment]) {}

  Result<Segment> run();

 private:
  using Seen = Tables::Seen;

  Status add_node(std::uint32_t node_index);
  Result<std::uint32_t> find_operand(ValueRef ref, Layout wanted);
  Status find_home(ValueRef ref);
  SegmentArray describe_arg(ValueRef ref) const;
  std::uint32_t copy_within(const Seen& home, Layout wanted);
  std::uint32_t copy_between(const Seen& home, Layout wanted);
  Status add_outputs();
  Status add_output(ValueRef ref, SegmentArray::Kind kind, std::uint32_t index);
  PartBuilder& part(IslandId island);
  IslandId island_of(Layout layout) const { return tables_.layouts.group(layout.group).island; }
  Status at_node(const Status& status, std::uint32_t node_index) const;

  Tables& tables_;
  const std::uint32_t segment_;
  const SegmentNodes& nodes_;
  Segment result_;
  std::map<IslandId, std::unique_ptr<PartBuilder>> parts_;
  /// Copies that exist already: (flat value, group, spec) -> value in the part of that group.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> copies_;
  std::uint32_t next_position_ = 0, next_edge_ = 0;
};

PartBuilder& SegmentLowering::part(IslandId island) {
  std::unique_ptr<PartBuilder>& part = parts_[island];
  if (!part) part = std::make_unique<PartBuilder>(tables_.graph.id, island, tables_.layouts);
  return *part;
}

Status SegmentLowering::at_node(const Status& status, std::uint32_t node_index) const {
  const Node& node = tables_.graph.nodes[node_index];
  return {status.code(), "node " + std::to_string(node_index) + " (" +
                             tables_.functions.at(node.function).name + " at " + node.site +
                             "): " + status.message()};
}

SegmentArray SegmentLowering::describe_arg(ValueRef ref) const {
  const Segmentation& segmentation = tables_.segmentation;
  const std::uint32_t flat = tables_.flat.of(ref);
  SegmentArray array;
  array.spec = tables_.graph.spec_of(ref);
  array.last_use = segmentation.last_segment[flat] == segment_;
  if (ref.node == ValueRef::kParameter) {
    array.index = ref.output;
  } else if (segmentation.program_output[flat] != kNone) {
    array.kind = SegmentArray::Kind::kProgramOutput;
    array.index = segmentation.program_output[flat];
    array.last_use = false;
  } else {
    array.kind = SegmentArray::Kind::kIntermediate;
    array.index = segmentation.intermediate[flat];
  }
  return array;
}

/// Sees to it that `ref` has a value in the part where it lies: a result of this segment has one,
/// anything else becomes an argument.
Status SegmentLowering::find_home(ValueRef ref) {
  Seen& seen = tables_.seen[tables_.flat.of(ref)];
  if (seen.segment == segment_) return {};
  const ArraySpec& spec = tables_.graph.spec_of(ref);
  Result<Layout> layout = tables_.layouts.intern(spec.sharding.mesh(), spec.sharding.spec());
  if (!layout.ok()) return layout.status();
  SegmentArray array = describe_arg(ref);
  const bool is_donated =
      array.last_use &&
      (array.kind == SegmentArray::Kind::kIntermediate ||
       (array.index < tables_.graph.donated.size() && tables_.graph.donated[array.index]));
  PartBuilder& home = part(island_of(*layout));
  seen = {segment_, home.add_value(Value::Place::kArg, spec.type, *layout), *layout};
  home.add_arg(seen.value, static_cast<std::uint32_t>(result_.args.size()), is_donated);
  result_.args.push_back(std::move(array));
  return {};
}

std::uint32_t SegmentLowering::copy_within(const Seen& home, Layout wanted) {
  PartBuilder& here = part(island_of(wanted));
  const TensorType type = here.value(home.value).type;
  const std::uint32_t copy = here.add_value(Value::Place::kBlock, type, wanted);
  Gang gang;
  gang.kind = Gang::Kind::kReshard;
  gang.position = next_position_++;
  gang.node = kNone;
  gang.group = wanted.group;
  gang.source_group = home.layout.group;
  gang.operands = {home.value};
  gang.results = {copy};
  gang.cost_ns = 1 + here.value(copy).shard_bytes / kCopyBytesPerNs;
  here.add_gang(std::move(gang), 0);
  return copy;
}

std::uint32_t SegmentLowering::copy_between(const Seen& home, Layout wanted) {
  const IslandId from = island_of(home.layout), to = island_of(wanted);
  PartBuilder& sender = part(from);
  PartBuilder& receiver = part(to);
  if (!sender.is_announced(home.value)) sender.announce_arg(home.value, next_position_++);
  const std::uint32_t edge = next_edge_++;
  sender.add_send(home.value, edge, to, wanted);
  const std::uint32_t copy =
      receiver.add_value(Value::Place::kBlock, sender.value(home.value).type, wanted);
  receiver.add_receive(copy, edge, from, home.layout);
  return copy;
}

Result<std::uint32_t> SegmentLowering::find_operand(ValueRef ref, Layout wanted) {
  if (Status status = find_home(ref); !status.ok()) return status;
  const std::uint32_t flat = tables_.flat.of(ref);
  const Seen& home = tables_.seen[flat];
  if (tables_.layouts.same(home.layout, wanted)) return home.value;
  const auto [it, is_new] = copies_.try_emplace({flat, wanted.group, wanted.spec}, 0);
  if (is_new) {
    it->second = island_of(home.layout) == island_of(wanted) ? copy_within(home, wanted)
                                                             : copy_between(home, wanted);
  }
  return it->second;
}

Status SegmentLowering::add_node(std::uint32_t node_index) {
  const Node& node = tables_.graph.nodes[node_index];
  const FunctionInfo& function = tables_.functions.at(node.function);
  Gang gang;
  gang.node = node_index;
  gang.function = node.function;
  gang.cost_ns = function.cost_ns;
  Result<Layout> own = tables_.layouts.intern(node.mesh, PartitionSpec());
  if (!own.ok()) return own.status();
  gang.group = own->group;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Mesh mesh = node.mesh_of(function, i, node.operands.size());
    const Result<Layout> wanted = tables_.layouts.intern(mesh, node.in_specs[i]);
    if (!wanted.ok()) return wanted.status();
    Result<std::uint32_t> operand = find_operand(node.operands[i], *wanted);
    if (!operand.ok()) return operand.status();
    gang.operands.push_back(*operand);
  }
  PartBuilder& here = part(island_of(*own));
  for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
    const ArraySpec& spec = node.outputs[i];
    const Result<Layout> layout =
        tables_.layouts.intern(spec.sharding.mesh(), spec.sharding.spec());
    if (!layout.ok()) return layout.status();
    const std::uint32_t value = here.add_value(Value::Place::kBlock, spec.type, *layout);
    tables_.seen[tables_.flat.of({node_index, i})] = {segment_, value, *layout};
    gang.results.push_back(value);
  }
  gang.position = next_position_++;
  here.add_gang(std::move(gang), function.scratch_bytes);
  result_.nodes.push_back(node_index);
  return {};
}

Status SegmentLowering::add_output(ValueRef ref, SegmentArray::Kind kind, std::uint32_t index) {
  if (Status status = find_home(ref); !status.ok()) return status;
  const Seen& home = tables_.seen[tables_.flat.of(ref)];
  PartBuilder& here = part(island_of(home.layout));
  std::uint32_t value = home.value;
  // A parameter and an array that is an output already are copied: each output has room of its own.
  if (here.value(value).place != Value::Place::kBlock) {
    value = copy_within(home, home.layout);
  }
  here.set_output(value, static_cast<std::uint32_t>(result_.outputs.size()));
  SegmentArray array;
  array.kind = kind;
  array.index = index;
  array.spec = tables_.graph.spec_of(ref);
  result_.outputs.push_back(std::move(array));
  return {};
}

Status SegmentLowering::add_outputs() {
  for (const std::uint32_t output : nodes_.program_outputs) {
    const ValueRef ref = tables_.graph.outputs[output];
    if (Status status = add_output(ref, SegmentArray::Kind::kProgram, output); !status.ok()) {
      return {status.code(), "output " + std::to_string(output) + " of program \"" +
                                 tables_.graph.name + "\": " + status.message()};
    }
  }
  for (const std::uint32_t n : nodes_.nodes) {
    for (std::uint32_t i = 0; i < tables_.graph.nodes[n].outputs.size(); ++i) {
      const std::uint32_t number = tables_.segmentation.intermediate[tables_.flat.of({n, i})];
      if (number == kNone) continue;
      Status status = add_output({n, i}, SegmentArray::Kind::kIntermediate, number);
      if (!status.ok()) return at_node(status, n);
    }
  }
  return {};
}

Result<Segment> SegmentLowering::run() {
  for (const std::uint32_t n : nodes_.nodes) {
    if (Status status = add_node(n); !status.ok()) return at_node(status, n);
  }
  if (Status status = add_outputs(); !status.ok()) return status;
  result_.waits_for_finish = nodes_.waits_for_finish;
  result_.waits_for = nodes_.waits_for;
  for (const auto& [island, builder] : parts_) {
    result_.parts.push_back(builder->finish(tables_.functions));
  }
  return std::move(result_);
}

/// Each gang's line of user code: a line in a loop is kept once, whatever the number of nodes.
void name_sites(const ProgramGraph& graph, PartPlan& part) {
  std::map<std::string_view, std::uint32_t> known;
  for (const Gang& gang : part.gangs) {
    const std::string_view site =
        gang.node == kNone ? "" : std::string_view(graph.nodes[gang.node].site);
    const auto [found, is_new] =
        known.try_emplace(site, static_cast<std::uint32_t>(part.sites.size()));
    if (is_new) part.sites.emplace_back(site);
    part.site_of_gang.push_back(found->second);
  }
}

}  // namespace

Result<LoweredProgram> lower(const ProgramGraph& graph,
                             const std::map<FunctionId, FunctionInfo>& functions,
                             const std::map<SliceId, Binding>& bindings) {
  if (Status status = validate(graph, functions); !status.ok()) return status;
  const FlatValues flat(graph);
  Result<Segmentation> segmentation = split_into_segments(graph, flat, functions);
  if (!segmentation.ok()) return segmentation.status();
  LayoutTable layouts(bindings);
  Tables tables{graph, functions, layouts, flat, *segmentation, {}};
  tables.seen.resize(flat.count());
  LoweredProgram lowered;
  lowered.intermediates = segmentation->intermediates;
  for (std::uint32_t s = 0; s < segmentation->segments.size(); ++s) {
    Result<Segment> segment = SegmentLowering(tables, s).run();
    if (!segment.ok()) return segment.status();
    for (PartPlan& part : segment->parts) {
      name_sites(graph, part);
      lowered.peak_bytes = std::max(lowered.peak_bytes, PartBuilder::peak_bytes(part));
    }
    lowered.segments.push_back(std::move(*segment));
  }
  return lowered;
}

}  // namespace seaway::program
