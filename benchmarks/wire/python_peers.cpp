// A script written to a file, and the file of JSON that it writes.

#include "benchmarks/wire/python_peers.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "benchmarks/support/command.hpp"
#include "benchmarks/support/python.hpp"

namespace seaway::benchmarks {
namespace {

constexpr double kRunS = 240;
constexpr double kEndS = 10;

}  // namespace

std::span<const PythonPeer> python_peers() {
  static const std::vector<PythonPeer> kPeers = {
      {"charm4py", "charm4py_peer.py", "charm4py", "charm4py", {"-m", "charmrun.start", "+p2"}},
      {"monarch", "monarch_peer.py", "monarch", "torchmonarch", {}},
  };
  return kPeers;
}

Result<std::vector<double>> python_peer_us(const PythonPeer& peer, const std::string& directory,
                                           int rounds) {
  if (!has_python_module(peer.module)) {
    return not_found(std::string(peer.name) + " is not installed: " + python() +
                     " -m pip install " + peer.package +
                     ", or name a Python that has it in SEAWAY_PEERS_PYTHON");
  }
  const auto scripts = peer_scripts();
  const auto script = std::ranges::find(scripts, peer.script, &PeerScript::name);
  const std::string path = directory + "/" + peer.script;
  std::ofstream(path) << script->text;
  const std::string samples_path = path + ".json";
  std::vector<std::string> words = {python()};
  words.insert(words.end(), peer.starter.begin(), peer.starter.end());
  words.insert(words.end(), {path, std::to_string(rounds), samples_path});
  auto command = Command::start_other(words);
  if (!command.ok()) return command.status();
  if (Status status = command->wait_for("played", kRunS); !status.ok()) return status;
  command->wait_for_end(kEndS);
  std::ifstream file(samples_path);
  const auto samples = nlohmann::json::parse(file, nullptr, false);
  if (samples.is_array() && !samples.empty()) return samples.get<std::vector<double>>();
  return Status(StatusCode::kDataCorruption, std::string(peer.name) + " wrote no samples");
}

}  // namespace seaway::benchmarks
