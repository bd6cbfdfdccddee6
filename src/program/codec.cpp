// One value as a frame of its own, and back.

#include "program/codec.hpp"

#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::program {
namespace {

template <class Root, class Item>
Frame to_frame(const Item& item) {
  wire::FrameBuilder builder;
  encode(item, builder.init_root<Root>());
  return builder.finish();
}

template <class Root, class Item>
Result<Item> from_frame(const Frame& frame) {
  Item item;
  Status status = wire::read_frame<Root>(
      frame, [&item](typename Root::Reader reader) { return decode(reader, item); });
  if (!status.ok()) return status;
  return item;
}

}  // namespace

Frame encode_frame(const function::Graph& graph) { return to_frame<schema::FunctionGraph>(graph); }
Frame encode_frame(const FunctionInfo& info) { return to_frame<schema::FunctionInfo>(info); }
Frame encode_frame(const function::ForeignProgram& program) {
  return to_frame<schema::ForeignProgram>(program);
}
Frame encode_frame(const ForeignCompiled& compiled) {
  return to_frame<schema::ForeignCompiled>(compiled);
}
Frame encode_frame(const ProgramGraph& graph) { return to_frame<schema::ProgramGraph>(graph); }
Frame encode_frame(const PartPlan& plan) { return to_frame<schema::PartPlan>(plan); }
Frame encode_frame(const ArraySpec& spec) { return to_frame<schema::ArraySpec>(spec); }

Result<function::Graph> decode_function_graph(const Frame& frame) {
  return from_frame<schema::FunctionGraph, function::Graph>(frame);
}
Result<FunctionInfo> decode_function_info(const Frame& frame) {
  return from_frame<schema::FunctionInfo, FunctionInfo>(frame);
}
Result<function::ForeignProgram> decode_foreign_program(const Frame& frame) {
  return from_frame<schema::ForeignProgram, function::ForeignProgram>(frame);
}
Result<ForeignCompiled> decode_foreign_compiled(const Frame& frame) {
  return from_frame<schema::ForeignCompiled, ForeignCompiled>(frame);
}
Result<ProgramGraph> decode_program_graph(const Frame& frame) {
  return from_frame<schema::ProgramGraph, ProgramGraph>(frame);
}
Result<PartPlan> decode_part_plan(const Frame& frame) {
  return from_frame<schema::PartPlan, PartPlan>(frame);
}
Result<ArraySpec> decode_array_spec(const Frame& frame) {
  return from_frame<schema::ArraySpec, ArraySpec>(frame);
}

}  // namespace seaway::program
