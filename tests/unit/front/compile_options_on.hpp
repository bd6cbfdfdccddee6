// Bytes of XLA's CompileOptionsProto, as a framework sends them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pjrt/proto.hpp"

namespace seaway::front {

/// One replica of as many partitions as there are devices, on these.
inline std::string compile_options_on(const std::vector<std::uint64_t>& ids) {
  std::string build, assignment, options;
  pjrt::put_number(build, 4, 1);
  pjrt::put_number(build, 5, ids.size());
  pjrt::put_number(assignment, 1, 1);
  pjrt::put_number(assignment, 2, ids.size());
  for (const std::uint64_t id : ids) {
    std::string packed, computation;
    pjrt::put_varint(packed, id);
    pjrt::put_message(computation, 1, packed);
    pjrt::put_message(assignment, 3, computation);
  }
  pjrt::put_message(build, 9, assignment);
  pjrt::put_message(options, 3, build);
  return options;
}

}  // namespace seaway::front
