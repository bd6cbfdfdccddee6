// How processes of a campaign are started, found, harmed and ended.

#include "real_cluster.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <utility>

#include "auto_tls.hpp"
#include "benchmarks/support/command.hpp"
#include "benchmarks/support/measure.hpp"
#include "cluster/process.hpp"
#include "left_behind.hpp"
#include "verbs.hpp"

namespace seaway::tools {

using campaign::RealFault;
using campaign::RealProcess;
using campaign::RealRole;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kReadyNs = 30'000'000'000, kAskNs = 1'000'000'000;
/// Whoever had less memory than it needs may end of that a while later.
constexpr std::uint64_t kBoundNs = 10'000'000'000;
constexpr double kCommandS = 20;
constexpr std::uint16_t kPort = 7401;  // Of all roles, where each has an address of its own.
/// What is done here is the reason for most ends, so that many of them say nothing.
constexpr std::size_t kRestartsMax = 1000;
constexpr std::size_t kDiskBytes = std::size_t{4} << 20, kAuditBytesMax = std::size_t{1} << 20;
constexpr std::size_t kLastWordsMax = 20;
/// By it all that a campaign has started is known, whoever its parent is.
constexpr const char* kTag = "SEAWAY_CAMPAIGN";
constexpr const char* kShared = "/dev/shm";
constexpr std::uint64_t kHanging = 0;  // When it was killed, of one that has not ended by itself.

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What /proc says of a process, in the unit of its line.
std::uint64_t number_in(pid_t process, const std::string& word) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(word)) return std::stoull(line.substr(word.size()));
  }
  return 0;
}

/// One that nobody listens at, here or at the proxy's address; 0: there is none.
std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name = {};
  name.sin_family = AF_INET;  // Of all addresses.
  socklen_t size = sizeof(name);
  auto* const any = reinterpret_cast<sockaddr*>(&name);
  const bool is_bound = ::bind(socket, any, size) == 0 && ::getsockname(socket, any, &size) == 0;
  ::close(socket);
  return is_bound ? ntohs(name.sin_port) : 0;
}

/// Of its socket: "host1", "host1.1" for an annex.
std::string word_of(const RealProcess& process) {
  if (process.role == RealRole::kController) return "controller";
  const bool is_annex = process.role == RealRole::kAnnex;
  return std::string(to_string(is_annex ? RealRole::kHost : process.role)) +
         std::to_string(process.index) + (is_annex ? "." + std::to_string(process.host) : "");
}

std::vector<std::string> last_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream text(text_of(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const std::size_t count = std::min(lines.size(), kLastWordsMax);
  return {lines.end() - static_cast<std::ptrdiff_t>(count), lines.end()};
}

/// What roles keep, and what credentials are made of.
bool is_kept(const std::string& name) {
  static const std::set<std::string> kNames = {"controller.life", "audit.log", "tokens", "tls",
                                               "worker.token"};
  return kNames.contains(name) || name.ends_with(".address");
}

}  // namespace

RealCluster::~RealCluster() {
  for (const RealProcess& process : all()) signal(process, SIGCONT);
  children_.reset();
}

std::vector<RealProcess> RealCluster::annexes_of(std::uint32_t island) const {
  std::vector<RealProcess> annexes;
  for (std::uint32_t host = 1; host < options_.hosts; ++host) {
    annexes.push_back({RealRole::kAnnex, island, host});
  }
  return annexes;
}

std::vector<RealProcess> RealCluster::roles() const {
  std::vector<RealProcess> some = {{}};
  for (std::uint32_t island = 0; island < options_.islands; ++island) {
    some.push_back({RealRole::kScheduler, island});
    some.push_back({RealRole::kHost, island});
    for (const RealProcess& annex : annexes_of(island)) some.push_back(annex);
  }
  return some;
}

std::vector<RealProcess> RealCluster::all() const {
  std::vector<RealProcess> processes = roles();
  for (std::uint32_t i = 0; i < options_.clients; ++i) processes.push_back({RealRole::kClient, i});
  return processes;
}

std::vector<std::string> RealCluster::names() const {
  std::vector<std::string> names;
  for (const RealProcess& process : all()) names.push_back(to_string(process));
  return names;
}

