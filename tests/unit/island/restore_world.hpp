// RestoreWorld: one island with a real scheduler core that may be lost at any moment, a model of
// its host, and frames in flight between them. Peers and controller do anything at any time.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "island/scheduler_core.hpp"

namespace seaway::island {

class RestoreWorld {
 public:
  explicit RestoreWorld(std::uint64_t seed);

  /// One step that the world may take now, by chance. False: there is none.
  bool step();
  bool over() const;

  /// The scheduler is lost, with what it said and was told and has not arrived; a new one goes on.
  void lose_scheduler();
  /// The same when nothing is in flight: the new scheduler has to equal the lost one.
  void replace_scheduler();

  /// What should never be, if it has been seen.
  const std::string& violation() const { return violation_; }
  /// How often replace_scheduler() could compare everything.
  std::uint32_t exact_comparisons() const { return exact_; }
  const SchedulerCore& core() const { return core_; }
  std::uint32_t devices() const { return options_.devices; }

  /// What the snapshots held that the schedulers were restored from.
  struct Seen {
    std::uint32_t overtakers = 0, moved = 0, fencing = 0, out_of_order = 0;
    std::uint32_t only_at_host = 0, not_at_host = 0, over_at_host = 0;
    std::uint32_t in_spill_room = 0, spilling = 0, poison = 0, donated = 0;
  };
  const Seen& seen() const { return seen_; }
  std::string to_string() const;

 private:
  struct HostPart {
    const Launch* launch = nullptr;
    PartState state;
    std::vector<char> started, done;  // By gang.
    std::set<DeviceId> begun, vanished;
    bool failed = false;
  };
  struct HostArray {
    ArrayState state;
    std::set<DeviceId> present;  // Where its bytes or its room are.
    bool behind = false;         // The scheduler's books may say more room than it takes.
    bool unsure_copy = false;    // Host and scheduler may differ on its copy in spill room.
  };
  struct Item {  // Of a stream.
    enum class Kind : std::uint8_t { kAdmit, kGang, kFree, kVanish };
    Kind kind = Kind::kGang;
    std::uint64_t id = 0;  // Stamp, or array.
    std::uint32_t gang = 0;
  };
  struct Word {  // To the scheduler.
    enum class Kind : std::uint8_t {
      kDone,
      kReceived,
      kMoved,
      kFenced,
      kSpilled,
      kExists,
      kLaunch,
      kCancel,
      kFree
    };
    Kind kind = Kind::kDone;
    std::uint64_t id = 0;
    std::uint32_t number = 0;
  };
  struct Step {
    enum class Kind : std::uint8_t {
      kOrder,
      kOutward,
      kHostWord,
      kPeerWord,
      kControllerWord,
      kHostLaunch,
      kIssue,
      kFree,
      kCancel,
      kExists,
      kChoice,
      kStart,
      kFinish,
      kValue,
      kClose,
      kSpill,
      kMove,
      kFence
    };
    Kind kind = Kind::kOrder;
    std::uint64_t id = 0;
    std::uint32_t number = 0;
  };

  // restore_plans.cpp: what the controller will launch.
  void make_launches(std::uint32_t count);
  Launch make_launch(Stamp stamp);

  // restore_world.cpp: links, peers and the controller.
  void steps(std::vector<Step>& out);
  void take(const Step& step);
  void take_actions();
  void hear(const Word& word);
  bool deliver_order();
  void deliver_outward();
  template <class Queue>
  void deliver_all(Queue& queue);
  void restore(bool says_exists_before);
  void say_again_exists();
  void note(const Snapshot& known);
  Snapshot snapshot() const;
  bool books_are_exact() const;
  void fail(const std::string& text);

  // restore_host.cpp: the host.
  void launch_at_host(const Launch& launch);
  void apply(const Action& action);
  void cancel_at_host(Stamp stamp);
  void vanish(const HostPart& part);
  void settle_streams();
  void pass(DeviceId device, const Item& item);
  bool can_start(const HostPart& part, std::uint32_t gang) const;
  void start(HostPart& part, std::uint32_t gang);
  void finish(HostPart& part, std::uint32_t gang);
  void give_back_copies();
  bool uses(const HostPart& part, ArrayId array) const;
  void end_if_over(Stamp stamp);
  void check_memory();
  std::uint64_t block_bytes(const HostPart& part) const;
  const std::vector<DeviceId>& devices_of(const HostPart& part, std::uint32_t gang) const;
  void host_steps(std::vector<Step>& out, std::vector<Step>& late) const;

  RandomStream random_;
  CoreOptions options_;
  SchedulerCore core_;
  bool poison_keeps_room_ = false, cancels_ = false;

  // The controller.
  std::vector<Launch> launches_;
  std::map<ArrayId, std::pair<std::vector<DeviceId>, std::uint64_t>> shapes_;
  std::set<ArrayId> uploads_, named_, given_;
  std::map<ArrayId, std::size_t> last_use_;  // By launches that name it.
  std::size_t issued_ = 0;
  std::set<Stamp> unfinished_, cancelled_;
  std::set<std::pair<Stamp, std::uint32_t>> said_, heard_;  // Exists, from peers and to peers.

  // In flight.
  std::deque<Action> orders_, outward_;
  std::deque<Word> from_host_, from_peers_, from_controller_;
  std::deque<const Launch*> to_host_;

  // The host.
  std::map<Stamp, HostPart> parts_;
  std::map<ArrayId, HostArray> arrays_;
  std::vector<std::deque<Item>> streams_;
  Stamp last_at_host_ = 0;

  Seen seen_;
  std::uint32_t exact_ = 0;
  std::string violation_;
};

}  // namespace seaway::island
