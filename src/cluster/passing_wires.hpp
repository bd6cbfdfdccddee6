// PassingWires: the wires of a process, which go before those who use them.

#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "transport/socket_wires.hpp"

namespace seaway::cluster {

/// Wires that may be taken away while those who use them still live: then nothing is said any more.
class PassingWires final : public transport::Wires {
 public:
  void use(std::unique_ptr<transport::SocketWires> wires) { wires_ = std::move(wires); }
  transport::SocketWires* get() { return wires_.get(); }

  void attach(transport::ProcessId self, transport::ProcessId peer,
              transport::WirePort port) override {
    if (wires_) wires_->attach(self, peer, std::move(port));
  }
  void connect(transport::ProcessId self, transport::ProcessId peer) override {
    if (wires_) wires_->connect(self, peer);
  }
  void write(transport::ProcessId self, transport::ProcessId peer,
             std::vector<std::byte> bytes) override {
    if (wires_) wires_->write(self, peer, std::move(bytes));
  }
  void close(transport::ProcessId self, transport::ProcessId peer) override {
    if (wires_) wires_->close(self, peer);
  }
  void forget(transport::ProcessId self, transport::ProcessId peer) override {
    if (wires_) wires_->forget(self, peer);
  }
  bool goes_on_looking() const override { return true; }
  bool is_barred(transport::ProcessId self, transport::ProcessId peer) const override {
    return wires_ && wires_->is_barred(self, peer);
  }
  Status failure(transport::ProcessId peer) const {
    return wires_ ? wires_->failure(peer) : Status();
  }

 private:
  std::unique_ptr<transport::SocketWires> wires_;
};

}  // namespace seaway::cluster
