// What must hold after the parameter_server demo has trained.

#pragma once

#include <cstddef>
#include <cstdint>

#include "demos/parameter_server.capnp.h"
#include "seaway/app/mesh.hpp"

namespace seaway::demos {

/// What one worker counts. A value.
class Tally {
 public:
  /// A step from the parameters of `version`, and what the server said to it.
  void count(std::uint64_t version, parameter_server::Parameters::Reader answer);
  Message<parameter_server::Trained> message() const;

 private:
  std::uint64_t steps_ = 0, used_ = 0, behind_max_ = 0;
};

/// Prints what each worker has done, and whether it is right. Errors: that of the first worker that
/// has failed; kDataCorruption when they count other updates than the server has made, or when
/// somebody has waited for the `straggler`.
Status check_steps(const ValueMesh<Result<Message<parameter_server::Trained>>>& workers,
                   std::size_t straggler, std::uint64_t updates);

}  // namespace seaway::demos
