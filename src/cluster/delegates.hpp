// Delegates: the sessions in which the actors of clients work in a host's process.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "actor/engine.hpp"
#include "client/session.hpp"
#include "cluster/actors.hpp"
#include "cluster/array_traffic.hpp"
#include "cluster/peers.hpp"
#include "cluster/relay_messages.hpp"
#include "cluster/shape.hpp"
#include "seaway/client.hpp"

namespace seaway::cluster {

class Delegate;

struct DelegatesOptions {
  Shape shape = 1;
  std::uint32_t host = 0;     // Of the cluster's hosts for actors: which one this process is.
  std::uint32_t life = 1;     // Of this process.
  std::uint32_t devices = 1;  // Of each island.
  std::uint64_t device_memory = UINT64_MAX;                       // Bytes, of each device.
  std::uint64_t frame_bytes_max = transport::kUserFrameBytesMax;  // As of other clients.
  /// A client of which nothing was heard yet is talked with from now on.
  std::function<void(ClientId client)> meet = {};
  /// Whether a native function is the one of this process. May be empty.
  std::function<Status(const function::NativeFunction& native)> check_native = {};
};

/// A delegate of a client is a session with the client's own number, made when an actor of the
/// client first asks for one here. All that it says goes to the client's process (Relay), and all
/// that it hears comes from there. It ends when the client is lost for this process, and the client
/// never gets one after that in this life of it, for neither of the two knows what the other one
/// has heard before: arrays that come here for it then are lost.
///
/// Limits: kDelegateHostsMax hosts; kQuestionsMax questions for losses
/// of each client, which breaks the protocol with one more.
/// The engine's control thread only; engine and peers outlive it.
class Delegates final : public ArrayTraffic {
 public:
  Delegates(actor::Engine& engine, Peers& peers, Actors& actors, DelegatesOptions options);
  ~Delegates() override;
  Delegates(const Delegates&) = delete;
  Delegates& operator=(const Delegates&) = delete;

  /// Errors: kCancelled when the client has gone, kResourceExhausted for a host or a life whose
  /// number is too large.
  Result<Client> client_of(ClientId client);
  /// Words of a client's process. Errors: kProtocolError.
  Status on_words(ClientId client, const Frame& frame);
  /// A message of the controller's or a host's, handed on by a client. Errors: kProtocolError.
  Status on_answer(ClientId client, Frame frame);
  /// Ends all sessions, before the engine stops.
  void close();

  // ArrayTraffic.
  void begin(app::SiloId to, std::uint32_t life) override { to_ = {to, life}; }
  void commit() override;
  void discard() override { given_.clear(); }
  bool is_early() const override { return false; }
  void give_up_early(const Status&) override {}
  void on_silo_lost(app::SiloId silo, std::uint32_t life) override;
  Status check(const Array& array) override;
  Frame give(const Array& array) override;
  Result<Array> take(const Frame& given, app::SiloId from) override;

 private:
  static constexpr std::size_t kQuestionsMax = 4096;

  struct Given {
    ClientId client = 0;
    ArrayGrant grant;
  };

  Result<Delegate*> delegate_of(ClientId client);
  std::shared_ptr<Delegate> make_delegate(ClientId client);
  Array lost_array(const client::TravellingArray& array, Status why);
  bool has_ended(ClientId client) const { return client < ended_.size() && ended_[client]; }
  Delegate* find(ClientId client);
  void end(ClientId client, const Status& why);
  Status answer_when_gone(ClientId client, const client::Holder& other);
  void say_gone(ClientId client, const client::Holder& gone);
  bool is_over(const client::Holder& other) const;

  actor::Engine& engine_;
  Peers& peers_;
  Actors& actors_;
  const DelegatesOptions options_;
  const client::Holder self_;
  client::Holder to_;  // What is given now is for that one.
  std::map<ClientId, std::shared_ptr<Delegate>> delegates_;
  std::vector<bool> ended_;  // By client, of which there are not too many in a cluster's life.
  std::vector<Given> given_;
  std::map<std::uint32_t, std::uint32_t> lost_;             // Lives of silos that are over.
  std::map<ClientId, std::set<client::Holder>> questions_;  // Of whose end it wants to hear.
  bool is_closed_ = false;
};

}  // namespace seaway::cluster
