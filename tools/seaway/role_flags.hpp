// Playing one role of a cluster, as the command and users' own programs do.

#pragma once

#include <memory>

#include "actor/router.hpp"
#include "seaway/host_main.hpp"

namespace CLI {
class App;
}

namespace seaway::tools {

/// Gives `verb`, a verb or a whole command line, the flags of that role; when it is chosen, parsing
/// plays the role until it ends, and sets `exit_code`. `registry` is of hosts; null: nothing.
void add_role_flags(CLI::App& verb, int& exit_code, actor::Role role,
                    std::shared_ptr<const Registry> registry);

}  // namespace seaway::tools
