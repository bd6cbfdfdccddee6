// Pieces of drawn lengths at drawn times.

#include "sim/sim_data_plane.hpp"

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"

namespace seaway::sim {

using transport::DataKey;
using transport::DataPeer;

namespace {

/// A real connection gives up after 10 s, which is what clients are granted to settle: here it is
/// more, so that whoever leaves a fetch from a dead host to that is seen.
constexpr std::uint64_t kGiveUpNs = 30'000'000'000;
constexpr std::uint64_t kAgainNs = 50'000'000;  // Until another connection is there.

}  // namespace

void SimDataPlane::close() {
  is_closed_ = true;
  offers_.clear();
  fetches_.clear();
}

void SimDataPlane::offer(DataPeer reader, DataKey key, transport::DataSource source) {
  if (is_closed_) return;
  const bool is_new = offers_.emplace(Name{reader, key}, std::move(source)).second;
  SEAWAY_CHECK(is_new, reader, key.id, key.part);
}

void SimDataPlane::withdraw(DataPeer reader, DataKey key) {
  if (is_closed_) return;
  const auto count = offers_.erase({reader, key});
  SEAWAY_CHECK(count == 1, reader, key.id, key.part);
}

void SimDataPlane::fetch(DataPeer from, DataKey key, transport::DataTarget target,
                         std::function<void(Status)> done) {
  if (is_closed_) return;
  const Name name{from, key};
  SEAWAY_CHECK(!fetches_.contains(name), from, key.id, key.part);
  ++counts_.fetches;
  fetches_[name] = {std::move(target), std::move(done), 0, engine_.clock().now_ns(), {}};
  step_later(name, network_.step_ns_max);
}

void SimDataPlane::cancel(DataPeer from, DataKey key) {
  const auto found = fetches_.find({from, key});
  if (found == fetches_.end()) return;
  found->second.ending = {StatusCode::kCancelled, "it is not wanted any more"};
}

void SimDataPlane::step_later(const Name& name, std::uint64_t most_ns) {
  const std::uint64_t pause_ns = 1 + network_.draws.below(std::max<std::uint64_t>(most_ns, 1));
  engine_.schedule(engine_.clock().now_ns() + pause_ns, [this, name] { step(name); });
}

void SimDataPlane::step(const Name& name) {
  if (is_closed_) return;
  Fetch& fetch = fetches_.at(name);
  if (!fetch.ending.ok()) return end(name, fetch.ending);
  const std::uint64_t now_ns = engine_.clock().now_ns();
  SimDataPlane* const peer = network_.find(self_, name.first);
  const bool breaks = network_.break_1_in > 0 && network_.draws.below(network_.break_1_in) == 0;
  const bool is_offered = peer && peer->offers_.contains({self_, name.second});
  SEAWAY_PROBE_IF(peer && !is_offered, "what is fetched is not offered any more");
  if (!is_offered || breaks) {
    SEAWAY_PROBE_IF(fetch.next > 0, "a connection breaks within a value that is fetched");
    if (now_ns >= fetch.heard_ns + kGiveUpNs) {
      return end(name, {StatusCode::kHostLost, "process " + std::to_string(name.first) +
                                                   " has sent " + std::to_string(fetch.next) +
                                                   " bytes, and nothing more"});
    }
    return step_later(name, kAgainNs);
  }
  const transport::DataSource& source = peer->offers_.at({self_, name.second});
  SEAWAY_CHECK(source.bytes == fetch.target.bytes, source.bytes, fetch.target.bytes);
  const std::uint64_t left = source.bytes - fetch.next;
  const std::uint64_t count = network_.draws.below(2) == 0 ? left : 1 + network_.draws.below(left);
  std::vector<std::span<const std::byte>> pieces;
  source.pieces(fetch.next, fetch.next + count, pieces);
  for (auto piece : pieces) {
    while (!piece.empty()) {
      const auto place = fetch.target.place(fetch.next, piece.size());
      const std::size_t part = place.empty() ? piece.size() : place.size();
      if (place.empty()) {
        fetch.target.scatter(fetch.next, piece);
      } else {
        std::copy_n(piece.begin(), part, place.begin());
      }
      fetch.next += part;
      piece = piece.subspan(part);
    }
  }
  counts_.bytes += count;
  fetch.heard_ns = now_ns;
  if (fetch.next == source.bytes) return end(name, {});
  step_later(name, network_.step_ns_max);
}

void SimDataPlane::end(const Name& name, Status status) {
  const auto found = fetches_.find(name);
  const auto done = std::move(found->second.done);
  fetches_.erase(found);
  done(std::move(status));
  on_progress_();
}

}  // namespace seaway::sim
