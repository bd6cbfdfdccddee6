// The `--exhaustive` word of `seaway chaos`: every order of events in small worlds.

#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace seaway::tools {

struct ExhaustiveArguments {
  std::string world;  // Its name, "all" or "list".
  std::uint64_t states_max = 5'000'000;
};

/// Adds the words to `verb`, which fill `arguments`. Returns the first one.
CLI::Option* add_exhaustive(CLI::App& verb, ExhaustiveArguments& arguments);

/// Walks the worlds, and prints a line each. Returns the command's exit code.
int run_exhaustive(const ExhaustiveArguments& arguments, bool is_json, const Clock& clock);

}  // namespace seaway::tools
