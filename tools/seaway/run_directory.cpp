// A file of two numbers, replaced as a whole.

#include "run_directory.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "cluster/enrolment.hpp"
#include "transport/address_text.hpp"

namespace seaway::tools {
namespace {

constexpr std::uint32_t kLivesMax = cluster::Enrolment::kControllerLivesMax;

/// The old file or the new one, whatever happens. A disk that is full is waited for: whoever gave
/// up would begin again at once, and soon be taken for one that cannot.
Status replace_file(const std::string& path, const std::string& text) {
  constexpr int kTries = 200;
  constexpr auto kPause = std::chrono::milliseconds(50);
  const std::string draft = path + ".new";
  for (int left = kTries;; --left) {
    errno = 0;
    std::ofstream out(draft);
    out << text;
    out.close();
    if (!out.fail() && std::rename(draft.c_str(), path.c_str()) == 0) return {};
    const int error = errno;
    if (error != ENOSPC || left == 0) {
      return resource_exhausted("cannot write " + path + ": " + std::strerror(error));
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

std::string controller_address(const std::string& directory) {
  return "unix:" + directory + "/ctl.sock";
}

std::string spec_of(const ClusterConfig& config, const std::string& more) {
  std::string spec = "embedded:islands=" + std::to_string(config.islands) +
                     ",devices=" + std::to_string(config.devices) +
                     ",hosts=" + std::to_string(config.hosts) +
                     ",device_memory=" + std::to_string(config.device_memory) +
                     ",host_memory=" + std::to_string(config.host_memory);
  if (config.threads > 0) spec += ",threads=" + std::to_string(config.threads);
  if (config.backend != "cpu") spec += ",backend=" + config.backend;
  return more.empty() ? spec : spec + "," + more;
}

cluster::CredentialFiles credential_files(const ClusterConfig& config) {
  return {config.token_file, config.ca_file, config.cert_file, config.key_file};
}

Status write_address(const std::string& directory, const std::string& name,
                     const std::string& addresses) {
  std::string text;
  for (const std::string& address : transport::split_addresses(addresses)) text += address + '\n';
  return replace_file(directory + "/" + name + ".address", text);
}

Result<ControllerLife> begin_life(const std::string& directory, std::uint64_t random) {
  const std::string path = directory + "/controller.life";
  ControllerLife life;
  std::ifstream file(path);
  if (file && !(file >> life.cluster >> life.life)) {
    return Status(StatusCode::kDataCorruption,
                  path +
                      " does not say which life it is; remove it when no process of the "
                      "cluster is left");
  }
  if (life.life >= kLivesMax) {
    return resource_exhausted("the controller of " + directory + " has begun " +
                              std::to_string(life.life) + " lives, which is the limit; remove " +
                              path + " when no process of the cluster is left");
  }
  if (life.cluster == 0) life.cluster = random | 1;
  ++life.life;
  Status status =
      replace_file(path, std::to_string(life.cluster) + ' ' + std::to_string(life.life) + '\n');
  if (!status.ok()) return status;
  return life;
}

}  // namespace seaway::tools
