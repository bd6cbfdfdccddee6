// The Python of this machine, for what others are measured with.

#pragma once

#include <string>

namespace seaway::benchmarks {

/// The one that SEAWAY_PEERS_PYTHON names, or python3.
std::string python();
bool has_python_module(const std::string& module);

}  // namespace seaway::benchmarks
