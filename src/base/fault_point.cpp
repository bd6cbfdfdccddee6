// The chooser that fault points ask.

#include "base/fault_point.hpp"

#include <utility>

namespace seaway {
namespace {

FaultChooser* running_chooser = nullptr;

}  // namespace

FaultChooser* exchange_fault_chooser(FaultChooser* chooser) {
  return std::exchange(running_chooser, chooser);
}

bool fault_fires(FaultPoint point) { return running_chooser && running_chooser->fires(point); }

}  // namespace seaway
