// The table of functions by which frameworks call Seaway as a PJRT plugin.

#pragma once

#include "pjrt/abi_front.hpp"

namespace seaway::front {

/// Made once, for ever. Calls that are not offered answer kUnimplemented, with their number.
const pjrt::abi::Api* plugin_table();

}  // namespace seaway::front
