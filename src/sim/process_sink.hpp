// ProcessSink: whoever watches the processes of a simulated cluster from outside.

#pragma once

#include <cstdint>

#include "cluster/peers.hpp"
#include "events/event.hpp"
#include "sim/process_faults.hpp"

namespace seaway::sim {

/// Hears what happens to processes and what they record, as it happens. All of it does nothing
/// unless it is overridden.
class ProcessSink {
 public:
  virtual ~ProcessSink() = default;
  /// It has begun this life; it has recorded nothing yet.
  virtual void started(const cluster::RoleName&, std::uint32_t /*life*/) {}
  /// It is about to be killed: it can be looked at for a last time.
  virtual void ended(const cluster::RoleName&, std::uint32_t /*life*/) {}
  /// The process lost the controller or a host of its island, and is about to restart itself.
  virtual void orphaned(const cluster::RoleName&) {}
  /// It is being done, to somebody who is there.
  virtual void began(const ProcessFault&) {}
  /// It is over; of kills nothing is said, for what they killed starts again.
  virtual void finished(const ProcessFault&) {}
  /// All faults are over.
  virtual void healed() {}
  /// `teller`, in its present life, has recorded `event`, with the time of its own clock.
  virtual void record(const cluster::RoleName& /*teller*/, const events::Event& /*event*/) {}
};

}  // namespace seaway::sim
