// Enrolling, listening, playing the role, and ending all that in order.

#include "cluster/process.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "actor/background_offload.hpp"
#include "actor/io_engine.hpp"
#include "base/check.hpp"
#include "base/random.hpp"
#include "cluster/cluster_status.hpp"
#include "cluster/enrolment_messages.hpp"
#include "cluster/gatehouse.hpp"
#include "cluster/host_data.hpp"
#include "cluster/host_files.hpp"
#include "cluster/host_memory.hpp"
#include "cluster/member.hpp"
#include "cluster/passing_wires.hpp"
#include "cluster/plugins.hpp"
#include "cluster/questions.hpp"
#include "cluster/registry.hpp"
#include "cluster/spill_room.hpp"
#include "events/event_stream.hpp"
#include "function/native_registry.hpp"
#include "transport/address_text.hpp"
#include "transport/socket_wires.hpp"

namespace seaway::cluster {

using actor::Role;
using transport::ProcessId;

namespace {

constexpr std::uint64_t kAskNs = 2'000'000'000;
constexpr std::uint64_t kPauseNs = 20'000'000;  // Before a controller is asked again.
constexpr ProcessId kControllerProcess = 0;
constexpr std::size_t kClientTenantsMax = 65'536;  // Their numbers rise: the oldest goes first.
/// How often tokens are looked at, and the controller is asked who is welcome: a session ends
/// within a second, whatever the machine does meanwhile.
constexpr std::uint64_t kLookNs = 250'000'000;

void pause(actor::Engine& engine) {
  engine.wait([] { return false; }, engine.clock().now_ns() + kPauseNs);
}

}  // namespace

struct Process::State {
  State(ProcessOptions wanted, std::shared_ptr<const Clock> used,
        std::unique_ptr<actor::IoEngine> made)
      : options(std::move(wanted)),
        owned_clock(std::move(used)),
        clock(*owned_clock),
        engine(std::move(made)) {}
  ~State();

  Status enrol();
  Status listen();
  Status play(device::Compiler compiler);
  Status announce();
  transport::SocketHandlers handlers();
  void answer(const transport::Caller& caller, const Frame& question,
              const transport::Answering& done);
  void share_memory();
  Status move_data();
  Status admit(ProcessId peer, const transport::Caller& caller);
  void look();
  void look_again();
  void ask_who_is_welcome();
  Status read_tokens();
  void use_tokens(transport::TokenStore store);
  void limit_tenants();
  void end_session(ProcessId peer, const Status& why);
  /// Whether Unix sockets of this machine are its peers', too.
  bool is_near() const { return is_controller() || options.join.starts_with("unix:"); }
  Status advertise(const std::string& listening);
  void find(ProcessId peer, const std::function<void(Result<std::string>)>& done);
  void log(const PeerNews& news);
  std::string json() const;
  bool is_controller() const { return options.name.role == Role::kController; }
  /// What users' functions and actors run in, and clients talk with.
  bool has_program() const {
    return options.name.role == Role::kHost || options.name.role == Role::kAnnex;
  }
  bool is_host() const { return member && options.name.role == Role::kHost; }
  Shape shape() const { return Shape(cluster); }

