// ProcessTruth: who may have lost whom by now, as what was done to processes and links says.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "sim/process_sink.hpp"

namespace seaway::sim {

/// Detectors have limits: a pause or a clock that was moved by less than this is no reason to take
/// anybody for lost, even if two of them come together. Wires that break, flip and repeat never
/// are, nor clocks that are a little fast or slow.
constexpr std::uint64_t kNoticeableNs = 300'000'000;
/// So long after its end a fault may still be the reason of a loss: by then whoever waited in
/// silence has given up, and whoever has to begin anew for it has done so.
constexpr std::uint64_t kAftermathNs = 2'500'000'000;
/// So long a value that a client reads may be on its way to it: a request ends by then.
constexpr std::uint64_t kReadNs = 3'000'000'000;

/// What an error of a loss may be excused with: nothing that roles say or know enters, only what
/// was done to them. A scheduler is nobody's excuse, for its loss alone costs no run.
class ProcessTruth final : public ProcessSink {
 public:
  using Now = std::function<std::uint64_t()>;
  /// Slices that are bound to a device now. None while there is no controller.
  using SlicesOn = std::function<std::vector<SliceId>(IslandId island, DeviceId device)>;

  ProcessTruth(std::uint32_t islands, std::uint32_t devices, Now now, SlicesOn slices_on)
      : islands_(islands),
        devices_(devices),
        now_(std::move(now)),
        slices_on_(std::move(slices_on)) {}

  void started(const cluster::RoleName& name, std::uint32_t life) override;
  void ended(const cluster::RoleName& name, std::uint32_t life) override;
  void began(const ProcessFault& fault) override;
  void finished(const ProcessFault& fault) override;
  void healed() override;
  void record(const cluster::RoleName& teller, const events::Event& event) override;

  /// The role whose faults count for `name`: of all hosts of an island, its first host.
  static cluster::RoleName struck_by(const cluster::RoleName& name);
  /// Something that was done may make one of the two take the other one for lost now.
  bool may_be_apart(const cluster::RoleName& one, const cluster::RoleName& other) const;
  /// Something is wrong with it, or was lately, that all others notice.
  bool is_odd(const cluster::RoleName& name) const;
  /// Anything at all was done by now, but drains.
  bool has_begun() const { return has_begun_; }
  /// Anything at all was done lately.
  bool is_troubled() const;
  /// It was so at some time in the last `within_ns`: requests may have waited for their limit.
  bool was_troubled(std::uint64_t within_ns) const;
  /// Looks which slices lie on islands that something is wrong with now: call it often.
  void look();
  /// Fault points have made connections late, or islands have several hosts: hosts may be late at
  /// their start, though nothing was done to them.
  void note_late_connections() { is_start_slow_ = true; }

  /// An island was drained: what asked for that one, or for yet another one, was refused.
  bool was_drained() const { return was_drained_; }
  /// A client's error of a loss has a reason, when it is of something that depends on `slice`.
  bool is_excused(ClientId client, SliceId slice) const;
  /// The same of what concerns the client as a whole: its session.
  bool is_excused(ClientId client) const;
  /// The same of a wish for devices, whichever they are: hosts that were held up at their start
  /// are a reason, too.
  bool is_any_excused(ClientId client) const;

 private:
  struct Spell {  // A time of trouble.
    int open = 0;
    std::uint64_t until_ns = 0;
  };
  using Pair = std::pair<cluster::RoleName, cluster::RoleName>;  // In order.

  bool is_on(const Spell& spell) const { return spell.open > 0 || now_() < spell.until_ns; }
  bool is_on(const cluster::RoleName& one, const cluster::RoleName& other) const;
  Spell* spell_of(const ProcessFault& fault);
  void close(Spell& spell, std::uint64_t after_ns);
  bool is_island_troubled(IslandId island) const;
  void see_slices();
  bool is_held_up() const;  // Not all hosts are there, and something may be the reason.

  const std::uint32_t islands_, devices_;
  const Now now_;
  const SlicesOn slices_on_;
  std::map<cluster::RoleName, Spell> alone_;  // It and everybody else.
  std::map<Pair, Spell> apart_;
  std::map<cluster::RoleName, Spell> down_;               // From one life to the next one.
  std::set<std::pair<IslandId, DeviceId>> lost_devices_;  // In this life of their host.
  std::set<ClientId> clients_;                            // That live, or have ended by themselves.
  std::set<IslandId> joined_;      // Their hosts are known to the controller.
  std::set<IslandId> failed_;      // As the controller says; detector_checker looks after that.
  std::uint64_t troubled_ns_ = 0;  // When it was so last.
  bool has_begun_ = false;         // Something has been done.
  bool was_drained_ = false;
  bool is_start_slow_ = false;
  std::uint64_t looks_ = 0;
  std::map<std::pair<IslandId, SliceId>, std::uint64_t> seen_ns_;  // When it was there last.
  std::set<SliceId> struck_;
  std::set<ClientId> struck_clients_, troubled_clients_;
};

}  // namespace seaway::sim
