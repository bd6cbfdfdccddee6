// RestartChecker: an island has failed when its roles are lost too often, and else never.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "controller/controller_core.hpp"
#include "sim/process_sink.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// F11, as the controller's own words show it: an island of which one role is lost more than
/// `restarts_max` times within `restart_window_ns` has failed at once, and no other one has; none
/// of its roles is used before it was left alone for as long. The counts begin anew with each life
/// of the controller, and when an island is used again.
class RestartChecker final : public ProcessSink {
 public:
  RestartChecker(controller::ControllerLimits limits, Verdict& verdict)
      : limits_(limits), verdict_(verdict) {}

  void started(const cluster::RoleName& name, std::uint32_t life) override;
  void record(const cluster::RoleName& teller, const events::Event& event) override;

  /// Between two steps: whatever was to be said of the last loss has been said.
  void look();

 private:
  struct Island {
    std::deque<std::uint64_t> host_losses, scheduler_losses;
    std::uint64_t failed_ns = 0;  // Since when; 0: it has not.
    bool must_fail = false;
  };
  void count(IslandId island, std::deque<std::uint64_t>& losses, std::uint64_t now_ns);
  void complain(IslandId island, const std::string& text);

  const controller::ControllerLimits limits_;
  Verdict& verdict_;
  std::map<IslandId, Island> islands_;
};

}  // namespace seaway::sim
