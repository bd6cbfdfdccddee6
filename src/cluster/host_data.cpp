// Who is called for data, and who may call.

#include "cluster/host_data.hpp"

#include <utility>

namespace seaway::cluster {

namespace {

constexpr std::uint64_t kCallNs = 2'000'000'000;

}  // namespace

HostData::HostData(transport::IoLoop& loop, Options options, Calls calls)
    : loop_(loop), options_(std::move(options)), calls_(std::move(calls)) {}

Result<std::unique_ptr<HostData>> HostData::make(actor::Engine& engine, transport::IoLoop& loop,
                                                 Options options, Calls calls) {
  std::unique_ptr<HostData> data(new HostData(loop, std::move(options), std::move(calls)));
  auto plane = transport::SocketDataPlane::make(
      engine.clock(), data->options_.plane,
      {[&engine](std::function<void()> work) { engine.post(std::move(work)); },
       [own = data.get()](transport::DataPeer peer, const auto& done) { own->dial(peer, done); },
       data->calls_.on_progress});
  if (!plane.ok()) return plane.status();
  data->plane_ = std::move(*plane);
  return data;
}

void HostData::accept(transport::ProcessId peer, std::unique_ptr<transport::DataSocket> socket) {
  const RoleName name = role_of(peer, options_.shape);
  const auto who = name.role == actor::Role::kClient
                       ? std::optional(actor::data_peer_of_client(name.index))
                       : data_peer_of(name);
  if (who) plane_->accept(*who, std::move(socket));
}

void HostData::dial(transport::DataPeer peer,
                    const transport::SocketDataPlane::Calls::Dialed& done) {
  const RoleName name = role_of_peer(peer);
  const transport::ProcessId process = process_of(name, options_.shape);
  if (name.role == actor::Role::kClient) {
    calls_.call_back(name.index);
    return done(Status(StatusCode::kHostLost, to_string(name) + " was asked to connect"));
  }
  calls_.find(process, [this, process, done](const Result<std::string>& address) {
    if (!address.ok()) return done(address.status());
    transport::call_for_data(
        loop_, *address, {options_.self, process, options_.cluster, options_.pass, options_.life},
        kCallNs, done, options_.credentials);
  });
}

}  // namespace seaway::cluster