  ProcessOptions options;
  const std::shared_ptr<const Clock> owned_clock;
  const Clock& clock;
  EmbeddedOptions cluster;
  ProcessId self = kControllerProcess;
  std::string address;
  std::string pass;
  events::EventStream events{16384};
  function::NativeRegistry natives;
  std::vector<NativeName> native_names;             // Of the registry.
  std::unique_ptr<pjrt::PluginDevices> plugin;      // Of a host; null: devices are built in.
  std::unique_ptr<function::TbbParallelism> arena;  // Of a host or an annex.
  std::unique_ptr<actor::IoEngine> engine;
  // Control thread:
  PassingWires wires;
  std::optional<Gatehouse> gatehouse;  // The controller's.
  std::optional<Sessions> sessions;    // Of a worker.
  std::set<ProcessId> strangers;       // Clients that came over a network, of a host or an annex.
  std::set<std::string> tenants;       // That a token was ever of.
  std::string last_lost;               // Of the peers.
  std::string tenant;                  // That a client works for.
  std::map<ClientId, transport::TenantKey> client_tenants;  // Of clients that were admitted.
  std::shared_ptr<bool> is_here = std::make_shared<bool>(true);
  std::map<ProcessId, std::string> addresses;  // That were found before.
  std::unique_ptr<HostMemory> memory;          // Of a host;
  std::unique_ptr<HostData> data;              // the same, and of a client;
  std::unique_ptr<store::DiskSpill> spill;     // of a host.
  std::unique_ptr<Member> member;
  actor::Background background{{.threads_max = 2}};  // Ends first: its jobs post to the engine.
};

Process::State::~State() {
  if (arena) arena->close();  // What still runs there reads and writes arrays of this host.
  if (member) member->close_backend();
  actor::run_on_control_thread(*engine, [this] {
    *is_here = false;
    // Nobody listens at a client's, so that silence alone would tell that it has gone.
    if (member && options.name.role == Role::kClient) member->leave();
    if (member) member->close_delegates();
    if (data) data->close();  // As of the arena.
    if (member) member->end_data();
    wires.use(nullptr);
  });
  engine->stop();
  member.reset();
}

Status Process::State::enrol() {
  if (is_controller()) {
    auto parsed = parse_embedded(options.spec);
    if (!parsed.ok()) return parsed.status();
    cluster = *parsed;
    if (Status status = check_for_processes(cluster); !status.ok()) return status;
    if (options.life < 1 || options.life > Enrolment::kControllerLivesMax) {
      return invalid_argument("a controller has lives 1 to " +
                              std::to_string(Enrolment::kControllerLivesMax) + ", and not life " +
                              std::to_string(options.life));
    }
    gatehouse.emplace(
        Gatehouse::Options{shape(), options.life, options.cluster, options.spec,
                           options.heartbeat_ns, options.silence_ns, options.audit, options.utc_s},
        transport::make_pass_key(), clock);
    pass = gatehouse->sessions().pass_of(self, options.life);
    return read_tokens();
  }
  const std::uint64_t until_ns = clock.now_ns() + options.join_timeout_ns;
  for (;;) {
    auto answer = ask_now(*engine, options.join, 0, EnrolQuestion{options.name, options.tenant},
                          kAskNs, options.credentials);
    Status status = answer.status();
    if (answer.ok()) {
      const auto enrolled = read_enrolled(*answer);
      if (!enrolled.ok()) return enrolled.status();
      auto parsed = parse_embedded(enrolled->spec);
      if (!parsed.ok()) return parsed.status();
      cluster = *parsed;
      self = enrolled->process;
      options.name.index = enrolled->index;
      options.life = enrolled->life;
      options.cluster = enrolled->cluster;
      options.heartbeat_ns = enrolled->heartbeat_ns;
      options.silence_ns = enrolled->silence_ns;
      pass = enrolled->pass;
      tenant = enrolled->tenant;
      if (!enrolled->key.empty()) sessions.emplace(enrolled->key, enrolled->cluster);
      return {};
    }
    // It may not be there yet, or the process of before may not be known to be gone.
    const bool may_pass = status.code() == StatusCode::kHostLost ||
                          status.code() == StatusCode::kDeadlineExceeded ||
                          status.code() == StatusCode::kResourceExhausted;
    if (!may_pass) return status;
    if (clock.now_ns() + kPauseNs >= until_ns) {
      return {StatusCode::kDeadlineExceeded,
              "no controller at " + options.join + " took this process as " +
                  to_string(options.name) + " in time: " + status.to_string()};
    }
    pause(*engine);
  }
}

transport::SocketHandlers Process::State::handlers() {
  transport::SocketHandlers handlers;
  handlers.admit = [this](ProcessId peer, const transport::Caller& caller) {
    return admit(peer, caller);
  };
  handlers.answer = [this](const transport::Caller& caller, const Frame& question,
                           const transport::Answering& done) { answer(caller, question, done); };
  handlers.refused = [this](const transport::Caller& caller, const Status& why) {
    if (gatehouse) gatehouse->refused(caller, why);
  };
  handlers.data = [this](ProcessId peer, std::unique_ptr<transport::DataSocket> socket) {
    if (data) data->accept(peer, std::move(socket));
  };
  handlers.find = [this](ProcessId peer, std::function<void(Result<std::string>)> done) {
    find(peer, done);
  };
  return handlers;
}

Status Process::State::admit(ProcessId peer, const transport::Caller& caller) {
  if (!member) return {StatusCode::kIslandUnavailable, "it has not begun yet; try again"};
  Status status = gatehouse  ? gatehouse->admit(peer, caller)
                  : sessions ? sessions->check_talk(peer, caller)
                             : Status(StatusCode::kPermissionDenied, "nobody talks with clients");
  if (!status.ok()) return status;
  const ProcessId roles = last_role_process(shape());
  if (peer <= roles) return {};
  client_tenants[peer - roles] = transport::tenant_of_pass(caller.pass);
  if (client_tenants.size() > kClientTenantsMax) client_tenants.erase(client_tenants.begin());
  if (!caller.is_local && sessions) strangers.insert(peer);
  member->meet_client(peer - roles);
  return {};
}

/// What others are told of where it listens.
Status Process::State::advertise(const std::string& listening) {
  std::vector<std::string> all;
  for (const std::string& one : transport::split_addresses(listening)) {
    if (!transport::is_of_network(one)) {
      if (is_near()) all.push_back(one);
      continue;
    }
    const std::string host = transport::host_of(one);
    if (!options.advertise.empty()) {
      all.push_back(transport::with_host(one, options.advertise));
    } else if (host == "0.0.0.0" || host == "::") {
      return invalid_argument("nobody reaches " + one +
                              ": say by which host others do, with advertise");
    } else {
      all.push_back(one);
    }
  }
  if (all.empty() && !listening.empty()) {
    return invalid_argument("the controller is at " + options.join +
                            ", from where nobody reaches " + listening + ": listen at tls:HOST:0");
  }
  address = transport::join_addresses(all);
  return {};
}

Status Process::State::listen() {
  transport::SocketOptions sockets;
  sockets.credentials = options.credentials;
  sockets.pass = pass;
  sockets.life = options.life;
  sockets.self = self;
  sockets.cluster = options.cluster;
  sockets.listen = options.listen;
  Status status;
  actor::run_on_control_thread(*engine, [&] {
    auto made = transport::SocketWires::make(engine->loop(), sockets, handlers());
    if (!made.ok()) {
      status = made.status();
      return;
    }
    status = advertise((*made)->address());
    wires.use(std::move(made).value());
  });
  return status;
}

Status Process::State::announce() {
  if (is_controller() || address.empty()) return {};
  auto answer = ask_now(*engine, options.join, options.cluster,
                        AnnounceQuestion{self, options.life, address, native_names}, kAskNs,
                        options.credentials);
  return answer.ok() ? read_done(*answer) : answer.status();
}

/// Clients come and go, which is only the controller's to tell; everybody else is missed.
void Process::State::log(const PeerNews& news) {
  const bool is_client = news.name.role == Role::kClient;
  const std::string life = news.life == 0 ? "" : ", life " + std::to_string(news.life);
  const LogLevel usual = is_client && !is_controller() ? LogLevel::kDebug : LogLevel::kInfo;
  if (!news.is_lost) return options.log(usual, to_string(news.name) + life + ", is there");
  last_lost = to_string(news.name);
  options.log(is_client ? usual : LogLevel::kWarning,
              last_lost + life + ", is lost: " + news.reason);
}

Status Process::State::play(device::Compiler compiler) {
  MemberOptions wanted;
  wanted.cluster = cluster;
  wanted.name = options.name;
  wanted.clients_max = 0;
  wanted.life = options.life;
  wanted.seed = mix64(options.cluster ^ mix64(self) ^ options.life);
  wanted.heartbeat_ns = options.heartbeat_ns;
  wanted.silence_ns = options.silence_ns;
  wanted.on_orphaned = [this] {
    options.log(LogLevel::kError, to_string(options.name) + " begins a new life: without " +
                                      last_lost + " all that it knows means nothing any more");
    options.on_orphaned();
  };
  wanted.has_actors = true;
  if (options.registry) wanted.types = &options.registry->state().types;
  wanted.check_native = [this](const NativeName& native) -> Status {
    auto said = ask_now(*engine, options.join, options.cluster, NativeQuestion{native}, kAskNs,
                        options.credentials);
    return said.ok() ? read_done(*said) : said.status();
  };
  wanted.on_peer = [this](const PeerNews& news) {
    const ProcessId peer = process_of(news.name, shape());
    log(news);
    if (news.is_lost) strangers.erase(peer);
    if (!gatehouse) return;
    news.is_lost ? gatehouse->went(peer) : gatehouse->came(peer);
  };
  wanted.tenant_of = [this](ClientId client) {
    if (options.name.role == Role::kClient) return transport::tenant_key(tenant);
    const auto found = client_tenants.find(client);
    return found == client_tenants.end() ? transport::kNoTenant : found->second;
  };
  if (is_controller()) wanted.end_session = std::bind_front(&State::end_session, this);
  if (options.name.role == Role::kClient) {
    wanted.explain_loss = [this](const RoleName& lost) {
      const Status why = wires.failure(process_of(lost, shape()));
      return why.ok() ? std::string() : why.message();
    };
  } else {
    wanted.check_native = std::bind_front(check_own_native, std::cref(native_names));
  }
  if (!compiler) {
    const bool overlaps = shape().hosts > 1 && cluster.exchange.overlaps;
    compiler = overlaps ? function::compile_cpu_overlapping : function::compile_cpu;
  }
  if (has_program()) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    arena =
        std::make_unique<function::TbbParallelism>(cluster.threads > 0 ? cluster.threads : cores);
  }
  if (options.name.role == Role::kHost) {
    auto opened = open_spill(cluster, *engine, options.log);
    if (!opened.ok()) return opened.status();
    spill = std::move(*opened);
    if (Status status = open_plugin(cluster, 1, plugin); !status.ok()) return status;
  }
  Status moved;
  actor::run_on_control_thread(*engine, [&] {
    share_memory();
    moved = move_data();
    if (!moved.ok()) return;
    member = std::make_unique<Member>(
        std::move(wanted),
        MemberWiring{*engine, wires, events, natives, memory ? &memory->near() : nullptr,
                     data ? &data->plane() : nullptr, spill.get(),
                     [this](HostId host, ArrayId array, const transport::Payload& payload,
                            const std::function<void(Status)>& done) {
                       find(process_of({Role::kHost, host}, shape()),
                            giver_of_file(engine->loop(), options.cluster,
                                          {self, options.life, pass, array}, payload, done));
                     },
                     actor::offload_to(background, *engine)},
        [&](IslandId, std::function<void()> on_progress) {
          return make_backend(plugin.get(), *engine, *arena, std::move(on_progress),
                              std::move(compiler));
        });
    limit_tenants();
    look_again();
  });
  return moved;
}