std::map<std::string, pid_t> RealCluster::processes() const {
  std::map<std::string, pid_t> numbers;
  for (const RealProcess& process : all()) {
    if (const pid_t number = process_of(process); number > 0) numbers[to_string(process)] = number;
  }
  return numbers;
}

Result<std::unique_ptr<RealCluster>> RealCluster::start(const campaign::RealPlanOptions& options,
                                                        const std::atomic<bool>& is_interrupted) {
  std::unique_ptr<RealCluster> cluster(new RealCluster(options, is_interrupted));
  if (Status status = cluster->begin(); !status.ok()) return status;
  return cluster;
}

Status RealCluster::begin() {
  descriptors_before_ = descriptors_of(::getpid());
  for (const std::string& name : names_in(kShared)) shared_before_.insert(name);
  auto directory = CampaignDirectory::make();
  if (!directory.ok()) return directory.status();
  directory_ = std::move(*directory);
  ::setenv(kTag, directory_->path().c_str(), 1);
  children_ = std::make_unique<Children>(clock_, kRestartsMax);
  if (options_.disk) {
    if (Status status = directory_->mount_disk(kDiskBytes); !status.ok()) return status;
  }
  if (is_network()) {
    if (Status status = begin_tls(); !status.ok()) return status;
  }
  for (const RealProcess& role : roles()) {
    if (Status status = start_role(role); !status.ok()) return status;
  }
  if (Status status = wait_for_roles(); !status.ok()) return status;
  for (std::uint32_t i = 0; i < options_.clients; ++i) {
    if (Status status = start_client(i); !status.ok()) return status;
  }
  return look_after();
}

bool RealCluster::fill_disk(bool is_full) {
  const std::string path = directory_->roles() + "/filler";
  if (!is_full) return --full_disks_ > 0 || ::unlink(path.c_str()) == 0;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const std::vector<char> zeros(std::size_t{64} << 10);
  for (std::size_t size = zeros.size(); size > 0;) {
    if (::write(file, zeros.data(), size) <= 0) size /= 2;
  }
  ::close(file);
  ++full_disks_;
  return true;
}

/// Strangers have each a line there, and would fill a small disk by themselves.
void RealCluster::trim_audit() {
  const std::string path = directory_->roles() + "/audit.log";
  std::error_code error;
  if (fs::file_size(path, error) < kAuditBytesMax || error) return;
  fs::copy_file(path, directory_->logs() + "/audit.log", fs::copy_options::overwrite_existing,
                error);
  static_cast<void>(!::truncate(path.c_str(), 0));
}

/// What processes show each other, and where they listen.
Status RealCluster::begin_tls() {
  std::vector<std::string> hosts = {FaultProxy::kHost};
  if (!is_proxied()) {
    directory_->own_networks(NetNamespaces::prefix());
    auto networks = NetNamespaces::make(names());
    if (!networks.ok()) return networks.status();
    networks_ = std::move(*networks);
    hosts.clear();
    for (const RealProcess& role : roles()) hosts.push_back(host_of(role));
  }
  const auto made = make_auto_tls(directory_->roles(), hosts);
  if (!made.ok()) return made.status();
  authority_ = made->authority;
  certificate_ = made->certificate;
  key_ = made->key;
  client_token_ = made->token;
  worker_token_ = directory_->roles() + "/worker.token";
  auto command = benchmarks::Command::start({"token", "create", "--tenant", "campaign", "--role",
                                             "worker", "--store", directory_->roles() + "/tokens",
                                             "--out", worker_token_});
  if (!command.ok()) return command.status();
  if (command->wait_for_end(kCommandS) != 0) return resource_exhausted("no token could be made");
  if (!is_proxied()) {
    for (const RealProcess& role : roles()) ports_[role] = kPort;
    return {};
  }
  proxy_ = std::make_unique<FaultProxy>(
      options_.seed,
      [this](std::uint16_t port, std::uint16_t to_port) { return names_.find(port, to_port); });
  for (const RealProcess& role : roles()) {
    ports_[role] = free_port();
    if (Status status = proxy_->listen(to_string(role), ports_[role]); !status.ok()) return status;
  }
  return {};
}

std::string RealCluster::host_of(const RealProcess& process) const {
  return networks_ ? networks_->address_of(to_string(process)) : FaultProxy::kHost;
}
std::string RealCluster::own_host_of(const RealProcess& process) const {
  return networks_ ? host_of(process) : "127.0.0.1";
}

