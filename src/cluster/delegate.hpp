// Delegate: one client's session in a host's process, and its words to the client.

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "actor/engine.hpp"
#include "actor/router.hpp"
#include "client/array_keeper.hpp"
#include "client/session.hpp"
#include "cluster/peers.hpp"
#include "cluster/relay_messages.hpp"
#include "transport/bulk.hpp"

namespace seaway::cluster {

/// The session's router, bulk and keeper: it lives as long as the session does, which may be longer
/// than the process has a use for it. Control thread only, but for keeps().
class Delegate final : public client::ArrayKeeper {
 public:
  /// `client`: the process of it.
  Delegate(actor::Engine& engine, Peers& peers, transport::ProcessId client,
           const client::DelegateName& name);

  /// Makes `delegate`'s session; `wiring` says what is the same for all of this process.
  static std::shared_ptr<client::Session> open(const std::shared_ptr<Delegate>& delegate,
                                               client::Wiring wiring);
  const std::shared_ptr<client::Session>& session() const { return session_; }
  /// Nothing is said any more; the session is lost. Once.
  void end(const Status& why);

  /// What is said with the next words.
  DelegateWords& pending() { return pending_; }
  /// Says what is pending, and `frame`; nothing at all when there is nothing.
  void say(Frame frame = {});
  /// How many words it has said.
  std::uint64_t said() const { return said_; }
  std::uint64_t next_grant() { return ++grants_; }
  void add_ids(std::uint64_t first) { ids_->add(first); }

  // ArrayKeeper.
  bool keeps(ArrayId) const override { return true; }
  void made(std::span<const client::Made> made) override;
  void dropped(std::span<const ArrayId> arrays) override;
  void asked(std::span<const client::Asked> asked) override;

 private:
  void relay(actor::Role role, std::uint32_t index, Frame frame, transport::Lane lane);

  actor::Engine& engine_;
  Peers& peers_;
  const transport::ProcessId client_;
  const std::shared_ptr<client::IdBlocks> ids_;
  const std::uint64_t first_request_;
  actor::Router router_;
  transport::LocalBulk bulk_;
  std::shared_ptr<client::Session> session_;  // Until its end.
  DelegateWords pending_;
  std::uint64_t said_ = 0;
  std::uint64_t grants_ = 0;
};

}  // namespace seaway::cluster