void Process::State::look_again() {
  const bool looks = gatehouse.has_value() || (sessions && has_program());
  if (!looks) return;
  // At whole multiples, as heartbeats: a process at rest wakes once for both.
  engine->schedule((clock.now_ns() / kLookNs + 1) * kLookNs, [this, here = is_here] {
    if (!*here) return;
    look();
    look_again();
  });
}

/// Who was let in may not be welcome any more.
void Process::State::look() {
  if (!gatehouse) return ask_who_is_welcome();
  if (Status status = read_tokens(); !status.ok()) options.audit(status.message());
  for (const auto& [peer, why] : gatehouse->end_invalid()) end_session(peer, why);
}

/// While a store cannot be read, the one of before counts.
Status Process::State::read_tokens() {
  if (!options.tokens) return {};
  auto changed = options.tokens();
  if (!changed) return {};
  if (!changed->ok()) return changed->status();
  use_tokens(std::move(**changed));
  return {};
}

void Process::State::use_tokens(transport::TokenStore store) {
  for (const auto& record : store.records()) tenants.insert(record.tenant);
  gatehouse->use(std::move(store));
  limit_tenants();
}

void Process::State::limit_tenants() {
  if (!member || !member->controller()) return;
  for (const std::string& one : tenants) {
    member->controller()->limit_tenant(one, gatehouse->doorkeeper().quota_of(one));
  }
}