std::string RealCluster::address() const {
  if (!is_network()) return "unix:" + directory_->roles() + "/controller.sock";
  return "tls:" + host_of({}) + ":" + std::to_string(ports_.at({}));
}

std::string RealCluster::log_of(const std::string& name) const {
  std::string file = name;
  std::replace(file.begin(), file.end(), ' ', '-');
  return directory_->logs() + "/" + file + ".log";
}

Status RealCluster::start_role(const RealProcess& process) {
  const std::string directory = directory_->roles();
  const bool is_annex = process.role == RealRole::kAnnex;
  std::vector<std::string> words = {
      std::string(to_string(is_annex ? RealRole::kHost : process.role))};
  std::string listen = "unix:" + directory + "/" + word_of(process) + ".sock";
  if (is_network()) {
    const std::string network =
        "tls:" + own_host_of(process) + ":" + std::to_string(ports_.at(process));
    listen = process == RealProcess() ? listen + "," + network : network;
    words.insert(words.end(), {"--advertise", host_of(process), "--ca-file", authority_,
                               "--cert-file", certificate_, "--key-file", key_});
  }
  words.insert(words.end(), {"--listen", listen, "--directory", directory, "--die-with-parent",
                             std::to_string(::getpid())});
  if (process == RealProcess()) {
    words.insert(words.end(), {"--islands", std::to_string(options_.islands), "--devices",
                               std::to_string(std::max(2u, options_.hosts)), "--hosts",
                               std::to_string(options_.hosts), "--device-memory", "4MiB",
                               "--host-memory", "256MiB"});
  } else {
    words.insert(words.end(), {"--island", std::to_string(process.index), "--join", address()});
    if (is_annex) words.insert(words.end(), {"--host", std::to_string(process.host)});
    if (is_network()) words.insert(words.end(), {"--token-file", worker_token_});
  }
  Child child{to_string(process), std::move(words), log_of(to_string(process))};
  if (networks_) {
    std::vector<std::string> all = networks_->command(child.name, child.words);
    child.program = all.front();
    child.words.assign(all.begin() + 1, all.end());
  }
  return children_->start(std::move(child));
}

Status RealCluster::start_client(std::uint32_t index) {
  const std::string name = to_string(RealProcess{RealRole::kClient, index});
  const std::uint64_t seed = options_.seed * 1'000'003 + index * 1009;
  std::vector<std::string> words = {"chaos",
                                    "real-client",
                                    "--address",
                                    address(),
                                    "--seed",
                                    std::to_string(seed),
                                    "--history",
                                    directory_->histories() + "/" + std::to_string(index),
                                    "--die-with-parent",
                                    std::to_string(::getpid())};
  if (is_network()) {
    words.insert(words.end(), {"--token-file", client_token_, "--ca-file", authority_});
  }
  Child child{name, std::move(words), log_of(name)};
  if (networks_) {
    std::vector<std::string> all = networks_->command(child.name, child.words);
    child.program = all.front();
    child.words.assign(all.begin() + 1, all.end());
  }
  return children_->start(std::move(child));
}

