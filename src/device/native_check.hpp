// Whether a native function of this program is what its client means by its name.

#pragma once

#include <string>

#include "function/executable.hpp"
#include "program/program_graph.hpp"
#include "seaway/status.hpp"

namespace seaway::device {

/// A function of another program may have the same name and other types: it would read and write
/// beyond its operands. Errors: kInvalidArgument, with the types of both.
Status check_native(const std::string& name, const function::Executable& own,
                    const Result<program::FunctionInfo>& wanted);

}  // namespace seaway::device
