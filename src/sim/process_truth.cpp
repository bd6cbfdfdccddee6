// Spells of trouble, opened and closed by what is done to processes.

#include "sim/process_truth.hpp"

#include <algorithm>
#include <cstdlib>

namespace seaway::sim {

using actor::Role;
using cluster::RoleName;
using events::EventKind;
using Kind = ProcessFault::Kind;

namespace {

constexpr RoleName kController{Role::kController, 0};

std::uint64_t size_of_jump(const ProcessFault& fault) {
  return static_cast<std::uint64_t>(std::llabs(fault.amount));
}

}  // namespace

RoleName ProcessTruth::struck_by(const RoleName& name) {
  if (name.role != Role::kAnnex) return name;
  return {Role::kHost, actor::island_of_annex(name.index)};
}

ProcessTruth::Spell* ProcessTruth::spell_of(const ProcessFault& fault) {
  switch (fault.kind) {
    case Kind::kKill:
    case Kind::kKillMachine:
    case Kind::kCrashLoop:  // Their ends and starts are heard of.
    case Kind::kDrain:
    case Kind::kClockRate:
      return nullptr;
    case Kind::kPause:
      return fault.duration_ns < kNoticeableNs ? nullptr : &alone_[struck_by(fault.target)];
    case Kind::kClockJump:
      return size_of_jump(fault) < kNoticeableNs ? nullptr : &alone_[struck_by(fault.target)];
    case Kind::kIsolate:
    case Kind::kDeafen:
    case Kind::kMute:
      return &alone_[struck_by(fault.target)];
    case Kind::kCutPair:
      // An annex talks with its host and the controller alone.
      if (fault.target.role == Role::kAnnex) return &alone_[struck_by(fault.target)];
      if (fault.other.role == Role::kAnnex) return &alone_[struck_by(fault.other)];
      return &apart_[std::minmax(fault.target, fault.other)];
  }
  return nullptr;
}

void ProcessTruth::close(Spell& spell, std::uint64_t after_ns) {
  if (spell.open > 0) --spell.open;
  spell.until_ns = std::max(spell.until_ns, now_() + after_ns);
}

void ProcessTruth::began(const ProcessFault& fault) {
  was_drained_ |= fault.kind == Kind::kDrain;
  if (fault.kind == Kind::kDrain) return;
  has_begun_ = true;
  if (Spell* spell = spell_of(fault)) ++spell->open;
  look();
}

void ProcessTruth::finished(const ProcessFault& fault) {
  // A clock that is moved back stands still for so long.
  const std::uint64_t still_ns = fault.kind == Kind::kClockJump ? size_of_jump(fault) : 0;
  if (Spell* spell = spell_of(fault)) close(*spell, still_ns + kAftermathNs);
}

void ProcessTruth::healed() {
  constexpr std::uint64_t kJumpNsMax = 3'000'000'000;
  for (auto& [name, spell] : alone_) {
    if (std::exchange(spell.open, 0) > 0) close(spell, kJumpNsMax + kAftermathNs);
  }
  for (auto& [pair, spell] : apart_) {
    if (std::exchange(spell.open, 0) > 0) close(spell, kAftermathNs);
  }
}

void ProcessTruth::ended(const RoleName& name, std::uint32_t) {
  if (name.role == Role::kClient) {  // Nobody else has anything of it.
    clients_.erase(name.index);
    return;
  }
  ++down_[struck_by(name)].open;
  look();
}

void ProcessTruth::started(const RoleName& name, std::uint32_t life) {
  if (name.role == Role::kClient) clients_.insert(name.index);
  if (life > 1) close(down_[struck_by(name)], kAftermathNs);
  if (name == kController) {
    joined_.clear();
    failed_.clear();
  }
  if (name.role != Role::kHost) return;
  std::erase_if(lost_devices_, [&name](const auto& lost) { return lost.first == name.index; });
}

void ProcessTruth::record(const RoleName& teller, const events::Event& event) {
  if (event.kind == EventKind::kDeviceLost) lost_devices_.emplace(event.island, event.place);
  if (event.kind == EventKind::kIslandFailed && event.value > 0) failed_.insert(event.island);
  if (event.kind == EventKind::kIslandFailed && event.value == 0) failed_.erase(event.island);
  // Whatever the controller has just done about it, it was so before.
  if (teller.role == Role::kController) look();
  if (event.kind == EventKind::kHostJoined) joined_.insert(event.island);
  if (event.kind == EventKind::kHostLost) joined_.erase(event.island);
}

bool ProcessTruth::is_odd(const RoleName& name) const {
  const auto alone = alone_.find(name);
  if (alone != alone_.end() && is_on(alone->second)) return true;
  const auto down = down_.find(name);
  return down != down_.end() && is_on(down->second);
}

bool ProcessTruth::is_on(const RoleName& one, const RoleName& other) const {
  const auto found = apart_.find(std::minmax(one, other));
  return found != apart_.end() && is_on(found->second);
}

bool ProcessTruth::may_be_apart(const RoleName& one, const RoleName& other) const {
  return is_odd(one) || is_odd(other) || is_on(one, other);
}

bool ProcessTruth::is_troubled() const {
  const auto is_any = [this](const auto& spells) {
    return std::any_of(spells.begin(), spells.end(),
                       [this](const auto& entry) { return is_on(entry.second); });
  };
  return !lost_devices_.empty() || !failed_.empty() || is_any(alone_) || is_any(down_) ||
         is_any(apart_);
}

bool ProcessTruth::is_island_troubled(IslandId island) const {
  const RoleName host{Role::kHost, island};
  if (may_be_apart(host, kController) || failed_.contains(island)) return true;
  for (IslandId other = 0; other < islands_; ++other) {
    // Of a loss of the other one, the slices there tell.
    if (other != island && is_on(host, {Role::kHost, other})) return true;
  }
  return false;
}

bool ProcessTruth::was_troubled(std::uint64_t within_ns) const {
  return has_begun_ && now_() <= troubled_ns_ + within_ns;
}

/// What clients read there may be on its way when the slice is elsewhere already.
void ProcessTruth::see_slices() {
  for (IslandId island = 0; island < islands_; ++island) {
    for (DeviceId device = 0; device < devices_; ++device) {
      for (const SliceId slice : slices_on_(island, device)) seen_ns_[{island, slice}] = now_();
    }
  }
}

void ProcessTruth::look() {
  constexpr std::uint64_t kSeesEvery = 16;
  if (looks_++ % kSeesEvery == 0) see_slices();
  if (is_held_up()) troubled_clients_.insert(clients_.begin(), clients_.end());
  if (!is_troubled()) return;
  troubled_ns_ = now_();
  for (const ClientId client : clients_) {
    if (may_be_apart({Role::kClient, client}, kController)) struck_clients_.insert(client);
  }
  for (IslandId island = 0; island < islands_; ++island) {
    const bool is_all_struck = is_island_troubled(island);
    if (is_all_struck) {
      troubled_clients_ = clients_;
      const auto end = seen_ns_.lower_bound({island + 1, 0});
      for (auto seen = seen_ns_.lower_bound({island, 0}); seen != end; ++seen) {
        if (now_() - seen->second <= kReadNs) struck_.insert(seen->first.second);
      }
    }
    for (DeviceId device = 0; device < devices_; ++device) {
      const bool is_struck = is_all_struck || lost_devices_.contains({island, device});
      for (const SliceId slice : slices_on_(island, device)) {
        const RoleName client{Role::kClient, client_of(slice)};
        if (is_struck || is_on({Role::kHost, island}, client)) struck_.insert(slice);
      }
    }
  }
}

bool ProcessTruth::is_excused(ClientId client) const {
  return struck_clients_.contains(client) || may_be_apart({Role::kClient, client}, kController);
}

bool ProcessTruth::is_excused(ClientId client, SliceId slice) const {
  return is_excused(client) || struck_.contains(slice);
}

bool ProcessTruth::is_held_up() const {
  return (has_begun_ || is_start_slow_) && joined_.size() < islands_;
}

bool ProcessTruth::is_any_excused(ClientId client) const {
  return is_excused(client) || troubled_clients_.contains(client) || !lost_devices_.empty() ||
         is_held_up();
}

}  // namespace seaway::sim
