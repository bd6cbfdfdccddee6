// Relay: a client's process, for the delegates that the client has in hosts' processes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actor/engine.hpp"
#include "actor/router.hpp"
#include "client/array_keeper.hpp"
#include "client/session.hpp"
#include "client/shared_arrays.hpp"
#include "cluster/actors.hpp"
#include "cluster/array_traffic.hpp"
#include "cluster/peers.hpp"
#include "cluster/relay_frames.hpp"
#include "cluster/relay_messages.hpp"
#include "cluster/shape.hpp"
#include "seaway/array.hpp"

namespace seaway::cluster {

struct RelayOptions {
  Shape shape = 1;
  ClientId client = 0;
  std::uint32_t life = 1;     // Of this process.
  std::uint32_t devices = 1;  // Of each island.
  /// Of one delegate's words that wait for those of another one; more, and it is ended.
  std::size_t words_max = 65'536;
  std::size_t bytes_max = std::size_t{256} << 20;
  /// Limit of a wait for the announcement of an array. Then the session ends: of the delegate that
  /// waits or, if the client's own actors wait, of the delegate that makes the array. Longer than
  /// the detection of any loss.
  std::uint64_t wait_max_ns = 10'000'000'000;
};

/// What a process knows of arrays that others share with it. Nothing is left, when all that was
/// shared has been dropped.
struct SharedStock {
  std::size_t arrays = 0, own = 0, runs = 0, outcomes = 0, words = 0;
  friend bool operator==(const SharedStock&, const SharedStock&) = default;
};
/// "2 shared arrays, 1 words that wait"; empty: nothing.
std::string to_string(const SharedStock& stock);

/// What delegates say it says in the client's own order, each run under an id of the client's, for
/// these have to rise. What comes back for them it hands on. Words that name what another delegate
/// has made, of which nothing was heard yet, wait for that one's, and with them all behind them.
///
/// It counts who holds which array (SharedArrays), and lets go those that nobody does. An array of
/// the client's own it holds itself while it is shared. It knows the outcome of each run of a
/// delegate's until all that the run has made is gone.
///
/// The engine's control thread only; engine, peers and router outlive it.
class Relay final : public ArrayTraffic, public client::ArrayKeeper {
 public:
  Relay(actor::Engine& engine, Peers& peers, Actors& actors, actor::Router& router,
        RelayOptions options);
  ~Relay() override;
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// The client's own session, before any words come.
  void use(std::shared_ptr<client::Session> session) { session_ = std::move(session); }

  /// Words of a host's process. Errors: kProtocolError for what no delegate there may say; then
  /// nothing of it was said.
  Status on_words(app::SiloId from, const Frame& frame);
  /// Payload of a delegate's for the host of `island`. Errors: kProtocolError.
  Status on_payload(app::SiloId from, std::uint32_t island, Frame frame);
  /// Hands on what is for delegates. False when that is all of it.
  bool hand_on(const Frame& frame);
  /// Nothing more comes from there, as far as the conversation goes.
  void on_gone(app::SiloId silo, std::uint32_t life);

  // ArrayTraffic.
  void begin(app::SiloId to, std::uint32_t life) override { to_ = {to, life}; }
  void commit() override;
  void discard() override;
  bool is_early() const override { return !early_.empty(); }
  void give_up_early(const Status& why) override;
  void on_silo_lost(app::SiloId silo, std::uint32_t life) override;
  Status check(const Array& array) override;
  Frame give(const Array& array) override;
  Result<Array> take(const Frame& given, app::SiloId from) override;

  // ArrayKeeper. What the client has made itself is its own until it is shared.
  bool keeps(ArrayId) const override { return false; }
  void made(std::span<const client::Made>) override {}
  void dropped(std::span<const ArrayId> arrays) override;
  void asked(std::span<const client::Asked> asked) override;

  /// For tests.
  using Stock = SharedStock;
  Stock stock() const;
  /// Sessions of actors have ended before their arrays did, or may have.
  bool has_lost_actors() const { return !gone_.empty(); }

 private:
  using Holder = client::Holder;

