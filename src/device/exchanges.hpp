// Exchanges: how the hosts of an island carry out the exchanges of gangs that are on several of
// them: from each to each, without anybody in between.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "collective/exchange_plan.hpp"
#include "collective/exchange_work.hpp"
#include "device/backend.hpp"
#include "device/exchange_word.hpp"
#include "store/slab.hpp"
#include "transport/data_plane.hpp"
#include "transport/near_memory.hpp"

namespace seaway::device {

/// The same on all hosts of an island.
struct ExchangeOptions {
  /// Longer messages are lent or fetched, where that is possible.
  std::uint64_t packed_bytes_max = std::uint64_t{32} << 10;
  std::uint64_t block_bytes = collective::ExchangePlan::kBlockBytes;
  std::optional<collective::Algorithm> algorithm;  // None: the usual one.
  bool overlaps = true;  // With the steps of their gangs that do not need them.
};

/// One host's end of all exchanges of its island. What is short goes within words; what is longer
/// is lent to hosts of this machine and fetched by others, and stays until they have it. A host
/// says what it has as soon as it has it: words for exchanges that have not begun here wait.
///
/// A pure core; not thread-safe. The backend and the memory outlive it. When it ends nothing works
/// on that any more; what it has lent stays as it is.
class Exchanges {
 public:
  struct Wiring {
    Backend& backend;
    store::SlabCache& slabs;
    transport::NearMemory* near = nullptr;  // Null: nothing is lent;
    transport::DataPlane* data = nullptr;   // null: nothing is fetched.
    /// What both of these call a host of this island.
    std::function<transport::DataPeer(std::uint32_t host)> peer = {};
    ExchangeOptions options = {};
    std::uint32_t life = 0;  // Of the island's first host: what is of earlier ones is over.
  };
  /// Blocks of one exchange that are under way at once.
  static constexpr std::size_t kBlocksAtOnce = 4;
  /// What may wait for exchanges that have not begun here.
  static constexpr std::size_t kEarlyWordsMax = 65'536;
  static constexpr std::uint64_t kEarlyBytesMax = std::uint64_t{256} << 20;
  /// Gangs that have failed elsewhere, before they begin here.
  static constexpr std::size_t kFailedMax = 1024;

  Exchanges(std::uint32_t self, Wiring wiring);
  ~Exchanges();
  Exchanges(const Exchanges&) = delete;
  Exchanges& operator=(const Exchanges&) = delete;

  /// A gang that this host has shards of begins, and ends. All begin by rising numbers, on each
  /// host: what is said of one that was to begin by now, and is not here, is of one that is over.
  void enter(std::uint64_t gang);
  void leave(std::uint64_t gang);
  /// It may begin: no later one has.
  bool is_next(std::uint64_t gang) const { return gang > last_gang_; }

  struct Wanted {
    ExchangeId id;
    function::Collective collective;
    std::vector<collective::HostShards> hosts;  // All shards of the gang.
    function::ShardedBuffer in, out;            // By shards of the gang; this host's alone.
    std::shared_ptr<const void> owner;          // Of what `in` and `out` are, beside others.
    TenantId tenant = 0;                        // Who shares connections with others.
  };
  using Done = std::function<void(Status status)>;

  /// Takes part in one, of a gang that has begun. `done` is called once, and at once if nothing is
  /// to be waited for; or never, when begin_anew() comes first. Errors: those of a host that did
  /// not get what it needed, told by itself or by that one; the same for all exchanges of a gang.
  void begin(Wanted wanted, Done done);
  /// The gang goes on here no more: all its exchanges end, and whoever waits for this host in it is
  /// told why, once.
  void fail(std::uint64_t gang, const std::vector<collective::HostShards>& hosts,
            const Status& status);

  /// What another host of the island says. Errors: kProtocolError for what it never does, such as a
  /// message of another length; kResourceExhausted when too much waits. What comes too late, of a
  /// gang that has failed here, means nothing.
  Status receive(std::uint32_t host, ExchangeWord word);

