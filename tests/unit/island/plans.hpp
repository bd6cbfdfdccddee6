// PlanMaker, where the tests of this room look for it.

#pragma once

#include "sim/exhaustive/plan_maker.hpp"

namespace seaway::island {
using exhaustive::PlanMaker;
}