void Process::State::ask_who_is_welcome() {
  if (strangers.empty()) return;
  const VouchQuestion question{{strangers.begin(), strangers.end()}};
  const auto take = [this](const Result<Frame>& answer) {
    const auto unwelcome =
        answer.ok() ? read_unwelcome(*answer) : Result<std::vector<ProcessId>>(answer.status());
    if (!unwelcome.ok()) return;
    for (const ProcessId peer : *unwelcome) {
      end_session(peer, {StatusCode::kUnauthenticated,
                         "the controller has ended the session of this client"});
    }
  };
  transport::ask(engine->loop(), options.join, options.cluster, to_frame(question), kAskNs, take,
                 options.credentials);
}

void Process::State::end_session(ProcessId peer, const Status& why) {
  if (gatehouse) gatehouse->offend(peer, why);
  if (sessions) sessions->refuse(peer, why);
  strangers.erase(peer);
  const RoleName name = role_of(peer, shape());
  name.role == Role::kClient ? member->drop_client(name.index, why) : member->drop_role(name, why);
}

void Process::State::find(ProcessId peer, const std::function<void(Result<std::string>)>& done) {
  if (peer > last_role_process(shape())) {
    return done(Status(StatusCode::kNotFound, "nobody connects to clients"));
  }
  const auto choose = [this, peer](Result<std::string> found) -> Result<std::string> {
    if (!found.ok()) return found;
    for (const std::string& one : transport::split_addresses(*found)) {
      if (transport::is_of_network(one) || is_near()) return one;
    }
    return Status(StatusCode::kNotFound, "process " + std::to_string(peer) +
                                             " listens within its own machine alone: " + *found);
  };
  if (gatehouse) return done(choose(gatehouse->enrolment().find(peer)));
  if (peer == kControllerProcess) return done(options.join);
  const auto take = [this, peer, done, choose](Result<Frame> answer) {
    Result<std::string> found = choose(answer.ok() ? read_address(*answer) : answer.status());
    // Without a controller the others are where they were, or nowhere.
    if (found.ok()) addresses[peer] = *found;
    const auto before = addresses.find(peer);
    const bool is_unknown = found.status().code() == StatusCode::kNotFound;
    if (found.ok() || is_unknown || before == addresses.end()) return done(std::move(found));
    done(before->second);
  };
  transport::ask(engine->loop(), options.join, options.cluster, to_frame(FindQuestion{peer}),
                 kAskNs, take, options.credentials);
}

