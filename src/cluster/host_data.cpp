// Who is called for data, and who may call.

#include "cluster/host_data.hpp"

#include <utility>

namespace seaway::cluster {

using actor::Role;

namespace {

constexpr std::uint64_t kCallNs = 2'000'000'000;

}  // namespace

HostData::HostData(actor::Engine& engine, transport::IoLoop& loop, Options options, Find find,
                   std::function<void()> on_progress)
    : loop_(loop),
      options_(std::move(options)),
      find_(std::move(find)),
      plane_(engine.clock(), options_.plane,
             {[&engine](std::function<void()> work) { engine.post(std::move(work)); },
              [this](transport::DataPeer peer, const auto& done) { dial(peer, done); },
              std::move(on_progress)}) {}

void HostData::accept(transport::ProcessId peer, std::unique_ptr<transport::DataSocket> socket) {
  const bool is_role = peer <= last_role_process(options_.shape);
  const RoleName name = is_role ? role_of(peer, options_.shape) : RoleName();
  if (is_role && name.role == Role::kHost) plane_.accept(name.index, std::move(socket));
}

void HostData::dial(HostId peer, const transport::SocketDataPlane::Calls::Dialed& done) {
  const transport::ProcessId process = process_of({Role::kHost, peer}, options_.shape);
  find_(process, [this, process, done](const Result<std::string>& address) {
    if (!address.ok()) return done(address.status());
    transport::call_for_data(
        loop_, *address, {options_.self, process, options_.cluster, options_.pass, options_.life},
        kCallNs, done, options_.credentials);
  });
}

}  // namespace seaway::cluster
