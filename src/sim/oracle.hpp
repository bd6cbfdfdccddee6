// Oracle: what a program must give, worked out apart from the cluster.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "program/reference.hpp"
#include "seaway/program.hpp"

namespace seaway::sim {

/// Evaluates captured programs on global arrays, node by node, with the reference interpreter.
/// It shares the capture with the client under test, and nothing else.
class Oracle {
 public:
  /// The outputs of `program`, or the error of its first failing node.
  Result<std::vector<program::GlobalArray>> evaluate(const Program& program,
                                                     std::vector<program::GlobalArray> arguments);

  /// Whether a node or an output of `program` names its parameter `index`.
  bool reads(const Program& program, std::size_t index) const;

 private:
  std::map<FunctionId, std::shared_ptr<const function::Executable>> executables_;
};

/// Where `given` leaves `wanted`, with the first words of both; empty if it does not.
std::string difference(const program::GlobalArray& wanted, const std::vector<std::byte>& given);

}  // namespace seaway::sim
