// The file of a host's spill room: where it is, and what is said of it.

#pragma once

#include <memory>

#include "actor/engine.hpp"
#include "base/unnamed_file.hpp"
#include "cluster/embedded.hpp"
#include "cluster/log.hpp"
#include "store/disk_spill.hpp"

namespace seaway::cluster {

/// Null where `options` ask for none. Errors: kInvalidArgument, kNotFound, kPermissionDenied and
/// kResourceExhausted about `spill_directory`.
Result<std::unique_ptr<UnnamedFile>> make_spill_file(const EmbeddedOptions& options);

/// The same for a host that is a process, and says to `log` once when it cannot write there. The
/// engine outlives it.
Result<std::unique_ptr<store::DiskSpill>> open_spill(const EmbeddedOptions& options,
                                                     actor::Engine& engine, Log log);

}  // namespace seaway::cluster