  /// Nothing counts any more, but for what gangs of `life` and later ones have been told.
  void begin_anew(std::uint32_t life);

  /// What is to be said, by host; the caller takes it.
  std::map<std::uint32_t, std::vector<ExchangeWord>>& outbox() { return outbox_; }

  bool is_quiet() const { return active_.empty() && open_.empty(); }
  /// Something was said since the first host's life has begun.
  bool has_begun() const { return has_begun_; }
  std::size_t early_words() const { return early_words_; }

  struct Counts {  // Of messages that were received.
    std::uint64_t packed = 0, lent = 0, fetched = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Active;
  struct Running;                                       // A block.
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // Gang and stage.
  struct Slot {  // Of a message of an exchange, to or from a host.
    std::uint32_t block = 0, round = 0, host = 0;
    friend auto operator<=>(const Slot&, const Slot&) = default;
  };
  static Key key_of(const ExchangeId& id) { return {id.gang, id.stage}; }

  Status take(const std::shared_ptr<Active>& active, std::uint32_t host, ExchangeWord word);
  Status accept(const std::shared_ptr<Active>& active, Running& block, std::size_t message,
                ExchangeWord word);
  Status accept_lent(Active& active, Running& block, std::size_t message, const LentMessage& lent);
  void fetch(const std::shared_ptr<Active>& active, Running& block, std::size_t message,
             std::uint64_t offer);
  void advance(const std::shared_ptr<Active>& active);
  void begin_round(const std::shared_ptr<Active>& active, Running& block);
  bool lend(Active& active, const Slot& slot, const collective::Message& message,
            const collective::ExchangeMemory& memory);
  void hand_over(Active& active, const Slot& slot, const collective::Message& message,
                 const collective::ExchangeMemory& memory);
  void offer(Active& active, const Slot& slot, const collective::Message& message,
             const collective::ExchangeMemory& memory);
  bool compute(const std::shared_ptr<Active>& active, Running& block);
  void end_round(const std::shared_ptr<Active>& active, Running& block);
  void say(Active& active, const Slot& slot, ExchangeWord::What what);
  void taken(Active& active, std::uint32_t host, const ExchangeWord& word);
  void give_up(const std::shared_ptr<Active>& active, const Status& status);
  void end_all(std::uint64_t gang, const Status& status);
  void end(const std::shared_ptr<Active>& active, const Status& status);
  void stop(const std::shared_ptr<Active>& stopped);
  static void end_work(const std::shared_ptr<Active>& active);
  static transport::DataKey offer_key(const Active& active, std::uint64_t offer);
  void forget_early(std::uint64_t gang);
  void drop_all();

  const std::uint32_t self_;
  const Wiring wiring_;
  std::map<Key, std::shared_ptr<Active>> active_;
  std::vector<std::weak_ptr<Active>> ended_;     // Some of which is still worked on.
  std::vector<std::weak_ptr<Running>> offered_;  // Of which some may still be sent.
  std::map<Key, std::vector<std::pair<std::uint32_t, ExchangeWord>>> early_;
  std::size_t early_words_ = 0;
  std::uint64_t early_bytes_ = 0;
  std::set<std::uint64_t> open_;            // Gangs that have begun here, and have not ended.
  std::uint64_t last_gang_ = 0;             // The last one that has begun here.
  std::map<std::uint64_t, Status> failed_;  // Of those that have not ended.
  std::uint32_t life_ = 0;                  // Of the island's first host: earlier ones are over.
  /// Hosts that could not read what this one lent: how many messages go in other ways before the
  /// next try.
  std::map<std::uint32_t, std::uint32_t> blind_;
  std::uint64_t last_offer_ = 0;
  bool has_begun_ = false;
  std::map<std::uint32_t, std::vector<ExchangeWord>> outbox_;
  Counts counts_;
};

}  // namespace seaway::device
