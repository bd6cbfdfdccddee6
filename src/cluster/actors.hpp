// Actors: the silo of one process of a cluster, and how it talks with those of the others.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actor/engine.hpp"
#include "app/client_caller.hpp"
#include "app/envelope_codec.hpp"
#include "app/silo.hpp"
#include "cluster/array_traffic.hpp"
#include "cluster/peers.hpp"
#include "cluster/shape.hpp"
#include "seaway/app/type_table.hpp"
#include "transport/pass.hpp"

namespace seaway::cluster {

struct ActorsOptions {
  RoleName name;  // The controller, a host, an annex or a client.
  Shape shape = 1;
  std::uint32_t life = 1;
  std::uint64_t seed = 0;
  /// What can be made here, of a host or an annex; it outlives the process. Null: nothing.
  const internal::TypeTable* types = nullptr;
  app::SiloLimits limits = {};
  /// The tenant of a client: of a client's process, its own; else of a client that was admitted.
  std::function<transport::TenantKey(std::uint32_t client)> tenant_of = {};
  /// In whose sessions members put arrays and execute programs.
  std::function<Result<Client>(std::uint32_t client)> client_of = {};
  /// A process has broken the protocol: it loses this one, or its session. Empty: their
  /// conversation begins anew.
  std::function<void(transport::ProcessId, const Status& why)> lose = {};
  /// Of what waits behind an array that is early; more, and that array has an error.
  std::size_t waiting_max = 65'536;
  std::size_t waiting_bytes_max = 2 * transport::kUserFrameBytesMax;
  std::size_t frame_bytes_max = transport::kUserFrameBytesMax;  // Of a message.
};

/// The silo of a host or an annex runs its members; that of a client has its ends of calls; that of
/// the controller, the hub, knows the names. Envelopes go as frames, directly from process to
/// process; only between two clients, who have no connection, the hub hands them on, and tells
/// clients of each other. What cannot be sent fails for whoever waits for it.
///
/// A silo's life is that of its process. Who is lost in a conversation is lost for the silo, and
/// what came from there before is handled before that word. Two hosts that live and cannot reach
/// each other lose each other in the same way: members of the one whose parent is on the other end
/// when their own host has noticed, at about the time at which others are started instead.
///
/// The engine's control thread only, unless said otherwise. It outlives the engine's actors.
class Actors final : public app::Network {
 public:
  Actors(actor::Engine& engine, Peers& peers, ActorsOptions options);
  ~Actors() override;
  Actors(const Actors&) = delete;
  Actors& operator=(const Actors&) = delete;

  void on_news(const PeerNews& news);
  /// A frame of another process for silo `to`.
  void on_frame(transport::ProcessId from, app::SiloId to, Frame frame);

  /// A client's: the end of its calls. Any thread. Errors: kResourceExhausted when there have been
  /// too many clients in this life of the cluster for one more that uses actors.
  Result<std::shared_ptr<app::ClientCaller>> open();
  /// A client's: its session has ended. What its calls wait for gets `why`.
  void end_calls(const Status& why);
  /// Says what there is to say, before this process leaves.
  void finish() { silo_->receive({}); }

  // Network.
  void send(app::SiloId from, app::SiloId to, std::vector<app::Envelope>& batch) override;
  std::uint32_t epoch(app::SiloId silo) const override;
  std::uint32_t silos() const override { return kSilosMax; }
  std::uint32_t hosts() const override { return options_.shape.all_hosts(); }
  bool ends_with(app::SiloId silo, app::SiloId lost) const override;
  void for_each_up(const std::function<void(app::SiloId)>& use) const override;

  /// How arrays travel; without, they do not. It outlives the engine's actors.
  void use(ArrayTraffic& arrays) { arrays_ = &arrays; }
  /// An array that was early is not any more (ArrayTraffic::is_early()).
  void go_on();
  app::SiloId self() const { return self_; }
  app::SiloId silo_of(const RoleName& name) const;
  transport::ProcessId process_of_silo(app::SiloId silo) const;
  bool is_client(app::SiloId silo) const { return silo > options_.shape.all_hosts(); }
  std::uint32_t client_of_silo(app::SiloId silo) const { return silo - options_.shape.all_hosts(); }

  /// For tests.
  app::Silo& silo() { return *silo_; }
  /// Frames and news that have come and were not handled yet.
  std::size_t waiting() const { return events_.size(); }

 private:
  /// Meshes and requests are numbered behind the number of their silo, which has so many bits.
  static constexpr std::uint32_t kSilosMax = 1u << 24;

  struct Event {
    app::SiloId silo = 0;
    bool is_frame = false;
    bool is_lost = false;
    std::uint32_t life_before = 0;  // That is over; 0: none was heard.
    transport::ProcessId from = 0;
    transport::TenantKey tenant = transport::kNoTenant;  // Of a client's frame.
    Frame frame = {};
    std::vector<app::Envelope> batch = {};  // Of this process itself.
  };

  bool is_hub() const { return self_ == app::kHub; }
  void put(Event event);
  void drain();
  void drain_later();
  void limit_waiting();
  transport::TenantKey tenant_of(app::SiloId client) const;
  Status check_sender(const Event& event) const;
  void read(Event& event);
  void hear_of(const Event& event);
  void relay(const Event& event);
  void tell_clients(app::SiloId client, std::uint32_t epoch);
  void set_epoch(app::SiloId silo, std::uint32_t epoch);
  void send_frames(app::SiloId to, std::span<app::Envelope> batch);
  void send_instead(app::SiloId to, const app::Envelope& envelope, const Status& why);
  void lose(transport::ProcessId process, const Status& why);

  actor::Engine& engine_;
  Peers& peers_;
  const ActorsOptions options_;
  const app::SiloId self_;
  std::shared_ptr<internal::Waiter> waiter_;
  std::shared_ptr<app::Door> door_;
  app::Silo* silo_ = nullptr;  // Owned by the engine, as all actors.
  std::mutex caller_mutex_;
  std::weak_ptr<app::ClientCaller> caller_;  // Guarded by caller_mutex_.
  std::map<app::SiloId, std::uint32_t> epochs_;
  std::map<app::SiloId, transport::TenantKey> tenants_;  // Of the clients that are connected.
  std::deque<Event> events_;
  ArrayTraffic* arrays_ = nullptr;
  std::vector<app::Envelope> early_;  // All events wait behind it.
  std::size_t waiting_bytes_ = 0;     // Of the frames among the events.
  bool is_draining_ = false;
  bool is_giving_up_ = false;
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace seaway::cluster
