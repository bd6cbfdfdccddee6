// An embedded cluster on the simulated engine, whose devices do everything within the call.

#pragma once

#include <cstdint>
#include <memory>

#include "actor/seeded_engine.hpp"
#include "benchmarks/counts/operations.hpp"
#include "cluster/embedded.hpp"
#include "seaway/client.hpp"

namespace seaway::benchmarks {

/// One island and one client, whose waits do the work of all. Handles of the client end before it.
class EmbeddedWorld {
 public:
  ~EmbeddedWorld();
  /// Errors: those of Client::acquire_slice().
  Status begin(std::uint32_t devices);

  const Client& client() const { return client_; }
  const Slice& slice() const { return slice_; }
  Traffic traffic() const;

 private:
  events::EventStream events_{1024};
  std::unique_ptr<actor::SeededEngine> engine_ =
      actor::make_seeded_engine(1, {.policy = actor::SchedulePolicy::kFifo});
  std::unique_ptr<cluster::Embedded> embedded_;
  Client client_;
  Slice slice_;
};

}  // namespace seaway::benchmarks
