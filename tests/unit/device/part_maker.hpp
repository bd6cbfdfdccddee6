// PartMaker, where the tests of this room look for it.

#pragma once

#include "sim/exhaustive/part_maker.hpp"

namespace seaway::device {
using exhaustive::GangOptions;
using exhaustive::kernel_id;
using exhaustive::kShardBytes;
using exhaustive::PartMaker;
}  // namespace seaway::device