  struct Waiting {
    DelegateWords words;
    std::size_t bytes = 0;
  };
  struct Speaker {
    std::deque<Waiting> waiting;
    std::size_t bytes = 0;
    std::uint64_t since_ns = 0;  // When waiting.front() began to wait.
    std::uint64_t heard = 0;     // Words that have come,
    std::uint64_t said = 0;      // and those that have been said.
    bool is_gone = false;        // Nothing more comes from it,
    bool is_handled = false;     // and actors here have heard all of it.
    bool is_refused = false;
  };
  struct Ask {
    Holder by;
    std::uint64_t request = 0;
  };
  /// Of a delegate's run or upload, while something that it has made is known.
  struct Outcome {
    std::uint32_t arrays = 0;
    bool is_begun = false;  // The controller was told of it, and will answer.
    bool is_known = false;
    Status status;
    std::vector<Ask> asks;
  };

  // relay.cpp: words come in.
  bool is_met(Holder by, const client::ArrayMaker& maker) const;
  bool is_ready(Holder by, const DelegateWords& words) const;
  bool may_speak(Holder by) const;
  bool is_gone(Holder holder) const;
  void pump();
  void watch_waits();
  void end_long_waits();
  void handle(Holder by, DelegateWords& words);
  void say(Holder by, const Frame& frame);
  void lease(Holder by);
  void refuse(Holder by, Speaker& speaker, Status why);
  void bury(Holder holder);
  void cancel_puts(Holder by);
  void forget_definitions(Holder by);
  void send(const Holder& to, const ClientWords& words);

  // relay_answers.cpp: what comes back.
  bool hand_on_resolved(const Answer& answer);
  void hand_on_to(const Holder& to, Frame frame, transport::Lane lane);
  void resolve(RunId run, const Status& status);
  void tell(const Ask& ask, const Status& status);
  void ask(const Ask& ask, const client::Asked& about);
  void give_up_unbegun(Holder by);
  void release();

  // relay_door.cpp: what a delegate may say.
  bool is_maker(const client::ArrayMaker& maker, ArrayId array) const;
  Status check_words(Holder by, const DelegateWords& words) const;
  Status check_frame(Holder by, const Frame& frame) const;
  bool is_its(Holder by, std::uint64_t id) const;
  Holder owner_of(std::uint64_t id) const;
  Holder owner_of_request(std::uint64_t request) const;

  actor::Engine& engine_;
  Peers& peers_;
  Actors& actors_;
  actor::Router& router_;
  const RelayOptions options_;
  const Holder self_;
  std::shared_ptr<client::Session> session_;
  Holder to_;  // What is given now is for that one.

  std::map<Holder, Speaker> speakers_;
  std::map<std::uint32_t, std::uint32_t> gone_;    // The last life of each silo that is over.
  std::map<Holder, std::vector<Holder>> without_;  // Who hears nothing more from whom.
  bool is_pumping_ = false;
  std::vector<Holder> leases_;  // To whom each block of ids went.

  /// Functions, programs and specs of delegates that they have not released.
  std::map<Holder, std::set<std::uint64_t>> definitions_;
  std::unordered_map<RunId, std::pair<Holder, RunId>> runs_;  // By the client's id; both ways.
  std::unordered_map<RunId, RunId> run_ids_;

  client::SharedArrays shared_;
  std::unordered_map<ArrayId, Array> own_;  // Of the client, held while others do.
  std::unordered_map<RunId, Outcome> outcomes_;
  std::unordered_map<ArrayId, RunId> makers_;  // Of the arrays of delegates.
  /// Uploads without an outcome: their bytes are with the delegate until a host pulls them. Runs
  /// may wait for one that nobody holds any more.
  std::set<ArrayId> puts_;
  std::uint64_t grants_ = 0;
  std::vector<ArrayGrant> given_;
  std::vector<client::ArrayMaker> early_;  // That the client's actors have not been told yet.
  std::uint64_t early_since_ns_ = 0;
  bool is_watching_ = false;  // A timer runs.
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace seaway::cluster
