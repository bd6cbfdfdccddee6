// HloProgram: what a compiled program says of its parameters and of what it does; nothing else of
// the interface does.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"
#include "seaway/types.hpp"

namespace seaway::pjrt {

/// Of one shard.
struct HloProgram {
  std::vector<TensorType> parameters;
  std::vector<std::uint32_t> donated;  // Parameters whose memory an output may take; rising.
  /// No loop, no choice, no call of foreign code and no exchange: it takes as long each time.
  bool is_straight_line = true;
  /// About how many arithmetic operations one execution of a straight line does: each result's
  /// elements, and of products no less than their own.
  double operations = 0;
  /// Instructions that run one by one: fusions, products, loops, ..., and nothing that is free.
  std::size_t kernels = 0;
};

/// Reads XLA's HloModuleProto, or with `has_config` HloModuleProtoWithConfig. Errors:
/// kProtocolError for bytes that are neither; kUnimplemented for a parameter that is no array of a
/// type in types.hpp.
Result<HloProgram> read_hlo(std::string_view bytes, bool has_config);

}  // namespace seaway::pjrt