void Process::State::answer(const transport::Caller& caller, const Frame& question,
                            const transport::Answering& done) {
  const auto asked = read_question(question);
  if (!asked.ok()) return done(asked.status());
  if (const auto* reads = std::get_if<MemoryQuestion>(&*asked); reads && memory && sessions) {
    return memory->lend(*sessions, caller, *reads, done);
  }
  if (const auto* gives = std::get_if<FileQuestion>(&*asked); gives && sessions && is_host()) {
    auto upload = take_file(*sessions, shape(), caller, *gives);
    if (!upload.ok()) return done(upload.status());
    Status taken = member->take_file(gives->array, std::move(*upload));
    return done(taken.ok() ? Result<Frame>(done_frame()) : taken);
  }
  if (!gatehouse) {
    return done(Status(StatusCode::kNotFound,
                       "this is " + to_string(options.name) + "; ask the controller"));
  }
  bool is_over = false;
  // One that was made just now counts already.
  if (!caller.token.empty()) {
    if (Status status = read_tokens(); !status.ok()) options.audit(status.message());
  }
  if (!member && std::holds_alternative<StatusQuestion>(*asked)) {
    return done(Status(StatusCode::kIslandUnavailable, "it has not begun; try again"));
  }
  if (const auto* why = std::get_if<WhyQuestion>(&*asked)) {
    if (Status may = gatehouse->may_ask_why(caller); !may.ok()) return done(may);
    if (!member) return done(Status(StatusCode::kIslandUnavailable, "it has not begun; try again"));
    return explain(*member, why->run, [done](Result<std::string> text) {
      done(text.ok() ? Result<Frame>(status_frame(*text)) : text.status());
    });
  }
  if (const auto* drain = std::get_if<DrainQuestion>(&*asked)) {
    if (Status may = gatehouse->may_drain(caller, *drain); !may.ok()) return done(may);
    if (!member) return done(Status(StatusCode::kIslandUnavailable, "it has not begun; try again"));
    const auto left = member->drain_island(drain->island, drain->how);
    return done(left.ok() ? Result<Frame>(left_frame(*left)) : left.status());
  }
  done(gatehouse->answer(
      caller, *asked, [this] { return json(); }, [&is_over] { is_over = true; }));
  if (is_over) options.on_stop();
}

