// Capture: from C++ that calls functions to a ProgramGraph.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/registry.hpp"
#include "client/session.hpp"
#include "program/program_graph.hpp"
#include "seaway/function.hpp"
#include "seaway/program.hpp"

namespace seaway::client {

/// Records one program while its body runs. Current on its thread as long as it lives; captures may
/// nest, but do not see each other's values. The first mistake is kept and later calls yield
/// placeholders.
class Capture {
 public:
  Capture(Session& session, std::string name, const ProgramOptions& options);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// The capture that made `serial`, if it is this thread's current one.
  static Capture* current();
  static Capture* current(std::uint64_t serial);

  Traced add_parameter(const ArraySpec& spec);
  Traced call(const Function& function, std::span<const Traced> operands, Site site);
  Traced reshard(const Traced& value, const NamedSharding& target, Site site);
  void mistake(const std::string& message, Site site);

  const ArraySpec& spec(const Traced& value) const;
  std::size_t size(const Traced& value) const;
  Traced result(const Traced& value, std::size_t index);

  /// The whole program with `outputs`, checked and registered. Call once.
  Result<std::shared_ptr<ProgramRecord>> finish(std::span<const Traced> outputs);

 private:
  bool is_own(const Traced& value) const { return value.capture_ == serial_; }
  program::ValueRef ref(const Traced& value) const;
  bool check_operand(const FunctionDefinition& function, std::size_t index, const Traced& value,
                     Site site);
  Status add_node(const std::shared_ptr<const FunctionDefinition>& function, program::Node& node,
                  const CallSpecs& specs);
  Status use_mesh(const Mesh& mesh);

  Session& session_;
  const std::uint64_t serial_;
  Capture* const previous_;
  std::shared_ptr<ProgramRecord> program_;
  std::vector<std::uint32_t> donated_;
  Status mistake_;
  std::vector<Mesh> meshes_;  // Checked already.
};

/// Captures a program of one call of `function` on arguments of the given specs.
Result<std::shared_ptr<ProgramRecord>> capture_call(Session& session, const Function& function,
                                                    std::span<const ArraySpec> arguments,
                                                    Site site);

/// Captures a program that brings one array of `source` to `target`.
Result<std::shared_ptr<ProgramRecord>> capture_reshard(Session& session, const ArraySpec& source,
                                                       const NamedSharding& target, bool is_donated,
                                                       Site site);

}  // namespace seaway::client
