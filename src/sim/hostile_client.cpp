// A pool of frames, and a loop that sends from it.

#include "sim/hostile_client.hpp"

#include <utility>

#include "base/probe.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kStream = 0x686f7374696c6500;
constexpr std::size_t kTappedMax = 256;
constexpr std::size_t kTappedBytesMax = std::size_t{64} << 10;  // Of one frame.
constexpr std::int64_t kRoundsMax = 40;
constexpr unsigned kPauseBits = 25;  // Up to 33 ms.

}  // namespace

const std::string HostileClient::kTenant = "hostile";

HostileClient::HostileClient(std::uint64_t seed, std::uint32_t hosts)
    : hosts_(hosts), random_(seed, kStream) {}

/// A sample in which all frames are equally likely (Vitter, "Random sampling with a reservoir",
/// 1985).
void HostileClient::tap(ClientId from, transport::ProcessId to, std::uint32_t channel,
                        const Frame& frame) {
  if (frame.size_bytes() > kTappedBytesMax) return;
  ++seen_;
  TappedFrame tapped{from, to, channel, frame};
  if (tapped_.size() < kTappedMax) {
    tapped_.push_back(std::move(tapped));
  } else if (const std::uint64_t at = random_.below(seen_); at < kTappedMax) {
    tapped_[at] = std::move(tapped);
  }
}

void HostileClient::live(cluster::Member& member, actor::SeededProcess& process) {
  ClientOptions options;
  options.tenant = kTenant;
  const auto connected = member.connect(std::move(options));
  if (!connected.ok()) return;
  const ClientId self = member.name().index;
  for (std::int64_t left = random_.between(1, kRoundsMax); left > 0; --left) {
    const std::uint64_t pause_ns =
        random_.below(std::uint64_t{1} << random_.between(1, kPauseBits));
    process.wait([] { return false; }, process.clock().now_ns() + 1 + pause_ns);
    if (tapped_.empty()) continue;
    const TappedFrame& tapped = tapped_[random_.below(tapped_.size())];
    const auto change = static_cast<HostileChange>(random_.below(kHostileChanges));
    SEAWAY_PROBE_IF(change == HostileChange::kForeign, "a hostile client sends foreign ids");
    SEAWAY_PROBE_IF(change != HostileChange::kForeign, "a hostile client sends a damaged frame");
    member.peers().send_raw(tapped.to, tapped.channel,
                            make_hostile(tapped, self, hosts_, change, random_),
                            transport::Lane::kControl);
    ++sent_;
  }
}

}  // namespace seaway::sim
