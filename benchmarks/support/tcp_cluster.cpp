// The roles, and the token that they show each other.

#include "benchmarks/support/tcp_cluster.hpp"

#include <fstream>
#include <utility>

namespace seaway::benchmarks {
namespace {

constexpr double kWaitS = 20;

}  // namespace

Result<std::unique_ptr<TcpCluster>> TcpCluster::start(std::uint32_t islands,
                                                      std::uint32_t devices) {
  std::unique_ptr<TcpCluster> cluster(new TcpCluster());
  if (Status status = cluster->begin(islands, devices); !status.ok()) return status;
  return cluster;
}

Status TcpCluster::begin(std::uint32_t islands, std::uint32_t devices) {
  const std::string directory = directory_.path();
  if (directory.empty()) return resource_exhausted("no directory for a cluster");
  const std::string token = directory + "/worker.token";
  auto made = Command::start({"token", "create", "--tenant", "bench", "--role", "worker", "--store",
                              directory + "/tokens", "--out", token});
  if (!made.ok()) return made.status();
  if (made->wait_for_end(kWaitS) != 0) return resource_exhausted("no token could be made");
  const auto begin = [this](std::vector<std::string> words, const std::string& until) {
    words.insert(words.end(), kPatience.begin(), kPatience.end());
    auto command = Command::start(words);
    if (!command.ok()) return command.status();
    Status status = command->wait_for(until, kWaitS);
    commands_.push_back(std::move(*command));
    return status;
  };
  Status status = begin(
      {"controller", "--islands", std::to_string(islands), "--devices", std::to_string(devices),
       "--directory", directory, "--listen", address() + ",tcp:127.0.0.1:0"},
      "the controller listens");
  std::ifstream file(directory + "/controller.address");
  std::string address;
  while (std::getline(file, address) && !address.starts_with("tcp:")) continue;
  for (std::uint32_t island = 0; island < islands && status.ok(); ++island) {
    const std::string number = std::to_string(island);
    for (const std::string role : {"scheduler", "host"}) {
      if (!status.ok()) break;
      status = begin({role, "--island", number, "--join", address, "--token-file", token,
                      "--listen", "tcp:127.0.0.1:0"},
                     "the " + role + " of island " + number + " listens");
    }
    hosts_.push_back(commands_.back().process());
  }
  return status;
}

}  // namespace seaway::benchmarks
