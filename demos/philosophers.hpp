// The body of the philosophers demo, for whatever cluster a client is connected to.

#pragma once

#include <cstdint>
#include <optional>

#include "demos/support/terminal.hpp"
#include "seaway/client.hpp"

namespace seaway::demos {

/// Five philosophers have so many `meals` each, 3 at least; one of them dies with both forks in
/// hand. Drawn on `screen`, if any. Errors: what Table::check() says.
Status dine(const Client& client, std::uint32_t meals, const std::optional<Screen>& screen = {});

}  // namespace seaway::demos
