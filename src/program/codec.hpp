// Codec: programs, functions and parts as frames, and back from a stranger's bytes.

#pragma once

#include "base/frame.hpp"
#include "function/foreign.hpp"
#include "function/graph.hpp"
#include "program.capnp.h"
#include "program/part_plan.hpp"
#include "program/program_graph.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"

namespace seaway::program {

// Into a message under construction.
void encode(const TensorType& type, schema::TensorType::Builder out);
void encode(const MeshAxis& axis, schema::MeshAxis::Builder out);
void encode(const Mesh& mesh, schema::Mesh::Builder out);
void encode(const PartitionSpec& spec, schema::PartitionSpec::Builder out);
void encode(const ArraySpec& spec, schema::ArraySpec::Builder out);
void encode(const function::Graph& graph, schema::FunctionGraph::Builder out);
void encode(const FunctionInfo& info, schema::FunctionInfo::Builder out);
void encode(const function::ForeignProgram& program, schema::ForeignProgram::Builder out);
void encode(const ForeignCompiled& compiled, schema::ForeignCompiled::Builder out);
void encode(const ProgramGraph& graph, schema::ProgramGraph::Builder out);
void encode(const PartPlan& plan, schema::PartPlan::Builder out);

// Out of a message. Call inside wire::read_frame(): readers throw over malformed bytes. What comes
// back has enums, indices and sizes in range; kProtocolError says which one is not.
//
// Types, shardings, function graphs and programs can still not fit together: validate() of the
// function and program rooms says so, as kInvalidArgument. A decoded PartPlan is checked to the
// end: its values fit their shards, its groups their axes, its block values the block.
Status decode(schema::TensorType::Reader in, TensorType& type);
Status decode(schema::MeshAxis::Reader in, MeshAxis& axis);
Status decode(schema::Mesh::Reader in, Mesh& mesh);
Status decode(schema::PartitionSpec::Reader in, PartitionSpec& spec);
Status decode(schema::ArraySpec::Reader in, ArraySpec& spec);
Status decode(schema::FunctionGraph::Reader in, function::Graph& graph);
Status decode(schema::FunctionInfo::Reader in, FunctionInfo& info);
Status decode(schema::ForeignProgram::Reader in, function::ForeignProgram& program);
Status decode(schema::ForeignCompiled::Reader in, ForeignCompiled& compiled);
Status decode(schema::ProgramGraph::Reader in, ProgramGraph& graph);
Status decode(schema::PartPlan::Reader in, PartPlan& plan);

/// Checks a plan as decode() does: after this, a host may use each index and offset in it.
Status validate(const PartPlan& plan);

// One value as a frame of its own. Decoding takes any bytes and does not throw.
Frame encode_frame(const function::Graph& graph);
Frame encode_frame(const FunctionInfo& info);
Frame encode_frame(const function::ForeignProgram& program);
Frame encode_frame(const ForeignCompiled& compiled);
Frame encode_frame(const ProgramGraph& graph);
Frame encode_frame(const PartPlan& plan);
Frame encode_frame(const ArraySpec& spec);
Result<function::Graph> decode_function_graph(const Frame& frame);
Result<FunctionInfo> decode_function_info(const Frame& frame);
Result<function::ForeignProgram> decode_foreign_program(const Frame& frame);
Result<ForeignCompiled> decode_foreign_compiled(const Frame& frame);
Result<ProgramGraph> decode_program_graph(const Frame& frame);
Result<PartPlan> decode_part_plan(const Frame& frame);
Result<ArraySpec> decode_array_spec(const Frame& frame);

}  // namespace seaway::program
