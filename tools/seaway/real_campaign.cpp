// Deeds that are due, a step at a time.

#include "real_campaign.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "base/random.hpp"
#include "benchmarks/support/measure.hpp"

namespace seaway::tools {

using campaign::RealDone;
using campaign::RealEvent;
using campaign::RealFault;
using campaign::RealProcess;
using campaign::RealRole;

namespace {

constexpr std::uint64_t kMs = 1'000'000, kSecond = 1'000'000'000;
constexpr auto kStep = std::chrono::milliseconds(2);
constexpr std::uint64_t kLookNs = 200 * kMs;
constexpr std::uint32_t kWholeRestIn = 5;

}  // namespace

Status RealCampaign::run(const std::vector<RealEvent>& plan) {
  for (auto next = plan.begin(); next != plan.end();) {
    const auto end = std::find_if(
        next, plan.end(), [&](const RealEvent& event) { return event.round != next->round; });
    const bool is_whole = next->round % kWholeRestIn == kWholeRestIn - 1;
    if (Status status = do_round({next, end}); !status.ok()) return status;
    if (Status status = rest(is_whole); !status.ok()) return status;
    next = end;
  }
  return {};
}

Status RealCampaign::step() {
  const std::uint64_t now_ns = benchmarks::now_ns();
  while (!later_.empty() && later_.begin()->first <= now_ns) {
    const auto deed = std::move(later_.begin()->second);
    later_.erase(later_.begin());
    deed();
  }
  hear_of_links();
  if (now_ns >= sampled_ns_ + kSecond) {
    sampled_ns_ = now_ns;
    for (campaign::RealSample& one : cluster_.samples()) samples_.push_back(std::move(one));
  }
  if (!healing_.ok()) return healing_;
  if (Status status = cluster_.look_after(); !status.ok()) return status;
  std::this_thread::sleep_for(kStep);
  return {};
}

Status RealCampaign::do_round(const std::vector<RealEvent>& events) {
  // A round that began late, as the rest before it was long, is not hurried through.
  const std::uint64_t begin_ns = benchmarks::now_ns() - events.front().at_ns;
  for (std::size_t next = 0; next < events.size() || !later_.empty();) {
    const std::uint64_t now_ns = benchmarks::now_ns();
    if (next < events.size() && begin_ns + events[next].at_ns <= now_ns) begin(events[next++]);
    if (Status status = step(); !status.ok()) return status;
  }
  if (cluster_.proxy()) cluster_.proxy()->calm();
  hear_of_links();
  return {};
}

Status RealCampaign::rest(bool is_whole) {
  const std::uint64_t begin_ns = benchmarks::now_ns();
  const std::uint64_t most_ns = bounds_.settle_ns + bounds_.quiet_ns + kSecond;
  std::uint64_t looked_ns = begin_ns;
  for (;;) {
    if (Status status = step(); !status.ok()) return status;
    const std::uint64_t now_ns = benchmarks::now_ns();
    if (now_ns < looked_ns + kLookNs) continue;
    looked_ns = now_ns;
    const bool is_over = now_ns >= begin_ns + most_ns;
    if (!is_over && (is_whole || !cluster_.is_healed(begin_ns))) continue;
    const std::vector<std::string> left = cluster_.memory_of_dead_hosts();
    if (!is_over && !left.empty()) continue;
    left_.insert(left_.end(), left.begin(), left.end());
    return {};
  }
}

std::vector<RealDone> RealCampaign::done() const {
  std::vector<RealDone> done;
  for (const Made& one : made_) {
    if (one.is_made) done.push_back(one.done);
  }
  return done;
}

std::uint64_t RealCampaign::skipped() const { return never_ + made_.size() - done().size(); }

/// What happens to a connection happens when bytes come by.
void RealCampaign::hear_of_links() {
  if (!cluster_.proxy()) return;
  const std::uint64_t now_ns = benchmarks::now_ns();
  for (const std::uint64_t entry : cluster_.proxy()->take_fired()) {
    Made& one = made_[entry];
    if (!one.is_made && !is_quiet_) std::printf("%s\n", to_string(one.done.event).c_str());
    one.is_made = true;
    one.done.end_ns = std::max(one.done.end_ns, now_ns);
  }
  std::fflush(stdout);
}

void RealCampaign::after(std::uint64_t ns, std::function<void()> deed) {
  later_.emplace(benchmarks::now_ns() + ns, std::move(deed));
}

bool RealCampaign::kill(const RealProcess& process) {
  return cluster_.kill(process, benchmarks::now_ns());
}

/// Killed as soon as it is another process than `before`, or there is none to be seen.
void RealCampaign::kill_again(const RealProcess& process, pid_t before, int times,
                              std::size_t entry) {
  if (times == 0) return;
  after(10 * kMs, [=, this] {
    const pid_t now = cluster_.process_of(process);
    made_[entry].done.end_ns = benchmarks::now_ns();
    if (now == 0 || now == before) return kill_again(process, before, times, entry);
    if (kill(process)) kill_again(process, now, times - 1, entry);
  });
}

void RealCampaign::begin(const RealEvent& event) {
  const std::size_t entry = made_.size();
  const std::uint64_t now_ns = benchmarks::now_ns();
  // Of connections that go through the proxy the proxy says when it happens.
  const bool is_later = is_of_links(event.fault) && cluster_.proxy();
  made_.push_back({{event, now_ns, now_ns + event.for_ns}, !is_later});
  if (!make(event, entry)) {
    made_.pop_back();
    ++never_;
    return;
  }
  if (!is_quiet_ && !is_later) std::printf("%s\n", to_string(event).c_str());
  std::fflush(stdout);
}

bool RealCampaign::make(const RealEvent& event, std::size_t entry) {
  switch (event.fault) {
    case RealFault::kKill:
    case RealFault::kAgain:
    case RealFault::kMachine:
    case RealFault::kLoop:
      return make_deaths(event, entry);
    case RealFault::kStop:
      return stop(event.target, event.for_ns);
    case RealFault::kStraggle:
      return straggle(event.target, benchmarks::now_ns() + event.for_ns, event.amount);
    case RealFault::kMemory:
    case RealFault::kFiles:
      if (!cluster_.bound(event.target, event.fault, true)) return false;
      after(event.for_ns, [this, event] { cluster_.bound(event.target, event.fault, false); });
      return true;
    case RealFault::kDisk:
      if (!cluster_.fill_disk(true)) return false;
      after(event.for_ns, [this] { cluster_.fill_disk(false); });
      return true;
    case RealFault::kStranger:
      return say_nonsense(event);
    case RealFault::kFlood:
      return flood(event);
    default:
      if (cluster_.networks()) return make_partition(event, entry);
      return cluster_.proxy() && make_on_links(event, entry);
  }
}

bool RealCampaign::make_deaths(const RealEvent& event, std::size_t entry) {
  const pid_t before = cluster_.process_of(event.target);
  bool is_done = kill(event.target);
  if (event.fault == RealFault::kMachine) {
    const std::uint32_t island = event.target.index;
    is_done = kill({RealRole::kScheduler, island}) || is_done;
    for (const RealProcess& annex : cluster_.annexes_of(island)) is_done = kill(annex) || is_done;
  }
  if (is_done && event.fault == RealFault::kAgain) {
    after(event.amount, [this, peer = *event.peer, entry] {
      kill(peer);
      made_[entry].done.end_ns = benchmarks::now_ns();
    });
  }
  if (is_done && event.fault == RealFault::kLoop) kill_again(event.target, before, 2, entry);
  return is_done;
}

bool RealCampaign::make_on_links(const RealEvent& event, std::size_t entry) {
  FaultProxy& proxy = *cluster_.proxy();
  FaultProxy::Where all{to_string(event.target)};
  FaultProxy::Where link = all;
  if (event.peer) link.other = to_string(*event.peer);
  FaultProxy::Where way = link;
  (event.from_peer ? way.says : way.hears) = false;
  using Blow = FaultProxy::Blow;
  const auto strike = [&](Blow blow, std::uint64_t behind, std::uint64_t count) {
    // Of two that do not talk, one does with somebody.
    all.says = way.says;
    all.hears = way.hears;
    return proxy.strike(way, blow, behind, count, entry) ||
           proxy.strike(all, blow, behind, count, entry);
  };
  switch (event.fault) {
    case RealFault::kIsolate:
      proxy.hold(all, event.for_ns, entry);
      return true;
    case RealFault::kDeafen:
      all.says = false;
      proxy.hold(all, event.for_ns, entry);
      return true;
    case RealFault::kMute:
      all.hears = false;
      proxy.hold(all, event.for_ns, entry);
      return true;
    case RealFault::kSever:
      proxy.hold(link, event.for_ns, entry);
      return true;
    case RealFault::kSwizzle:
      swizzle(to_string(event.target), event.for_ns, entry);
      return true;
    case RealFault::kDelay:
      proxy.delay(way, event.amount, event.for_ns, entry);
      return true;
    case RealFault::kCut:
      return strike(Blow::kCut, event.amount, 0);
    case RealFault::kReset:
      return strike(Blow::kReset, event.amount, 0);
    case RealFault::kHalfOpen:
      return strike(Blow::kHalfOpen, 0, 0);
    case RealFault::kLose:
      return strike(Blow::kLose, 0, event.amount);
    case RealFault::kReplay:
      return strike(Blow::kReplay, event.amount, 0);
    case RealFault::kFlip:
      return strike(Blow::kFlip, event.amount, event.amount);
    default:
      return false;
  }
}

bool RealCampaign::make_partition(const RealEvent& event, std::size_t entry) {
  NetNamespaces& networks = *cluster_.networks();
  const std::string name = to_string(event.target);
  bool is_done = false;
  switch (event.fault) {
    case RealFault::kIsolate:
      if (!networks.cut(name, true).ok()) return false;
      heal(event.for_ns, [&networks, name] { return networks.cut(name, false); });
      return true;
    case RealFault::kDeafen:
    case RealFault::kMute:
      for (const std::string& other : cluster_.names()) {
        if (other == name) continue;
        const bool is_mute = event.fault == RealFault::kMute;
        is_done = drop(is_mute ? name : other, is_mute ? other : name, event.for_ns) || is_done;
      }
      return is_done;
    case RealFault::kSever:
      is_done = drop(name, to_string(*event.peer), event.for_ns);
      return drop(to_string(*event.peer), name, event.for_ns) || is_done;
    case RealFault::kSwizzle:
      swizzle(name, event.for_ns, entry);
      return true;
    default:
      return false;
  }
}

bool RealCampaign::drop(const std::string& from, const std::string& to, std::uint64_t for_ns) {
  NetNamespaces& networks = *cluster_.networks();
  if (!networks.drop(from, to, true).ok()) return false;
  heal(for_ns, [&networks, from, to] { return networks.drop(from, to, false); });
  return true;
}

/// A network that stays broken is no fault of the cluster's.
void RealCampaign::heal(std::uint64_t after_ns, std::function<Status()> deed) {
  after(after_ns, [this, deed = std::move(deed)] {
    Status status = deed();
    if (healing_.ok()) healing_ = std::move(status);
  });
}

void RealCampaign::hold(const std::string& name, const std::string& other, std::uint64_t for_ns,
                        std::size_t entry) {
  if (cluster_.proxy()) return cluster_.proxy()->hold({name, other}, for_ns, entry);
  if (name == other) return;
  drop(name, other, for_ns);
  drop(other, name, for_ns);
}

/// Each link for another time, which begin one after the other.
void RealCampaign::swizzle(const std::string& name, std::uint64_t for_ns, std::size_t entry) {
  RandomStream draws(for_ns, 2);
  std::uint64_t last_ns = 0;
  for (const std::string& other : cluster_.names()) {
    const std::uint64_t begin_ns = draws.below(for_ns), held_ns = 1 + draws.below(for_ns);
    last_ns = std::max(last_ns, begin_ns + held_ns);
    after(begin_ns, [=, this] { hold(name, other, held_ns, entry); });
  }
  made_[entry].done.end_ns = made_[entry].done.begin_ns + last_ns;
}

bool RealCampaign::stop(const RealProcess& process, std::uint64_t for_ns) {
  const pid_t number = cluster_.process_of(process);
  if (number == 0 || !cluster_.signal(process, SIGSTOP)) return false;
  after(for_ns, [this, process, number] {
    if (cluster_.process_of(process) == number) ::kill(number, SIGCONT);
  });
  return true;
}

bool RealCampaign::straggle(const RealProcess& process, std::uint64_t until_ns,
                            std::uint64_t period_ns) {
  if (benchmarks::now_ns() >= until_ns) return true;
  const bool is_stopped = stop(process, period_ns);
  after(2 * period_ns, [=, this] { straggle(process, until_ns, period_ns); });
  return is_stopped;
}

/// Bytes that are no message, half of one, or one of far too many segments.
bool RealCampaign::say_nonsense(const RealEvent& event) {
  const int socket = cluster_.connect_to(event.target);
  if (socket < 0) return false;
  RandomStream draws(event.amount, 1);
  std::vector<std::uint32_t> words(1 + draws.below(1024));
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(draws.next());
  if (draws.below(2) == 0) words[0] = static_cast<std::uint32_t>(draws.below(3));
  static_cast<void>(!::send(socket, words.data(), words.size() * 4, MSG_NOSIGNAL));
  after(draws.below(2) * kSecond, [socket] { ::close(socket); });
  return true;
}

bool RealCampaign::flood(const RealEvent& event) {
  auto sockets = std::make_shared<std::vector<int>>();
  for (std::uint64_t i = 0; i < event.amount; ++i) {
    const int socket = cluster_.connect_to(event.target);
    if (socket >= 0) sockets->push_back(socket);
  }
  if (sockets->empty()) return false;
  after(event.for_ns / 2, [sockets] {
    const char byte = 0;
    static_cast<void>(!::send(sockets->front(), &byte, 1, MSG_NOSIGNAL));
  });
  after(event.for_ns, [sockets] {
    for (const int socket : *sockets) ::close(socket);
  });
  return true;
}

}  // namespace seaway::tools
