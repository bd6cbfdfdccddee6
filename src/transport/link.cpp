// Arrival times, and the options that set them.

#include "transport/link.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"
#include "base/parse.hpp"

namespace seaway::transport {
namespace {

constexpr std::uint64_t kForever = ~std::uint64_t{0};

std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) {
  return a > kForever - b ? kForever : a + b;
}

/// Rounded up: a byte has not left before its time.
std::uint64_t duration_ns(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  if (bytes_per_second == 0) return 0;
  const auto byte_ns = static_cast<__uint128_t>(bytes) * 1'000'000'000;
  const auto duration = (byte_ns + bytes_per_second - 1) / bytes_per_second;
  return duration > kForever ? kForever : static_cast<std::uint64_t>(duration);
}

}  // namespace

Status set_link_option(LinkOptions& options, std::string_view key, std::string_view value) {
  const bool is_latency = key == "link_latency";
  if (!is_latency && key != "link_bandwidth") {
    return invalid_argument("link option \"" + std::string(key) +
                            "\" is unknown; known: link_latency, link_bandwidth");
  }
  const Result<std::uint64_t> number = is_latency ? parse_duration_ns(value) : parse_bytes(value);
  if (!number.ok()) return invalid_argument(std::string(key) + ": " + number.status().message());
  (is_latency ? options.latency_ns : options.bytes_per_second) = *number;
  return {};
}

std::uint64_t LinkModel::depart(std::uint64_t now_ns, std::uint64_t bytes) {
  free_at_ns_ =
      add_saturated(std::max(now_ns, free_at_ns_), duration_ns(bytes, options_.bytes_per_second));
  bytes_sent_ += bytes;
  return add_saturated(free_at_ns_, options_.latency_ns);
}

ClusterLinks::ClusterLinks(std::uint32_t islands, LinkOptions options)
    : islands_(islands), links_(std::size_t{islands} * islands, LinkModel(options)) {
  for (IslandId island = 0; island < islands; ++island) links_[index(island, island)] = LinkModel();
}

Result<ClusterLinks> ClusterLinks::make(std::uint32_t islands, LinkOptions options) {
  if (islands > kIslandsMax) {
    return invalid_argument("links between " + std::to_string(islands) +
                            " islands refused: at most " + std::to_string(kIslandsMax) +
                            " may be in one cluster; use fewer, larger islands");
  }
  return ClusterLinks(islands, options);
}

std::size_t ClusterLinks::index(IslandId from, IslandId to) const {
  SEAWAY_CHECK(from < islands_ && to < islands_, from, to, islands_);
  return std::size_t{from} * islands_ + to;
}

std::uint64_t ClusterLinks::depart(IslandId from, IslandId to, std::uint64_t now_ns,
                                   std::uint64_t bytes) {
  LinkModel& link = links_[index(from, to)];
  // Within an island nothing queues, so a later call may name an earlier time.
  return from == to ? now_ns : link.depart(now_ns, bytes);
}

const LinkModel& ClusterLinks::link(IslandId from, IslandId to) const {
  return links_[index(from, to)];
}

}  // namespace seaway::transport