Status RealCluster::wait_for_roles() {
  const std::string near = "unix:" + directory_->roles() + "/controller.sock";
  const std::uint64_t until_ns = clock_.now_ns() + kReadyNs;
  while (clock_.now_ns() < until_ns) {
    const auto text = cluster::ask_status(near, clock_, kAskNs);
    const auto json = nlohmann::json::parse(text.ok() ? *text : "", nullptr, false);
    std::size_t there = 1;
    if (json.is_object()) {
      for (const auto& one : json["processes"]) {
        if (one.value("there", false) && one.value("role", "") != "client") ++there;
      }
    }
    if (there == roles().size()) return {};
    if (Status status = look_after(); !status.ok()) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return deadline_exceeded("a cluster of " + std::to_string(roles().size()) +
                           " processes was not there within 30 s; see the logs in " + keep());
}

Status RealCluster::look_after() {
  if (is_interrupted_) return {StatusCode::kCancelled, "it was interrupted"};
  bool has_failed = false;
  std::string why;
  for (const ChildEnd& end : children_->look_after(has_failed)) {
    judge_end(end);
    why = end.line;
  }
  if (has_failed) return {StatusCode::kHostLost, why};
  names_.set(processes());
  trim_audit();
  return {};
}

/// Whoever comes later may have the number of a process that has ended: what that one has written
/// gets a name that nobody else has.
std::string RealCluster::put_by_history(const RealProcess& client, pid_t process) {
  const std::string live = std::to_string(client.index) + "-" + std::to_string(process);
  const std::string over = live + "." + std::to_string(++histories_over_);
  std::error_code error;  // It had none, if it had not begun to write.
  fs::rename(directory_->histories() + "/" + live, directory_->histories() + "/" + over, error);
  return over;
}

void RealCluster::judge_end(const ChildEnd& end) {
  const RealProcess who = *campaign::parse_real_process(end.name);
  const std::uint64_t now_ns = clock_.now_ns();
  // One that had crashed before it was killed has not ended by that.
  const bool is_by_kill = WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL;
  const bool is_client = who.role == RealRole::kClient;
  const std::string history = is_client ? put_by_history(who, end.process) : std::string();
  const auto killed = killed_ns_.extract(end.process);  // Its number may be another one's later.
  if (is_by_kill && !killed.empty()) {
    if (killed.mapped() == kHanging) return;
    if (is_client) histories_killed_ns_[history] = killed.mapped();
    ++kills_[who.role];
    return;
  }
  const bool is_well = WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0;
  if (is_client && are_clients_to_end_ && is_well) return;
  const auto bounded = bounded_ns_.extract(end.process);
  if (!bounded.empty() && now_ns < bounded.mapped() + kBoundNs) return;
  const bool is_refused = WIFEXITED(end.status) && WEXITSTATUS(end.status) == kCheckFailed;
  auto& ends = !is_client && is_refused ? surrenders_ : crashes_;
  ends.push_back({end.line, last_lines(log_of(end.name)), now_ns});
}

pid_t RealCluster::process_of(const RealProcess& process) const {
  return children_ ? children_->process_of(to_string(process)) : 0;
}

std::uint64_t RealCluster::kills_of(RealRole role) const {
  const auto found = kills_.find(role);
  return found == kills_.end() ? 0 : found->second;
}

bool RealCluster::kill(const RealProcess& process, std::uint64_t now_ns) {
  const pid_t number = process_of(process);
  if (number == 0 || ::kill(number, SIGKILL) != 0) return false;
  killed_ns_.emplace(number, now_ns);
  return true;
}

bool RealCluster::signal(const RealProcess& process, int number) {
  const pid_t to = process_of(process);
  return to > 0 && ::kill(to, number) == 0;
}

bool RealCluster::bound(const RealProcess& process, RealFault what, bool is_bounded) {
  const pid_t number = process_of(process);
  if (number == 0) return false;
  const bool is_memory = what == RealFault::kMemory;
  const __rlimit_resource which = is_memory ? RLIMIT_AS : RLIMIT_NOFILE;
  rlimit limit = {};
  if (::prlimit(number, which, nullptr, &limit) != 0) return false;
  const rlim_t used = is_memory ? number_in(number, "VmSize:") * 1024 : descriptors_of(number);
  if (is_memory) bounded_ns_[number] = clock_.now_ns();
  limit.rlim_cur = is_bounded ? std::min<rlim_t>(used, limit.rlim_max) : limit.rlim_max;
  return ::prlimit(number, which, &limit, nullptr) == 0;
}

int RealCluster::connect_to(const RealProcess& process) const {
  sockaddr_storage name = {};
  socklen_t size = 0;
  if (is_network()) {
    auto& address = reinterpret_cast<sockaddr_in&>(name);
    address.sin_family = AF_INET;
    address.sin_port = htons(ports_.at(process));
    ::inet_pton(AF_INET, own_host_of(process).c_str(), &address.sin_addr);
    size = sizeof(address);
  } else {
    auto& address = reinterpret_cast<sockaddr_un&>(name);
    address.sun_family = AF_UNIX;
    const std::string path = directory_->roles() + "/" + word_of(process) + ".sock";
    std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
    size = sizeof(address);
  }
  const int socket = ::socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int done = ::connect(socket, reinterpret_cast<sockaddr*>(&name), size);
  if (socket >= 0 && (done == 0 || errno == EINPROGRESS)) return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

Result<std::vector<std::string>> RealCluster::end_clients(double most_s) {
  are_clients_to_end_ = true;
  std::vector<std::string> hanging;
  for (std::uint32_t i = 0; i < options_.clients; ++i) {
    children_->tell_to_end(to_string(RealProcess{RealRole::kClient, i}));
  }
  const std::uint64_t until_ns = clock_.now_ns() + static_cast<std::uint64_t>(most_s * 1e9);
  for (bool are_there = true; are_there;) {
    are_there = false;
    const std::uint64_t now_ns = clock_.now_ns();
    for (std::uint32_t i = 0; i < options_.clients; ++i) {
      const RealProcess client{RealRole::kClient, i};
      const pid_t number = process_of(client);
      are_there = are_there || number > 0;
      if (number == 0 || now_ns < until_ns || killed_ns_.contains(number)) continue;
      hanging.push_back(to_string(client) + " (process " + std::to_string(number) +
                        ") was to end, and has not for " + std::to_string(most_s) + " s");
      ::kill(number, SIGKILL);
      killed_ns_.emplace(number, kHanging);
    }
    // Roles may still begin anew, for what was done before.
    if (Status status = look_after(); !status.ok()) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (Status status = wait_for_roles(); !status.ok()) return status;
  return hanging;
}

std::vector<campaign::RealHistory> RealCluster::histories() const {
  std::vector<campaign::RealHistory> all;
  for (const std::string& file : names_in(directory_->histories())) {
    const std::size_t dash = file.find('-');
    const std::string index = file.substr(0, dash), process = file.substr(dash + 1);
    all.push_back(campaign::read_real_history("client " + index + ", process " + process,
                                              text_of(directory_->histories() + "/" + file)));
    all.back().index = static_cast<std::uint32_t>(std::stoul(index));
    const auto killed = histories_killed_ns_.find(file);
    if (killed != histories_killed_ns_.end()) all.back().killed_ns = killed->second;
  }
  return all;
}

bool RealCluster::is_healed(std::uint64_t since_ns) const {
  constexpr std::size_t kValues = 3;
  for (std::uint32_t i = 0; i < options_.clients; ++i) {
    const RealProcess client{RealRole::kClient, i};
    const std::string file = std::to_string(i) + "-" + std::to_string(process_of(client));
    const auto history =
        campaign::read_real_history({}, text_of(directory_->histories() + "/" + file));
    if (!is_settled(history, since_ns, kValues)) return false;
  }
  return true;
}

std::vector<campaign::RealSample> RealCluster::samples() const {
  std::map<std::string, pid_t> numbers = processes();
  numbers["campaign"] = ::getpid();
  std::vector<campaign::RealSample> samples;
  for (const auto& [name, number] : numbers) {
    const std::uint64_t bytes = benchmarks::resident_of(number).now_bytes;
    if (bytes > 0)
      samples.push_back({clock_.now_ns(), name, number, bytes, descriptors_of(number)});
  }
  return samples;
}

std::vector<std::string> RealCluster::memory_of_dead_hosts() const {
  return memory_of_the_dead(processes());
}

std::string RealCluster::keep() {
  directory_->keep();
  return directory_->path();
}

std::vector<std::string> RealCluster::end() {
  children_.reset();
  proxy_.reset();
  std::vector<std::string> left;
  if (networks_) {
    networks_.reset();
    for (const std::string& one : NetNamespaces::left()) left.push_back("network " + one);
  }
  for (const pid_t process : processes_with(kTag, directory_->path())) {
    left.push_back("process " + std::to_string(process));
  }
  for (const std::string& name : names_in(directory_->roles())) {
    if (!is_kept(name)) left.push_back("file " + name);
  }
  for (const std::string& name : names_in(kShared)) {
    const bool is_own = name.find("seaway") != std::string::npos;
    if (is_own && !shared_before_.contains(name)) left.push_back(std::string(kShared) + "/" + name);
  }
  const std::size_t mounts = mounts_below(directory_->path()).size();
  if (mounts > (options_.disk ? 1u : 0u)) left.push_back("a file system that was mounted");
  // The lock of its directory is not closed yet.
  const std::size_t descriptors = descriptors_of(::getpid());
  if (descriptors > descriptors_before_ + 1) {
    left.push_back(std::to_string(descriptors - descriptors_before_ - 1) +
                   " descriptors of this process");
  }
  return left;
}

}  // namespace seaway::tools
