// How processes of a campaign are started, found, harmed and ended.

#include "real_cluster.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
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
#include "benchmarks/support/measure.hpp"
#include "cluster/process.hpp"

namespace seaway::tools {

using campaign::RealFault;
using campaign::RealProcess;
using campaign::RealRole;

namespace {

namespace fs = std::filesystem;

/// Children are given up that end more than 5 times in 10 s.
constexpr std::size_t kKillsMax = 4;
constexpr std::uint64_t kWindowNs = 11'000'000'000;
constexpr std::uint64_t kReadyNs = 30'000'000'000, kAskNs = 1'000'000'000;
constexpr double kCommandS = 20;

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

std::size_t descriptors_of(pid_t process) {
  std::error_code error;
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", error)) {
    ++count;
  }
  return count;
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

std::string word_of(const RealProcess& process) {
  std::string word(to_string(process.role));
  return process.role == RealRole::kController ? word : word + std::to_string(process.index);
}

/// The sockets of a process, as "socket:[4711]".
bool has_socket(pid_t process, const std::string& inode) {
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", error)) {
    const fs::path target = fs::read_symlink(entry.path(), error);
    if (!error && target == inode) return true;
  }
  return false;
}

}  // namespace

void RealCluster::Names::set(std::map<std::string, pid_t> processes) {
  const std::lock_guard lock(mutex_);
  processes_ = std::move(processes);
}

std::string RealCluster::Names::find(std::uint16_t port) const {
  char wanted[8];
  std::snprintf(wanted, sizeof(wanted), ":%04X", port);
  std::ifstream file("/proc/net/tcp");
  std::string inode;
  for (std::string line; std::getline(file, line) && inode.empty();) {
    std::istringstream words(line);
    std::string number, local, skipped, found;
    words >> number >> local;
    for (int i = 0; i < 7; ++i) words >> skipped;
    words >> found;
    if (local.ends_with(wanted) && found != "0") inode = "socket:[" + found + "]";
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [name, process] : processes_) {
    if (!inode.empty() && has_socket(process, inode)) return name;
  }
  return {};
}

RealCluster::RealCluster(const campaign::RealPlanOptions& options)
    : options_(options), clients_(options.clients) {}

RealCluster::~RealCluster() {
  for (const RealProcess& role : roles()) signal(role, SIGCONT);
  children_.reset();
  if (has_disk_) ::umount2(directory_.path().c_str(), MNT_DETACH);
}

std::vector<RealProcess> RealCluster::roles() const {
  std::vector<RealProcess> all = {{}};
  for (std::uint32_t island = 0; island < options_.islands; ++island) {
    all.push_back({RealRole::kScheduler, island});
    all.push_back({RealRole::kHost, island});
  }
  return all;
}

std::vector<std::string> RealCluster::names() const {
  std::vector<std::string> all;
  for (const RealProcess& role : roles()) all.push_back(to_string(role));
  for (std::uint32_t i = 0; i < options_.clients; ++i) {
    all.push_back(to_string(RealProcess{RealRole::kClient, i}));
  }
  return all;
}

Result<std::unique_ptr<RealCluster>> RealCluster::start(const campaign::RealPlanOptions& options) {
  std::unique_ptr<RealCluster> cluster(new RealCluster(options));
  if (Status status = cluster->begin(); !status.ok()) return status;
  return cluster;
}

Status RealCluster::begin() {
  if (directory_.path().empty() || histories_.path().empty()) {
    return resource_exhausted("no directory for the processes of a campaign");
  }
  children_ = std::make_unique<Children>(clock_);
  if (options_.disk) {
    if (Status status = begin_disk(); !status.ok()) return status;
  }
  if (is_proxied()) {
    if (Status status = begin_tls(); !status.ok()) return status;
  }
  for (const RealProcess& role : roles()) {
    if (Status status = start_role(role); !status.ok()) return status;
  }
  if (Status status = wait_for_roles(); !status.ok()) return status;
  return look_after();
}

/// A small one in memory.
Status RealCluster::begin_disk() {
  constexpr const char* kOptions = "size=4m,mode=0700";
  has_disk_ = ::mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, kOptions) == 0;
  if (has_disk_) return {};
  return {StatusCode::kPermissionDenied,
          std::string("a file system that can be filled could not be mounted: ") +
              std::strerror(errno) + "; --enospc needs the rights of root"};
}

