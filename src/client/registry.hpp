// What a session has registered with its cluster: functions and programs.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/program_cache.hpp"
#include "client/record.hpp"
#include "function/executable.hpp"
#include "function/graph.hpp"
#include "program/program_graph.hpp"
#include "seaway/function.hpp"
#include "seaway/program.hpp"

namespace seaway::client {

/// Values by name, for as long as somebody else holds them. Not thread-safe.
template <class Value>
class WeakTable {
 public:
  std::shared_ptr<Value> find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : found->second.lock();
  }
  void insert(const std::string& name, const std::shared_ptr<Value>& value) {
    // Names of what is gone are swept out before they are half of all.
    if (values_.size() >= sweep_at_) {
      std::erase_if(values_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = 2 * values_.size() + 64;
    }
    values_[name] = value;
  }
  std::size_t size() const { return values_.size(); }

 private:
  std::map<std::string, std::weak_ptr<Value>> values_;
  std::size_t sweep_at_ = 64;
};

/// A function that the cluster knows, for as long as a handle or a program has it. Immutable.
struct FunctionDefinition {
  std::shared_ptr<Session> session;
  program::FunctionInfo info;
  function::Graph graph;  // Without instructions for a native function.
  /// A native function's code, for debug mode; null for a captured one.
  std::shared_ptr<const function::Executable> native;
  /// What a foreign function was compiled to; null for all others.
  std::shared_ptr<const program::ForeignCompiled> foreign;
  Registration registration;
};

/// What all handles of a function share.
struct FunctionRecord {
  std::shared_ptr<const FunctionDefinition> definition;
  std::optional<Mesh> mesh;
  CallSpecs specs;
  ProgramCache calls;  // Programs of one call of it.

  const program::FunctionInfo& info() const { return definition->info; }
  const std::shared_ptr<Session>& session() const { return definition->session; }
};

/// A program that the cluster knows, for as long as a handle, a run or an array of it is there.
/// Immutable, but for its variants.
struct ProgramRecord final : Origin, std::enable_shared_from_this<ProgramRecord> {
  program::ProgramGraph graph;
  std::map<FunctionId, std::shared_ptr<const FunctionDefinition>> functions;
  std::vector<std::uint64_t> parameter_specs;      // As Origin::output_specs.
  std::vector<std::shared_ptr<SpecRecord>> specs;  // Which both of them name.
  std::vector<std::shared_ptr<SliceRecord>> slices;
  bool donates = false;
  ProgramCache variants;  // The same with other parameters donated.
  Registration registration;
};

}  // namespace seaway::client
