// FrontTest: Seaway's plugin as a framework sees it, on an embedded cluster whose devices are the
// fake plugin's.

#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "front/table.hpp"
#include "unit/front/compile_options_on.hpp"
#include "unit/pjrt/fake_fixture.hpp"

namespace seaway::front {

namespace abi = pjrt::abi;

/// Owners of what the plugin hands out.
using pjrt::Buffer;
using pjrt::Event;
using pjrt::LoadedExecutable;

class FrontTest : public pjrt::FakePluginTest {
 protected:
  /// Two islands of two devices.
  FrontTest() {
    const std::string cluster =
        std::string("embedded:islands=2,devices=2,backend=pjrt:") + pjrt::fake_plugin_path();
    abi::Option option;
    option.head.struct_size = abi::size_of<abi::Option>();
    option.name = "cluster";
    option.name_size = 7;
    option.type = abi::OptionType::kString;
    option.text = cluster.data();
    option.value_size = cluster.size();
    abi::ClientCreate create;
    create.options = &option;
    create.options_count = 1;
    EXPECT_EQ(ask(create), Status());
    client_ = create.client;
    abi::ClientDevices devices;
    devices.client = client_;
    EXPECT_EQ(ask(devices), Status());
    devices_.assign(devices.devices, devices.devices + devices.count);
  }
  ~FrontTest() override {
    abi::ClientDestroy destroy;
    destroy.client = client_;
    EXPECT_EQ(ask(destroy), Status());
  }

  static const abi::Api& api() { return *plugin_table(); }
  template <class Args>
  static Status ask(Args& args) {
    return pjrt::call(api(), args);
  }

  abi::Client* client() { return client_; }
  const std::vector<abi::Device*>& devices() const { return devices_; }

  /// A buffer of these numbers.
  Buffer put(const std::vector<float>& values, std::size_t device) {
    const auto size = static_cast<std::int64_t>(values.size());
    abi::ClientBufferFromHostBuffer args;
    args.client = client_;
    args.data = values.data();
    args.type = abi::ElementType::kF32;
    args.sizes = &size;
    args.rank = 1;
    args.device = devices_[device];
    EXPECT_EQ(ask(args), Status());
    const Event done(api(), args.done_with_host);
    EXPECT_EQ(pjrt::await(done), Status());
    return Buffer(api(), args.buffer);
  }

  /// What a buffer holds, or why it holds nothing.
  static Result<std::vector<float>> get(const Buffer& buffer) {
    abi::BufferToHostBuffer size;
    size.buffer = buffer.get();
    if (Status status = ask(size); !status.ok()) return status;
    std::vector<float> values(size.target_size / sizeof(float));
    abi::BufferToHostBuffer args;
    args.buffer = buffer.get();
    args.target = values.data();
    args.target_size = size.target_size;
    if (Status status = ask(args); !status.ok()) return status;
    const Event event(api(), args.event);
    if (Status status = pjrt::await(event); !status.ok()) return status;
    return values;
  }

  /// The function behind a copy of four numbers.
  void know_reshard() {
    function::TestGraph identity;
    function::Graph same = identity.build({identity.parameter(f32({4}))});
    same.name = "reshard";
    known().add(same, {});
  }
  Buffer copy(const Buffer& buffer, std::size_t device) {
    abi::BufferCopyToDevice args;
    args.buffer = buffer.get();
    args.device = devices_[device];
    EXPECT_EQ(ask(args), Status());
    return Buffer(api(), args.copy);
  }

  static Status outcome(const Buffer& buffer) {
    abi::BufferReadyEvent args;
    args.buffer = buffer.get();
    if (Status status = ask(args); !status.ok()) return status;
    const Event event(api(), args.event);
    return pjrt::await(event);
  }

  /// A program by its text, compiled for these devices.
  Result<LoadedExecutable> compile(std::string text, const std::vector<std::uint64_t>& ids) {
    static constexpr std::string_view kFormat = "mlir";
    const std::string options = compile_options_on(ids);
    abi::Program program;
    program.head.struct_size = abi::size_of<abi::Program>();
    program.code = text.data();
    program.code_size = text.size();
    program.format = kFormat.data();
    program.format_size = kFormat.size();
    abi::ClientCompile args;
    args.client = client_;
    args.program = &program;
    args.options = options.data();
    args.options_size = options.size();
    if (Status status = ask(args); !status.ok()) return status;
    return LoadedExecutable(api(), args.executable);
  }
  Result<LoadedExecutable> compile(const function::Graph& graph,
                                   const std::vector<std::uint64_t>& ids,
                                   const function::AxisSizes& axes = {}) {
    known().add(graph, axes);
    return compile(function::to_stablehlo(graph, axes), ids);
  }

  /// One execution with one operand and one result on each device.
  static Result<std::vector<Buffer>> execute(const LoadedExecutable& executable,
                                             const std::vector<const Buffer*>& operands,
                                             std::vector<Event>* complete = nullptr) {
    std::vector<abi::Buffer*> each_operand, each_result(operands.size());
    for (const Buffer* const operand : operands) each_operand.push_back(operand->get());
    std::vector<abi::Buffer* const*> operand_lists;
    std::vector<abi::Buffer**> result_lists;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      operand_lists.push_back(&each_operand[i]);
      result_lists.push_back(&each_result[i]);
    }
    std::vector<abi::Event*> events(operands.size());
    abi::ExecuteOptions options;
    options.head.struct_size = abi::size_of<abi::ExecuteOptions>();
    abi::LoadedExecutableExecute args;
    args.executable = executable.get();
    args.options = &options;
    args.arguments = operand_lists.data();
    args.devices = operands.size();
    args.arguments_count = 1;
    args.outputs = result_lists.data();
    if (complete) args.complete_events = events.data();
    if (Status status = ask(args); !status.ok()) return status;
    std::vector<Buffer> results;
    for (abi::Buffer* const result : each_result) results.emplace_back(api(), result);
    for (abi::Event* const event : events) {
      if (complete) complete->emplace_back(api(), event);
    }
    return results;
  }

 private:
  abi::Client* client_ = nullptr;
  std::vector<abi::Device*> devices_;
};

}  // namespace seaway::front
