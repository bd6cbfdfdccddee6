// Words for the choices of the public API, as messages and logs print them.

#include "seaway/array.hpp"
#include "seaway/client.hpp"
#include "seaway/program.hpp"

namespace seaway {

std::string_view to_string(HostBufferSemantics semantics) {
  switch (semantics) {
    case HostBufferSemantics::kImmutableOnlyDuringCall:
      return "immutable only during call";
    case HostBufferSemantics::kImmutableUntilTransferCompletes:
      return "immutable until transfer completes";
    case HostBufferSemantics::kZeroCopy:
      return "zero copy";
  }
  return "unknown";
}

std::string_view to_string(ArrayCopySemantics semantics) {
  switch (semantics) {
    case ArrayCopySemantics::kAlwaysCopy:
      return "always copy";
    case ArrayCopySemantics::kReuseInput:
      return "reuse input";
    case ArrayCopySemantics::kDonateInput:
      return "donate input";
  }
  return "unknown";
}

std::string_view to_string(DispatchMode mode) {
  switch (mode) {
    case DispatchMode::kParallel:
      return "parallel";
    case DispatchMode::kSequential:
      return "sequential";
  }
  return "unknown";
}

std::string_view to_string(WhenFull when_full) {
  switch (when_full) {
    case WhenFull::kRefuse:
      return "refuse";
    case WhenFull::kWait:
      return "wait";
  }
  return "unknown";
}

}  // namespace seaway
