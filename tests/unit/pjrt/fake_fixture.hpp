// FakePluginTest: the fake plugin loaded by its path, with functions that it knows, and a look at
// the end whether its contract was kept.

#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/client.hpp"
#include "pjrt/pjrt_executable.hpp"
#include "unit/function/cpu_testing.hpp"
#include "unit/pjrt/fake_plugin.hpp"
#include "unit/pjrt/temporary_directory.hpp"

namespace seaway::pjrt {

/// Where the build has put it.
const char* fake_plugin_path();

/// The text without the donations, which a program computes the same with.
inline std::string without_donations(std::string text) {
  const std::string begin = " {tf.aliasing_output = ", end = " : i32}";
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin)) {
    text.erase(at, text.find(end, at) + end.size() - at);
  }
  return text;
}

/// Computes programs of known functions by the reference.
class KnownFunctions {
 public:
  void add(const function::Graph& graph, const function::AxisSizes& axes) {
    if (!function::validate(graph, axes).ok()) return;
    const bool spans = std::any_of(graph.instructions.begin(), graph.instructions.end(),
                                   [](const auto& one) { return !one.axis.empty(); });
    std::lock_guard guard(mutex_);
    // Without collectives a program is one shard's.
    known_[function::to_stablehlo(graph, axes)] =
        function::compile_reference(graph, spans ? axes : function::AxisSizes()).value();
  }
  bool compute(const std::string& program,
               const std::vector<std::vector<const std::byte*>>& operands,
               const std::vector<std::vector<std::byte*>>& outputs) {
    std::shared_ptr<const function::Executable> known;
    {
      std::lock_guard guard(mutex_);
      const auto found = known_.find(without_donations(program));
      if (found == known_.end()) return false;
      known = found->second;
    }
    function::TestRun run(known, outputs.size());
    for (std::size_t s = 0; s < operands.size(); ++s) {
      for (std::size_t i = 0; i < operands[s].size(); ++i) {
        const std::size_t bytes = known->parameter_types()[i].bytes();
        if (bytes > 0) std::memcpy(run.operand(i).view().shard(s), operands[s][i], bytes);
      }
    }
    run.run();
    for (std::size_t s = 0; s < outputs.size(); ++s) {
      for (std::size_t i = 0; i < outputs[s].size(); ++i) {
        const std::size_t bytes = known->output_types()[i].bytes();
        if (bytes > 0) std::memcpy(outputs[s][i], run.output(i).view().shard(s), bytes);
      }
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const function::Executable>> known_;
};

class FakePluginTest : public ::testing::Test {
 protected:
  FakePluginTest() {
    void* const library = dlopen(fake_plugin_path(), RTLD_NOW | RTLD_LOCAL);
    const auto get = reinterpret_cast<FakePlugin* (*)()>(dlsym(library, kFakePluginFunction));
    fake_ = get();
    fake_->reset();
    fake_->compute_by(
        [known = known_](const auto& program, const auto& operands, const auto& outputs) {
          return known->compute(program, operands, outputs);
        });
  }
  /// After all that tests have made.
  ~FakePluginTest() override {
    EXPECT_EQ(fake_->violations(), std::vector<std::string>());
    EXPECT_EQ(fake_->alive(), 0u);
    fake_->reset();
  }

  FakePlugin& fake() { return *fake_; }
  KnownFunctions& known() { return *known_; }
  static Plugin plugin() { return Plugin::load(fake_plugin_path()).value(); }
  static Target target(std::uint32_t devices = 4, InputWay way = InputWay::kLent,
                       std::uint64_t bytes_max = std::uint64_t{1} << 30) {
    return {Client::make(plugin(), devices).value(), std::make_shared<Ledger>(devices, bytes_max),
            nullptr, way};
  }

 private:
  FakePlugin* fake_ = nullptr;
  const std::shared_ptr<KnownFunctions> known_ = std::make_shared<KnownFunctions>();
};

/// x + x of four numbers.
inline function::Graph doubling() {
  function::TestGraph graph;
  const auto x = graph.parameter(f32({4}));
  return graph.build({graph.same(function::Op::kAdd, {x, x})});
}

/// The sum of four numbers over the shards of axis "a".
inline function::Graph summing() {
  function::TestGraph graph;
  const auto x = graph.parameter(f32({4}));
  function::Instruction sum{.op = function::Op::kAllReduce, .type = f32({4}), .operands = {x}};
  sum.axis = "a";
  return graph.build({graph.add(std::move(sum))});
}

}  // namespace seaway::pjrt
