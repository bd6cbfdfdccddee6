// Wires for those who talk with nobody.

#pragma once

#include <cstddef>
#include <vector>

#include "transport/wires.hpp"

namespace seaway::cluster {

/// Nobody is there.
class NoWires final : public transport::Wires {
 public:
  using Id = transport::ProcessId;
  void attach(Id, Id, transport::WirePort) override {}
  void connect(Id, Id) override {}
  void write(Id, Id, std::vector<std::byte>) override {}
  void close(Id, Id) override {}
  void forget(Id, Id) override {}
};

}  // namespace seaway::cluster