bool RealCluster::fill_disk(bool is_full) {
  const std::string path = directory_.path() + "/filler";
  if (!is_full) return ::unlink(path.c_str()) == 0;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const std::vector<char> zeros(std::size_t{64} << 10);
  for (std::size_t size = zeros.size(); size > 0;) {
    if (::write(file, zeros.data(), size) <= 0) size /= 2;
  }
  ::close(file);
  return true;
}

/// What processes show each other, and where they listen.
Status RealCluster::begin_tls() {
  const auto made = make_auto_tls(directory_.path(), FaultProxy::kHost);
  if (!made.ok()) return made.status();
  authority_ = made->authority;
  certificate_ = made->certificate;
  key_ = made->key;
  client_token_ = made->token;
  worker_token_ = directory_.path() + "/worker.token";
  auto command = benchmarks::Command::start({"token", "create", "--tenant", "campaign", "--role",
                                             "worker", "--store", directory_.path() + "/tokens",
                                             "--out", worker_token_});
  if (!command.ok()) return command.status();
  if (command->wait_for_end(kCommandS) != 0) return resource_exhausted("no token could be made");
  proxy_ = std::make_unique<FaultProxy>(options_.seed,
                                        [this](std::uint16_t port) { return names_.find(port); });
  for (const RealProcess& role : roles()) {
    ports_[role] = free_port();
    if (Status status = proxy_->listen(to_string(role), ports_[role]); !status.ok()) return status;
  }
  return {};
}

std::string RealCluster::address() const {
  if (!is_proxied()) return "unix:" + directory_.path() + "/controller.sock";
  return "tls:" + std::string(FaultProxy::kHost) + ":" + std::to_string(ports_.at({}));
}

Status RealCluster::start_role(const RealProcess& process) {
  const std::string directory = directory_.path();
  std::vector<std::string> words = {std::string(to_string(process.role))};
  std::string listen = "unix:" + directory + "/" + word_of(process) + ".sock";
  if (is_proxied()) {
    const std::string network = "tls:127.0.0.1:" + std::to_string(ports_.at(process));
    listen = process == RealProcess() ? listen + "," + network : network;
    words.insert(words.end(), {"--advertise", FaultProxy::kHost, "--ca-file", authority_,
                               "--cert-file", certificate_, "--key-file", key_});
  }
  words.insert(words.end(), {"--listen", listen, "--directory", directory, "--die-with-parent",
                             std::to_string(::getpid())});
  if (process == RealProcess()) {
    words.insert(words.end(), {"--islands", std::to_string(options_.islands), "--devices", "2",
                               "--device-memory", "4MiB", "--host-memory", "256MiB"});
  } else {
    words.insert(words.end(), {"--island", std::to_string(process.index), "--join", address()});
    if (is_proxied()) words.insert(words.end(), {"--token-file", worker_token_});
  }
  return children_->start(
      {to_string(process), std::move(words), directory + "/" + word_of(process) + ".log"});
}

Status RealCluster::wait_for_roles() {
  const std::string near = "unix:" + directory_.path() + "/controller.sock";
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
                           " processes was not there within 30 s; see the logs in " +
                           directory_.path());
}

Status RealCluster::look_after() {
  bool has_failed = false;
  for (const std::string& what : children_->look_after(has_failed)) {
    if (has_failed) return {StatusCode::kHostLost, what};
  }
  start_clients();
  std::map<std::string, pid_t> processes;
  for (const RealProcess& role : roles()) processes[to_string(role)] = process_of(role);
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    processes[to_string(RealProcess{RealRole::kClient, i})] = process_of({RealRole::kClient, i});
  }
  names_.set(std::move(processes));
  return {};
}

pid_t RealCluster::process_of(const RealProcess& process) const {
  if (process.role != RealRole::kClient) {
    return children_ ? children_->process_of(to_string(process)) : 0;
  }
  const auto& command = clients_[process.index].command;
  return command ? command->process() : 0;
}

