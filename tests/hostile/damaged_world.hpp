// DamagedWorld: a simulated cluster in which one process sends damaged messages to another one.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hostile/checked_client.hpp"
#include "hostile/damaged_frames.hpp"
#include "seaway/host_main.hpp"
#include "sim/process_cluster.hpp"

namespace seaway::hostile {

/// What became of a damaged message.
enum class Fate : std::uint8_t {
  kRefused,  // As it was read; see refusals.hpp.
  kDecoded,  // The receiver has ended the conversation.
  kTaken,
};

/// Three islands and six clients of several tenants. A sender and a receiver of `kind` are drawn
/// from the seed; between these two some messages of the kind are replaced by damaged ones, or
/// followed by them. Everything else has to go on: whoever is lost or begins anew, one of the two
/// is part of it, and clients that use neither of them get all their values.
class DamagedWorld final : public sim::ProcessSink {
 public:
  /// Sender and receiver; of clients, the index is a user's.
  using Pair = std::pair<cluster::RoleName, cluster::RoleName>;
  struct Report {
    /// A damaged message is about to be sent.
    std::function<void(const std::string& what)> sends;
    std::function<void(Fate fate)> fate;
    /// A damaged message would be refused as it is read, and nobody has sent it.
    std::function<void()> refused;
    /// Something that no damaged message may cause.
    std::function<void(const std::string& what)> effect;
    /// A message of a kind was sent.
    std::function<void(const MessageKind& kind, const Pair& pair)> seen = [](const MessageKind&,
                                                                             const Pair&) {};
  };
  /// The two are one of `pairs`. Where that is empty nothing is damaged; the world is one that
  /// suits `kind` all the same.
  DamagedWorld(std::uint64_t seed, const std::optional<MessageKind>& kind,
               const std::set<Pair>& pairs, Report report);
  ~DamagedWorld() override;

  /// Who sends messages of `kind` to whom in the world of `seed`.
  static std::set<Pair> pairs_of(std::uint64_t seed, const MessageKind& kind);

  /// Up to so many damaged messages; fewer where it is used up before.
  void run(std::uint64_t probes);

  void started(const cluster::RoleName& name, std::uint32_t life) override;

 private:
  struct User {
    CheckedClient::Habits habits;
    std::string tenant;
    ClientId client = 0;                 // Of its present life.
    CheckedClient* behaviour = nullptr;  // Of its present session.
    std::uint64_t whole_rounds = 0;      // Of sessions before.
    std::uint64_t changed_ns = 0;        // When it last began something else.
    std::string doing;
  };

  void draw_pair(const std::set<Pair>& pairs);
  bool are_warm() const;
  void add_users();
  void begin(std::size_t user);
  void be(std::size_t user, cluster::Member& member, actor::SeededProcess& process);
  void on_frame(const cluster::RoleName& from, transport::ProcessId to, std::uint32_t channel,
                Frame& frame);
  void on_peer(const cluster::RoleName& name, const cluster::PeerNews& news);
  bool is_of(const cluster::RoleName& name, const cluster::RoleName& target) const;
  bool is_allowed(const cluster::RoleName& name) const;
  bool is_touched(std::size_t user) const;
  bool is_used_up() const;
  /// How often it has got all its values.
  std::uint64_t rounds(std::size_t user) const;
  void step_until(const std::function<bool()>& is_there, std::uint64_t time_ns);
  void look();
  void stir();
  std::uint64_t draw_pause_ns();
  void probe();
  bool is_refused(const cluster::RoleName& from, const cluster::RoleName& to, std::uint32_t channel,
                  const Frame& frame);
  Frame draw(const cluster::RoleName& from, const cluster::RoleName& to, std::uint32_t channel,
             const Frame& frame, const Frame& other);
  void inject(const cluster::RoleName& from, const cluster::RoleName& to, std::uint32_t channel,
              Frame damaged);
  void send_pooled();
  void settle();
  void effect(const std::string& what);

  struct Pooled {
    cluster::RoleName from;
    transport::ProcessId to = 0;
    std::uint32_t channel = 0;
    Frame frame;
  };

  const std::uint64_t seed_;
  std::uint32_t clients_max_;
  const std::optional<MessageKind> kind_;
  const Report report_;
  RandomStream random_;
  cluster::EmbeddedOptions options_;
  cluster::Shape shape_ = 1;
  cluster::RoleName from_, to_;      // Of the kind; of clients, the index is a user's.
  std::set<std::uint32_t> islands_;  // That the two belong to.
  std::uint32_t lost_ = 0;           // The island whose host is lost again and again.
  std::set<cluster::RoleName> allowed_;
  std::vector<User> users_;
  std::map<ClientId, std::size_t> user_of_;
  std::map<ClientId, transport::TenantKey> tenants_;
  ClientId last_client_ = 0;
  std::set<ClientId> gone_;  // Clients that have ended.
  std::deque<Pooled> pool_;
  std::vector<std::uint64_t> wanted_;  // Rounds of each user, at the end.
  std::uint64_t probes_ = 0;
  unsigned waiting_percent_;
  bool is_armed_ = false, replaces_ = false, is_sending_ = false, is_over_ = false;
  bool is_damaging_ = false;  // The first damaged message was sent.
  bool was_sent_ = false, was_refused_ = false, has_lost_ = false;  // In this probe.
  bool is_stirring_ = false;
  Registry registry_;
  events::EventStream events_{16};
  std::unique_ptr<actor::SeededEngine> engine_;
  std::unique_ptr<sim::ProcessCluster> cluster_;
};

}  // namespace seaway::hostile
