// ClientWatch: clients hear of everything in time, and nothing is kept for those that are dead.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sim/process_truth.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// After the end of all faults no future of a client is open for longer.
constexpr std::uint64_t kSettleNsMax = 10'000'000'000;
/// So long after its death, and after the end of what hinders those who clean up behind it, nothing
/// of a client is left.
constexpr std::uint64_t kCleanNsMax = 5'000'000'000;

/// I2 and the promises that give it a time: each future of a client that lives is resolved within
/// kSettleNsMax of the last fault; what a killed one had is gone after kCleanNsMax.
class ClientWatch final : public ProcessSink {
 public:
  /// Since when a client waits for the oldest of what it waits for.
  using WaitsSince = std::function<std::optional<std::uint64_t>()>;
  /// What is left of a client, for people; empty: nothing.
  using Remains = std::function<std::string(ClientId client)>;

  /// `settle_ns`: what the world's devices may take for themselves on top. `truth` hears of
  /// everything before this does.
  ClientWatch(const ProcessTruth& truth, ProcessTruth::Now now, std::uint64_t settle_ns,
              Remains remains, Verdict& verdict)
      : truth_(truth),
        now_(std::move(now)),
        settle_ns_(settle_ns),
        remains_(std::move(remains)),
        verdict_(verdict) {}

  void ended(const cluster::RoleName& name, std::uint32_t life) override;
  void healed() override { healed_ns_ = now_(); }

  /// The client lives from now on, until it is taken out.
  void add(ClientId client, WaitsSince waits_since_ns) {
    clients_[client] = std::move(waits_since_ns);
  }
  void remove(ClientId client) { clients_.erase(client); }
  /// It lives, and waits for something now.
  bool waits(ClientId client) const;
  /// Whether something lasts for too long. Call it often.
  void look();

 private:
  const ProcessTruth& truth_;
  const ProcessTruth::Now now_;
  const std::uint64_t settle_ns_;
  const Remains remains_;
  Verdict& verdict_;
  std::map<ClientId, WaitsSince> clients_;
  std::map<ClientId, std::uint64_t>
      dead_;  // When they died, or were last hindered to be forgotten.
  std::uint64_t healed_ns_ = 0;
};

}  // namespace seaway::sim
