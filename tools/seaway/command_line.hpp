// The command line of a program with verbs.

#pragma once

#include <initializer_list>

namespace CLI {
class App;
}

namespace seaway::tools {

/// A verb: see verbs.hpp.
using AddVerb = void (*)(CLI::App& app, int& exit_code);

/// Reads the command line as that of `seaway`, which has these verbs in this order, and hands over
/// to the one that was chosen. Returns the exit code.
int run_command_line(int argument_count, char** arguments, std::initializer_list<AddVerb> verbs);

}  // namespace seaway::tools
