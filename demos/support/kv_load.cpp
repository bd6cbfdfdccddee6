// The kv demo around its store: users ask and members are killed. What all users saw is written
// down, and an order is looked for in which it could have happened.

#include "demos/support/kv_load.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "demos/kv.hpp"
#include "demos/list.hpp"
#include "demos/support/kv_board.hpp"
#include "demos/support/linearizability.hpp"
#include "demos/support/report.hpp"
#include "demos/support/simulated.hpp"
#include "demos/support/terminal.hpp"
#include "seaway/host_main.hpp"

namespace seaway::demos {
namespace {

using kv::Answer;
using kv::Board;
using kv::Command;
using kv::Progress;
using kv::Store;
using kv::Work;

constexpr const char* kCluster = "embedded:islands=4,devices=1";
/// Few, so that users are in each other's way.
constexpr std::uint64_t kKeys = 6;
/// Operations between two words of a user, and about as many between two looks at who it asks.
constexpr std::uint32_t kReport = 20, kLooks = 20;
/// After so many deaths all shards get other primaries, and the old ones do not know it.
constexpr std::uint64_t kDeathsToTakeover = 10, kEpochsOfOne = 1'000'000;

/// Asks one thing after the other, and writes down what and when.
class User {
 public:
  static void describe(ActorType<User>& type) { type.on(&User::work); }
  User(Self self, ActorRef<Board> board) : self_(std::move(self)), board_(std::move(board)) {}

  /// The answer is a stream, as the work takes a while.
  Task<Status> work(Request<Work> request, Writer<Progress> writer) {
    std::uint32_t failed = 0, takeovers = 0;
    bool looks = true;
    for (std::uint32_t i = 1; i <= request->getOperations(); ++i) {
      // Some hear late that others have taken over, and ask those who were replaced.
      if (self_.random() % kLooks == 0 || looks) {
        if (Status status = co_await look(); !status.ok()) co_return status;
      }
      const Operation operation = next(i);
      const auto deed = kv::to_message(operation);
      const auto noted = co_await board_.call(&Board::begin, deed);
      if (!noted.ok()) co_return noted.status();
      const auto answer = co_await store_.ask(command(operation, i));
      looks = !answer.ok();
      if (answer.ok()) {
        const auto ended = co_await board_.call(&Board::end, [&](kv::Done::Builder m) {
          m.setNumber(noted.value()->getNumber());
          m.setResult(answer.value()->getResult());
        });
        if (!ended.ok()) co_return ended.status();
        takeovers += is_takeover(Store::shard_of(operation.key), answer.value()->getEpoch());
        if (operation.kind == Operation::Kind::kGet) seen_ = answer.value()->getResult();
      } else {
        ++failed;  // Whether it has happened is not known: the history says so, too.
      }
      if (i % kReport != 0 && i != request->getOperations()) continue;
      const auto written = co_await writer.write([&](Progress::Builder m) {
        m.setOperations((i - 1) % kReport + 1);
        m.setFailed(std::exchange(failed, 0));
        m.setTakeovers(std::exchange(takeovers, 0));
      });
      if (!written.ok()) co_return written.status();
    }
    co_return Status();
  }

 private:
  Task<Status> look() {
    const auto said = co_await board_.call(&Board::where);
    if (!said.ok()) co_return said.status();
    auto found = Store::from(*said);
    if (!found.ok()) co_return found.status();
    store_ = *std::move(found);
    co_return Status();
  }
  Operation next(std::uint32_t number) {
    const std::uint64_t random = self_.random();
    Operation operation;
    operation.kind = static_cast<Operation::Kind>(random % 3);
    operation.key = (random >> 8) % kKeys;
    // A value that nobody else writes: who reads it knows where it comes from.
    operation.value = std::int64_t{self_.index() + 1} * 1'000'000 + number;
    operation.expected = seen_;
    operation.client = self_.index();
    return operation;
  }
  /// Once a new primary has answered the old one may not: an exception ends this actor and the
  /// demo.
  bool is_takeover(std::uint64_t shard, std::uint64_t epoch) {
    const std::uint64_t last = std::exchange(epochs_[shard], epoch);
    if (epoch < last) throw std::runtime_error("a primary that was replaced has answered");
    return last != 0 && epoch > last;
  }
  static Message<Command> command(const Operation& operation, std::uint64_t number) {
    return make<Command>([&](Command::Builder m) {
      m.setKind(static_cast<Command::Kind>(operation.kind));
      m.setKey(operation.key);
      m.setValue(operation.value);
      m.setExpected(operation.expected);
      m.setClient(operation.client);
      m.setNumber(number);
    });
  }

