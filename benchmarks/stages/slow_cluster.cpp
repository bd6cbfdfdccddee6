// Directories with one socket and many signposts, and the processes in them.

#include "benchmarks/stages/slow_cluster.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "benchmarks/support/measure.hpp"
#include "cluster/member.hpp"
#include "cluster/process.hpp"

namespace seaway::benchmarks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kController = "controller";
constexpr const char* kClient = "client";
constexpr const char* kLinks = "links";
constexpr std::uint64_t kAskNs = 1'000'000'000;
constexpr double kReadyS = 60;
constexpr auto kPause = std::chrono::milliseconds(20);

std::string socket_of(const std::string& name) { return name + ".sock"; }

struct Role {
  std::string verb;  // Of the command.
  std::uint32_t island = 0, host = 0;
  std::string name() const {
    if (verb == kController) return verb;
    return verb + std::to_string(island) + (host == 0 ? "" : "." + std::to_string(host));
  }
};

std::vector<Role> roles_of(std::uint32_t islands, std::uint32_t hosts) {
  std::vector<Role> roles = {{kController}};
  for (std::uint32_t island = 0; island < islands; ++island) {
    roles.push_back({"scheduler", island});
    for (std::uint32_t host = 0; host < hosts; ++host) roles.push_back({"host", island, host});
  }
  return roles;
}

}  // namespace

Result<std::unique_ptr<SlowCluster>> SlowCluster::start(std::uint32_t islands, std::uint32_t hosts,
                                                        const std::string& options) {
  std::unique_ptr<SlowCluster> cluster(new SlowCluster(islands, hosts, options));
  for (const auto& step :
       {&SlowCluster::lay_out, &SlowCluster::start_roles, &SlowCluster::wait_until_ready}) {
    if (Status status = (*cluster.*step)(); !status.ok()) return status;
  }
  return cluster;
}

SlowCluster::~SlowCluster() {
  std::error_code ignored;
  if (!came_from_.empty()) fs::current_path(came_from_, ignored);
}

Status SlowCluster::lay_out() {
  try {
    const std::vector<Role> roles = roles_of(islands_, hosts_);
    std::vector<std::string> owners = {kClient};
    for (const Role& role : roles) owners.push_back(role.name());
    fs::create_directory(directory_of(kLinks));
    std::vector<SlowLinks::Place> places;
    for (const Role& role : roles) {
      const std::string socket = socket_of(role.name());
      places.push_back(
          {directory_of(kLinks) + "/" + socket, directory_of(role.name()) + "/" + socket});
    }
    for (const std::string& owner : owners) {
      fs::create_directory(directory_of(owner));
      fs::permissions(directory_of(owner), fs::perms::owner_all);
      for (const Role& role : roles) {
        if (role.name() == owner) continue;
        const std::string socket = socket_of(role.name());
        fs::create_symlink(std::string("../") + kLinks + "/" + socket,
                           directory_of(owner) + "/" + socket);
      }
    }
    auto links = SlowLinks::make(places);
    if (!links.ok()) return links.status();
    links_ = std::move(*links);
    came_from_ = fs::current_path();
    fs::current_path(directory_of(kClient));
  } catch (const fs::filesystem_error& error) {
    return resource_exhausted(error.what());
  }
  return {};
}

Status SlowCluster::start_roles() {
  for (const Role& role : roles_of(islands_, hosts_)) {
    const std::string directory = directory_of(role.name());
    std::vector<std::string> words = {role.verb, "--listen", "unix:" + socket_of(role.name())};
    if (role.verb == kController) {
      words.insert(words.end(),
                   {"--islands", std::to_string(islands_), "--hosts", std::to_string(hosts_),
                    "--devices", std::to_string(hosts_), "--threads", "1"});
      if (!options_.empty()) words.insert(words.end(), {"--options", options_});
    } else {
      if (role.host > 0) words.insert(words.end(), {"--host", std::to_string(role.host)});
      words.insert(words.end(), {"--island", std::to_string(role.island), "--join", address(),
                                 "--join-timeout", std::to_string(kReadyS)});
    }
    words.insert(words.end(),
                 {"--directory", directory, "--die-with-parent", std::to_string(getpid())});
    auto process = Command::start(words, directory);
    if (!process.ok()) return process.status();
    roles_.push_back(std::move(*process));
  }
  return {};
}

Status SlowCluster::wait_until_ready() {
  const RealClock clock;
  const std::uint64_t until_ns = now_ns() + static_cast<std::uint64_t>(kReadyS * 1e9);
  while (now_ns() < until_ns) {
    const auto text = cluster::ask_status(address(), clock, kAskNs);
    const auto json = nlohmann::json::parse(text.ok() ? *text : "{}", nullptr, false);
    std::size_t there = 0;
    if (json.contains("processes")) {
      for (const auto& process : json["processes"]) there += process.value("there", false);
    }
    if (there == (1 + hosts_) * islands_) return {};
    std::this_thread::sleep_for(kPause);
  }
  return deadline_exceeded("a cluster of processes was not ready in time");
}

std::string SlowCluster::address() { return "unix:" + socket_of(kController); }

transport::ProcessId SlowCluster::client() const {
  return cluster::process_of({actor::Role::kClient, 1}, {islands_, hosts_});
}

}  // namespace seaway::benchmarks