bool RealCluster::kill(const RealProcess& process, std::uint64_t now_ns) {
  const pid_t number = process_of(process);
  if (number == 0) return false;
  std::vector<std::uint64_t>& before = kills_ns_[process];
  const auto forget = [now_ns](std::vector<std::uint64_t>& kills) {
    std::erase_if(kills, [now_ns](std::uint64_t at_ns) { return at_ns + kWindowNs < now_ns; });
  };
  forget(before);
  forget(kills_ns_[{}]);
  const bool is_client = process.role == RealRole::kClient;
  // A scheduler and a host end with their controller, too.
  const std::size_t with_it = process == RealProcess() ? 0 : kills_ns_[{}].size();
  if (before.size() + with_it >= kKillsMax && !is_client) return false;
  if (::kill(number, SIGKILL) != 0) return false;
  before.push_back(now_ns);
  if (!is_client) return true;
  Client& client = clients_[process.index];
  client.command->wait_for_end(1);
  client.command.reset();
  const std::string name = to_string(process) + ", life " + std::to_string(client.lives);
  for (Life& life : lives_) {
    if (life.name == name) life.killed_ns = now_ns;
  }
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
  limit.rlim_cur = is_bounded ? std::min<rlim_t>(used, limit.rlim_max) : limit.rlim_max;
  return ::prlimit(number, which, &limit, nullptr) == 0;
}

int RealCluster::connect_to(const RealProcess& process) const {
  sockaddr_storage name = {};
  socklen_t size = 0;
  if (is_proxied()) {
    auto& address = reinterpret_cast<sockaddr_in&>(name);
    address.sin_family = AF_INET;
    address.sin_port = htons(ports_.at(process));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof(address);
  } else {
    auto& address = reinterpret_cast<sockaddr_un&>(name);
    address.sun_family = AF_UNIX;
    const std::string path = directory_.path() + "/" + word_of(process) + ".sock";
    std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
    size = sizeof(address);
  }
  const int socket = ::socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int done = ::connect(socket, reinterpret_cast<sockaddr*>(&name), size);
  if (socket >= 0 && (done == 0 || errno == EINPROGRESS)) return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

void RealCluster::start_clients() {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    if (!clients_[i].command) start_client(i);
  }
}

void RealCluster::start_client(std::uint32_t index) {
  Client& client = clients_[index];
  ++client.lives;
  Life life{
      to_string(RealProcess{RealRole::kClient, index}) + ", life " + std::to_string(client.lives),
      histories_.path() + "/" + std::to_string(index) + "-" + std::to_string(client.lives),
      {}};
  const std::uint64_t seed = options_.seed * 1'000'003 + index * 1009 + client.lives;
  std::vector<std::string> words = {"chaos",  "real-client",        "--address", address(),
                                    "--seed", std::to_string(seed), "--history", life.history};
  if (is_proxied()) {
    words.insert(words.end(), {"--token-file", client_token_, "--ca-file", authority_});
  }
  auto command = benchmarks::Command::start(words);
  if (!command.ok()) return;  // The next time.
  client.command.emplace(std::move(*command));
  lives_.push_back(std::move(life));
}

void RealCluster::end_clients(double most_s) {
  for (Client& client : clients_) {
    if (client.command) ::kill(client.command->process(), SIGTERM);
  }
  const std::uint64_t until_ns = clock_.now_ns() + static_cast<std::uint64_t>(most_s * 1e9);
  for (Client& client : clients_) {
    const std::uint64_t now_ns = clock_.now_ns();
    const double left_s = until_ns > now_ns ? static_cast<double>(until_ns - now_ns) / 1e9 : 0.01;
    if (client.command && client.command->wait_for_end(left_s) == -1) {
      ::kill(client.command->process(), SIGKILL);
    }
    client.command.reset();
  }
}

std::vector<campaign::RealHistory> RealCluster::histories() const {
  std::vector<campaign::RealHistory> all;
  for (const Life& life : lives_) {
    all.push_back(campaign::read_real_history(life.name, text_of(life.history)));
    all.back().killed_ns = life.killed_ns;
  }
  return all;
}

std::map<std::string, std::uint64_t> RealCluster::resident() const {
  std::map<std::string, std::uint64_t> all;
  for (const RealProcess& role : roles()) {
    all[to_string(role)] = benchmarks::resident_of(process_of(role)).now_bytes;
  }
  return all;
}

std::vector<std::string> RealCluster::end() {
  std::map<std::string, pid_t> before;
  for (const RealProcess& role : roles()) before[to_string(role)] = process_of(role);
  children_.reset();
  proxy_.reset();
  std::vector<std::string> left;
  for (const auto& [name, process] : before) {
    if (process > 0 && ::kill(process, 0) == 0) {
      left.push_back("process " + std::to_string(process) + ", " + name);
    }
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_.path(), error)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".sock")) left.push_back("file " + name);
  }
  for (const auto& entry : fs::directory_iterator("/dev/shm", error)) {
    const std::string name = entry.path().filename();
    if (name.find("seaway") != std::string::npos) left.push_back("shared memory " + name);
  }
  return left;
}

}  // namespace seaway::tools
