// Functions as they come in frames.

#include "device/function_messages.hpp"

#include <seaway.capnp.h>

#include <memory>
#include <string>
#include <utility>

#include "base/limits.hpp"
#include "base/probe.hpp"
#include "device/native_check.hpp"
#include "program/codec.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::device {

namespace {

Result<function::Graph> decode_graph(const Frame& frame) {
  Result<function::Graph> graph = Status();
  const Status status = wire::read_frame<wire::Message>(frame, [&](wire::Message::Reader message) {
    graph = program::decode_function_graph(wire::data_frame(message.getCompile().getGraph()));
  });
  if (!status.ok()) return status;
  return graph;
}

void compile_graph(const Frame& frame, FunctionId id, function::AxisSizes axes, Backend& backend,
                   const actor::OffloadOptions& offload, Defined done) {
  const auto compile = [id, axes = std::move(axes), &backend,
                        done = std::move(done)](Result<function::Graph> graph) {
    if (!graph.ok()) return done(id, graph.status());
    backend.compile(std::move(graph).value(), axes,
                    [id, done](const Result<std::shared_ptr<const function::Executable>>& made) {
                      done(id, made);
                    });
  };
  if (!offload.takes_frame(frame.size_bytes())) return compile(decode_graph(frame));
  SEAWAY_PROBE("a host decodes a function away from its control thread");
  const auto graph = std::make_shared<Result<function::Graph>>(Status());
  offload.offload([frame, graph] { *graph = decode_graph(frame); },
                  [graph, compile] { compile(std::move(*graph)); });
}

}  // namespace

Status make_executable(const Frame& frame, const function::NativeRegistry& natives,
                       Backend& backend, const actor::OffloadOptions& offload, Defined done) {
  return wire::read_frame<wire::Message>(frame, [&](wire::Message::Reader message) {
    const auto definition = message.getCompile();
    const FunctionId id = definition.getId();
    if (definition.getNative().size() > 0) {
      const std::string name = definition.getNative().cStr();
      auto native = natives.find(name);
      if (!native) {
        done(id, invalid_argument("native function " + name +
                                  " is not registered in this process; register it in main()"));
        return;
      }
      Status same = check_native(
          name, *native, program::decode_function_info(wire::data_frame(definition.getInfo())));
      if (!same.ok()) return done(id, std::move(same));
      return done(id, std::move(native));
    }
    if (definition.getForeign().size() > 0) {
      auto foreign = program::decode_foreign_program(wire::data_frame(definition.getForeign()));
      if (!foreign.ok()) return done(id, foreign.status());
      foreign->name = definition.getName().cStr();
      backend.compile_foreign(
          std::move(foreign).value(),
          [id, done = std::move(done)](
              const Result<std::shared_ptr<const function::Executable>>& made) { done(id, made); });
      return;
    }
    function::AxisSizes axes;
    for (const auto axis : definition.getAxes()) {
      axes.emplace_back(axis.getName().cStr(), axis.getSize());
    }
    compile_graph(frame, id, std::move(axes), backend, offload, std::move(done));
  });
}

Compiled compiled(FunctionId function, std::uint32_t host, const Status& status,
                  const function::Executable* executable, std::uint64_t more_bytes) {
  Compiled said{.function = function, .host = host, .status = status};
  if (!executable) return said;
  said.scratch_bytes = executable->scratch_bytes() + more_bytes;
  said.cost_ns = executable->cost_ns();
  said.in_place = executable->in_place();
  if (const function::ForeignTraits* const traits = executable->foreign()) {
    said.foreign.emplace();
    said.foreign->info.parameters = executable->parameter_types();
    said.foreign->info.outputs = executable->output_types();
    said.foreign->info.shards = traits->shards > 1 ? traits->shards : 0;
    said.foreign->info.donated = traits->donated;
    if (traits->description.size() <= limits::kForeignBytes.max) {
      said.foreign->format = traits->format;
      said.foreign->description = traits->description;
    }
  }
  return said;
}

Frame compiled_frame(const Compiled& compiled) {
  wire::FrameBuilder builder;
  auto message = builder.init_root<wire::Message>().initCompiled();
  message.setFunction(compiled.function);
  message.setHost(compiled.host);
  message.setCode(static_cast<std::uint8_t>(compiled.status.code()));
  if (!compiled.status.ok()) message.setMessage(compiled.status.message());
  message.setScratchBytes(compiled.scratch_bytes);
  message.setCostNs(compiled.cost_ns);
  auto in_place = message.initInPlace(static_cast<unsigned>(compiled.in_place.size()));
  for (unsigned i = 0; i < in_place.size(); ++i) {
    in_place[i].setOutput(compiled.in_place[i].first);
    in_place[i].setOperand(compiled.in_place[i].second);
  }
  if (compiled.foreign) {
    const Frame foreign = program::encode_frame(*compiled.foreign);
    const auto words = foreign.words();
    message.setForeign({reinterpret_cast<const kj::byte*>(words.data()), words.size_bytes()});
  }
  return builder.finish();
}

std::optional<Compilations::Ended> Compilations::end(
    FunctionId function, const Status& status,
    std::shared_ptr<const function::Executable> executable) {
  const auto found = open_.find(function);
  if (found == open_.end()) return {};
  Ended& so_far = found->second.so_far;
  if (so_far.status.ok()) so_far.status = status;
  if (executable) so_far.executable = std::move(executable);
  if (--found->second.hosts > 0) return {};
  Ended ended = std::move(so_far);
  if (!ended.status.ok()) ended.executable = nullptr;
  open_.erase(found);
  return ended;
}

}  // namespace seaway::device
