// LinkModel: when bytes arrive over a link with a latency and a bandwidth that all tenants share.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/limits.hpp"
#include "seaway/status.hpp"

namespace seaway::transport {

struct LinkOptions {
  std::uint64_t latency_ns = 0;
  std::uint64_t bytes_per_second = 0;  // 0: unlimited.

  friend bool operator==(const LinkOptions&, const LinkOptions&) = default;
};

/// Sets "link_latency" to a duration such as "50us", or "link_bandwidth" to bytes per second such
/// as "1GB" (0: unlimited), for a caller that has other keys beside these. Errors: kInvalidArgument
/// for another key or a value that is no duration or size.
Status set_link_option(LinkOptions& options, std::string_view key, std::string_view value);

/// One direction of one link: first come, first served. A copyable value; time is handed in.
class LinkModel {
 public:
  LinkModel() = default;
  explicit LinkModel(LinkOptions options) : options_(options) {}

  /// Sends `bytes` at `now_ns`, behind all that was sent before, and returns when the last byte
  /// has arrived. Saturates instead of wrapping around. `now_ns` may not run backwards.
  std::uint64_t depart(std::uint64_t now_ns, std::uint64_t bytes);

  /// When the last byte sent so far has left; the link is free from then on.
  std::uint64_t free_at_ns() const { return free_at_ns_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  const LinkOptions& options() const { return options_; }

 private:
  LinkOptions options_;
  std::uint64_t free_at_ns_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

/// One link in each direction between each two islands; within an island bytes arrive at once.
class ClusterLinks {
 public:
  static constexpr std::uint32_t kIslandsMax = limits::kIslands.max;

  /// Errors: kInvalidArgument for more than kIslandsMax islands.
  static Result<ClusterLinks> make(std::uint32_t islands, LinkOptions options);

  /// As LinkModel::depart(), over the link from `from` to `to`; both must be < islands().
  std::uint64_t depart(IslandId from, IslandId to, std::uint64_t now_ns, std::uint64_t bytes);
  const LinkModel& link(IslandId from, IslandId to) const;
  std::uint32_t islands() const { return islands_; }

 private:
  ClusterLinks(std::uint32_t islands, LinkOptions options);
  std::size_t index(IslandId from, IslandId to) const;

  std::uint32_t islands_;
  std::vector<LinkModel> links_;
};

}  // namespace seaway::transport
