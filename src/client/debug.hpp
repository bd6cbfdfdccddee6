// Debug mode: a program node by node in the calling thread, on the reference interpreter.

#pragma once

#include <span>

#include "client/record.hpp"
#include "client/registry.hpp"

namespace seaway::client {

/// Evaluates `program` and completes `record` with its outputs, or with the first failure, which
/// names the site of the node. The arguments' values are in their records.
void evaluate(const ProgramRecord& program, std::span<const Array> arguments, Record& record);

}  // namespace seaway::client
