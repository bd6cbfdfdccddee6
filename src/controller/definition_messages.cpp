// Decode, compare, encode.

#include "controller/definition_messages.hpp"

#include <string>
#include <utility>

#include "program/codec.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::controller {
namespace {

Status refuse(ClientId client, std::uint64_t id, const std::string& why) {
  return protocol_error("client " + std::to_string(client) + " defines function " +
                        std::to_string(id) + ": " + why);
}

Result<program::FunctionInfo> check_info(ClientId client, wire::DefineFunction::Reader definition) {
  auto info = program::decode_function_info(wire::data_frame(definition.getInfo()));
  if (!info.ok()) return info.status();
  const std::uint64_t id = definition.getId();
  if (client_of(id) != client) return refuse(client, id, "the id is another client's");
  if (info->id != id) {
    return refuse(client, id, "its info is of function " + std::to_string(info->id));
  }
  return info;
}

/// What the controller plans by is what hosts will compute.
Status check_types(ClientId client, const program::FunctionInfo& info,
                   const function::Graph& graph) {
  if (Status status = function::validate(graph, info.axes); !status.ok()) {
    return refuse(client, info.id, status.message());
  }
  bool fits = info.parameters.size() == graph.parameters.size() &&
              info.outputs.size() == graph.outputs.size() && info.shards == 0;
  for (std::size_t i = 0; fits && i < info.parameters.size(); ++i) {
    fits = info.parameters[i] == graph.parameter_type(i);
  }
  for (std::size_t i = 0; fits && i < info.outputs.size(); ++i) {
    fits = info.outputs[i] == graph.output_type(i);
  }
  return fits ? Status() : refuse(client, info.id, "its graph has other types than its info");
}

wire::DefineFunction::Builder init_compile(wire::FrameBuilder& builder,
                                           const program::FunctionInfo& info) {
  auto compile = builder.init_root<wire::Message>().initCompile();
  compile.setId(info.id);
  compile.setName(info.name);
  compile.setInfo(wire::frame_data(program::encode_frame(info)));
  auto axes = compile.initAxes(static_cast<unsigned>(info.axes.size()));
  for (unsigned i = 0; i < axes.size(); ++i) {
    axes[i].setName(info.axes[i].first);
    axes[i].setSize(info.axes[i].second);
  }
  return compile;
}

}  // namespace

Result<CheckedFunction> check_function(ClientId client, wire::DefineFunction::Reader definition) {
  auto info = check_info(client, definition);
  if (!info.ok()) return info.status();
  CheckedFunction checked;
  checked.info = std::move(info).value();
  wire::FrameBuilder builder;
  auto compile = init_compile(builder, checked.info);
  if (definition.getNative().size() > 0) {
    // Every host knows it by its name, and compares the info with its own.
    if (std::string(definition.getNative().cStr()) != checked.info.name) {
      return refuse(client, checked.info.id, "its native name is not its name");
    }
    compile.setNative(checked.info.name);
  } else {
    auto graph = program::decode_function_graph(wire::data_frame(definition.getGraph()));
    if (!graph.ok()) return graph.status();
    if (Status status = check_types(client, checked.info, *graph); !status.ok()) return status;
    compile.setGraph(wire::frame_data(program::encode_frame(*graph)));
  }
  checked.compile = builder.finish();
  return checked;
}

Result<CheckedFunction> check_foreign(ClientId client, wire::DefineFunction::Reader definition) {
  auto info = check_info(client, definition);
  if (!info.ok()) return info.status();
  auto program = program::decode_foreign_program(wire::data_frame(definition.getForeign()));
  if (!program.ok()) return program.status();
  CheckedFunction checked;
  checked.info = std::move(info).value();
  wire::FrameBuilder builder;
  init_compile(builder, checked.info).setForeign(wire::frame_data(program::encode_frame(*program)));
  checked.compile = builder.finish();
  return checked;
}

Result<CheckedSpec> check_spec(ClientId client, wire::DefineSpec::Reader definition) {
  auto spec = program::decode_array_spec(wire::data_frame(definition.getSpec()));
  if (!spec.ok()) return spec.status();
  CheckedSpec checked{definition.getId(), std::move(spec).value(), {}};
  if (client_of(checked.id) != client) {
    return protocol_error("client " + std::to_string(client) + " defines spec " +
                          std::to_string(checked.id) + ": the id is another client's");
  }
  wire::FrameBuilder builder;
  auto define = builder.init_root<wire::Message>().initDefineSpec();
  define.setId(checked.id);
  define.setSpec(wire::frame_data(program::encode_frame(checked.spec)));
  checked.define = builder.finish();
  return checked;
}

}  // namespace seaway::controller