/// Of a host: what it makes lies where hosts of its machine can read it. Without, it is sent.
void Process::State::share_memory() {
  if (!has_program() || !is_near()) return;
  constexpr std::size_t kMore = std::size_t{1} << 30;  // What is kept for reuse, and rounded up.
  const std::size_t room = cluster.devices * cluster.device_memory + cluster.host_memory;
  memory = std::make_unique<HostMemory>(
      engine->loop(), HostMemory::Options{self, options.life, options.cluster, shape(), pass,
                                          options.join, options.credentials, 2 * room + kMore});
  if (!memory->status().ok()) options.log(LogLevel::kInfo, memory->status().message());
}

Status Process::State::move_data() {
  if (!has_program() && options.name.role != Role::kClient) return {};
  auto made = HostData::make(
      *engine, engine->loop(),
      HostData::Options{self, options.life, options.cluster, shape(), pass, options.credentials},
      HostData::Calls{[this](ProcessId peer, const auto& done) { find(peer, done); },
                      [this] { member->data_came(); },
                      [this](ClientId client) { member->call_back(client); }});
  if (!made.ok()) return made.status();
  data = std::move(*made);
  return {};
}

std::string Process::State::json() const {
  return status_json({address, options.spec, options.life, cluster}, gatehouse->enrolment(),
                     *member);
}

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}
Process::~Process() = default;

Result<std::shared_ptr<Process>> Process::start(ProcessOptions options,
                                                std::shared_ptr<const Clock> clock,
                                                device::Compiler compiler) {
  auto engine = actor::make_io_engine(*clock);
  if (!engine.ok()) return engine.status();
  auto state = std::make_unique<State>(std::move(options), std::move(clock), std::move(*engine));
  if (const auto& registry = state->options.registry) {
    if (Status status = registry->state().check(); !status.ok()) return status;
    state->native_names = registry->state().register_natives(state->natives);
  }
  for (const auto& step : {&State::enrol, &State::listen, &State::announce}) {
    if (Status status = (*state.*step)(); !status.ok()) return status;
  }
  if (Status status = state->play(std::move(compiler)); !status.ok()) return status;
  // The last handle may go on its own thread, which cannot wait for itself.
  return std::shared_ptr<Process>(new Process(std::move(state)), [](Process* process) {
    if (process->on_control_thread()) {
      std::thread([process] { delete process; }).detach();
    } else {
      delete process;
    }
  });
}

Result<Client> Process::connect(ClientOptions options, std::shared_ptr<void> keep_alive) {
  const std::string& tenant = state_->tenant;
  if (options.tenant == ClientOptions().tenant) options.tenant = tenant;
  if (options.tenant != tenant) {
    return Status(StatusCode::kPermissionDenied, "what this client shows is of tenant \"" + tenant +
                                                     "\", and it says \"" + options.tenant +
                                                     "\"; leave ClientOptions::tenant out");
  }
  return state_->member->connect(std::move(options), std::move(keep_alive));
}

const std::string& Process::address() const { return state_->address; }
const RoleName& Process::name() const { return state_->options.name; }
std::uint32_t Process::life() const { return state_->options.life; }
bool Process::on_control_thread() const { return state_->engine->on_control_thread(); }

Process::Exchanged Process::exchanged() const {
  Exchanged all;
  actor::run_on_control_thread(*state_->engine, [&] {
    if (state_->memory) all.loans = state_->memory->near().loans();
    if (state_->data) all.data = state_->data->plane().counts();
  });
  return all;
}

std::string Process::status() const {
  std::string json;
  actor::run_on_control_thread(*state_->engine, [&] { json = state_->json(); });
  return json;
}

}  // namespace seaway::cluster
