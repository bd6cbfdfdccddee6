// DetectorChecker: whoever is gone is known to be gone in time, and nobody else is taken for it.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/process_truth.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// How long the controller may take to know that a scheduler or a host is gone, or cannot be
/// reached: its limit for silence, and a tenth more for clocks.
constexpr std::uint64_t kDetectNsMax = 1'540'000'000;

/// I18, of schedulers and hosts, as the controller takes them: each that is killed, or that stops
/// to be heard, is lost within kDetectNsMax, unless it comes back before, or something is done to
/// the controller; and none is lost without a reason. No process ends
/// itself without a reason: a fault of its island's hosts or of the controller, or a failed island.
class DetectorChecker final : public ProcessSink {
 public:
  /// `truth` hears of everything before this does.
  DetectorChecker(const ProcessTruth& truth, ProcessTruth::Now now, Verdict& verdict)
      : truth_(truth), now_(std::move(now)), verdict_(verdict) {}

  void started(const cluster::RoleName& name, std::uint32_t life) override;
  void ended(const cluster::RoleName& name, std::uint32_t life) override;
  void orphaned(const cluster::RoleName& name) override;
  void began(const ProcessFault& fault) override;
  void finished(const ProcessFault& fault) override;
  void healed() override { watched_.clear(); }
  void record(const cluster::RoleName& teller, const events::Event& event) override;

  /// Whether somebody should have been found by now. Call it often.
  void look();
  /// The life that the controller takes for the present one; 0: none.
  std::uint32_t known_life(const cluster::RoleName& name) const;

 private:
  struct Watched {  // Who is not heard.
    cluster::RoleName name;
    std::uint32_t life = 0;
    std::uint64_t since_ns = 0;
  };
  void watch(const cluster::RoleName& name);
  void leave(const cluster::RoleName& name);
  void lose(const cluster::RoleName& name);
  bool may_be_lost(const cluster::RoleName& name) const;

  const ProcessTruth& truth_;
  const ProcessTruth::Now now_;
  Verdict& verdict_;
  std::map<cluster::RoleName, std::uint32_t> lives_, known_;
  std::map<cluster::RoleName, std::uint32_t> given_up_;  // The last life that was lost.
  std::set<IslandId> failed_;                            // As the controller says.
  std::vector<Watched> watched_;                         // By time.
};

}  // namespace seaway::sim
