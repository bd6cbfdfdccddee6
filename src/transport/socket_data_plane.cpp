// Deals values to lanes, and tells whoever waits for them.

#include "transport/socket_data_plane.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace seaway::transport {
namespace {

/// A lane gets no less of a value than this.
constexpr std::uint64_t kLaneBytesMin = std::uint64_t{4} << 20;

}  // namespace

SocketDataPlane::SocketDataPlane(Options options, Calls calls)
    : options_(options), calls_(std::move(calls)) {}

Result<std::unique_ptr<SocketDataPlane>> SocketDataPlane::make(const Clock& clock, Options options,
                                                               Calls calls) {
  std::unique_ptr<SocketDataPlane> plane(new SocketDataPlane(options, std::move(calls)));
  for (std::uint32_t lane = 0; lane < std::max(options.lanes, 1u); ++lane) {
    if (Status status = plane->add_lane(clock); !status.ok()) return status;
  }
  return plane;
}

Status SocketDataPlane::add_lane(const Clock& clock) {
  // What a lane says is heard on the control thread, if there is still somebody to hear it.
  const auto tell = [this, post = calls_.post,
                     here = std::weak_ptr(is_here_)](std::function<void()> what) {
    post([here, what = std::move(what)] {
      if (!here.expired()) what();
    });
  };
  auto lane = DataLane::make(clock, options_.lane,
                             {[this, tell, number = lanes_.size()](DataPeer peer) {
                                tell([this, peer, number] { dial(peer, number); });
                              },
                              [this, tell](std::uint64_t ticket, Status status) {
                                tell([this, ticket, status] { ended(ticket, status); });
                              }});
  if (!lane.ok()) return lane.status();
  lanes_.push_back(std::move(*lane));
  return {};
}

SocketDataPlane::~SocketDataPlane() { close(); }

void SocketDataPlane::close() {
  is_here_.reset();
  lanes_.clear();
  returns_->give_up();
  fetches_.clear();  // With the memory that they were to write to.
  names_.clear();
}

void SocketDataPlane::Returns::give_up() {
  std::vector<std::unique_ptr<const DataSource>> all;
  const std::lock_guard lock(mutex);
  all.swap(sources);
}

void SocketDataPlane::accept(DataPeer peer, std::unique_ptr<DataSocket> socket) {
  if (lanes_.empty()) return;
  lanes_[accepted_++ % lanes_.size()]->connected(peer, std::move(socket));
}

void SocketDataPlane::dial(DataPeer peer, std::size_t lane) {
  calls_.dial(peer, [this, peer, lane, here = std::weak_ptr(is_here_)](auto socket) {
    if (here.expired()) return;
    if (!socket.ok()) return lanes_[lane]->unreachable(peer, socket.status());
    lanes_[lane]->connected(peer, std::move(*socket));
  });
}

void SocketDataPlane::offer(DataPeer reader, DataKey key, DataSource source) {
  if (lanes_.empty()) return;
  ++offers_;
  // Whichever thread is the last to need the memory: it ends on this one.
  const std::shared_ptr<const DataSource> shared(
      new DataSource(std::move(source)),
      [post = calls_.post, returns = returns_](const DataSource* last) {
        {
          const std::lock_guard lock(returns->mutex);
          returns->sources.emplace_back(last);
        }
        post([returns] { returns->give_up(); });
      });
  for (const auto& lane : lanes_) lane->offer(reader, key, shared);
}

void SocketDataPlane::withdraw(DataPeer reader, DataKey key) {
  --offers_;
  for (const auto& lane : lanes_) lane->withdraw(reader, key);
}

void SocketDataPlane::fetch(DataPeer from, DataKey key, DataTarget target,
                            std::function<void(Status)> done) {
  if (lanes_.empty()) return;
  SEAWAY_CHECK(!fetches_.contains({from, key}), from, key.id, key.part);
  const std::uint64_t bytes = target.bytes;
  const auto shared = std::make_shared<const DataTarget>(std::move(target));
  const auto parts = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(bytes / kLaneBytesMin, 1, lanes_.size()));
  Fetching& fetching = fetches_[{from, key}];
  fetching = {++last_ticket_, parts, {}, std::move(done)};
  names_[fetching.ticket] = {from, key};
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t begin = bytes / parts * part;
    const std::uint64_t end = part + 1 == parts ? bytes : bytes / parts * (part + 1);
    lanes_[dealt_++ % lanes_.size()]->fetch(from, fetching.ticket, {key, shared, begin, end});
  }
}

void SocketDataPlane::cancel(DataPeer from, DataKey key) {
  const auto found = fetches_.find({from, key});
  if (found == fetches_.end()) return;
  for (const auto& lane : lanes_) lane->cancel(from, found->second.ticket);
}

void SocketDataPlane::ended(std::uint64_t ticket, Status status) {
  const auto name = names_.find(ticket);
  const auto found = fetches_.find(name->second);
  if (found->second.status.ok()) found->second.status = std::move(status);
  if (--found->second.lanes > 0) {
    // A part is of no use without the others.
    if (!found->second.status.ok()) cancel(name->second.first, name->second.second);
    return;
  }
  const Fetching over = std::move(found->second);
  fetches_.erase(found);
  names_.erase(name);
  over.done(over.status);
  calls_.on_progress();
}

void SocketDataPlane::set_weight(std::uint32_t tenant, std::uint32_t weight) {
  for (const auto& lane : lanes_) lane->set_weight(tenant, weight);
}

void SocketDataPlane::meet(DataPeer peer) {
  if (!lanes_.empty()) lanes_[dealt_++ % lanes_.size()]->meet(peer);
}

void SocketDataPlane::forget(DataPeer peer) {
  for (const auto& lane : lanes_) lane->forget(peer);
}

DataPlane::Counts SocketDataPlane::counts() const {
  Counts all;
  for (const auto& lane : lanes_) {
    const Counts one = lane->counts();
    all.fetches += one.fetches;
    all.bytes += one.bytes;
    all.reconnected += one.reconnected;
    all.changed += one.changed;
    all.extra_bytes += one.extra_bytes;
  }
  return all;
}

}  // namespace seaway::transport
