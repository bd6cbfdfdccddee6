// Which Python, and what it finds.

#include "benchmarks/support/python.hpp"

#include <cstdlib>

#include "benchmarks/support/command.hpp"

namespace seaway::benchmarks {

std::string python() {
  const char* const named = std::getenv("SEAWAY_PEERS_PYTHON");
  return named == nullptr || *named == '\0' ? "python3" : named;
}

bool has_python_module(const std::string& module) {
  constexpr double kLookS = 60;
  const std::string look =
      "import importlib.util, sys; sys.exit(not importlib.util.find_spec('" + module + "'))";
  auto looking = Command::start_other({python(), "-c", look});
  return looking.ok() && looking->wait_for_end(kLookS) == 0;
}

}  // namespace seaway::benchmarks