  Self self_;
  const ActorRef<Board> board_;
  Store store_;
  std::int64_t seen_ = 0;
  std::array<std::uint64_t, Store::kShards> epochs_ = {};  // Of the last answer of each.
};

/// All that the users did and saw.
Result<std::vector<Operation>> read_history(const ActorRef<Board>& board) {
  std::vector<Operation> history;
  const auto pages = board.stream(&Board::read);
  while (true) {
    const auto next = pages.next().get();
    if (!next.ok()) return next.status();
    if (!*next) return history;
    if (!(*next)->reply.ok()) return (*next)->reply.status();
    for (const auto deed : (*next)->reply.value()->getDeeds()) {
      history.push_back(kv::from_message(deed));
    }
  }
}

}  // namespace

void register_kv_users(Registry& registry) {
  registry.actor<Board>().actor<User, ActorRef<Board>>();
}

Result<KvReport> run_kv_store(const Client& client, const KvOptions& options) {
  const auto first = Store::open(client);
  if (!first.ok()) return first.status();
  std::vector<Store> stores = {*first};
  const auto boards = client.spawn<Board>(client.hosts().at({0}));
  if (!boards.ok()) return boards.status();
  const ActorRef<Board> board = boards->at(0);
  const auto shown = board.call(&Board::move, first->message()).get();
  if (!shown.ok()) return shown.status();
  const Placement places{{{"user", options.users}}, std::vector<std::uint32_t>(options.users, 0)};
  const auto users = client.spawn<User>(places, board);
  if (!users.ok()) return users.status();
  if (options.on_open) options.on_open();

  // All the time somebody dies: primaries, and a replica in between.
  KvReport report;
  const std::uint64_t all = std::uint64_t{options.users} * options.operations;
  const auto progress =
      users->stream(&User::work, [&](Work::Builder m) { m.setOperations(options.operations); });
  while (true) {
    const auto item = progress.next().get();
    if (!item.ok()) return item.status();
    if (!item->has_value()) break;
    const auto& word = (*item)->reply;
    if (!word.ok()) return word.status();
    report.operations += word.value()->getOperations();
    report.unanswered += word.value()->getFailed();
    report.takeovers += word.value()->getTakeovers();
    if (stores.size() <= report.deaths / kDeathsToTakeover) {
      const auto next = stores.back().taken_over(client, stores.size() * kEpochsOfOne);
      if (next.ok()) {
        stores.push_back(*next);
        const auto moved = board.call(&Board::move, next->message()).get();
        if (!moved.ok()) return moved.status();
      } else if (next.status().code() != StatusCode::kHostLost) {
        return next.status();  // But one that is down may be back at the next word.
      }
    }
    if (report.deaths == options.deaths ||
        report.operations < (report.deaths + 1) * all / (options.deaths + 1)) {
      continue;
    }
    const auto victim = static_cast<std::uint32_t>(report.deaths++ / 2 % Store::kShards);
    const Store& store = stores.back();
    if (report.deaths % 2 == 0) {
      store.replicas.at(victim * Store::kReplicas).kill();
    } else if (options.kill_host) {
      Status status = options.kill_host(store.primaries.members().mesh->hosts[victim]);
      if (!status.ok()) return status;
    } else {
      store.primaries.at(victim).kill();
    }
  }
  if (const auto stopped = users->stop().get(); !stopped.ok()) return stopped.status();
  for (const Store& store : stores) {
    if (const auto stopped = store.primaries.stop().get(); !stopped.ok()) return stopped.status();
  }
  if (const auto stopped = first->replicas.stop().get(); !stopped.ok()) return stopped.status();
  const auto history = read_history(board);
  if (!history.ok()) return history.status();
  if (const auto stopped = boards->stop().get(); !stopped.ok()) return stopped.status();

  if (report.takeovers == 0) {
    return Status(StatusCode::kDataCorruption, "primaries died, and no new one has answered");
  }
  if (Status status = check_linearizable(*history); !status.ok()) return status;
  return report;
}

Result<KvReport> run_kv_store_simulated(Simulation& simulation, const Client& client,
                                        KvOptions options) {
  const auto down = std::make_shared<std::set<std::uint32_t>>();
  options.kill_host = [&simulation, down](std::uint32_t host) -> Status {
    if (!down->insert(host).second) return {};  // It is dead as it is.
    simulation.spawn("host that returns", [&simulation, down, host] {
      simulation.sleep(std::chrono::milliseconds(20));
      static_cast<void>(simulation.restart_host(host));
      down->erase(host);
    });
    return simulation.kill_host(host);
  };
  return run_kv_store(client, options);
}

namespace {

void print(const KvReport& report, const KvOptions& work) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%llu operations of %u users on %u shards, %u copies of each\n",
              number(report.operations), work.users, Store::kShards, Store::kReplicas + 1);
  std::printf("%llu members were killed, users met a new primary %llu times; %llu got no answer\n",
              number(report.deaths), number(report.takeovers), number(report.unanswered));
  std::printf("linearizable: there is an order in which each saw what the ones before had left\n");
}

}  // namespace

int run_kv(const DemoOptions& options) {
  const RealClock clock;
  KvOptions work;
  if (options.quick || options.simulation_seed) work.operations = 500;
  if (options.size > 0) work.operations = static_cast<std::uint32_t>(options.size);
  if (options.simulation_seed) {
    return finish("kv", show_simulated(kCluster, *options.simulation_seed,
                                       [&](Simulation& simulation, const Client& simulated) {
                                         const auto report =
                                             run_kv_store_simulated(simulation, simulated, work);
                                         if (report.ok()) print(*report, work);
                                         return report.status();
                                       }));
  }
  const auto client = connect(options.cluster.empty() ? kCluster : options.cluster);
  if (!client.ok()) return finish("kv", client.status());
  if (!options.cluster.empty()) {
    work.on_open = [] {
      std::printf("the store is open\n");
      std::fflush(stdout);
    };
  }
  const std::uint64_t begin_ns = clock.now_ns();
  const auto report = run_kv_store(*client, work);
  if (!report.ok()) return finish("kv", report.status());
  const double seconds = static_cast<double>(clock.now_ns() - begin_ns) * 1e-9;
  print(*report, work);
  std::printf("%s operations a second, failures and the check included\n",
              short_number(static_cast<double>(report->operations) / seconds).c_str());
  return finish("kv", {});
}

}  // namespace seaway::demos
